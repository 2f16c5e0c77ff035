import MLGraph
package import MLNumerics
package import MLOperators
package import MLSpecification

/// Reads a neural network (also a classifier or a regressor) into a graph.
///
/// **Shapes.** With the exact mapping of arrays, blobs have the ranks of the declared inputs, and images are
/// [1, C, H, W] ([1, 1, C, H, W] with the rank-5 mapping of images). With the rank-5 mapping, the only one before
/// version 4 of the specification, blobs are [Sequence, Batch, C, H, W] to the model and [Sequence·Batch, C, H, W] in
/// the graph. Batches are those of `InputShapes`, else 1:
///
/// - a declared [C] is C, a declared [C, H, W] is C, H, W, five declared axes are all of them; `ArrayMapping` says how
///   callers' shapes fit;
/// - the sequence is of unknown length when the network has layers that look at it, else 1;
/// - layers that came with version 4 or later see the five axes as they are, and their results may have any rank;
/// - outputs take the declared shape when it fits, see `ArrayMapping.callerShape`.
///
/// **Values.** Every blob is float32, whatever scalar type the features have.
package struct NeuralNetworkReader {
    let catalogue: Catalogue
    let usesRank5Arrays: Bool
    let usesRank5Images: Bool
    var builder = GraphBuilder()
    var blobs: [String: Blob] = [:]
    /// The control flow around the current layer, outermost first.
    var loops: [Loop] = []
    private let network: Network
    private let description: SpecModelDescription
    private let given: InputShapes

    /// The known shapes of callers' arrays when a network is read for them.
    package struct InputShapes: Hashable, Sendable {
        /// With the legacy mapping: the batch of arrays that have one greater than 1, by input.
        package var batches: [String: Int] = [:]
        /// With the exact mapping: the extents of arrays, by input; others have those of the description.
        package var extents: [String: [Int]] = [:]

        package init() {}
    }

    /// The current value of a blob's name.
    struct Blob {
        var value: ValueID
        /// True when [Sequence·Batch, C, H, W] stands for [Sequence, Batch, C, H, W].
        var isFolded: Bool
        /// The batch within axis 0 of a folded blob.
        var batch = 1
        /// Whether it is a scalar, whose only axis does not count when axes are added.
        var isScalar = false
    }

    /// The common parts of the three kinds of neural network.
    private struct Network {
        var layers: [SpecNeuralNetworkLayer]
        var preprocessing: [SpecNeuralNetworkPreprocessing]
        var labels: Classifier.Labels?
        var probabilitiesBlob = ""
    }

    /// Reads `model`, whose type must be one of the three kinds of neural network.
    ///
    /// An unknown kind of layer is an error that names layer and kind.
    package static func read(
        _ model: SpecModel,
        catalogue: Catalogue = .standard,
        shapes: InputShapes = InputShapes()
    ) throws(ModelError) -> LoweredModel {
        var reader = try NeuralNetworkReader(model, catalogue, shapes)
        return try reader.lowered()
    }

    private init(_ model: SpecModel, _ catalogue: Catalogue, _ shapes: InputShapes) throws(ModelError) {
        self.catalogue = catalogue
        given = shapes
        description = model.description_p
        let arrays: SpecNeuralNetworkMultiArrayShapeMapping
        let images: SpecNeuralNetworkImageShapeMapping
        switch model.type {
        case .neuralNetwork(let spec):
            network = Network(layers: spec.layers, preprocessing: spec.preprocessing)
            (arrays, images) = (spec.arrayInputShapeMapping, spec.imageInputShapeMapping)
        case .neuralNetworkRegressor(let spec):
            network = Network(layers: spec.layers, preprocessing: spec.preprocessing)
            (arrays, images) = (spec.arrayInputShapeMapping, spec.imageInputShapeMapping)
        case .neuralNetworkClassifier(let spec):
            var labels: Classifier.Labels?
            switch spec.classLabels {
            case .stringClassLabels(let vector): labels = .strings(vector.vector)
            case .int64ClassLabels(let vector): labels = .integers(vector.vector)
            case nil: throw ModelError(.invalidModel, "the classifier has no class labels")
            }
            network = Network(
                layers: spec.layers,
                preprocessing: spec.preprocessing,
                labels: labels,
                probabilitiesBlob: spec.labelProbabilityLayerName
            )
            (arrays, images) = (spec.arrayInputShapeMapping, spec.imageInputShapeMapping)
        default:
            throw ModelError(.invalidModel, "the model is not a neural network")
        }
        usesRank5Arrays = arrays == .rank5ArrayMapping
        usesRank5Images = images == .rank5ImageMapping
    }

    private mutating func lowered() throws(ModelError) -> LoweredModel {
        var inputs: [InputFeature] = []
        let sequences = SequenceUse(network.layers)
        for feature in description.input {
            inputs.append(
                try withErrorContext("input '\(feature.name)'") { () throws(ModelError) in
                    try input(feature, sequences)
                }
            )
        }
        try lower(network.layers)
        var values: [(name: String, value: ValueID)] = []
        let classifier = try classifier(&values)
        var outputs: [OutputFeature] = []
        for feature in description.output {
            if let classifier {
                if feature.name == classifier.predictedFeatureName { continue }
                if feature.name == classifier.probabilitiesFeatureName { continue }
            }
            outputs.append(
                try withErrorContext("output '\(feature.name)'") { () throws(ModelError) in try output(feature, &values)
                }
            )
        }
        return LoweredModel(
            graph: builder.finished(outputs: values),
            inputs: inputs,
            outputs: outputs,
            classifier: classifier
        )
    }

    // MARK: Inputs

    private mutating func input(
        _ feature: SpecFeatureDescription,
        _ sequences: SequenceUse
    ) throws(ModelError) -> InputFeature {
        switch feature.type.type {
        case .multiArrayType(let array): return try arrayInput(feature, array, sequences)
        case .imageType(let image): return try imageInput(feature, image)
        default:
            throw ModelError(.invalidModel, "a neural network takes multi-arrays and images only")
        }
    }

    private mutating func arrayInput(
        _ feature: SpecFeatureDescription,
        _ array: SpecArrayFeatureType,
        _ sequences: SequenceUse
    ) throws(ModelError) -> InputFeature {
        let declared = array.flexibleShape
        let mapping: ArrayMapping
        let shape: Shape
        let batch = usesRank5Arrays ? given.batches[feature.name] ?? 1 : 1
        if usesRank5Arrays {
            mapping = .rank5(declared: declared, batch: batch)
            let isSequence = sequences.isUsed && !sequences.states.contains(feature.name)
            let steps: Dimension = isSequence ? .unknown : Dimension(batch)
            switch declared.count {
            case 1: shape = [steps, declared[0], 1, 1]
            case 2: shape = [declared[0] * Dimension(batch), declared[1], 1, 1]
            case 3: shape = [steps] + declared
            case 4: shape = [declared[0] * Dimension(batch)] + declared[1...]
            case 5: shape = [declared[0] * Dimension(batch)] + declared[2...]
            default:
                throw ModelError(
                    .invalidModel,
                    "shape \(declared) does not map to five axes; declare [C] or [C, H, W]"
                )
            }
        } else {
            guard !declared.isEmpty else {
                throw ModelError(.invalidModel, "the multi-array declares no shape, which the exact mapping needs")
            }
            mapping = .exact
            shape = given.extents[feature.name].map { Shape($0) } ?? declared
        }
        let value = builder.input(feature.name, ValueType(.float32, shape))
        blobs[feature.name] = Blob(value: value, isFolded: usesRank5Arrays, batch: batch)
        return InputFeature(
            name: feature.name,
            value: value,
            form: .array(mapping),
            isOptional: feature.type.isOptional,
            defaultValue: array.defaultValue
        )
    }

    private mutating func imageInput(
        _ feature: SpecFeatureDescription,
        _ image: SpecImageFeatureType
    ) throws(ModelError) -> InputFeature {
        let form = try image.form()
        let shape: Shape = [1, Dimension(form.layout.channelCount), form.height, form.width]
        let value = builder.input(feature.name, ValueType(.float32, shape))
        var current = value
        builder.location = "preprocessing of '\(feature.name)'"
        for step in network.preprocessing where step.featureName.isEmpty || step.featureName == feature.name {
            current = try preprocessed(current, step, form)
        }
        if !usesRank5Arrays, usesRank5Images {
            current = try builder.add(Regroup.insertingBatch, current)
        }
        blobs[feature.name] = Blob(value: current, isFolded: usesRank5Arrays)
        return InputFeature(
            name: feature.name,
            value: value,
            form: .image(form),
            isOptional: feature.type.isOptional
        )
    }

    private mutating func preprocessed(
        _ image: ValueID,
        _ step: SpecNeuralNetworkPreprocessing,
        _ form: ImageForm
    ) throws(ModelError) -> ValueID {
        switch step.preprocessor {
        case .scaler(let scaler):
            let biases: [Float]
            switch form.layout {
            case .rgb: biases = [scaler.redBias, scaler.greenBias, scaler.blueBias]
            case .bgr: biases = [scaler.blueBias, scaler.greenBias, scaler.redBias]
            case .gray, .grayFloat16: biases = [scaler.grayBias]
            }
            var current = image
            if scaler.channelScale != 1 {
                let scale = builder.constant(Tensor([scaler.channelScale], shape: []))
                current = try builder.add(Binary<Mul>(), current, scale)
            }
            if biases.contains(where: { $0 != 0 }) {
                let bias = builder.constant(Tensor(biases, shape: [1, biases.count, 1, 1]))
                current = try builder.add(Binary<Add>(), current, bias)
            }
            return current
        case .meanImage(let mean):
            let shape = try builder.shape(of: image).map { axis throws(ModelError) in
                guard let count = axis.count else {
                    throw ModelError(.invalidModel, "a mean image cannot be taken from images of flexible size")
                }
                return count
            }
            guard mean.meanImage.count == shape.elementCount else {
                throw ModelError(
                    .invalidModel,
                    "the mean image has \(mean.meanImage.count) values, the image \(shape.elementCount)"
                )
            }
            return try builder.add(Binary<Sub>(), image, builder.constant(Tensor(mean.meanImage, shape: shape)))
        case nil:
            return image
        }
    }

    // MARK: Outputs

    private func blob(_ name: String) throws(ModelError) -> Blob {
        guard let blob = blobs[name] else {
            throw ModelError(.invalidModel, "no layer gives the blob '\(name)'")
        }
        return blob
    }

    private mutating func output(
        _ feature: SpecFeatureDescription,
        _ values: inout [(name: String, value: ValueID)]
    ) throws(ModelError) -> OutputFeature {
        var blob = try blob(feature.name)
        let form: OutputFeature.Form
        switch feature.type.type {
        case .multiArrayType(let array):
            if usesRank5Arrays, !blob.isFolded, builder.shape(of: blob.value).count == 5 {
                let batch = builder.shape(of: blob.value)[1].count ?? 1
                blob = Blob(value: try builder.add(Regroup.droppingBatch, blob.value), isFolded: true, batch: batch)
            }
            if !usesRank5Arrays { blob.value = try declared(array.flexibleShape, of: blob.value) }
            let mapping =
                blob.isFolded ? ArrayMapping.rank5(declared: array.flexibleShape, batch: blob.batch) : .exact
            form = .array(mapping, try array.scalarType())
        case .imageType(let image): form = .image(try image.form())
        case .doubleType: form = .double
        case .int64Type: form = .int64
        default:
            throw ModelError(.unsupported, "a neural network gives multi-arrays, images and numbers only")
        }
        let index = values.count
        values.append((feature.name, blob.value))
        return OutputFeature(name: feature.name, index: index, form: form)
    }

    /// Reshapes an output whose rank differs from the declared one to the declared shape when the number of elements
    /// matches, as for image inputs, which have more axes than the arrays that they replace.
    private mutating func declared(_ shape: Shape, of value: ValueID) throws(ModelError) -> ValueID {
        let found = builder.shape(of: value)
        guard !shape.isEmpty, shape.count != found.count else { return value }
        if let counts = shape.counts, counts.elementCount == found.elementCount.count {
            let target = builder.constant(Tensor(counts.map { Int32(clamping: $0) }, shape: [counts.count]))
            return counts.contains(0) ? value : try builder.add(Reshape(), value, target)
        }
        let extra = found.count - shape.count
        guard extra > 0, found.prefix(extra).allSatisfy({ $0 == 1 }) else { return value }
        return try builder.add(Regroup((extra..<found.count).map { .axis($0) }), value)
    }

    /// The blob with the probabilities is the named one, the output of the layer of that name, or the last layer's.
    private func classifier(_ values: inout [(name: String, value: ValueID)]) throws(ModelError) -> Classifier? {
        guard let labels = network.labels else { return nil }
        let name = network.probabilitiesBlob
        let layer = name.isEmpty ? network.layers.last : network.layers.first { $0.name == name }
        guard let found = blobs[name] ?? layer?.output.first.flatMap({ blobs[$0] }) else {
            throw ModelError(.invalidModel, "no layer gives the class probabilities '\(name)'")
        }
        // Some networks append values to their probabilities: the labels belong to the first elements.
        if let count = builder.shape(of: found.value).elementCount.count, count < labels.count {
            throw ModelError(.invalidModel, "\(labels.count) class labels for \(count) probabilities")
        }
        let index = values.count
        values.append((name.isEmpty ? "probabilities" : name, found.value))
        return Classifier(
            labels: labels,
            probabilities: index,
            predictedFeatureName: description.predictedFeatureName,
            probabilitiesFeatureName: description.predictedProbabilitiesName.isEmpty
                ? nil : description.predictedProbabilitiesName
        )
    }
}
