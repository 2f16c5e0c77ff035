import MLExtractors
import MLNumerics
package import MLSpecification

/// The names and thresholds of a detector's model, as in Create ML.
package enum DetectionInterface {
    package static let image = "image"
    package static let overlapThreshold = "iouThreshold"
    package static let confidenceThreshold = "confidenceThreshold"
    package static let confidence = "confidence"
    package static let coordinates = "coordinates"
    static let rawConfidence = "raw_confidence"
    static let rawCoordinates = "raw_coordinates"
    /// The thresholds of a model that is asked without any.
    package static let defaultOverlap = 0.45
    package static let defaultConfidence = 0.25
}

extension DetectionTrainer {
    /// The trained detector as a model: a pipeline of a network and non-maximum suppression.
    ///
    /// - Parameter labels: The labels in the order of their indices.
    /// - Returns: A pipeline that takes `image` and, optionally, `iouThreshold` and `confidenceThreshold`, and gives
    ///   `confidence`, [objects, labels], and `coordinates`, [objects, 4]: centre x, centre y, width and height in
    ///   fractions of the image, origin at the top left.
    package func specification(labels: [String]) -> SpecModel {
        let network = networkModel(labels)
        let suppression = SuppressionModel(labels: labels).specification
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = network.description_p.input + suppression.description_p.input.dropFirst(2)
        model.description_p.output = suppression.description_p.output
        model.pipeline.models = [network, suppression]
        model.pipeline.names = ["detector", "suppression"]
        model.description_p.metadata.userDefined["classes"] = labels.joined(separator: ",")
        model.description_p.metadata.userDefined["iou_threshold"] = "\(DetectionInterface.defaultOverlap)"
        model.description_p.metadata.userDefined["confidence_threshold"] = "\(DetectionInterface.defaultConfidence)"
        model.description_p.metadata.userDefined["imageCropAndScale"] = "scaleFill"
        if case .network(let extractor) = source {
            for (key, value) in extractor.extractor.noticeMetadata {
                model.description_p.metadata.userDefined[key] = value
            }
        }
        return model
    }

    private func networkModel(_ labels: [String]) -> SpecModel {
        var model: SpecModel
        let inputs: [String]
        switch source {
        case .network(let extractor): (model, inputs) = (extractor.specification, extractor.names)
        case .pixels: (model, inputs) = (Self.imageModel(scaling ?? .pixels), [DetectionInterface.image])
        }
        var builder = DetectionModelBuilder(values: values)
        let last = architecture.append(to: &builder, inputs: inputs)
        builder.network.appendDecoding(centres: last.centres, sides: last.sides, labels: labels.count)
        let count = DetectionGrid.cells * DetectionGrid.cells
        model.neuralNetwork.layers += builder.network.layers
        model.description_p.output = [
            .floats(
                DetectionInterface.rawConfidence,
                [count, labels.count],
                "The confidence of each label in each cell."
            ),
            .floats(DetectionInterface.rawCoordinates, [count, 4], "The box of each cell: centre, width and height."),
        ]
        return model
    }

    /// A network without layers that scales an image's pixels.
    private static func imageModel(_ scaling: FeatureScaling) -> SpecModel {
        let side = DetectionGrid.side
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [
            .image(DetectionInterface.image, width: side, height: side, "The picture, in colour.")
        ]
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        let (means, deviation) = (scaling.means[0], scaling.deviations[0][0])
        var scaler = SpecNeuralNetworkImageScaler()
        scaler.channelScale = 1 / deviation
        (scaler.redBias, scaler.greenBias, scaler.blueBias) = (
            -means[0] / deviation, -means[1] / deviation, -means[2] / deviation
        )
        var preprocessing = SpecNeuralNetworkPreprocessing()
        preprocessing.featureName = DetectionInterface.image
        preprocessing.scaler = scaler
        model.neuralNetwork.preprocessing = [preprocessing]
        return model
    }

    /// The weights and biases of the layers, into which batch normalisation and the scaling of a network's features are
    /// folded.
    private var values: [String: (weights: [Float], bias: [Float])] {
        var result: [String: (weights: [Float], bias: [Float])] = [:]
        for layer in architecture.layers {
            var (weights, bias) = (value(layer.weightsName), value(layer.biasName))
            if layer.isHidden {
                let (gain, mean, variance) = (
                    value(layer.gainName), value(layer.meanName), value(layer.varianceName)
                )
                let count = weights.count / layer.outputs
                for output in 0..<layer.outputs {
                    let factor = gain[output] / (variance[output] + Float(DetectionLayer.epsilon)).squareRoot()
                    bias[output] -= mean[output] * factor
                    for position in output * count..<(output + 1) * count { weights[position] *= factor }
                }
            }
            result[layer.name] = (weights, bias)
        }
        guard case .network = source, let scaling else { return result }
        for index in scaling.means.indices {
            let layer = architecture.head.lateral(index)
            guard var value = result[layer.name] else { continue }
            for output in 0..<layer.outputs {
                for input in 0..<layer.inputs {
                    let position = output * layer.inputs + input
                    value.weights[position] /= scaling.deviations[index][input]
                    value.bias[output] -= value.weights[position] * scaling.means[index][input]
                }
            }
            result[layer.name] = value
        }
        return result
    }
}

/// Appends a detector's layers to a network of the specification.
private struct DetectionModelBuilder: DetectionLayerBuilder {
    typealias Failure = Never

    var network = NetworkLayers(.float32)
    private let values: [String: (weights: [Float], bias: [Float])]

    init(values: [String: (weights: [Float], bias: [Float])]) { self.values = values }

    mutating func convolution(_ x: String, _ layer: DetectionLayer) -> String {
        guard let value = values[layer.name] else { preconditionFailure("no layer is named \(layer.name)") }
        network.convolution(
            x,
            layer.name,
            weights: value.weights,
            shape: layer.shape,
            bias: value.bias,
            stride: layer.stride,
            groups: 1
        )
        guard layer.isHidden else { return layer.name }
        var relu = SpecActivationParams()
        relu.nonlinearityType = .reLu(SpecActivationReLU())
        network.add([layer.name], layer.name + ".relu", .activation(relu))
        return layer.name + ".relu"
    }

    mutating func sum(_ x: String, _ y: String, _ name: String) -> String {
        network.sum([x, y], name)
        return name
    }

    mutating func enlarged(_ x: String, _ name: String) -> String {
        var larger = SpecUpsampleLayerParams()
        larger.scalingFactor = [2, 2]
        larger.mode = .nn
        network.add([x], name, .upsample(larger))
        return name
    }
}

extension NetworkLayers {
    /// From logits of centres and logarithms of sides to confidences, [cells², labels], and boxes, [cells², 4].
    ///
    /// Only cells with the greatest probability of a label among their neighbours keep it.
    fileprivate mutating func appendDecoding(centres: String, sides: String, labels: Int) {
        let cells = DetectionGrid.cells
        var sigmoid = SpecActivationParams()
        sigmoid.nonlinearityType = .sigmoid(SpecActivationSigmoid())
        add([centres], "probability", .activation(sigmoid))
        var pool = SpecPoolingLayerParams()
        pool.type = .max
        pool.kernelSize = [3, 3]
        pool.stride = [1, 1]
        pool.same = SpecSamePadding()
        add(["probability"], "greatest", .pooling(pool))
        add(["probability", "greatest"], "peaks", .equal(SpecEqualLayerParams()))
        add(
            ["probability", "peaks"],
            "peak.probability",
            .multiplyBroadcastable(SpecMultiplyBroadcastableLayerParams())
        )
        appendRows("peak.probability", DetectionInterface.rawConfidence, labels)

        var bounds = SpecClipLayerParams()
        bounds.minVal = Float(DetectionHead.distances.minimum)
        bounds.maxVal = Float(DetectionHead.distances.maximum)
        add([sides], "sides.bounded", .clip(bounds))
        var exponential = SpecUnaryFunctionLayerParams()
        exponential.type = .exp
        exponential.scale = 1
        add(["sides.bounded"], "distances", .unary(exponential))
        // Centre x and y relative to the cell's, width and height, in fractions of the image.
        let (half, one) = (0.5 / Float(cells), 1 / Float(cells))
        let weights: [Float] = [-half, 0, half, 0, 0, -half, 0, half, one, 0, one, 0, 0, one, 0, one]
        convolution(
            "distances",
            "boxes.relative",
            weights: weights,
            shape: [4, 4, 1, 1],
            bias: [0, 0, 0, 0],
            stride: 1,
            groups: 1
        )
        var positions = [Float](repeating: 0, count: 4 * cells * cells)
        for row in 0..<cells {
            for column in 0..<cells {
                positions[row * cells + column] = (Float(column) + 0.5) / Float(cells)
                positions[(cells + row) * cells + column] = (Float(row) + 0.5) / Float(cells)
            }
        }
        var constant = SpecLoadConstantNDLayerParams()
        constant.shape = [1, 4, UInt64(cells), UInt64(cells)]
        constant.data = self.weights(positions)
        add([], "places", .loadConstantNd(constant))
        sum(["boxes.relative", "places"], "boxes")
        appendRows("boxes", DetectionInterface.rawCoordinates, 4)
    }

    /// [1, channels, cells, cells] as rows of cells: [cells², channels].
    private mutating func appendRows(_ input: String, _ output: String, _ channels: Int) {
        var order = SpecTransposeLayerParams()
        order.axes = [0, 2, 3, 1]
        add([input], output + ".last", .transpose(order))
        reshape(output + ".last", output, [DetectionGrid.cells * DetectionGrid.cells, channels])
    }
}

/// The second stage of a detector's model.
private struct SuppressionModel {
    var labels: [String]

    var specification: SpecModel {
        var model = SpecModel()
        model.specificationVersion = 3
        let count = DetectionGrid.cells * DetectionGrid.cells
        model.description_p.input = [
            .floats(
                DetectionInterface.rawConfidence,
                [count, labels.count],
                "The confidence of each label in each cell."
            ),
            .floats(DetectionInterface.rawCoordinates, [count, 4], "The box of each cell: centre, width and height."),
            threshold(
                DetectionInterface.overlapThreshold,
                "The overlap (intersection over union) above which the less confident of two boxes of a label is left "
                    + "out; \(DetectionInterface.defaultOverlap) by default."
            ),
            threshold(
                DetectionInterface.confidenceThreshold,
                "The confidence below which boxes are left out; \(DetectionInterface.defaultConfidence) by default."
            ),
        ]
        model.description_p.output = [
            rows(DetectionInterface.confidence, labels.count, "The confidence of each label for each object."),
            rows(
                DetectionInterface.coordinates,
                4,
                "The box of each object: centre x, centre y, width and height in fractions of the picture, origin at the "
                    + "top left."
            ),
        ]
        var suppression = SpecNonMaximumSuppression()
        suppression.pickTop.perClass = true
        suppression.stringClassLabels.vector = labels
        suppression.iouThreshold = DetectionInterface.defaultOverlap
        suppression.confidenceThreshold = DetectionInterface.defaultConfidence
        suppression.confidenceInputFeatureName = DetectionInterface.rawConfidence
        suppression.coordinatesInputFeatureName = DetectionInterface.rawCoordinates
        suppression.iouThresholdInputFeatureName = DetectionInterface.overlapThreshold
        suppression.confidenceThresholdInputFeatureName = DetectionInterface.confidenceThreshold
        suppression.confidenceOutputFeatureName = DetectionInterface.confidence
        suppression.coordinatesOutputFeatureName = DetectionInterface.coordinates
        model.nonMaximumSuppression = suppression
        return model
    }

    private func threshold(_ name: String, _ about: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.doubleType = SpecDoubleFeatureType()
        feature.type.isOptional = true
        return feature
    }

    /// An array of any number of rows.
    private func rows(_ name: String, _ columns: Int, _ about: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.multiArrayType.dataType = .double
        var (any, all) = (SpecSizeRange(), SpecSizeRange())
        (any.lowerBound, any.upperBound) = (0, -1)
        (all.lowerBound, all.upperBound) = (UInt64(columns), Int64(columns))
        feature.type.multiArrayType.shapeRange.sizeRanges = [any, all]
        return feature
    }
}
