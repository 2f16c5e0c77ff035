package import MLSpecification

/// A size of a picture.
open class MLImageSize: NSObject, @unchecked Sendable {
    public let pixelsWide: Int
    public let pixelsHigh: Int

    init(width: Int, height: Int) {
        pixelsWide = width
        pixelsHigh = height
    }

    open override var description: String { "\(pixelsWide) × \(pixelsHigh)" }
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MLImageSize).map { $0.pixelsWide == pixelsWide && $0.pixelsHigh == pixelsHigh } ?? false
    }
    open override var hash: Int { pixelsWide &* 65537 &+ pixelsHigh }
}

public enum MLImageSizeConstraintType: Int, Sendable {
    case unspecified = 0
    case enumerated = 2
    case range = 3
}

/// The sizes that an image feature may have.
open class MLImageSizeConstraint: NSObject, @unchecked Sendable {
    public let type: MLImageSizeConstraintType
    /// Empty unless `type` is `.enumerated`.
    public let enumeratedImageSizes: [MLImageSize]
    let widths: ClosedRange<Int>
    let heights: ClosedRange<Int>
    /// Contains the allowed widths.
    public var pixelsWideRange: NSRange { NSRange(extents: widths) }
    /// Contains the allowed heights.
    public var pixelsHighRange: NSRange { NSRange(extents: heights) }

    init(_ feature: SpecImageFeatureType) {
        let width = Int(feature.width)
        let height = Int(feature.height)
        switch feature.sizeFlexibility {
        case .enumeratedSizes(let choices)? where !choices.sizes.isEmpty:
            type = .enumerated
            enumeratedImageSizes = choices.sizes.map {
                MLImageSize(width: Int(clamping: $0.width), height: Int(clamping: $0.height))
            }
        case .imageSizeRange(let range)?:
            type = .range
            enumeratedImageSizes = []
            widths = range.widthRange.extents
            heights = range.heightRange.extents
            return
        default:
            type = width > 0 && height > 0 ? .enumerated : .unspecified
            enumeratedImageSizes = width > 0 && height > 0 ? [MLImageSize(width: width, height: height)] : []
        }
        let wide = enumeratedImageSizes.map { $0.pixelsWide }
        let high = enumeratedImageSizes.map { $0.pixelsHigh }
        widths = (wide.min() ?? 1)...(wide.max() ?? Int.max)
        heights = (high.min() ?? 1)...(high.max() ?? Int.max)
    }

    func allows(width: Int, height: Int) -> Bool {
        type == .enumerated
            ? enumeratedImageSizes.contains { $0.pixelsWide == width && $0.pixelsHigh == height }
            : widths.contains(width) && heights.contains(height)
    }

    var text: String {
        switch type {
        case .unspecified: "any size"
        case .enumerated: enumeratedImageSizes.map { "\($0.pixelsWide) × \($0.pixelsHigh)" }.joined(separator: " or ")
        case .range: "\(extentText(widths)) × \(extentText(heights))"
        }
    }

    open override var description: String { text }
}

/// The size and the pixel format of an image feature.
open class MLImageConstraint: NSObject, @unchecked Sendable {
    /// The width that the model states; with a flexible size, the default one.
    public let pixelsWide: Int
    public let pixelsHigh: Int
    /// 32BGRA for colour in either order, OneComponent8 or OneComponent16Half for grey.
    public let pixelFormatType: OSType
    public let sizeConstraint: MLImageSizeConstraint

    package init(_ feature: SpecImageFeatureType) {
        pixelsWide = Int(feature.width)
        pixelsHigh = Int(feature.height)
        pixelFormatType =
            switch feature.colorSpace {
            case .grayscale: kCVPixelFormatType_OneComponent8
            case .grayscaleFloat16: kCVPixelFormatType_OneComponent16Half
            default: kCVPixelFormatType_32BGRA
            }
        sizeConstraint = MLImageSizeConstraint(feature)
    }

    var isGray: Bool { pixelFormatType != kCVPixelFormatType_32BGRA }

    /// The size to bring a picture to: the default one, or for a range without one the nearest to the picture's.
    package func size(forWidth width: Int, height: Int) -> (width: Int, height: Int) {
        if pixelsWide > 0, pixelsHigh > 0 { return (pixelsWide, pixelsHigh) }
        let widths = sizeConstraint.widths
        let heights = sizeConstraint.heights
        return (
            min(max(width, widths.lowerBound), widths.upperBound),
            min(max(height, heights.lowerBound), heights.upperBound)
        )
    }

    open override var description: String {
        let kind =
            switch pixelFormatType {
            case kCVPixelFormatType_OneComponent8: "Grayscale"
            case kCVPixelFormatType_OneComponent16Half: "Grayscale, half precision"
            default: "Color"
            }
        return "Image (\(kind), \(sizeConstraint.text))"
    }
}
