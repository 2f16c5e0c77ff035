import MLGraph
package import MLFeatures
package import MLLowering
package import MLNumerics
import MLPasses
package import MLRuntime
package import MLSpecification

/// Runs models that are graphs: neural networks and ML programs.
package struct GraphEngine: ModelEngine {
    package let interface: SpecModelDescription
    package let executable: GraphExecutable
    private let lowered: LoweredModel
    /// Other readings of a neural network, for arrays that this one does not fit.
    private let variants: NetworkVariants?

    package init(_ lowered: LoweredModel, interface: SpecModelDescription) throws(ModelError) {
        try self.init(lowered, interface: interface, variants: nil)
    }

    init(_ lowered: LoweredModel, interface: SpecModelDescription, variants: NetworkVariants?) throws(ModelError) {
        for input in lowered.inputs {
            if case .state = input.form {
                throw ModelError(
                    .unsupported,
                    "the model keeps a state ('\(input.name)'); states are not supported yet"
                )
            }
        }
        self.interface = interface
        self.lowered = lowered
        self.variants = variants
        executable = try GraphExecutable(
            try PassPipeline.prepare(lowered.graph),
            pipeline: GraphExecutable.Pipeline(
                optimize: { (graph) throws(ModelError) in try PassPipeline.optimize(graph) },
                layOut: { (graph) throws(ModelError) in try graph.withLayouts() }
            )
        )
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        try prediction(from: inputs, backings: backings, observer: nil)
    }

    /// Predicts and tells `observer` how long each step took.
    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData] = [:],
        observer: (any StepObserver)?
    ) throws(ModelError) -> [String: FeatureData] {
        if let variant = try variants?.engine(for: inputs) {
            return try variant.prediction(from: inputs, backings: backings, observer: observer)
        }
        let tensors = try graphInputs(inputs)
        var targets: [Tensor?] = []
        if !backings.isEmpty {
            targets = lowered.graph.outputNames.map { _ in nil }
            for output in lowered.outputs { targets[output.index] = backing(for: output, backings) }
        }
        let results = try executable.run(tensors, backings: targets, observer: observer)
        var features: [String: FeatureData] = [:]
        for output in lowered.outputs {
            features[output.name] = try feature(
                output,
                results[output.index],
                isBacked: !targets.isEmpty && targets[output.index] != nil
            )
        }
        if let classifier = lowered.classifier {
            try classify(results[classifier.probabilities], classifier, &features)
        }
        return features
    }

    /// The tensors that the graph takes for these features.
    package func graphInputs(_ features: [String: FeatureData]) throws(ModelError) -> [Tensor] {
        var tensors: [Tensor] = []
        tensors.reserveCapacity(lowered.inputs.count)
        for input in lowered.inputs {
            guard let data = features[input.name] else {
                tensors.append(try defaultTensor(input))
                continue
            }
            do { tensors.append(try tensor(data, input)) } catch { throw error.at("input '\(input.name)'") }
        }
        return tensors
    }

    private func defaultTensor(_ input: InputFeature) throws(ModelError) -> Tensor {
        guard input.isOptional else {
            throw ModelError(.invalidInput, "the input '\(input.name)' is missing; \(inputList)")
        }
        let type = lowered.graph.type(of: input.value)
        guard case .array(let mapping) = input.form, let shape = try defaultShape(input, type.shape, mapping) else {
            throw ModelError(
                .invalidInput,
                "the input '\(input.name)' is optional, but the model states no shape to fill; give it"
            )
        }
        let values = [Double](repeating: input.defaultValue, count: shape.elementCount)
        return Tensor(values: values, scalarType: type.scalarType, shape: shape)
    }

    /// The only shape that the graph takes, or the one that the description states beside the choice of callers.
    private func defaultShape(
        _ input: InputFeature,
        _ shape: Shape,
        _ mapping: ArrayMapping
    ) throws(ModelError) -> [Int]? {
        if let counts = shape.counts { return counts }
        let features = interface.input + interface.functions.flatMap(\.input)
        guard let feature = features.first(where: { $0.name == input.name }),
            case .multiArrayType(let array)? = feature.type.type, !array.shape.isEmpty
        else { return nil }
        return try mapping.graphShape(of: array.shape.map { Int(clamping: $0) })
    }

    private var inputList: String {
        "the model takes "
            + lowered.inputs.map { "'\($0.name)' \(lowered.graph.type(of: $0.value))" }.joined(separator: ", ")
    }

    private func tensor(_ data: FeatureData, _ input: InputFeature) throws(ModelError) -> Tensor {
        let type = lowered.graph.type(of: input.value)
        switch (input.form, data) {
        case (.array(let mapping), .tensor(let tensor)):
            let shape = try mapping.graphShape(of: tensor.shape)
            let converted = tensor.converted(to: type.scalarType)
            return shape == converted.shape ? converted : converted.reshaped(shape)
        case (.array, .double(let value)):
            return Tensor(values: [value], scalarType: type.scalarType, shape: [Int](repeating: 1, count: type.rank))
        case (.array, .int64(let value)):
            return Tensor(
                values: [Double(value)],
                scalarType: type.scalarType,
                shape: [Int](repeating: 1, count: type.rank)
            )
        case (.image(let form), .image(let image)):
            guard form.width.count ?? image.width == image.width, form.height.count ?? image.height == image.height
            else {
                throw ModelError(
                    .invalidInput,
                    "an image of \(image.width) × \(image.height) where the model takes \(form.width) × \(form.height)"
                )
            }
            let planes = try image.planes(form.layout)
            let missing = Swift.max(type.rank - planes.shape.count, 0)
            return planes.reshaped([Int](repeating: 1, count: missing) + planes.shape).converted(to: type.scalarType)
        default:
            throw ModelError(.invalidInput, "\(data.kind) was given; \(inputList)")
        }
    }

    /// The caller's tensor, when the graph can write the output there itself.
    private func backing(for output: OutputFeature, _ backings: [String: FeatureData]) -> Tensor? {
        guard case .array(.exact, let scalarType) = output.form, case .tensor(let tensor)? = backings[output.name]
        else {
            return nil
        }
        let type = lowered.graph.type(of: lowered.graph.body.outputs[output.index])
        guard type.scalarType == scalarType, tensor.scalarType == scalarType,
            type.shape.counts.map({ $0 == tensor.shape }) ?? true
        else { return nil }
        return tensor
    }

    private func feature(_ output: OutputFeature, _ result: Tensor, isBacked: Bool) throws(ModelError) -> FeatureData {
        switch output.form {
        case .array(let mapping, let scalarType):
            if isBacked { return .tensor(result) }
            let converted = result.converted(to: scalarType)
            return .tensor(converted.reshaped(mapping.callerShape(of: converted.shape)))
        case .image(let form): return .image(try ImageBuffer(planes: result, layout: form.layout))
        case .int64: return .int64(Int64(result.integers.first ?? 0))
        case .double: return .double(result.values.first ?? 0)
        case .string: return .string(result.strings.first ?? "")
        case .dictionary:
            throw ModelError(.unsupported, "output '\(output.name)': dictionaries from a graph are not supported yet")
        }
    }

    /// The most probable label and the probability of each; of equal ones the first wins.
    private func classify(
        _ probabilities: Tensor,
        _ classifier: Classifier,
        _ features: inout [String: FeatureData]
    ) throws(ModelError) {
        let values = Array(probabilities.values.prefix(classifier.labels.count))
        guard values.count == classifier.labels.count, !values.isEmpty else {
            throw ModelError(
                .invalidModel,
                "the classifier has \(classifier.labels.count) labels for \(values.count) probabilities"
            )
        }
        var best = 0
        for index in values.indices where values[index] > values[best] { best = index }
        let dictionary: FeatureDictionary
        switch classifier.labels {
        case .strings(let labels):
            features[classifier.predictedFeatureName] = .string(labels[best])
            dictionary = .strings([String: Double](zip(labels, values), uniquingKeysWith: { first, _ in first }))
        case .integers(let labels):
            features[classifier.predictedFeatureName] = .int64(labels[best])
            dictionary = .integers([Int64: Double](zip(labels, values), uniquingKeysWith: { first, _ in first }))
        }
        if let name = classifier.probabilitiesFeatureName, !name.isEmpty { features[name] = .dictionary(dictionary) }
    }
}
