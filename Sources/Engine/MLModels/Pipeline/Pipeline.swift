package import MLFeatures
package import MLNumerics
package import MLSpecification

/// A pipeline of models: each takes its inputs by name from the pipeline's inputs and the outputs of earlier stages,
/// where a later value of a name replaces an earlier one.
package struct Pipeline: ModelEngine, AppCalling {
    /// A model of the pipeline and its name, for messages and scoped parameters.
    package struct Stage: Sendable {
        package let name: String
        package let engine: any ModelEngine
        fileprivate let inputs: [(name: String, isOptional: Bool)]

        package init(name: String, engine: any ModelEngine) {
            self.name = name
            self.engine = engine
            inputs = engine.interface.input.map { ($0.name, $0.type.isOptional) }
        }
    }

    package let interface: SpecModelDescription
    package let stages: [Stage]
    private let outputNames: [String]

    /// Checks that every stage finds its inputs, of the right kind, that every output is produced, and that no two
    /// stages have states of the same name.
    package init(_ stages: [Stage], _ interface: SpecModelDescription) throws(ModelError) {
        guard !stages.isEmpty else { throw ModelError(.invalidModel, "the pipeline has no models") }
        self.interface = interface
        self.stages = stages
        outputNames = interface.output.map(\.name)
        var known: [String: SpecFeatureDescription] = [:]
        for input in interface.input { known[input.name] = input }
        for stage in stages {
            for input in stage.engine.interface.input {
                guard let source = known[input.name] else {
                    if input.type.isOptional { continue }
                    throw ModelError(
                        .invalidModel,
                        "its input '\(input.name)' is neither an input of the pipeline nor an output of an earlier model",
                        at: stage.name
                    )
                }
                guard source.kind == input.kind || (source.isNumber && input.isNumber) else {
                    throw ModelError(
                        .invalidModel,
                        "its input '\(input.name)' is \(input.kind), but the pipeline has \(source.kind) of that name",
                        at: stage.name
                    )
                }
            }
            for output in stage.engine.interface.output { known[output.name] = output }
        }
        var stateOwners: [String: String] = [:]
        for stage in stages {
            for state in stage.engine.interface.state {
                if let other = stateOwners.updateValue(stage.name, forKey: state.name) {
                    throw ModelError(
                        .invalidModel,
                        "it keeps a state '\(state.name)', and so does '\(other)'; give the states different names",
                        at: stage.name
                    )
                }
            }
        }
        for output in interface.output where known[output.name] == nil {
            throw ModelError(.invalidModel, "no model of the pipeline gives the output '\(output.name)'")
        }
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        try prediction(from: inputs, backings: backings, state: state, after: { _ in })
    }

    /// Predicts and calls `after` with the index of each model when it is done.
    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData] = [:],
        state: ModelState? = nil,
        after: (Int) -> Void
    ) throws(ModelError) -> [String: FeatureData] {
        var known = inputs
        for (position, stage) in stages.enumerated() {
            try Cancellation.forSteps?.check()
            var arguments: [String: FeatureData] = [:]
            for input in stage.inputs { arguments[input.name] = known[input.name] }
            let results = try withErrorContext(stage.name) { () throws(ModelError) in
                try stage.engine.prediction(from: arguments, backings: backings, state: state)
            }
            known.merge(results) { $1 }
            after(position)
        }
        var outputs: [String: FeatureData] = [:]
        for name in outputNames { outputs[name] = known[name] }
        return outputs
    }

    package var callsApp: Bool { stages.contains { ($0.engine as? any AppCalling)?.callsApp == true } }

    package func results(of examples: [[String: FeatureData]]) -> [Result<[String: FeatureData], ModelError>] {
        ParallelExamples.results(of: examples.indices, onWorkers: !callsApp) { (index) throws(ModelError) in
            try prediction(from: examples[index])
        }
    }

    /// The buffers of all stages: each finds its own by name.
    package func makeState() -> ModelState {
        var tensors: [String: Tensor] = [:]
        for stage in stages {
            let state = stage.engine.makeState()
            for kept in stage.engine.interface.state { tensors[kept.name] = state[kept.name] }
        }
        return ModelState(tensors)
    }

    package var prefersBatches: Bool { stages.contains { $0.engine.prefersBatches } }

    package func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch {
        let known = try run(batch, through: stages[...])
        var outputs: [String: FeatureColumn] = [:]
        for name in outputNames { outputs[name] = known.columns[name] }
        return FeatureBatch(count: batch.count, columns: outputs)
    }

    /// The inputs for training the last stage: all outputs of the first stages and the pipeline's inputs.
    package func features(from batch: FeatureBatch, before last: Int) throws(ModelError) -> FeatureBatch {
        try run(batch, through: stages[..<last])
    }

    private func run(_ batch: FeatureBatch, through stages: ArraySlice<Stage>) throws(ModelError) -> FeatureBatch {
        var known = batch
        guard batch.count > 0 else { return batch }
        for stage in stages {
            try Cancellation.check()
            var arguments: [String: FeatureColumn] = [:]
            for input in stage.inputs { arguments[input.name] = known.columns[input.name] }
            let results = try withErrorContext(stage.name) { () throws(ModelError) in
                try stage.engine.predictions(from: FeatureBatch(count: batch.count, columns: arguments))
            }
            known.columns.merge(results.columns) { $1 }
        }
        return known
    }
}

extension SpecFeatureDescription {
    /// Whether it is a double or an integer: models accept one for the other.
    fileprivate var isNumber: Bool {
        switch type.type {
        case .doubleType?, .int64Type?: true
        default: false
        }
    }
}
