import MLFiles
import MLNumerics
import MLSpecification

/// A feature of the interface as generated source declares, wraps and reads it.
struct GeneratedFeature {
    enum Key: String {
        case string = "String"
        case integer = "Int64"
    }

    /// The size that images are brought to; `nil` when the model states none.
    struct ImageFormat {
        let size: (width: Int64, height: Int64)?
        let pixelFormat: String
    }

    enum Kind {
        case integer
        case number
        case string
        case image(ImageFormat)
        /// Of the elements' type in Swift.
        case array(String)
        case dictionary(Key)
        case sequence(Key)
    }

    /// The name in the model.
    let name: String
    let identifier: String
    let kind: Kind
    let isOptional: Bool
    /// Documentation lines.
    let comment: [String]

    var literal: String { SourceText.literal(name) }

    var baseType: String {
        switch kind {
        case .integer: "Int64"
        case .number: "Double"
        case .string: "String"
        case .image: "CVPixelBuffer"
        case .array: "MLMultiArray"
        case .dictionary(let key): "[\(key.rawValue): Double]"
        case .sequence(let element): "[\(element.rawValue)]"
        }
    }

    var type: String { baseType + (isOptional ? "?" : "") }

    /// The type of an array's elements; `nil` for other features.
    var scalar: String? { if case .array(let scalar) = kind { scalar } else { nil } }

    /// The shape of an image that can be converted; `nil` for other features and for images of no stated size.
    var convertible: (width: Int64, height: Int64, format: String)? {
        guard case .image(let format) = kind, let size = format.size else { return nil }
        return (size.width, size.height, format.pixelFormat)
    }

    // MARK: Expressions

    /// The expression of a feature value around the variable `name`; optional when the feature is.
    func wrapped(_ name: String) -> String { isOptional ? "\(name).map { \(value("$0")) }" : value(name) }

    private func value(_ name: String) -> String {
        switch kind {
        case .integer: "MLFeatureValue(int64: \(name))"
        case .number: "MLFeatureValue(double: \(name))"
        case .string: "MLFeatureValue(string: \(name))"
        case .image: "MLFeatureValue(pixelBuffer: \(name))"
        case .array: "MLFeatureValue(multiArray: \(name))"
        case .dictionary: "try! MLFeatureValue(dictionary: \(name) as [AnyHashable: NSNumber])"
        case .sequence(.string): "MLFeatureValue(sequence: MLSequence(strings: \(name)))"
        // `$0` of the optional form would be hidden by that of the conversion.
        case .sequence(.integer):
            "MLFeatureValue(sequence: MLSequence(int64s: \(name).map(NSNumber.init(value:))))"
        }
    }

    /// The expression that reads the feature from `provider`.
    func read(from provider: String) -> String {
        let value = "\(provider).featureValue(for: \(literal))" + (isOptional ? "?" : "!")
        let ending = isOptional ? "" : "!"
        return switch kind {
        case .integer: value + ".int64Value"
        case .number: value + ".doubleValue"
        case .string: value + ".stringValue"
        case .image: value + ".imageBufferValue" + ending
        case .array: value + ".multiArrayValue" + ending
        case .dictionary: value + ".dictionaryValue as" + (isOptional ? "? " : "! ") + baseType
        case .sequence(.string): value + ".sequenceValue" + (isOptional ? "?" : "!") + ".stringValues"
        case .sequence(.integer):
            value + ".sequenceValue" + (isOptional ? "?" : "!") + ".int64Values.map { $0.int64Value }"
        }
    }

    // MARK: Reading the specification

    /// The features of one side of an interface.
    ///
    /// - Parameters:
    ///   - descriptions: The features that the interface declares.
    ///   - taken: Identifiers that none of them may have, in addition to the reserved ones.
    /// - Returns: The features in their order, with unique Swift identifiers.
    /// - Throws: `.unsupported` for a feature that has no Swift type, `.invalidModel` for two of one name.
    static func features(
        _ descriptions: [SpecFeatureDescription],
        taken: Set<String>
    ) throws(ModelError) -> [GeneratedFeature] {
        let names = descriptions.map(\.name)
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw ModelError(.invalidModel, "Two features are called '\(SourceText.line(name))'; rename one of them.")
        }
        let identifiers = SwiftIdentifier.unique(names, taken: taken)
        var result: [GeneratedFeature] = []
        for (description, identifier) in zip(descriptions, identifiers) {
            let feature = try withErrorContext(SourceText.line(description.name)) { () throws(ModelError) in
                try GeneratedFeature(description, identifier)
            }
            result.append(feature)
        }
        return result
    }

    private init(_ feature: SpecFeatureDescription, _ identifier: String) throws(ModelError) {
        name = feature.name
        self.identifier = identifier
        isOptional = feature.type.isOptional
        let (kind, text) = try Self.kind(feature.type)
        self.kind = kind
        var lines = SourceText.comment(feature.shortDescription)
        if !lines.isEmpty { lines.append("///") }
        lines.append("/// " + text + (isOptional ? ", optional" : "") + ".")
        if identifier != feature.name { lines.append("/// The model calls it \(SourceText.literal(feature.name)).") }
        comment = lines
    }

    private static func kind(_ type: SpecFeatureType) throws(ModelError) -> (Kind, String) {
        switch type.type {
        case .int64Type?: return (.integer, "An integer")
        case .doubleType?: return (.number, "A number")
        case .stringType?: return (.string, "A text")
        case .imageType(let image)?: return imageKind(image)
        case .multiArrayType(let array)?: return try self.array(array)
        case .dictionaryType(let dictionary)?:
            if case .int64KeyType? = dictionary.keyType { return (.dictionary(.integer), "Numbers by integer") }
            return (.dictionary(.string), "Numbers by text")
        case .sequenceType(let sequence)?:
            if case .int64Type? = sequence.type { return (.sequence(.integer), "A list of integers") }
            return (.sequence(.string), "A list of texts")
        case .stateType?:
            throw ModelError(.invalidModel, "A state is listed among the inputs or outputs; convert the model again.")
        case nil:
            throw ModelError(.invalidModel, "The feature has no type that is known; convert the model again.")
        }
    }

    private static func array(_ array: SpecArrayFeatureType) throws(ModelError) -> (Kind, String) {
        let scalar =
            switch array.dataType {
            case .float32: "Float"
            case .double: "Double"
            case .int32: "Int32"
            case .int8: "Int8"
            case .float16: "Float16"
            case .invalidArrayDataType, .UNRECOGNIZED: ""
            }
        guard !scalar.isEmpty else {
            throw ModelError(
                .unsupported,
                "The elements of the array are of no type that is known (\(array.dataType.rawValue)); convert the model "
                    + "again."
            )
        }
        let shape = array.shape.map { "\($0)" }.joined(separator: " × ")
        let location = shape.isEmpty ? "" : array.shapeFlexibility == nil ? ", \(shape)" : ", \(shape) or other shapes"
        return (.array(scalar), "An array of \(scalar)\(location)")
    }

    private static func imageKind(_ image: SpecImageFeatureType) -> (Kind, String) {
        let (format, color) =
            switch image.colorSpace {
            case .grayscale: ("kCVPixelFormatType_OneComponent8", "grey")
            case .grayscaleFloat16: ("kCVPixelFormatType_OneComponent16Half", "grey, of half precision")
            default: ("kCVPixelFormatType_32ARGB", "in colour")
            }
        guard let size = size(of: image) else {
            return (.image(ImageFormat(size: nil, pixelFormat: format)), "A picture \(color)")
        }
        let flexible = image.sizeFlexibility == nil ? "" : " or other sizes"
        return (
            .image(ImageFormat(size: size, pixelFormat: format)),
            "A picture \(color), \(size.width) × \(size.height) pixels\(flexible)"
        )
    }

    /// The default size, else the first or smallest that is allowed.
    private static func size(of image: SpecImageFeatureType) -> (width: Int64, height: Int64)? {
        var size = (width: image.width, height: image.height)
        if size.width <= 0 || size.height <= 0 {
            switch image.sizeFlexibility {
            case .enumeratedSizes(let choices)?:
                guard let first = choices.sizes.first else { return nil }
                size = (Int64(clamping: first.width), Int64(clamping: first.height))
            case .imageSizeRange(let range)?:
                size = (Int64(clamping: range.widthRange.lowerBound), Int64(clamping: range.heightRange.lowerBound))
            case nil: return nil
            }
        }
        return size.width > 0 && size.height > 0 ? size : nil
    }
}
