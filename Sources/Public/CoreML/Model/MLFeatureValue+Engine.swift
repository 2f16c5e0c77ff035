import MLEngine
import MLNumerics

extension MLFeatureValue {
    /// The value in the engine's form.
    ///
    /// It has been accepted by `MLFeatureDescription.validationFailure(for:)` before.
    func engineData(for description: MLFeatureDescription) throws -> FeatureData {
        switch content {
        case .undefined:
            throw MLModelError(.featureType, "The input \"\(description.name)\" has no value.")
        case .int64(let value): return description.type == .double ? .double(Double(value)) : .int64(value)
        case .double(let value):
            guard description.type == .int64 else { return .double(value) }
            return .int64(Int64(saturating: value))
        case .string(let value): return .string(value)
        case .multiArray(let array): return .tensor(array.tensor())
        case .strings(let values):
            if values.isEmpty, description.dictionaryConstraint?.keyType == .int64 {
                return .dictionary(.integers([:]))
            }
            return .dictionary(.strings(values))
        case .integers(let values): return .dictionary(.integers(values))
        case .sequence(let sequence):
            return .sequence(
                sequence.type == .string
                    ? .strings(sequence.stringValues) : .integers(sequence.int64Values.map { $0.int64Value })
            )
        case .image(let buffer):
            let isGray = description.imageConstraint?.isGray ?? false
            if let image = ImageBuffer(buffer), image.isGray == isGray { return .image(image) }
            let format = isGray ? kCVPixelFormatType_OneComponent8 : kCVPixelFormatType_32BGRA
            guard let bitmap = buffer.bitmap, let converted = CVBuffer(bitmap, pixelFormatType: format),
                let image = ImageBuffer(converted)
            else {
                throw MLModelError(
                    .featureType,
                    "The input \"\(description.name)\" is a \(buffer), whose pixel format holds no image; use "
                        + (isGray ? "OneComponent8." : "32BGRA.")
                )
            }
            return .image(image)
        }
    }

    /// Makes the value of an engine's output; `description` decides the element type of arrays.
    convenience init(_ data: FeatureData, _ description: MLFeatureDescription?) throws {
        switch data {
        case .int64(let value): self.init(content: .int64(value))
        case .double(let value): self.init(content: .double(value))
        case .string(let value): self.init(content: .string(value))
        case .tensor(let tensor):
            self.init(multiArray: MLMultiArray(tensor, as: description?.multiArrayConstraint?.dataType))
        case .image(let image):
            guard let buffer = CVBuffer(image) else {
                throw MLModelError(.generic, "The model made an image of \(image.width) × \(image.height) pixels.")
            }
            self.init(pixelBuffer: buffer)
        case .dictionary(.strings(let values)): self.init(content: .strings(values))
        case .dictionary(.integers(let values)): self.init(content: .integers(values))
        case .sequence(.strings(let values)): self.init(sequence: MLSequence(strings: values))
        case .sequence(.integers(let values)):
            self.init(sequence: MLSequence(int64s: values.map { NSNumber(value: $0) }))
        }
    }
}

extension ImageBuffer {
    var isGray: Bool { format == .gray8 || format == .gray16Float }

    /// The pixels of a buffer, in place; `nil` when engines do not read its format.
    init?(_ buffer: CVPixelBuffer) {
        let format: PixelFormat
        switch buffer.pixelFormatType {
        case kCVPixelFormatType_32BGRA: format = .bgra8
        case kCVPixelFormatType_32RGBA: format = .rgba8
        case kCVPixelFormatType_32ARGB: format = .argb8
        case kCVPixelFormatType_24RGB: format = .rgb8
        case kCVPixelFormatType_OneComponent8: format = .gray8
        case kCVPixelFormatType_OneComponent16Half: format = .gray16Float
        default: return nil
        }
        self.init(
            width: buffer.width,
            height: buffer.height,
            bytesPerRow: buffer.planes[0].bytesPerRow,
            format: format,
            address: buffer.planes[0].address,
            owner: buffer
        )
    }
}

extension CVBuffer {
    /// Makes a buffer over the pixels of an engine's image, without copying them.
    convenience init?(_ image: ImageBuffer) {
        let type =
            switch image.format {
            case .bgra8: kCVPixelFormatType_32BGRA
            case .rgba8: kCVPixelFormatType_32RGBA
            case .argb8: kCVPixelFormatType_32ARGB
            case .rgb8: kCVPixelFormatType_24RGB
            case .gray8: kCVPixelFormatType_OneComponent8
            case .gray16Float: kCVPixelFormatType_OneComponent16Half
            }
        let owner = image.owner
        self.init(
            width: image.width,
            height: image.height,
            pixelFormatType: type,
            address: image.address,
            bytesPerRow: image.bytesPerRow,
            release: { withExtendedLifetime(owner) {} }
        )
    }
}
