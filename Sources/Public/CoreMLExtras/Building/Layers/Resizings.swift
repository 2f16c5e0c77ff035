import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// How pictures are enlarged by whole or fractional factors.
    public enum Upsampling: Hashable, Sendable {
        case nearest
        case bilinear
        case bilinearAlignedCorners
        case bilinearUnalignedCorners
    }

    /// Where a bilinear layer takes its samples.
    public enum Sampling: Hashable, Sendable {
        /// First and last sample on the ends, also for one sample.
        case strictAlignEndpoints
        /// First and last sample on the ends.
        case alignEndpoints
        /// At i · extent / count.
        case upsample
        /// In the middle of equal parts.
        case roiAlign
    }

    /// How four numbers describe a box.
    public enum BoxForm: Hashable, Sendable {
        case cornersHeightFirst, cornersWidthFirst, centerSizeHeightFirst, centerSizeWidthFirst
    }

    /// Enlarges [… H, W] by whole factors.
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

    /// Brings [… H, W] to a size.
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

    /// Cuts boxes out of [1, Batch, C, H, W] and brings each to a size: [boxes, Batch, C, height, width].
    /// - Parameters:
    ///   - boxes: [boxes, 1, 4, 1, 1], or 5 instead of 4 with the picture's number in front.
    ///   - isNormalized: coordinates are fractions of the picture.
    ///   - spatialScale: what coordinates are multiplied by.
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

    /// Takes rows and columns off [… H, W].
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

    /// Cuts the rows and columns of another value out of [… H, W], from an offset on.
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

    /// What a border is made of.
    public enum Border: Hashable, Sendable {
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
