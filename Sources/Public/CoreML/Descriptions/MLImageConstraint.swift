package import MLSpecification

/// The size of an image in pixels.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLImageSize: NSObject, @unchecked Sendable {
    /// The width in pixels.
    public let pixelsWide: Int
    /// The height in pixels.
    public let pixelsHigh: Int

    init(width: Int, height: Int) {
        pixelsWide = width
        pixelsHigh = height
    }

    /// The size as text: `224 × 224`.
    open override var description: String { "\(pixelsWide) × \(pixelsHigh)" }
    /// Whether the other object is an equal size.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MLImageSize).map { $0.pixelsWide == pixelsWide && $0.pixelsHigh == pixelsHigh } ?? false
    }
    /// A hash of width and height.
    open override var hash: Int { pixelsWide &* 65537 &+ pixelsHigh }
}

/// The form in which a model states the allowed sizes of an image.
public enum MLImageSizeConstraintType: Int, Sendable {
    /// The model states no size: every size is allowed.
    case unspecified = 0
    /// The model lists the allowed sizes; a fixed size is a list of one.
    case enumerated = 2
    /// The model gives a range of widths and one of heights.
    case range = 3
}

/// The sizes that an image feature may have.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLImageSizeConstraint: NSObject, @unchecked Sendable {
    /// The form in which the model states the sizes.
    public let type: MLImageSizeConstraintType
    /// The allowed sizes when `type` is `.enumerated`; otherwise empty.
    public let enumeratedImageSizes: [MLImageSize]
    let widths: ClosedRange<Int>
    let heights: ClosedRange<Int>
    /// A range that contains the allowed widths in pixels; without an upper bound it is as long as possible.
    public var pixelsWideRange: NSRange { NSRange(extents: widths) }
    /// A range that contains the allowed heights in pixels; without an upper bound it is as long as possible.
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

    /// The allowed sizes as text.
    open override var description: String { text }
}

/// The size and the pixel format of an image feature.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLImageConstraint: NSObject, @unchecked Sendable {
    /// The width in pixels that the model declares: the default one where sizes are flexible, 0 where none is stated.
    public let pixelsWide: Int
    /// The height in pixels that the model declares: the default one where sizes are flexible, 0 where none is stated.
    public let pixelsHigh: Int
    /// The pixel format: 32BGRA for color in either channel order, OneComponent8 or OneComponent16Half for grayscale.
    public let pixelFormatType: OSType
    /// The allowed sizes.
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

    /// The size to scale an image to: the default one, or, without one, the allowed size nearest to the image's.
    package func size(forWidth width: Int, height: Int) -> (width: Int, height: Int) {
        if pixelsWide > 0, pixelsHigh > 0 { return (pixelsWide, pixelsHigh) }
        let widths = sizeConstraint.widths
        let heights = sizeConstraint.heights
        return (
            min(max(width, widths.lowerBound), widths.upperBound),
            min(max(height, heights.lowerBound), heights.upperBound)
        )
    }

    /// The type as text: `Image (Color, 224 × 224)`.
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
