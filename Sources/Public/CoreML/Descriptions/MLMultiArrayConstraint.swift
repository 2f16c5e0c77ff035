package import MLSpecification

/// The form in which a model states the allowed shapes of a multi-array.
public enum MLMultiArrayShapeConstraintType: Int, Sendable {
    /// The model states no shape: every shape is allowed.
    case unspecified = 1
    /// The model lists the allowed shapes; a fixed shape is a list of one.
    case enumerated = 2
    /// The model gives a range of extents for each axis.
    case range = 3
}

/// The shapes that a multi-array feature may have.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLMultiArrayShapeConstraint: NSObject, @unchecked Sendable {
    /// The form in which the model states the shapes.
    public let type: MLMultiArrayShapeConstraintType
    private let shapes: [[Int]]
    let ranges: [ClosedRange<Int>]

    /// The allowed shapes when `type` is `.enumerated`; otherwise empty.
    public var enumeratedShapes: [[NSNumber]] { shapes.map { $0.map { NSNumber(value: $0) } } }
    /// The allowed extents of each axis, outermost first, when `type` is `.range`; otherwise empty.
    ///
    /// Each value holds an `NSRange` that contains the extents; without an upper bound it is as long as possible.
    public var sizeRangeForDimension: [NSValue] { ranges.map { NSValue(range: NSRange(extents: $0)) } }

    init(_ feature: SpecArrayFeatureType) {
        let fixed = feature.shape.map { Int($0) }
        switch feature.shapeFlexibility {
        case .enumeratedShapes(let choices)? where !choices.shapes.isEmpty:
            type = .enumerated
            shapes = choices.shapes.map { $0.shape.map { Int($0) } }
            ranges = []
        case .shapeRange(let range)? where !range.sizeRanges.isEmpty:
            type = .range
            shapes = []
            ranges = range.sizeRanges.map { $0.extents }
        default:
            type = fixed.isEmpty ? .unspecified : .enumerated
            shapes = fixed.isEmpty ? [] : [fixed]
            ranges = []
        }
    }

    /// The reason why `shape` is not allowed, in Core ML's words; `nil` when it is allowed.
    func validationFailure(for shape: [Int]) -> String? {
        switch type {
        case .unspecified: return nil
        case .enumerated:
            // Core ML has no arrays of rank 0: a number is an array of one element.
            guard !shapes.contains(shape), !(shape == [1] && shapes.contains([])) else { return nil }
            let text = shape.map(String.init).joined(separator: " x ")
            return "MultiArray Shape (\(text)) was not in enumerated set of allowed shapes"
        case .range:
            guard ranges.count == shape.count else {
                return "MultiArray has \(shape.count) dimensions, not \(ranges.count)"
            }
            for (axis, (range, extent)) in zip(ranges, shape).enumerated() where !range.contains(extent) {
                let upper = range.upperBound == .max ? "-1" : "\(range.upperBound)"
                return "Size (\(extent)) of dimension (\(axis)) is not in allowed range (\(range.lowerBound)..\(upper))"
            }
            return nil
        }
    }

    var text: String {
        switch type {
        case .unspecified: "any shape"
        case .enumerated:
            shapes.map { $0.map(String.init).joined(separator: " × ") }.joined(separator: " or ")
        case .range: ranges.map { extentText($0) }.joined(separator: " × ")
        }
    }

    /// The allowed shapes as text.
    open override var description: String { text }
}

/// The element type and the allowed shapes of a multi-array feature.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLMultiArrayConstraint: NSObject, @unchecked Sendable {
    /// The element type; arrays of other types are converted to it.
    public let dataType: MLMultiArrayDataType
    let extents: [Int]
    /// The shape that the model declares, outermost axis first; the default one where shapes are flexible.
    public var shape: [NSNumber] { extents.map { NSNumber(value: $0) } }
    /// The allowed shapes.
    public let shapeConstraint: MLMultiArrayShapeConstraint

    package init(_ feature: SpecArrayFeatureType) {
        dataType = MLMultiArrayDataType(rawValue: feature.dataType.rawValue) ?? .double
        extents = feature.shape.map { Int($0) }
        shapeConstraint = MLMultiArrayShapeConstraint(feature)
    }

    /// The type as text: `MultiArray (Float32, 1 × 3 × 224 × 224)`.
    open override var description: String { "MultiArray (\(dataType.name), \(shapeConstraint.text))" }
}

extension SpecSizeRange {
    /// The allowed extents; without an upper bound, up to the largest number.
    var extents: ClosedRange<Int> {
        let lower = Int(clamping: lowerBound)
        return lower...(upperBound < 0 ? Int.max : max(Int(upperBound), lower))
    }
}

extension NSRange {
    /// The range that contains the given extents.
    init(extents: ClosedRange<Int>) {
        let length = extents.upperBound == Int.max ? Int.max - extents.lowerBound : extents.count
        self.init(location: extents.lowerBound, length: length)
    }
}

func extentText(_ range: ClosedRange<Int>) -> String {
    if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
    return range.upperBound == Int.max ? "(\(range.lowerBound) or more)" : "(\(range.lowerBound)…\(range.upperBound))"
}
