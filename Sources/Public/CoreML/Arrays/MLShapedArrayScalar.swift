/// A number that a shaped array can hold: `Float`, `Double`, `Float16`, `Int32` or `Int8`.
public protocol MLShapedArrayScalar: BitwiseCopyable, Sendable, Equatable {
    /// The element type of multi-arrays with the same representation.
    static var multiArrayDataType: MLMultiArrayDataType { get }
}

extension Float: MLShapedArrayScalar {
    /// The element type of multi-arrays of single-precision numbers.
    public static var multiArrayDataType: MLMultiArrayDataType { .float32 }
}

extension Double: MLShapedArrayScalar {
    /// The element type of multi-arrays of double-precision numbers.
    public static var multiArrayDataType: MLMultiArrayDataType { .double }
}

extension Float16: MLShapedArrayScalar {
    /// The element type of multi-arrays of half-precision numbers.
    public static var multiArrayDataType: MLMultiArrayDataType { .float16 }
}

extension Int32: MLShapedArrayScalar {
    /// The element type of multi-arrays of 32-bit integers.
    public static var multiArrayDataType: MLMultiArrayDataType { .int32 }
}

extension Int8: MLShapedArrayScalar {
    /// The element type of multi-arrays of 8-bit integers.
    public static var multiArrayDataType: MLMultiArrayDataType { .int8 }
}

/// A range, possibly with open ends, that selects part of an axis of a shaped array.
public protocol MLShapedArrayRangeExpression {
    /// The range with its open ends filled in.
    ///
    /// - Parameter range: All indices of the axis: from 0 to its extent.
    /// - Returns: The selected indices; it is not checked that they lie within `range`.
    func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int>
}

extension Range: MLShapedArrayRangeExpression where Bound == Int {
    /// The range itself.
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { self }
}

extension ClosedRange: MLShapedArrayRangeExpression where Bound == Int {
    /// The half-open range with the same indices.
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { lowerBound..<upperBound + 1 }
}

extension PartialRangeFrom: MLShapedArrayRangeExpression where Bound == Int {
    /// The indices from the lower bound to the end of the axis.
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { lowerBound..<range.upperBound }
}

extension PartialRangeUpTo: MLShapedArrayRangeExpression where Bound == Int {
    /// The indices from the start of the axis up to the upper bound, which is left out.
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { range.lowerBound..<upperBound }
}

extension PartialRangeThrough: MLShapedArrayRangeExpression where Bound == Int {
    /// The indices from the start of the axis through the upper bound.
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { range.lowerBound..<upperBound + 1 }
}

/// The memory layout of a shaped array's elements.
public enum MLShapedArrayBufferLayout: Sendable {
    /// Row-major, without gaps.
    case firstMajorContiguous
    /// Column-major, without gaps.
    case lastMajorContiguous
    /// The given distance between neighbours along each axis, in elements.
    case strides([Int])

    /// The strides, in elements, that an array of the given shape has in this layout.
    func strides(of shape: [Int]) -> [Int] {
        switch self {
        case .firstMajorContiguous: contiguousStrides(of: shape)
        case .lastMajorContiguous: contiguousStrides(of: shape.reversed()).reversed()
        case .strides(let strides): strides
        }
    }
}
