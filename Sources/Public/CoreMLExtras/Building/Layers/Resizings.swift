import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The interpolation for enlarging images.
    public enum Upsampling: Hashable, Sendable {
        /// The nearest element.
        case nearest
        /// Bilinear interpolation with the format's default treatment of corners.
        case bilinear
        /// Bilinear interpolation with aligned corners.
        case bilinearAlignedCorners
        /// Bilinear interpolation without aligned corners.
        case bilinearUnalignedCorners
    }

    /// The sampling points of a bilinear layer.
    public enum Sampling: Hashable, Sendable {
        /// The first and last sample lie on the ends, also when there is only one.
        case strictAlignEndpoints
        /// The first and last sample lie on the ends.
        case alignEndpoints
        /// Sample i lies at i · extent / count.
        case upsample
        /// Samples lie in the middle of equal parts.
        case roiAlign
    }

    /// The meaning of the four numbers that describe a box.
    public enum BoxForm: Hashable, Sendable {
        /// Two corners, or center and size, with the vertical or the horizontal number first.
        case cornersHeightFirst, cornersWidthFirst, centerSizeHeightFirst, centerSizeWidthFirst
    }

    /// Enlarges [… H, W] by integer factors.
    @discardableResult
    public mutating func upsample(
        _ name: String,
        _ input: Value,
        by factor: (height: Int, width: Int),
        _ mode: Upsampling = .nearest,
        output: Value? = nil
    ) -> Value {
        var layer = specification(of: mode)
        layer.scalingFactor = natural(name, "the factor", [factor.height, factor.width], atLeast: 1)
        return add(name, [input], output, .upsample(layer))
    }

    /// Enlarges [… H, W] by fractional factors.
    @discardableResult
    public mutating func upsample(
        _ name: String,
        _ input: Value,
        byFraction factor: (height: Float, width: Float),
        _ mode: Upsampling = .nearest,
        output: Value? = nil
    ) -> Value {
        var layer = specification(of: mode)
        layer.fractionalScalingFactor = [factor.height, factor.width]
        return add(name, [input], output, .upsample(layer))
    }

    /// Resizes [… H, W] by bilinear interpolation.
    @discardableResult
    public mutating func resizeBilinear(
        _ name: String,
        _ input: Value,
        size: (height: Int, width: Int),
        _ sampling: Sampling = .alignEndpoints,
        output: Value? = nil
    ) -> Value {
        var layer = SpecResizeBilinearLayerParams()
        layer.targetSize = natural(name, "the size", [size.height, size.width], atLeast: 1)
        layer.mode = specification(of: sampling)
        return add(name, [input], output, .resizeBilinear(layer))
    }

    /// Crops boxes from [1, Batch, C, H, W] and resizes each: [boxes, Batch, C, height, width].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - boxes: [boxes, 1, 4, 1, 1], or 5 instead of 4 with the index of the image in front.
    ///   - size: The height and width of each result.
    ///   - sampling: The sampling points.
    ///   - form: The meaning of a box's four numbers.
    ///   - isNormalized: Whether coordinates are fractions of the image; false by default.
    ///   - spatialScale: The factor that coordinates are multiplied by; 1 by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func cropResize(
        _ name: String,
        _ input: Value,
        boxes: Value,
        size: (height: Int, width: Int),
        _ sampling: Sampling = .strictAlignEndpoints,
        form: BoxForm = .cornersHeightFirst,
        isNormalized: Bool = false,
        spatialScale: Float = 1,
        output: Value? = nil
    ) -> Value {
        var layer = SpecCropResizeLayerParams()
        layer.targetSize = natural(name, "the size", [size.height, size.width], atLeast: 1)
        layer.normalizedCoordinates = isNormalized
        layer.mode = specification(of: sampling)
        layer.spatialScale = spatialScale
        layer.boxIndicesMode.boxMode =
            switch form {
            case .cornersHeightFirst: .cornersHeightFirst
            case .cornersWidthFirst: .cornersWidthFirst
            case .centerSizeHeightFirst: .centerSizeHeightFirst
            case .centerSizeWidthFirst: .centerSizeWidthFirst
            }
        return add(name, [input, boxes], output, .cropResize(layer))
    }

    /// Removes rows and columns at the borders of [… H, W].
    @discardableResult
    public mutating func crop(
        _ name: String,
        _ input: Value,
        top: Int = 0,
        bottom: Int = 0,
        left: Int = 0,
        right: Int = 0,
        output: Value? = nil
    ) -> Value {
        var layer = SpecCropLayerParams()
        layer.cropAmounts = borders(name, top, bottom, left, right)
        layer.offset = [0, 0]
        return add(name, [input], output, .crop(layer))
    }

    /// Crops [… H, W] to the height and width of another value, from an offset on.
    @discardableResult
    public mutating func crop(
        _ name: String,
        _ input: Value,
        like other: Value,
        offset: (height: Int, width: Int) = (0, 0),
        output: Value? = nil
    ) -> Value {
        var layer = SpecCropLayerParams()
        layer.cropAmounts = borders(name, 0, 0, 0, 0)
        layer.offset = natural(name, "the offset", [offset.height, offset.width])
        return add(name, [input, other], output, .crop(layer))
    }

    /// The elements of a border.
    public enum Border: Hashable, Sendable {
        /// A constant.
        case constant(Float)
        /// The elements mirrored at the edge, which is not repeated.
        case reflection
        /// The edge repeated.
        case replication
    }

    /// Surrounds [… H, W] with a border.
    @discardableResult
    public mutating func padding(
        _ name: String,
        _ input: Value,
        top: Int = 0,
        bottom: Int = 0,
        left: Int = 0,
        right: Int = 0,
        _ border: Border = .constant(0),
        output: Value? = nil
    ) -> Value {
        var layer = SpecPaddingLayerParams()
        layer.paddingAmounts = borders(name, top, bottom, left, right)
        switch border {
        case .constant(let value): layer.constant.value = value
        case .reflection: layer.reflection = .init()
        case .replication: layer.replication = .init()
        }
        return add(name, [input], output, .padding(layer))
    }

    private func specification(of mode: Upsampling) -> SpecUpsampleLayerParams {
        .with {
            switch mode {
            case .nearest: $0.mode = .nn
            case .bilinear: $0.mode = .bilinear
            case .bilinearAlignedCorners: ($0.mode, $0.linearUpsampleMode) = (.bilinear, .alignCornersTrue)
            case .bilinearUnalignedCorners: ($0.mode, $0.linearUpsampleMode) = (.bilinear, .alignCornersFalse)
            }
        }
    }

    private func specification(of sampling: Sampling) -> SpecSamplingMode {
        .with {
            $0.samplingMethod =
                switch sampling {
                case .strictAlignEndpoints: .strictAlignEndpointsMode
                case .alignEndpoints: .alignEndpointsMode
                case .upsample: .upsampleMode
                case .roiAlign: .roiAlignMode
                }
        }
    }
}
