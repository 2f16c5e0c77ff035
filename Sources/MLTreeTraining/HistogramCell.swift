/// What the histogram of a column adds up for each bin.
protocol HistogramCell: Sendable {
    /// What one example adds, in single precision.
    associatedtype Example: SIMD, Sendable where Example.Scalar == Float

    static func example(_ gradient: SIMD2<Float>) -> Example
    static var zero: Self { get }
    mutating func add(_ example: Example)
    mutating func subtract(_ part: Self)
    var gradients: GradientSum { get }
    /// Whether cells bound what their parts can add up to.
    static var isBounded: Bool { get }
}

/// The sums of the derivatives alone.
extension SIMD2: HistogramCell where Scalar == Double {
    typealias Example = SIMD2<Float>

    static func example(_ gradient: SIMD2<Float>) -> SIMD2<Float> { gradient }
    mutating func add(_ example: SIMD2<Float>) { self += SIMD2<Double>(Double(example.x), Double(example.y)) }
    mutating func subtract(_ part: Self) { self -= part }
    var gradients: GradientSum { self }
    static var isBounded: Bool { false }
}

/// Beside them those of |g| and of g² / h, which bound what any part of a bin's examples can add up to.
extension SIMD4: HistogramCell where Scalar == Double {
    typealias Example = SIMD4<Float>

    static func example(_ gradient: SIMD2<Float>) -> SIMD4<Float> {
        SIMD4<Float>(gradient.x, gradient.y, gradient.x.magnitude, gradient.x * gradient.x / gradient.y)
    }
    mutating func add(_ example: SIMD4<Float>) {
        self += SIMD4<Double>(Double(example.x), Double(example.y), Double(example.z), Double(example.w))
    }
    mutating func subtract(_ part: Self) { self -= part }
    var gradients: GradientSum { lowHalf }
    static var isBounded: Bool { true }
}
