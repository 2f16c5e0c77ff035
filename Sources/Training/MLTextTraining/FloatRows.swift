import MLKernels

/// Rows of 32-bit floats in vectors of four, initially 0; the padding behind a row's `width` stays 0.
struct FloatRows {
    let count: Int
    let width: Int
    /// The number of vectors in a row.
    let stride: Int
    private let memory: AlignedMemory

    init(count: Int, width: Int) {
        self.count = count
        self.width = width
        stride = (width + 3) / 4
        memory = AlignedMemory(byteCount: Swift.max(count * stride, 1) * MemoryLayout<SIMD4<Float>>.stride)
        vectors.initialize(repeating: .zero, count: Swift.max(count * stride, 1))
    }

    /// The size in bytes of such rows; `nil` when it overflows.
    static func byteCount(count: Int, width: Int) -> Int? {
        let (vectors, overflow) = count.multipliedReportingOverflow(by: (width + 3) / 4)
        let (bytes, more) = vectors.multipliedReportingOverflow(by: 16)
        return overflow || more ? nil : bytes
    }

    var vectors: UnsafeMutablePointer<SIMD4<Float>> {
        memory.address.assumingMemoryBound(to: SIMD4<Float>.self)
    }

    subscript(row: Int) -> UnsafeMutablePointer<SIMD4<Float>> { vectors + row * stride }

    /// One row as scalars.
    func scalars(_ row: Int) -> UnsafeMutablePointer<Float> {
        memory.address.assumingMemoryBound(to: Float.self) + row * stride * 4
    }

    /// The `width` values of every row.
    var values: [Float] {
        var result: [Float] = []
        result.reserveCapacity(count * width)
        for row in 0..<count { result += UnsafeBufferPointer(start: scalars(row), count: width) }
        return result
    }

    /// Sets all rows from `count` · `width` values.
    func set(_ values: [Float]) {
        precondition(values.count == count * width)
        for row in 0..<count {
            for column in 0..<width { scalars(row)[column] = values[row * width + column] }
        }
    }
}
