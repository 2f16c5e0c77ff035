import MLExtractors
import MLNumerics
import MLSpecification
import MLTrainingCore

extension PatchDictionary {
    /// The fields along each side of a picture over which results are averaged.
    private static let grid = 2
    /// The weight of means over the whole picture beside those of the fields: textures are told apart by the former,
    /// glyphs by the latter.
    private static let wholeWeight: Float = 8
    /// The weight of mean colours beside the filters' results.
    private static let colourWeight: Float = 0.1

    /// The network of the features: from a picture to means, over each field and over the whole, of what exceeds the
    /// threshold in the filters' results and in their negatives, and of the colours and their complements.
    ///
    /// The last layer makes a vector `features`; none is negative, and not all are 0.
    var specification: SpecModel {
        let (patch, stride, margin) = geometry
        var network = NetworkLayers(.float32)
        var value = "image"
        if margin > 0 {
            var border = SpecBorderAmounts.EdgeSizes()
            (border.startEdgeSize, border.endEdgeSize) = (UInt64(margin), UInt64(margin))
            var padding = SpecPaddingLayerParams()
            padding.replication = .init()
            padding.paddingAmounts.borderAmounts = [border, border]
            network.add([value], "patches.padded", .padding(padding))
            value = "patches.padded"
        }
        var convolution = SpecConvolutionLayerParams()
        convolution.outputChannels = UInt64(count)
        convolution.kernelChannels = 3
        convolution.nGroups = 1
        convolution.kernelSize = [UInt64(patch), UInt64(patch)]
        convolution.stride = [UInt64(stride), UInt64(stride)]
        convolution.dilationFactor = [1, 1]
        convolution.valid = SpecValidPadding()
        convolution.hasBias_p = true
        convolution.weights = network.weights(filters)
        convolution.bias.floatValue = bias
        network.add([value], "patches.filtered", .convolution(convolution))
        let extent = (side + 2 * margin - patch) / stride + 1
        for (name, sign) in [("patches.above", Float(1)), ("patches.below", -1)] {
            network.add(["patches.filtered"], name, .unary(Self.excess(scale: sign, shift: -threshold)))
            network.add([name], name + ".means", .pooling(Self.pooling(extent)))
        }
        let weight = Self.colourWeight
        network.add(["image"], "colours.means", .pooling(Self.pooling(side)))
        network.add(["colours.means"], "colours.above", .unary(Self.excess(scale: weight / 255, shift: 0)))
        network.add(["colours.means"], "colours.below", .unary(Self.excess(scale: -weight / 255, shift: weight)))
        var joined = SpecConcatNDLayerParams()
        joined.axis = 1
        network.add(
            ["patches.above.means", "patches.below.means", "colours.above", "colours.below"],
            "fields",
            .concatNd(joined)
        )
        network.globalMean("fields", "whole")
        network.add(["whole"], "whole.weighted", .unary(Self.excess(scale: Self.wholeWeight, shift: 0)))
        // A row for each picture: with mirror images there are two.
        var rows = SpecFlattenTo2DLayerParams()
        rows.axis = 1
        network.add(["fields"], "fields.rows", .flattenTo2D(rows))
        network.add(["whole.weighted"], "whole.rows", .flattenTo2D(rows))
        network.add(["fields.rows", "whole.rows"], "fields.all", .concatNd(joined))
        let width = (2 * count + 6) * (Self.grid * Self.grid + 1)
        network.reshape("fields.all", "features", [width])
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [.image("image", width: side, height: side, "A picture.")]
        model.description_p.output = [.floats("features", [width], "Features that were learned from the pictures.")]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        return model
    }

    /// max(0, scale · x + shift).
    private static func excess(scale: Float, shift: Float) -> SpecUnaryFunctionLayerParams {
        var params = SpecUnaryFunctionLayerParams()
        params.type = .threshold
        params.alpha = 0
        (params.scale, params.shift) = (scale, shift)
        return params
    }

    /// Means over the fields of a square map; they overlap by a line where its extent is odd.
    private static func pooling(_ extent: Int) -> SpecPoolingLayerParams {
        var params = SpecPoolingLayerParams()
        params.type = .average
        let (kernel, stride) = (UInt64((extent + grid - 1) / grid), UInt64(extent / grid))
        params.kernelSize = [kernel, kernel]
        params.stride = [stride, stride]
        params.valid = SpecValidPadding()
        return params
    }

    // MARK: Bytes

    func write(_ writer: inout CheckpointWriter) {
        writer.write(Int64(side))
        writer.write(filters)
        writer.write(bias)
        writer.write(threshold)
    }

    init(_ reader: inout CheckpointReader) throws {
        let side = try reader.readInt(in: Self.leastSide...Self.greatestSide, "the images' size")
        let filters: [Float] = try reader.readArray()
        let bias: [Float] = try reader.readArray()
        let threshold: Float = try reader.readFloat()
        let patch = Self.geometry(side: side).patch
        guard !bias.isEmpty, filters.count / bias.count == 3 * patch * patch, filters.count % bias.count == 0,
            filters.allSatisfy(\.isFinite), bias.allSatisfy(\.isFinite), threshold.isFinite, threshold >= 0
        else { throw reader.damaged("the learned filters are cut off") }
        self.init(side: side, filters: filters, bias: bias, threshold: threshold)
    }
}
