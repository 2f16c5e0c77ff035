import MLKernels

/// The statistics that a column's histogram accumulates for each bin.
protocol HistogramCell: Sendable {
    /// One example's contribution, in single precision.
    associatedtype Example: SIMD, Sendable where Example.Scalar == Float

    static func example(_ gradient: SIMD2<Float>) -> Example
    static var zero: Self { get }
    /// Adds `examples[i]` to the cell `column << 8 | bins[rows[i]·columns + column]` of each column, in the order of
    /// `rows`.
    static func add(
        _ examples: UnsafePointer<Example>,
        rows: UnsafeBufferPointer<Int32>,
        bins: UnsafePointer<UInt8>,
        columns: Int,
        to cells: UnsafeMutablePointer<Self>
    )
    mutating func subtract(_ part: Self)
    var gradients: GradientSum { get }
    /// Whether cells can bound the sums over any part of their examples.
    static var isBounded: Bool { get }
}

/// The sums of the first and second derivatives.
extension SIMD2: HistogramCell where Scalar == Double {
    typealias Example = SIMD2<Float>

    static func example(_ gradient: SIMD2<Float>) -> SIMD2<Float> { gradient }
    static func add(
        _ examples: UnsafePointer<SIMD2<Float>>,
        rows: UnsafeBufferPointer<Int32>,
        bins: UnsafePointer<UInt8>,
        columns: Int,
        to cells: UnsafeMutablePointer<Self>
    ) {
        for (position, row) in rows.enumerated() {
            let example = SIMD2<Double>(Double(examples[position].x), Double(examples[position].y))
            let bins = bins + Int(row) * columns
            for column in 0..<columns { cells[column << 8 | Int(bins[column])] += example }
        }
    }
    mutating func subtract(_ part: Self) { self -= part }
    var gradients: GradientSum { self }
    static var isBounded: Bool { false }
}

/// The same sums and those of |g| and of g² / h, which bound the sums over any part of a bin's examples.
extension SIMD4: HistogramCell where Scalar == Double {
    typealias Example = SIMD4<Float>

    static func example(_ gradient: SIMD2<Float>) -> SIMD4<Float> {
        SIMD4<Float>(gradient.x, gradient.y, gradient.x.magnitude, gradient.x * gradient.x / gradient.y)
    }
    static func add(
        _ examples: UnsafePointer<SIMD4<Float>>,
        rows: UnsafeBufferPointer<Int32>,
        bins: UnsafePointer<UInt8>,
        columns: Int,
        to cells: UnsafeMutablePointer<Self>
    ) {
        HistogramKernel.add(examples, rows: rows, bins: bins, columns: columns, to: cells)
    }
    mutating func subtract(_ part: Self) { self -= part }
    var gradients: GradientSum { lowHalf }
    static var isBounded: Bool { true }
}
