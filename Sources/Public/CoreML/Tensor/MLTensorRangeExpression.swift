/// What a subscript of a tensor takes of an axis: an index, a range, or one of the named forms such as `.newAxis`.
///
/// `Int`, `Range`, `ClosedRange`, `PartialRangeFrom`, `PartialRangeUpTo` and `PartialRangeThrough` conform; other types
/// cannot be used, even if they conform. Indices and bounds may be negative and then count from the end of the axis.
public protocol MLTensorRangeExpression: Sendable {}

/// A form of subscript that has a name or a stride; see `MLTensorRangeExpression`.
public struct _MLTensorRange: MLTensorRangeExpression {
    let part: TensorAxisPart
}

/// What is taken of an axis.
enum TensorAxisPart: Sendable {
    /// As many whole axes as the others leave.
    case fill
    case new
    case squeeze
    case index(Int)
    /// From `begin` up to but not including `end`; `nil` for the ends of the axis.
    case slice(begin: Int?, end: Int?, stride: Int)

    /// The whole axis.
    static let whole = TensorAxisPart.slice(begin: nil, end: nil, stride: 1)

    /// Up to and including an index, of which −1 is the last one.
    static func through(_ index: Int, from begin: Int?, stride: Int) -> TensorAxisPart {
        .slice(begin: begin, end: index == -1 ? nil : index + 1, stride: stride)
    }

    init(_ expression: (any MLTensorRangeExpression)?) {
        switch expression {
        case nil: self = .whole
        case let index as Int: self = .index(index)
        case let range as Range<Int>: self = .slice(begin: range.lowerBound, end: range.upperBound, stride: 1)
        case let range as ClosedRange<Int>: self = .through(range.upperBound, from: range.lowerBound, stride: 1)
        case let range as PartialRangeFrom<Int>: self = .slice(begin: range.lowerBound, end: nil, stride: 1)
        case let range as PartialRangeUpTo<Int>: self = .slice(begin: nil, end: range.upperBound, stride: 1)
        case let range as PartialRangeThrough<Int>: self = .through(range.upperBound, from: nil, stride: 1)
        case let range as _MLTensorRange: self = range.part
        case .some(let other):
            fatalError("MLTensor.subscript: \(type(of: other)) is no index; use an Int or a range of Int")
        }
    }
}

extension Int: MLTensorRangeExpression {}
extension Range: MLTensorRangeExpression where Bound == Int {}
extension ClosedRange: MLTensorRangeExpression where Bound == Int {}
extension PartialRangeFrom: MLTensorRangeExpression where Bound == Int {}
extension PartialRangeUpTo: MLTensorRangeExpression where Bound == Int {}
extension PartialRangeThrough: MLTensorRangeExpression where Bound == Int {}

extension MLTensorRangeExpression where Self == _MLTensorRange {
    /// All axes that the other expressions leave, whole; `...` means the same.
    public static var fillAll: any MLTensorRangeExpression { _MLTensorRange(part: .fill) }
    /// A new axis of extent 1.
    public static var newAxis: any MLTensorRangeExpression { _MLTensorRange(part: .new) }
    /// An axis of extent 1, which is removed.
    public static var squeezeAxis: any MLTensorRangeExpression { _MLTensorRange(part: .squeeze) }

    /// One index of an axis, which is removed.
    public static func index(_ index: Int) -> any MLTensorRangeExpression { _MLTensorRange(part: .index(index)) }

    /// Every `stride`-th index of a range.
    public static func range(_ range: Range<Int>, stride: Int = 1) -> any MLTensorRangeExpression {
        _MLTensorRange(part: .slice(begin: range.lowerBound, end: range.upperBound, stride: stride))
    }

    /// Every `stride`-th index of a range that includes its upper bound.
    public static func closedRange(_ range: ClosedRange<Int>, stride: Int = 1) -> any MLTensorRangeExpression {
        _MLTensorRange(part: .through(range.upperBound, from: range.lowerBound, stride: stride))
    }

    /// Every `stride`-th index from a bound on.
    public static func partialRangeFrom(
        _ range: PartialRangeFrom<Int>,
        stride: Int = 1
    ) -> any MLTensorRangeExpression {
        _MLTensorRange(part: .slice(begin: range.lowerBound, end: nil, stride: stride))
    }

    /// Every `stride`-th index up to but not including a bound.
    public static func partialRangeUpTo(
        _ range: PartialRangeUpTo<Int>,
        stride: Int = 1
    ) -> any MLTensorRangeExpression {
        _MLTensorRange(part: .slice(begin: nil, end: range.upperBound, stride: stride))
    }

    /// Every `stride`-th index up to and including a bound.
    public static func partialRangeUpTo(
        _ range: PartialRangeThrough<Int>,
        stride: Int = 1
    ) -> any MLTensorRangeExpression {
        _MLTensorRange(part: .through(range.upperBound, from: nil, stride: stride))
    }
}
