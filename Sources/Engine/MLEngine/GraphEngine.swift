import MLGraph
package import MLFeatures
import MLFiles
package import MLLowering
import MLModels
package import MLNumerics
import MLPasses
package import MLRuntime
package import MLSpecification

/// Runs models that are graphs: neural networks and ML programs.
package struct GraphEngine: ModelEngine, AppCalling {
    package let interface: SpecModelDescription
    package let executable: GraphExecutable
    private let lowered: LoweredModel
    /// Other readings of a neural network, for arrays that this one does not fit.
    private let variants: NetworkVariants?
    /// The mapped files with the constants.
    private let sources: ModelSources?
    /// The plans for several examples at once; `nil` for a model with states, whose predictions follow one another.
    let batches: GraphBatches?
    /// Whether a layer is computed by a class of the app.
    package let callsApp: Bool

    package init(_ lowered: LoweredModel, interface: SpecModelDescription) throws(ModelError) {
        try self.init(lowered, interface: interface, variants: nil, sources: nil)
    }

    /// The passes that a graph has gone through.
    enum Preparation {
        case none
        /// Those that need no shapes.
        case prepared
        /// Bound to the single shape of each input, and all passes but those that depend on the machine.
        case optimized
    }

    init(
        _ lowered: LoweredModel,
        interface: SpecModelDescription,
        variants: NetworkVariants?,
        sources: ModelSources?,
        preparation: Preparation = .none
    ) throws(ModelError) {
        self.interface = interface
        self.lowered = lowered
        self.variants = variants
        self.sources = sources
        callsApp = lowered.graph.body.callsApp
        batches = lowered.states.isEmpty && !callsApp ? GraphBatches() : nil
        let graph: Graph
        if preparation == .none { graph = try PassPipeline.prepare(lowered.graph) } else { graph = lowered.graph }
        executable = try GraphExecutable(
            graph,
            pipeline: GraphExecutable.Pipeline(
                optimize: { (graph) throws(ModelError) in try PassPipeline.optimize(graph) },
                layOut: { (graph) throws(ModelError) in try PassPipeline.layOut(graph) }
            ),
            overwrites: lowered.states.compactMap { state in
                state.output.map { GraphExecutable.Overwrite(input: state.input, output: $0) }
            },
            isOptimized: preparation == .optimized
        )
    }

    /// Plans the graph for the interface's default shapes, where it leaves extents open.
    func bindDefaultShapes() throws(ModelError) {
        guard !lowered.graph.inputs.allSatisfy({ lowered.graph.type(of: $0).isBound }) else { return }
        var tensors: [Tensor] = []
        for input in lowered.inputs {
            let type = lowered.graph.type(of: input.value)
            var stated = type.shape.counts
            if stated == nil { stated = try defaultShape(input) }
            guard let shape = stated, shape.count == type.rank else { return }
            tensors.append(Tensor(uninitialized: type.scalarType, shape: shape, zeroed: true))
        }
        _ = try executable.program(for: tensors)
    }

    package func makeState() -> ModelState {
        var tensors: [String: Tensor] = [:]
        for state in lowered.states {
            let type = lowered.graph.type(of: lowered.graph.inputs[state.input])
            tensors[state.name] = Tensor(uninitialized: type.scalarType, shape: type.shape.counts ?? [], zeroed: true)
        }
        return ModelState(tensors)
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        try prediction(from: inputs, backings: backings, state: state, observer: nil)
    }

    /// Predicts and reports the time of each step to `observer`.
    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData] = [:],
        state: ModelState?,
        observer: (any StepObserver)?
    ) throws(ModelError) -> [String: FeatureData] {
        if let variant = try variants?.engine(for: inputs) {
            let features = try variant.prediction(from: inputs, backings: backings, state: state, observer: observer)
            try sources?.checkWhole()
            return features
        }
        guard !lowered.states.isEmpty else {
            var none: [String: Tensor] = [:]
            return try predict(inputs, backings, &none, observer)
        }
        guard let state else {
            let names = lowered.states.map(\.name).joined(separator: "', '")
            throw ModelError(
                .invalidInput,
                "the model keeps states ('\(names)'); make a state of the model and predict with it"
            )
        }
        return try state.update { (buffers: inout [String: Tensor]) throws(ModelError) in
            try predict(inputs, backings, &buffers, observer)
        }
    }

    private func predict(
        _ inputs: [String: FeatureData],
        _ backings: [String: FeatureData],
        _ buffers: inout [String: Tensor],
        _ observer: (any StepObserver)?
    ) throws(ModelError) -> [String: FeatureData] {
        let tensors = try graphInputs(inputs, buffers)
        var targets: [Tensor?] = []
        if !backings.isEmpty {
            targets = lowered.graph.outputNames.map { _ in nil }
            for output in lowered.outputs { targets[output.index] = backing(for: output, backings) }
        }
        let results = try withErrorContext(failure) { () throws(ModelError) in
            try executable.run(tensors, backings: targets, observer: observer)
        }
        try sources?.checkWhole()
        for state in lowered.states {
            if let output = state.output { buffers[state.name] = results[output] }
        }
        return try features(results, backings: targets)
    }

    /// The model's outputs from the graph's; `backings` are the caller's tensors among these, by output.
    func features(_ results: [Tensor], backings: [Tensor?] = []) throws(ModelError) -> [String: FeatureData] {
        var features = [String: FeatureData](minimumCapacity: lowered.outputs.count)
        for output in lowered.outputs {
            features[output.name] = try feature(
                output,
                results[output.index],
                isBacked: !backings.isEmpty && backings[output.index] != nil
            )
        }
        if let classifier = lowered.classifier {
            try classify(results[classifier.probabilities], classifier, &features)
        }
        return features
    }

    /// The graph's inputs for an example; `nil` when another reading of the network fits it.
    func joinableInputs(_ example: [String: FeatureData]) throws(ModelError) -> [Tensor]? {
        guard try variants?.engine(for: example) == nil else { return nil }
        return try graphInputs(example)
    }

    /// Throws when a mapped file was truncated meanwhile.
    func checkSources() throws(ModelError) { try sources?.checkWhole() }

    /// The beginning of Core ML's message when a model of this kind fails while it runs.
    private var failure: String {
        switch lowered.language {
        case .neuralNetwork: "Error computing NN outputs"
        case .program: "Unable to compute the prediction using ML Program"
        }
    }

    /// The graph's input tensors for these features and contents of states.
    package func graphInputs(
        _ features: [String: FeatureData],
        _ buffers: [String: Tensor] = [:]
    ) throws(ModelError) -> [Tensor] {
        var tensors: [Tensor] = []
        tensors.reserveCapacity(lowered.inputs.count)
        for input in lowered.inputs {
            if case .state = input.form {
                tensors.append(try contents(input, buffers))
                continue
            }
            guard let data = features[input.name] else {
                tensors.append(try defaultTensor(input))
                continue
            }
            do { tensors.append(try tensor(data, input)) } catch { throw error.at("input '\(input.name)'") }
        }
        return tensors
    }

    private func contents(_ input: InputFeature, _ buffers: [String: Tensor]) throws(ModelError) -> Tensor {
        let type = lowered.graph.type(of: input.value)
        guard let tensor = buffers[input.name], tensor.scalarType == type.scalarType,
            type.shape.counts == tensor.shape
        else {
            throw ModelError(
                .invalidInput,
                "the state was made for another model; it has no '\(input.name)' of type \(type)"
            )
        }
        return tensor
    }

    private func defaultTensor(_ input: InputFeature) throws(ModelError) -> Tensor {
        guard input.isOptional else {
            throw ModelError(.invalidInput, "the input '\(input.name)' is missing; \(inputList)")
        }
        let type = lowered.graph.type(of: input.value)
        var stated = type.shape.counts
        if stated == nil { stated = try defaultShape(input) }
        guard let shape = stated, shape.count == type.rank else {
            throw ModelError(
                .invalidInput,
                "the input '\(input.name)' is optional, but the model states no shape to fill; give it"
            )
        }
        let values = [Double](repeating: input.defaultValue, count: shape.elementCount)
        return Tensor(values: values, scalarType: type.scalarType, shape: shape)
    }

    /// The interface's default shape of a flexible array, in the graph's form.
    private func defaultShape(_ input: InputFeature) throws(ModelError) -> [Int]? {
        guard case .array(let mapping) = input.form,
            let array = interface.input.first(where: { $0.name == input.name })?.type.multiArrayType
        else { return nil }
        var shape = array.shape.map { Int(clamping: $0) }
        if shape.isEmpty {
            switch array.shapeFlexibility {
            case .enumeratedShapes(let all)?: shape = all.shapes.first?.shape.map { Int(clamping: $0) } ?? []
            case .shapeRange(let range)?: shape = range.sizeRanges.map { Int(clamping: $0.lowerBound) }
            case nil: return nil
            }
        }
        try MemoryLimit.require(shape, bitWidth: 64)
        return try mapping.graphShape(of: shape)
    }

    private var inputList: String {
        "the model takes "
            + lowered.inputs.filter { lowered.states.map(\.name).contains($0.name) == false }
            .map { "'\($0.name)' \(lowered.graph.type(of: $0.value))" }.joined(separator: ", ")
    }

    private func tensor(_ data: FeatureData, _ input: InputFeature) throws(ModelError) -> Tensor {
        let type = lowered.graph.type(of: input.value)
        switch (input.form, data) {
        case (.array(let mapping), .tensor(let tensor)):
            let isScalar = type.rank == 0 && tensor.count == 1
            let shape = isScalar ? [] : try mapping.graphShape(of: tensor.shape)
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

    /// The caller's tensor, when the graph can write the output to it directly.
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

    /// The most probable label and the probability of each label; the first of equally probable labels wins.
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
