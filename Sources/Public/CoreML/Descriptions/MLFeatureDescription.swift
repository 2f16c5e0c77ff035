package import MLSpecification

/// The type that the keys of a dictionary feature have.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLDictionaryConstraint: NSObject, @unchecked Sendable {
    /// The type of the keys: `.string` or `.int64`.
    public let keyType: MLFeatureType

    init(keyType: MLFeatureType) { self.keyType = keyType }
    /// The type as text: `Dictionary (String → Double)`.
    open override var description: String { "Dictionary (\(keyType) → Double)" }
}

/// The type and number of the elements of a sequence feature.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLSequenceConstraint: NSObject, @unchecked Sendable {
    /// A description of each element; its type is `.string` or `.int64`.
    public let valueDescription: MLFeatureDescription
    let counts: ClosedRange<Int>
    /// A range that contains the allowed numbers of elements; without an upper bound it is as long as possible.
    public var countRange: NSRange { NSRange(extents: counts) }

    init(_ feature: SpecSequenceFeatureType) {
        var element = SpecFeatureDescription()
        switch feature.type {
        case .int64Type(let type)?: element.type.int64Type = type
        default: element.type.stringType = feature.stringType
        }
        valueDescription = MLFeatureDescription(element)
        counts = feature.hasSizeRange ? feature.sizeRange.extents : 0...Int.max
    }

    /// The type as text: `Sequence (String, (1…5) elements)`.
    open override var description: String {
        let isAny = counts.lowerBound == 0 && counts.upperBound == Int.max
        return "Sequence (\(valueDescription.type)" + (isAny ? ")" : ", \(extentText(counts)) elements)")
    }
}

/// The shape and element type of the buffer of a state feature.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLStateConstraint: NSObject, @unchecked Sendable {
    /// The extent of each of the buffer's axes, outermost first.
    public let bufferShape: [Int]
    /// The buffer's element type.
    public let dataType: MLMultiArrayDataType

    init(_ array: SpecArrayFeatureType) {
        bufferShape = array.shape.map { Int($0) }
        dataType = MLMultiArrayDataType(rawValue: array.dataType.rawValue) ?? .float16
    }

    /// The type as text: `State (Float16, 1 × 8 × 128)`.
    open override var description: String {
        "State (\(dataType.name), \(bufferShape.map(String.init).joined(separator: " × ")))"
    }
}

/// The name and type of an input, output or state of a model, and the values that it allows.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLFeatureDescription: NSObject, @unchecked Sendable {
    /// The feature's name, unique among the model's inputs, outputs or states.
    public let name: String
    /// The type of the feature's values.
    public let type: MLFeatureType
    /// Whether a prediction may leave the feature out.
    public let isOptional: Bool
    /// The allowed sizes and the pixel format of an image feature; `nil` for other types.
    public let imageConstraint: MLImageConstraint?
    /// The element type and the allowed shapes of a multi-array feature; `nil` for other types.
    public let multiArrayConstraint: MLMultiArrayConstraint?
    /// The key type of a dictionary feature; `nil` for other types.
    public let dictionaryConstraint: MLDictionaryConstraint?
    /// The element type and the allowed lengths of a sequence feature; `nil` for other types.
    public let sequenceConstraint: MLSequenceConstraint?
    /// The shape and element type of a state feature; `nil` for other types.
    public let stateConstraint: MLStateConstraint?
    /// The model author's description of the feature; empty without one.
    package let shortDescription: String

    package init(_ feature: SpecFeatureDescription) {
        var image: MLImageConstraint?
        var array: MLMultiArrayConstraint?
        var dictionary: MLDictionaryConstraint?
        var sequence: MLSequenceConstraint?
        var state: MLStateConstraint?
        switch feature.type.type {
        case .int64Type?: type = .int64
        case .doubleType?: type = .double
        case .stringType?: type = .string
        case .imageType(let constraint)?:
            type = .image
            image = MLImageConstraint(constraint)
        case .multiArrayType(let constraint)?:
            type = .multiArray
            array = MLMultiArrayConstraint(constraint)
        case .dictionaryType(let constraint)?:
            type = .dictionary
            if case .int64KeyType? = constraint.keyType {
                dictionary = MLDictionaryConstraint(keyType: .int64)
            } else {
                dictionary = MLDictionaryConstraint(keyType: .string)
            }
        case .sequenceType(let constraint)?:
            type = .sequence
            sequence = MLSequenceConstraint(constraint)
        case .stateType(let constraint)?:
            type = .state
            state = MLStateConstraint(constraint.arrayType)
        case nil: type = .invalid
        }
        name = feature.name
        isOptional = feature.type.isOptional
        shortDescription = feature.shortDescription
        imageConstraint = image
        multiArrayConstraint = array
        dictionaryConstraint = dictionary
        sequenceConstraint = sequence
        stateConstraint = state
    }

    /// Whether the feature can have the given value.
    ///
    /// Integers and doubles are accepted for each other, as predictions convert them; an undefined value is allowed
    /// when the feature is optional.
    public func isAllowedValue(_ value: MLFeatureValue) -> Bool { validationFailure(for: value) == nil }

    /// The type and its constraints as text: `Image (Color, 224 × 224)`.
    package var typeText: String {
        let constraint: NSObject? =
            imageConstraint ?? multiArrayConstraint ?? dictionaryConstraint ?? sequenceConstraint ?? stateConstraint
        return (constraint?.description ?? type.description) + (isOptional ? ", optional" : "")
    }

    /// The name and the type as text: `image : Image (Color, 224 × 224)`.
    open override var description: String { "\(name) : \(typeText)" }

    /// The reason why `value` cannot be used, to follow the feature's name; `nil` when it can.
    ///
    /// - Parameters:
    ///   - value: The value to check.
    ///   - allowsLegacyRanks: Whether arrays may carry the sequence and batch axes of old neural networks.
    /// - Returns: A predicate such as "is a String, but must be a Double".
    func validationFailure(for value: MLFeatureValue, allowsLegacyRanks: Bool = false) -> String? {
        if value.isUndefined { return isOptional ? nil : "has no value, but is not optional" }
        // A number is a number: integers and doubles are converted.
        if type == .int64 || type == .double, value.type == .int64 || value.type == .double { return nil }
        guard value.type == type else { return "is a \(value.type), but must be a \(type)" }
        switch value.content {
        case .image(let buffer):
            guard let constraint = imageConstraint?.sizeConstraint else { return nil }
            if !constraint.allows(width: buffer.width, height: buffer.height) {
                return "is an image of \(buffer.width) × \(buffer.height) pixels, but must be \(constraint.text)"
            }
        case .multiArray(let array):
            guard let constraint = multiArrayConstraint else { return nil }
            let stated = constraint.extents.count
            if allowsLegacyRanks, array.extents.count == 5 || array.extents.count == stated + 2 { return nil }
            if let failure = constraint.shapeConstraint.validationFailure(for: array.extents) {
                let shape = array.extents.map(String.init).joined(separator: " × ")
                return "is an array of shape \(shape), but must be \(constraint.shapeConstraint.text): \(failure)"
            }
        case .strings(let values):
            if dictionaryConstraint?.keyType == .int64, !values.isEmpty {
                return "is a dictionary with string keys, but must have integer keys"
            }
        case .sequence(let sequence):
            guard let constraint = sequenceConstraint else { return nil }
            if sequence.type != constraint.valueDescription.type {
                return "is a sequence of \(sequence.type), but must be one of \(constraint.valueDescription.type)"
            }
            let count = sequence.stringValues.count + sequence.int64Values.count
            if !constraint.counts.contains(count) {
                return "is a sequence of \(count) elements, but must have \(extentText(constraint.counts))"
            }
        default: break
        }
        return nil
    }
}
