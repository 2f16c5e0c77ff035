import MLFiles
import MLNumerics
import MLSpecification
import MLUpdating

extension MLModel {
    /// The value of a parameter of the loaded model.
    ///
    /// - Parameter key: A parameter of the update, the number of neighbors, the names in linked models, or the weights
    ///   or biases of an updatable layer, which is the key's scope.
    /// - Returns: A number or a string; an `MLMultiArray` for weights and biases.
    /// - Throws: `MLModelError.parameters` when the model has no such parameter.
    public func parameterValue(for key: MLParameterKey) throws -> Any {
        if let value = parameters.values[key] { return value }
        guard key.name == MLParameterKey.weights.name || key.name == MLParameterKey.biases.name else {
            let names = parameters.values.keys.map(\.description).sorted().joined(separator: ", ")
            throw MLModelError(
                .parameters,
                "The model has no parameter \(key); it has \(names.isEmpty ? "none" : names)."
            )
        }
        guard let file = parameters.file else {
            throw MLModelError(.parameters, "The model is not updatable, so it does not give \(key).")
        }
        do throws(ModelError) {
            let target = try UpdateTarget(of: file.specification)
            guard let layer = UpdateOption.layer(key.scope, target) else {
                throw ModelError(.parameter, "'\(key.name)' needs a scope: the name of a layer")
            }
            guard target.networkParameters != nil else {
                throw ModelError(.parameter, "a nearest-neighbours classifier has no \(key.name)")
            }
            let trainer = try NetworkTrainer(target.model)
            if key.name == MLParameterKey.weights.name { return MLMultiArray(copying: try trainer.weights(of: layer)) }
            guard let biases = try trainer.biases(of: layer) else {
                throw ModelError(.parameter, "the layer '\(layer)' has no biases")
            }
            return MLMultiArray(copying: biases)
        } catch {
            throw MLModelError(.parameters, error.description)
        }
    }
}

extension MLMultiArray {
    /// Copies the elements of a tensor into memory of the array's own.
    fileprivate convenience init(copying tensor: Tensor) {
        let copy = Tensor(uninitialized: tensor.scalarType, shape: tensor.shape)
        copy.address.copyMemory(from: tensor.address, byteCount: tensor.byteCount)
        withExtendedLifetime(tensor) {}
        self.init(copy)
    }
}

/// The parameters of a loaded model.
struct LoadedParameters: Sendable {
    /// Numbers and strings by key.
    ///
    /// `nonisolated(unsafe)`: they are never written.
    nonisolated(unsafe) let values: [MLParameterKey: Any]
    /// The file of an updatable model, for its weights.
    let file: ModelFile?

    /// Makes parameters that consist of the model's weights alone.
    init(of file: ModelFile) {
        values = [:]
        self.file = file.specification.isUpdatable ? file : nil
    }

    /// Makes the parameters of a model with the values that a configuration sets; throws when the model does not allow
    /// one.
    init(_ file: ModelFile, _ given: [MLParameterKey: Any]) throws {
        let model = file.specification
        var values: [MLParameterKey: Any] = [:]
        Self.collect(model, nil, given, into: &values)
        if model.isUpdatable, let target = try? UpdateTarget(of: model),
            var update = try? UpdateParameters(of: target)
        {
            for option in try UpdateOption.options(given, for: target) {
                guard case .value(let value) = option.content else { continue }
                try translatingErrors { () throws(ModelError) in try update.set(option.parameter, to: value) }
            }
            for (key, value) in update.byKey {
                values[key] = value
                for name in target.names { values[key.scoped(to: name)] = value }
            }
        }
        self.values = values
        self.file = model.isUpdatable ? file : nil
    }

    /// Collects the parameters of the single models of a pipeline that do not belong to an update.
    private static func collect(
        _ model: SpecModel,
        _ name: String?,
        _ given: [MLParameterKey: Any],
        into values: inout [MLParameterKey: Any]
    ) {
        func add(_ key: MLParameterKey, _ standard: Any) {
            let value = name.flatMap { given[key.scoped(to: $0)] } ?? given[key] ?? standard
            if values[key] == nil { values[key] = value }
            if let name { values[key.scoped(to: name)] = value }
        }
        switch model.type {
        case .kNearestNeighborsClassifier(let classifier)?:
            add(.numberOfNeighbors, NSNumber(value: classifier.numberOfNeighbors.defaultValue))
        case .linkedModel(let link)?:
            add(.linkedModelFileName, link.linkedModelFile.linkedModelFileName.defaultValue)
            add(.linkedModelSearchPath, link.linkedModelFile.linkedModelSearchPath.defaultValue)
        default: break
        }
        let names = model.stageNames
        for (position, stage) in model.stages.enumerated() {
            collect(stage, position < names.count ? names[position] : "model \(position)", given, into: &values)
        }
    }
}

extension SpecModel {
    /// The names of a pipeline's models; empty for other models.
    fileprivate var stageNames: [String] {
        switch type {
        case .pipeline(let pipeline)?: pipeline.names
        case .pipelineClassifier(let classifier)?: classifier.pipeline.names
        case .pipelineRegressor(let regressor)?: regressor.pipeline.names
        default: []
        }
    }
}

extension ModelFile {
    /// The model with the weights and biases that a configuration sets for its layers.
    func withWeights(_ given: [MLParameterKey: Any]) throws -> ModelFile {
        let weights = given.filter {
            $0.key.name == MLParameterKey.weights.name || $0.key.name == MLParameterKey.biases.name
        }
        guard !weights.isEmpty else { return self }
        let target: UpdateTarget
        do { target = try UpdateTarget(of: specification) } catch {
            throw MLModelError(.parameters, "Weights can be set in updatable models only: \(error)")
        }
        let options = try UpdateOption.options(weights, for: target)
        return try translatingErrors { () throws(ModelError) in
            let session = try UpdateSession(self, options: options) { () throws(ModelError) in
                throw ModelError(.update, "weights are set without an engine")
            }
            return try session.updated()
        }
    }
}
