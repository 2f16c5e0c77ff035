import MLSpecification

/// A feature of the interface as `metadata.json` describes it; numbers are texts there.
enum CompiledFeature {
    static func members(_ feature: SpecFeatureDescription) -> [JSONValue.Member] {
        let (type, formatted, details) = describe(feature.type)
        return [
            text("name", feature.name), text("type", type), text("formattedType", formatted),
            text("isOptional", feature.type.isOptional ? "1" : "0"),
            text("shortDescription", feature.shortDescription),
        ] + details
    }

    private static func describe(
        _ type: SpecFeatureType
    ) -> (type: String, formatted: String, details: [JSONValue.Member]) {
        switch type.type {
        case .multiArrayType(let array)?:
            return ("MultiArray", "MultiArray (\(summary(array)))", members(array))
        case .stateType(let state)?:
            return ("State", "State (\(summary(state.arrayType)))", members(state.arrayType))
        case .imageType(let image)?:
            let (space, kind) = colors(image.colorSpace)
            return ("Image", "Image (\(kind) \(image.width) × \(image.height))", members(image, space))
        case .dictionaryType(let dictionary)?:
            var key = "String"
            if case .int64KeyType? = dictionary.keyType { key = "Int64" }
            return ("Dictionary", "Dictionary (\(key) → Double)", [text("keyType", key)])
        case .sequenceType(let sequence)?:
            var element = "String"
            if case .int64Type? = sequence.type { element = "Int64" }
            return ("Sequence (\(element))", "Sequence (\(element))", [])
        case .int64Type?: return ("Int64", "Int64", [])
        case .doubleType?: return ("Double", "Double", [])
        case .stringType?: return ("String", "String", [])
        case nil: return ("unknown", "unknown", [])
        }
    }

    // MARK: Arrays

    private static func members(_ array: SpecArrayFeatureType) -> [JSONValue.Member] {
        var members = [
            text("dataType", dataType(array.dataType)), text("shape", list(array.shape)),
            text("hasShapeFlexibility", array.shapeFlexibility == nil ? "0" : "1"),
        ]
        switch array.shapeFlexibility {
        case .shapeRange(let range)?:
            members.append(text("shapeFlexibility", range.sizeRanges.map(span).joined(separator: " × ")))
            members.append(text("shapeRange", bounds(range.sizeRanges)))
        case .enumeratedShapes(let shapes)?:
            members.append(
                text("shapeFlexibility", shapes.shapes.map { product($0.shape) }.joined(separator: " | "))
            )
            members.append(
                text("enumeratedShapes", "[" + shapes.shapes.map { list($0.shape) }.joined(separator: ", ") + "]")
            )
        case nil: break
        }
        return members
    }

    private static func summary(_ array: SpecArrayFeatureType) -> String {
        array.shape.isEmpty ? dataType(array.dataType) : "\(dataType(array.dataType)) \(product(array.shape))"
    }

    private static func dataType(_ type: SpecArrayFeatureType.ArrayDataType) -> String {
        switch type {
        case .float32: "Float32"
        case .double: "Double"
        case .int32: "Int32"
        case .int8: "Int8"
        case .float16: "Float16"
        case .invalidArrayDataType, .UNRECOGNIZED: "unknown"
        }
    }

    // MARK: Images

    private static func members(_ image: SpecImageFeatureType, _ space: String) -> [JSONValue.Member] {
        var members = [
            text("width", "\(image.width)"), text("height", "\(image.height)"), text("colorspace", space),
            text("isColor", space == "RGB" || space == "BGR" ? "1" : "0"),
            text("hasSizeFlexibility", image.sizeFlexibility == nil ? "0" : "1"),
        ]
        switch image.sizeFlexibility {
        case .imageSizeRange(let range)?:
            members.append(text("sizeFlexibility", "\(span(range.widthRange)) × \(span(range.heightRange))"))
            members.append(text("sizeRange", bounds([range.widthRange, range.heightRange])))
        case .enumeratedSizes(let sizes)?:
            members.append(
                text("sizeFlexibility", sizes.sizes.map { "\($0.width) × \($0.height)" }.joined(separator: " | "))
            )
            let pairs = sizes.sizes.map { "[\($0.width), \($0.height)]" }
            members.append(text("enumeratedSizes", "[" + pairs.joined(separator: ", ") + "]"))
        case nil: break
        }
        return members
    }

    /// The color space, and its name in the formatted type.
    private static func colors(_ space: SpecImageFeatureType.ColorSpace) -> (space: String, kind: String) {
        switch space {
        case .grayscale: ("Grayscale", "Grayscale")
        case .rgb: ("RGB", "Color")
        case .bgr: ("BGR", "Color")
        case .grayscaleFloat16: ("GrayscaleFloat16", "Grayscale16Half")
        case .invalidColorSpace, .UNRECOGNIZED: ("unknown", "unknown")
        }
    }

    // MARK: Forms

    private static func text(_ name: String, _ value: String) -> JSONValue.Member { .init(name, .string(value)) }

    private static func list(_ numbers: [Int64]) -> String {
        "[" + numbers.map { "\($0)" }.joined(separator: ", ") + "]"
    }

    private static func product(_ numbers: [Int64]) -> String { numbers.map { "\($0)" }.joined(separator: " × ") }

    /// A range of extents: a number when there is only one, open when there is no upper bound.
    private static func span(_ range: SpecSizeRange) -> String {
        if range.upperBound < 0 { return "\(range.lowerBound)..." }
        return range.upperBound == Int64(clamping: range.lowerBound)
            ? "\(range.lowerBound)" : "\(range.lowerBound)...\(range.upperBound)"
    }

    private static func bounds(_ ranges: [SpecSizeRange]) -> String {
        "[" + ranges.map { "[\($0.lowerBound), \($0.upperBound)]" }.joined(separator: ", ") + "]"
    }
}
