/// A number that a shaped array holds.
public protocol MLShapedArrayScalar: BitwiseCopyable, Sendable, Equatable {
    /// The multi-array element type of the same form.
    static var multiArrayDataType: MLMultiArrayDataType { get }
}

extension Float: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .float32 }
}

extension Double: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .double }
}

extension Float16: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .float16 }
}

extension Int32: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .int32 }
}

extension Int8: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .int8 }
}

/// A range that selects part of an axis of a shaped array.
public protocol MLShapedArrayRangeExpression {
    /// The range with its open ends filled in from the axis.
    func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int>
}

extension Range: MLShapedArrayRangeExpression where Bound == Int {
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { self }
}

extension ClosedRange: MLShapedArrayRangeExpression where Bound == Int {
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { lowerBound..<upperBound + 1 }
}

extension PartialRangeFrom: MLShapedArrayRangeExpression where Bound == Int {
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { lowerBound..<range.upperBound }
}

extension PartialRangeUpTo: MLShapedArrayRangeExpression where Bound == Int {
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { range.lowerBound..<upperBound }
}

extension PartialRangeThrough: MLShapedArrayRangeExpression where Bound == Int {
    public func relative(toShapedArrayAxis range: Range<Int>) -> Range<Int> { range.lowerBound..<upperBound + 1 }
}

/// How the elements of a shaped array lie in memory.
public enum MLShapedArrayBufferLayout: Sendable {
    /// Row-major, without gaps.
    case firstMajorContiguous
    /// Column-major, without gaps.
    case lastMajorContiguous
    /// The given number of elements between neighbours along each axis.
    case strides([Int])

    func strides(of shape: [Int]) -> [Int] {
        switch self {
        case .firstMajorContiguous: contiguousStrides(of: shape)
        case .lastMajorContiguous: contiguousStrides(of: shape.reversed()).reversed()
        case .strides(let strides): strides
        }
    }
}
