package import MLNumerics
package import MLSpecification

extension SpecArrayFeatureType {
    /// The extents, unknown where the feature leaves a choice; empty when it declares none.
    package var flexibleShape: [Dimension] {
        switch shapeFlexibility {
        case .enumeratedShapes(let all):
            guard var result = all.shapes.first.map({ $0.shape.map { Dimension(Int(clamping: $0)) } }) else { break }
            for other in all.shapes where other.shape.count == result.count {
                for axis in result.indices where result[axis].count != Int(clamping: other.shape[axis]) {
                    result[axis] = .unknown
                }
            }
            return result
        case .shapeRange(let range):
            return range.sizeRanges.map(\.dimension)
        case nil: break
        }
        return shape.map { Dimension(Int(clamping: $0)) }
    }

    /// The scalar type of the multi-array.
    package func scalarType() throws(ModelError) -> ScalarType {
        switch dataType {
        case .float32: return .float32
        case .double: return .float64
        case .int32: return .int32
        case .int8: return .int8
        case .float16: return .float16
        default:
            throw ModelError(.invalidModel, "a multi-array of data type \(dataType.rawValue), which is not known")
        }
    }

    /// The value that fills an absent optional array; 0 when none is declared.
    package var defaultValue: Double {
        switch defaultOptionalValue {
        case .intDefaultValue(let value): Double(value)
        case .floatDefaultValue(let value): Double(value)
        case .doubleDefaultValue(let value): value
        case nil: 0
        }
    }
}

extension SpecSizeRange {
    /// The one extent of the range, unknown when there are several.
    package var dimension: Dimension {
        upperBound >= 0 && UInt64(upperBound) == lowerBound ? Dimension(Int(upperBound)) : .unknown
    }
}

extension SpecImageFeatureType {
    /// Size and colour layout, with unknown extents where the feature leaves a choice.
    package func form() throws(ModelError) -> ImageForm {
        let layout: ImageForm.ColorLayout
        switch colorSpace {
        case .rgb: layout = .rgb
        case .bgr: layout = .bgr
        case .grayscale: layout = .gray
        case .grayscaleFloat16: layout = .grayFloat16
        default: throw ModelError(.invalidModel, "an image of colour space \(colorSpace.rawValue), which is not known")
        }
        var sizes = [(Dimension(Int(clamping: width)), Dimension(Int(clamping: height)))]
        switch sizeFlexibility {
        case .enumeratedSizes(let all):
            sizes = all.sizes.map { (Dimension(Int(clamping: $0.width)), Dimension(Int(clamping: $0.height))) }
        case .imageSizeRange(let range):
            sizes = [(range.widthRange.dimension, range.heightRange.dimension)]
        case nil: break
        }
        guard let first = sizes.first else { throw ModelError(.invalidModel, "the image has no size to choose from") }
        return ImageForm(
            width: sizes.allSatisfy { $0.0 == first.0 } ? first.0 : .unknown,
            height: sizes.allSatisfy { $0.1 == first.1 } ? first.1 : .unknown,
            layout: layout
        )
    }
}
