package import MLGraph
package import MLNumerics
import MLKernels

/// A sum of products over named axes: the result has the axes named after the arrow, every other axis is summed.
///
/// An axis named twice in one operand is its diagonal; extents of 1 are broadcast.
///
/// Operands: as many as the equation names. Result: of the first operand's scalar type.
package struct Einsum: Operator {
    package static let names: [MILName] = ["einsum"]

    /// The equation, such as "nchw,nwhu->nchu": one letter for each axis.
    package var equation: String

    package init(_ equation: String) { self.equation = equation }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.variadicOperand("values")
        equation = try arguments.string("equation")
    }

    /// The letters of each operand and of the result.
    func terms() throws(ModelError) -> (operands: [[Character]], result: [Character]) {
        let plain = equation.filter { $0 != " " }
        guard let arrow = plain.firstRange(of: "->") else {
            throw ModelError(.invalidModel, "einsum equation '\(equation)' has no '->'; state the result's axes")
        }
        let operands = plain[..<arrow.lowerBound].split(separator: ",", omittingEmptySubsequences: false).map(
            Array.init
        )
        let result = Array(plain[arrow.upperBound...])
        let letters = operands.joined() + result
        guard letters.allSatisfy({ $0.isLetter && $0.isASCII }) else {
            throw ModelError(.unsupported, "einsum equation '\(equation)' has axes that are not single letters")
        }
        guard Set(result).count == result.count, Set(result).isSubset(of: Set(operands.joined())) else {
            throw ModelError(.invalidModel, "the result of einsum '\(equation)' repeats an axis or has an unknown one")
        }
        return (operands, result)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let terms = try terms()
        guard terms.operands.count == operands.count else {
            throw ModelError(.invalidModel, "einsum '\(equation)' has \(operands.count) operands")
        }
        var extents: [Character: Dimension] = [:]
        for (index, letters) in terms.operands.enumerated() {
            let shape = try operands.shape(index)
            guard shape.count == letters.count else {
                throw ModelError(.invalidModel, "operand \(index) of einsum '\(equation)' has shape \(shape)")
            }
            for (letter, extent) in zip(letters, shape) {
                extents[letter] = try broadcast([extents[letter] ?? 1], [extent])[0]
            }
        }
        return [ValueType(try operands.type(0).scalarType, terms.result.map { extents[$0] ?? 1 })]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let terms = try terms()
        let summed = Set(terms.operands.joined()).subtracting(terms.result).sorted()
        let letters = terms.result + summed
        var extents: [Character: Int] = [:]
        for (index, names) in terms.operands.enumerated() {
            for (letter, extent) in zip(names, operands[index].shape) where extent != 1 || extents[letter] == nil {
                extents[letter] = extent
            }
        }
        let space = letters.map { extents[$0] ?? 1 }
        var product = [Double](repeating: 1, count: space.elementCount)
        for (index, names) in terms.operands.enumerated() {
            let shape = operands[index].shape
            let strides = shape.rowMajorStrides
            let values = operands[index].values
            let steps = letters.map { letter in
                names.indices.reduce(0) { $0 + (names[$1] == letter && shape[$1] != 1 ? strides[$1] : 0) }
            }
            for (position, offset) in Self.offsets(space, steps).enumerated() { product[position] *= values[offset] }
        }
        let inner = Swift.max(space.dropFirst(terms.result.count).reduce(1, *), 0)
        let result = (0..<operands.shape().elementCount).map { position in
            product[position * inner..<(position + 1) * inner].reduce(0, +)
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: operands.shape())]
    }

    /// The sums of indices times steps, in row-major order of `space`.
    private static func offsets(_ space: [Int], _ steps: [Int]) -> [Int] {
        var offsets = [0]
        for (extent, step) in zip(space, steps) {
            offsets = offsets.flatMap { offset in (0..<extent).map { offset + $0 * step } }
        }
        return offsets
    }
}

extension Einsum {
    /// Two operands whose summed axes occur in both and not in the result: copied to stacks of matrices, multiplied,
    /// and copied to the result's order of axes.
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), request.operands.count == 2, let terms = try? terms(),
            let plan = EinsumProduct(terms.operands, terms.result, request)
        else { return [] }
        return [
            Kernel("gemm of copies", scratchByteCount: plan.scratchByteCount) { context in plan.run(context) }
        ]
    }
}

/// An einsum of two operands as copies around one stack of matrix products.
private struct EinsumProduct: Sendable {
    private let left: MLKernels.StridedCopy
    private let right: MLKernels.StridedCopy
    private let result: MLKernels.StridedCopy
    private let batch: Int
    private let rows: Int
    private let columns: Int
    private let depth: Int

    private static let alignment = 16
    private var leftCount: Int { aligned(batch * rows * depth) }
    private var rightCount: Int { aligned(batch * depth * columns) }
    var scratchByteCount: Int { (leftCount + rightCount + batch * rows * columns) * 4 }

    private func aligned(_ count: Int) -> Int { (count + Self.alignment - 1) / Self.alignment * Self.alignment }

    init?(_ operands: [[Character]], _ letters: [Character], _ request: KernelRequest) {
        guard operands.count == 2, operands.allSatisfy({ Set($0).count == $0.count }),
            let x = request.operand(0), let y = request.operand(1), x.count > 0, y.count > 0
        else { return nil }
        let (a, b) = (operands[0], operands[1])
        let shared = a.filter { b.contains($0) }
        let stacked = shared.filter { letters.contains($0) }
        let summed = shared.filter { !letters.contains($0) }
        let leftOnly = a.filter { !b.contains($0) }
        let rightOnly = b.filter { !a.contains($0) }
        guard (leftOnly + rightOnly).allSatisfy({ letters.contains($0) }) else { return nil }
        var extents: [Character: Int] = [:]
        for (names, shape) in [(a, x.logicalShape), (b, y.logicalShape)] {
            for (name, extent) in zip(names, shape) { extents[name] = Swift.max(extents[name] ?? 1, extent) }
        }
        func sizes(_ names: [Character]) -> [Int] { names.map { extents[$0] ?? 1 } }
        func steps(_ names: [Character], in operand: [Character], _ shape: [Int]) -> [Int] {
            let strides = shape.rowMajorStrides
            return names.map { name in
                guard let axis = operand.firstIndex(of: name), shape[axis] != 1 else { return 0 }
                return strides[axis]
            }
        }
        guard [a, b, letters].allSatisfy({ $0.count <= 8 }), letters.count <= 8,
            (stacked + leftOnly + summed).count <= 8, (stacked + summed + rightOnly).count <= 8
        else { return nil }
        let leftOrder = stacked + leftOnly + summed
        left = MLKernels.StridedCopy(
            extents: sizes(leftOrder),
            sourceStrides: steps(leftOrder, in: a, x.logicalShape),
            targetStrides: sizes(leftOrder).rowMajorStrides,
            elementByteCount: 4
        )
        let rightOrder = stacked + summed + rightOnly
        right = MLKernels.StridedCopy(
            extents: sizes(rightOrder),
            sourceStrides: steps(rightOrder, in: b, y.logicalShape),
            targetStrides: sizes(rightOrder).rowMajorStrides,
            elementByteCount: 4
        )
        let productOrder = stacked + leftOnly + rightOnly
        let product = sizes(productOrder)
        result = MLKernels.StridedCopy(
            extents: sizes(letters),
            sourceStrides: steps(letters, in: productOrder, product),
            targetStrides: sizes(letters).rowMajorStrides,
            elementByteCount: 4
        )
        batch = sizes(stacked).elementCount
        rows = sizes(leftOnly).elementCount
        columns = sizes(rightOnly).elementCount
        depth = sizes(summed).elementCount
    }

    func run(_ context: KernelContext) {
        let x = context.scratchFloats
        let y = x + leftCount
        let z = y + rightCount
        left.run(context.operand(0), x)
        right.run(context.operand(1), y)
        MatMulKernel.multiply(
            x,
            MatMulKernel.RightHandSide(address: y, termStride: columns, columnStride: 1),
            into: z,
            rows: rows,
            terms: depth,
            columns: columns,
            aOffsets: (0..<batch).map { $0 * rows * depth },
            bOffsets: (0..<batch).map { $0 * depth * columns },
            cOffsets: (0..<batch).map { $0 * rows * columns }
        )
        result.run(z, context.result())
    }
}

extension Einsum: DifferentiableOperator {
    /// The gradient of an operand is the sum of products of the result's gradient and the other operands.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let terms = try terms()
        let dz = try context.resultGradient()
        var extents: [Character: Int] = [:]
        for (index, letters) in terms.operands.enumerated() {
            guard Set(letters).count == letters.count else { throw notDifferentiable("of a diagonal") }
            let shape = try context.extents(context.operand(index))
            for (letter, extent) in zip(letters, shape) {
                guard extents[letter] ?? extent == extent else { throw notDifferentiable("of operands that broadcast") }
                extents[letter] = extent
            }
        }
        for (index, letters) in terms.operands.enumerated() where context.isNeeded(index) {
            let others = terms.operands.indices.filter { $0 != index }
            let known = Set(terms.result + others.flatMap { terms.operands[$0] })
            // Axes that only this operand has were summed: every element along them has the same gradient.
            let common = letters.filter(known.contains)
            let sources = [terms.result] + others.map { terms.operands[$0] }
            let back = Einsum(sources.map { String($0) }.joined(separator: ",") + "->" + String(common))
            var operands: [ValueID?] = [dz]
            for other in others { operands.append(try context.operand(other)) }
            var gradient = try context.builder.append(back, operands)[0]
            if common.count != letters.count {
                let shape = letters.map { known.contains($0) ? extents[$0] ?? 1 : 1 }
                gradient = try context.add(
                    BroadcastTo(),
                    context.reshaped(gradient, to: shape),
                    context.integers(letters.map { extents[$0] ?? 1 })
                )
            }
            context.setGradient(ofOperand: index, to: gradient)
        }
    }
}
