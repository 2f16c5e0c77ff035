package import MLSpecification

extension SpecFeatureDescription {
    /// The feature's type as a person reads it: "image 224 × 224 RGB", "float32 [1, 3, 224, 224]".
    package var typeText: String {
        let text: String
        switch type.type {
        case .int64Type?: text = "integer"
        case .doubleType?: text = "number"
        case .stringType?: text = "string"
        case .imageType(let image)?: text = "image \(image.sizeText) \(image.colorText)"
        case .multiArrayType(let array)?: text = "\(array.dataTypeText) \(array.shapeText)"
        case .dictionaryType(let dictionary)?:
            if case .int64KeyType? = dictionary.keyType {
                text = "dictionary integer → number"
            } else {
                text = "dictionary string → number"
            }
        case .sequenceType(let sequence)?:
            if case .int64Type? = sequence.type { text = "sequence of integers" } else { text = "sequence of strings" }
        case .stateType(let state)?: text = "state \(state.arrayType.dataTypeText) \(state.arrayType.shapeText)"
        case nil: text = "unknown"
        }
        return type.isOptional ? text + ", optional" : text
    }
}

extension SpecArrayFeatureType {
    package var dataTypeText: String {
        switch dataType {
        case .float16: "float16"
        case .float32: "float32"
        case .double: "float64"
        case .int32: "int32"
        case .int8: "int8"
        default: "multi-array"
        }
    }

    package var shapeText: String {
        switch shapeFlexibility {
        case .enumeratedShapes(let all)?:
            return "one of " + all.shapes.map { Self.text($0.shape.map { "\($0)" }) }.joined(separator: ", ")
        case .shapeRange(let range)?:
            return Self.text(range.sizeRanges.map(\.text))
        case nil: return Self.text(shape.map { "\($0)" })
        }
    }

    private static func text(_ extents: [String]) -> String { "[\(extents.joined(separator: ", "))]" }
}

extension SpecImageFeatureType {
    package var sizeText: String {
        switch sizeFlexibility {
        case .enumeratedSizes(let all)?:
            "one of " + all.sizes.map { "\($0.width) × \($0.height)" }.joined(separator: ", ")
        case .imageSizeRange(let range)?:
            "\(range.widthRange.text) × \(range.heightRange.text) (\(width) × \(height) by default)"
        case nil: "\(width) × \(height)"
        }
    }

    package var colorText: String {
        switch colorSpace {
        case .rgb: "RGB"
        case .bgr: "BGR"
        case .grayscale: "grey"
        case .grayscaleFloat16: "grey float16"
        default: "of unknown colours"
        }
    }
}

extension SpecSizeRange {
    /// A number when there is one only, open above when there is no greatest.
    fileprivate var text: String {
        if upperBound < 0 { return "\(lowerBound)…" }
        return Int64(clamping: lowerBound) == upperBound ? "\(lowerBound)" : "\(lowerBound)…\(upperBound)"
    }
}
