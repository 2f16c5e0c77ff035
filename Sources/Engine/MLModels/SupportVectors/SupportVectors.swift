import Glibc
import MLKernels
import MLNumerics
import MLSpecification

/// Support vectors and the kernel that compares examples with them.
struct SupportVectors: Sendable {
    private enum Kernel: Sendable {
        case linear
        case rbf(gamma: Double)
        case polynomial(degree: Int, gamma: Double, c: Double)
        case sigmoid(gamma: Double, c: Double)
    }

    /// The maximum number of elements that sparse vectors may expand to.
    private static let limit = 1 << 30

    private let kernel: Kernel
    /// [count × width].
    private let vectors: [Double]
    /// The squared length of each vector.
    private let squares: [Double]
    let count: Int
    let width: Int

    /// Takes dense support vectors.
    ///
    /// - Parameters:
    ///   - vectors: The support vectors.
    ///   - kernel: The kernel function.
    ///   - width: The number of elements in an example; `nil` when the interface does not say.
    /// - Throws: `.invalidModel` when the vectors differ in length or do not have `width` elements.
    init(dense vectors: [SpecDenseVector], _ kernel: SpecKernel, width: Int?) throws(ModelError) {
        let vectorWidth = width ?? vectors.first?.values.count ?? 0
        for (index, vector) in vectors.enumerated() where vector.values.count != vectorWidth {
            throw ModelError(
                .invalidModel,
                "the support vector \(index) has \(vector.values.count) elements, but an example has \(vectorWidth)"
            )
        }
        try self.init(vectors.flatMap(\.values), count: vectors.count, width: vectorWidth, kernel)
    }

    /// Takes sparse vectors, whose indices count from 1.
    init(sparse vectors: [SpecSparseVector], _ kernel: SpecKernel, width: Int?) throws(ModelError) {
        var highest = 0
        for (index, vector) in vectors.enumerated() {
            for node in vector.nodes {
                guard node.index >= 1, Int(node.index) <= width ?? Int.max else {
                    throw ModelError(
                        .invalidModel,
                        "the support vector \(index) has an element \(node.index), but an example has elements 1 … \(width ?? Int(Int32.max))"
                    )
                }
                highest = Swift.max(highest, Int(node.index))
            }
        }
        let vectorWidth = width ?? highest
        let (size, overflow) = vectorWidth.multipliedReportingOverflow(by: vectors.count)
        guard !overflow, size <= Self.limit else {
            throw ModelError(
                .unsupported,
                "\(vectors.count) support vectors of \(vectorWidth) elements are too large to unfold"
            )
        }
        var dense = [Double](repeating: 0, count: size)
        for (index, vector) in vectors.enumerated() {
            for node in vector.nodes { dense[index * vectorWidth + Int(node.index) - 1] = node.value }
        }
        try self.init(dense, count: vectors.count, width: vectorWidth, kernel)
    }

    private init(_ vectors: [Double], count: Int, width: Int, _ kernel: SpecKernel) throws(ModelError) {
        switch kernel.kernel {
        case .linearKernel?: self.kernel = .linear
        case .rbfKernel(let rbf)?: self.kernel = .rbf(gamma: rbf.gamma)
        case .polyKernel(let polynomial)?:
            guard polynomial.degree >= 0 else {
                throw ModelError(.invalidModel, "the degree of the polynomial kernel is \(polynomial.degree)")
            }
            self.kernel = .polynomial(degree: Int(polynomial.degree), gamma: polynomial.gamma, c: polynomial.c)
        case .sigmoidKernel(let sigmoid)?: self.kernel = .sigmoid(gamma: sigmoid.gamma, c: sigmoid.c)
        case nil: throw ModelError(.invalidModel, "the support vector machine has no kernel")
        }
        self.vectors = vectors
        self.count = count
        self.width = width
        squares = (0..<count).map { row in
            vectors[row * width..<(row + 1) * width].reduce(0) { $0 + $1 * $1 }
        }
    }

    /// kernels[i][j] = K(example i, vector j) for `rows` examples, row by row.
    func compare(_ x: UnsafePointer<Double>, rows: Int, into kernels: UnsafeMutablePointer<Double>) {
        vectors.withUnsafeBufferPointer {
            guard let vectors = $0.baseAddress else { return }
            DoubleKernel.dotProducts(x, rows: rows, vectors, rows: count, terms: width, into: kernels)
        }
        let size = rows * count
        switch kernel {
        case .linear: break
        case .rbf(let gamma):
            for row in 0..<rows {
                var square = 0.0
                for index in 0..<width { square += x[row * width + index] * x[row * width + index] }
                let line = kernels + row * count
                squares.withUnsafeBufferPointer { squares in
                    for index in 0..<count {
                        line[index] = -gamma * Swift.max(square + squares[index] - 2 * line[index], 0)
                    }
                }
            }
            DoubleKernel.exponentials(kernels, count: size)
        case .polynomial(let degree, let gamma, let c):
            for index in 0..<size { kernels[index] = power(gamma * kernels[index] + c, degree) }
        case .sigmoid(let gamma, let c):
            for index in 0..<size { kernels[index] = tanh(gamma * kernels[index] + c) }
        }
    }

    /// Calls `body` with the kernel values of each example of [count, width] float64, in parallel.
    func forEach(
        _ examples: Tensor,
        _ body: (_ first: Int, _ rows: Int, _ kernels: UnsafePointer<Double>) -> Void
    ) {
        let total = examples.shape[0]
        let block = Swift.max(1, Swift.min(32, 65536 / Swift.max(count, 1)))
        examples.withElements(of: Double.self) { source in
            guard let source = source.baseAddress else { return }
            // Only read.
            nonisolated(unsafe) let x = source
            inParallel(total, work: count * width) { range in
                withUnsafeTemporaryAllocation(of: Double.self, capacity: Swift.max(block * count, 1)) { kernels in
                    guard let kernels = kernels.baseAddress else { return }
                    for first in stride(from: range.lowerBound, to: range.upperBound, by: block) {
                        let rows = Swift.min(block, range.upperBound - first)
                        compare(x + first * width, rows: rows, into: kernels)
                        body(first, rows, kernels)
                    }
                }
            }
        }
    }
}

/// base to the power of a whole number ≥ 0.
private func power(_ base: Double, _ exponent: Int) -> Double {
    var (result, factor, remaining) = (1.0, base, exponent)
    while remaining > 0 {
        if remaining & 1 == 1 { result *= factor }
        factor *= factor
        remaining >>= 1
    }
    return result
}
