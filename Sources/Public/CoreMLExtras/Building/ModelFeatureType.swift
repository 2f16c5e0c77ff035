public import CoreML
import MLSpecification
import SwiftProtobuf

/// The type of an input, an output or a training input of a model.
public enum ModelFeatureType: Hashable, Sendable {
    /// An integer of 64 bits.
    case int64
    /// A double-precision number.
    case double
    /// A string.
    case string
    /// An image; see `image(width:height:color:)`.
    case image(ModelImageType)
    /// A multidimensional array; see `array(_:_:)`.
    case multiArray(ModelArrayType)
    /// A dictionary with double-precision values.
    case dictionary(keys: KeyType)
    /// A list of integers or strings, whose length is in `count`; nil stands for any length.
    case sequence(of: KeyType, count: ClosedRange<Int>?)

    /// The type of a dictionary's keys or a sequence's elements.
    public enum KeyType: Hashable, Sendable { case int64, string }

    /// An array of a fixed shape; an empty shape stands for an output whose shape is not stated.
    public static func array(_ shape: [Int], _ dataType: MLMultiArrayDataType = .float32) -> ModelFeatureType {
        .multiArray(ModelArrayType(shape: shape, dataType: dataType))
    }

    /// An image of a fixed size, in pixels.
    public static func image(width: Int, height: Int, color: ModelImageType.Color) -> ModelFeatureType {
        .image(ModelImageType(width: width, height: height, color: color))
    }
}

/// The type of a multidimensional array: its shape, other shapes that are allowed, and its element type.
public struct ModelArrayType: Hashable, Sendable {
    /// The shapes that are allowed in addition to the default one.
    public enum Flexibility: Hashable, Sendable {
        /// One of these shapes; the type's `shape` is the preferred one.
        case shapes([[Int]])
        /// A range of extents for each axis, which contains the default one; an upper bound of `Int.max` means no
        /// limit.
        case ranges([ClosedRange<Int>])
    }

    /// The default shape: the extent of each axis.
    public var shape: [Int]
    /// The type of the elements.
    public var dataType: MLMultiArrayDataType
    /// The other shapes that are allowed; nil for a fixed shape.
    public var flexibility: Flexibility?
    /// The value of all elements when an optional input is omitted.
    public var defaultValue: Double?

    /// Creates the type of an array.
    ///
    /// - Parameters:
    ///   - shape: The default shape: the extent of each axis.
    ///   - dataType: The type of the elements; single precision by default.
    ///   - flexibility: The other shapes that are allowed; nil, the default, for a fixed shape.
    ///   - defaultValue: The value of all elements when an optional input is omitted.
    public init(
        shape: [Int],
        dataType: MLMultiArrayDataType = .float32,
        flexibility: Flexibility? = nil,
        defaultValue: Double? = nil
    ) {
        self.shape = shape
        self.dataType = dataType
        self.flexibility = flexibility
        self.defaultValue = defaultValue
    }
}

/// The type of an image: its size, other sizes that are allowed, and its color layout.
public struct ModelImageType: Hashable, Sendable {
    /// The color layout of an image.
    public enum Color: Hashable, Sendable {
        /// 8 bits of gray per pixel.
        case grayscale
        /// Half-precision gray.
        case grayscaleFloat16
        /// Three channels in the order red, green, blue.
        case rgb
        /// Three channels in the order blue, green, red.
        case bgr
    }

    /// A size in pixels.
    public struct Size: Hashable, Sendable {
        /// The width in pixels.
        public var width: Int
        /// The height in pixels.
        public var height: Int

        /// Creates a size in pixels.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The sizes that are allowed in addition to the default one.
    public enum Flexibility: Hashable, Sendable {
        /// One of these sizes.
        case sizes([Size])
        /// Any size within these ranges, which contain the default one; an upper bound of `Int.max` means no limit.
        case ranges(width: ClosedRange<Int>, height: ClosedRange<Int>)
    }

    /// The default size.
    public var size: Size
    /// The color layout.
    public var color: Color
    /// The other sizes that are allowed; nil for a fixed size.
    public var flexibility: Flexibility?

    /// Creates the type of an image.
    ///
    /// - Parameters:
    ///   - width: The default width in pixels.
    ///   - height: The default height in pixels.
    ///   - color: The color layout.
    ///   - flexibility: The other sizes that are allowed; nil, the default, for a fixed size.
    public init(width: Int, height: Int, color: Color, flexibility: Flexibility? = nil) {
        size = Size(width: width, height: height)
        self.color = color
        self.flexibility = flexibility
    }
}

extension ModelFeatureType {
    /// The reason why the type cannot be written; nil when it can.
    var problem: String? {
        switch self {
        case .multiArray(let array):
            if array.shape.contains(where: { $0 < 1 }) { return "the shape \(array.shape) has an extent below 1" }
            if let value = array.defaultValue, [.int32, .int8].contains(array.dataType), Int32(exactly: value) == nil {
                return "the default value \(value) is not a whole number of 32 bits"
            }
            switch array.flexibility {
            case .shapes(let shapes):
                if shapes.isEmpty || shapes.contains(where: { $0.count != array.shape.count || $0.contains { $0 < 1 } })
                {
                    return "each of the shapes \(shapes) must have \(array.shape.count) extents above 0"
                }
            case .ranges(let ranges):
                if ranges.count != array.shape.count || ranges.contains(where: { $0.lowerBound < 0 }) {
                    return "\(ranges.count) ranges were given for \(array.shape.count) axes"
                }
                if zip(ranges, array.shape).contains(where: { !$0.contains($1) }) {
                    return "the shape \(array.shape) lies outside the ranges \(ranges)"
                }
            case nil: break
            }
        case .image(let image):
            if image.size.width < 1 || image.size.height < 1 {
                return "an image of \(image.size.width) × \(image.size.height) has no pixels"
            }
            switch image.flexibility {
            case .sizes(let sizes):
                if sizes.isEmpty || sizes.contains(where: { $0.width < 1 || $0.height < 1 }) {
                    return "the sizes to choose from must be above 0"
                }
            case .ranges(let width, let height):
                if width.lowerBound < 0 || height.lowerBound < 0 { return "a range of sizes begins below 0" }
                if !width.contains(image.size.width) || !height.contains(image.size.height) {
                    return "the size \(image.size.width) × \(image.size.height) lies outside the ranges \(width) and "
                        + "\(height)"
                }
            case nil: break
            }
        case .sequence(_, let count?): if count.lowerBound < 0 { return "a sequence has at least 0 elements" }
        default: break
        }
        return nil
    }

    /// The message of the model format, for a type without a `problem`.
    var specification: SpecFeatureType {
        var type = SpecFeatureType()
        switch self {
        case .int64: type.int64Type = .init()
        case .double: type.doubleType = .init()
        case .string: type.stringType = .init()
        case .image(let image): type.imageType = image.specification
        case .multiArray(let array): type.multiArrayType = array.specification
        case .dictionary(.int64): type.dictionaryType.int64KeyType = .init()
        case .dictionary(.string): type.dictionaryType.stringKeyType = .init()
        case .sequence(let element, let count):
            switch element {
            case .int64: type.sequenceType.int64Type = .init()
            case .string: type.sequenceType.stringType = .init()
            }
            type.sequenceType.sizeRange = Self.range(count ?? 0...Int.max)
        }
        return type
    }

    static func range(_ range: ClosedRange<Int>) -> SpecSizeRange {
        .with {
            $0.lowerBound = UInt64(clamping: range.lowerBound)
            $0.upperBound = range.upperBound == .max ? -1 : Int64(range.upperBound)
        }
    }
}

extension ModelArrayType {
    fileprivate var specification: SpecArrayFeatureType {
        .with { type in
            type.shape = shape.map { Int64($0) }
            type.dataType =
                switch dataType {
                case .float16: .float16
                case .float32: .float32
                case .double: .double
                case .int8: .int8
                case .int32: .int32
                }
            switch flexibility {
            case .shapes(let shapes):
                type.enumeratedShapes.shapes = shapes.map { shape in .with { $0.shape = shape.map { Int64($0) } } }
            case .ranges(let ranges): type.shapeRange.sizeRanges = ranges.map(ModelFeatureType.range)
            case nil: break
            }
            guard let defaultValue else { return }
            switch dataType {
            case .double: type.doubleDefaultValue = defaultValue
            case .int32, .int8: type.intDefaultValue = Int32(exactly: defaultValue) ?? 0
            case .float16, .float32: type.floatDefaultValue = Float(defaultValue)
            }
        }
    }
}

extension ModelImageType {
    fileprivate var specification: SpecImageFeatureType {
        .with { type in
            type.width = Int64(size.width)
            type.height = Int64(size.height)
            type.colorSpace =
                switch color {
                case .grayscale: .grayscale
                case .grayscaleFloat16: .grayscaleFloat16
                case .rgb: .rgb
                case .bgr: .bgr
                }
            switch flexibility {
            case .sizes(let sizes):
                type.enumeratedSizes.sizes = sizes.map { size in
                    .with {
                        $0.width = UInt64(size.width)
                        $0.height = UInt64(size.height)
                    }
                }
            case .ranges(let width, let height):
                type.imageSizeRange.widthRange = ModelFeatureType.range(width)
                type.imageSizeRange.heightRange = ModelFeatureType.range(height)
            case nil: break
            }
        }
    }
}
