import MLSpecification

/// The parameters of a model as `metadata.json` lists them: name, type, default value and allowed values.
enum CompiledParameters {
    /// Parameters of prediction: the number of neighbors.
    ///
    /// `scope` is the model of a pipeline that has the parameter, such as `model1`.
    static func ofModel(_ model: SpecModel, scope: String = "") -> [JSONValue] {
        switch model.type {
        case .kNearestNeighborsClassifier(let classifier)? where classifier.hasNumberOfNeighbors:
            return [
                parameter(
                    "numberOfNeighbors",
                    classifier.numberOfNeighbors,
                    scope,
                    "Number of neighbors to use for prediction"
                )
            ]
        default:
            return model.stages.enumerated().flatMap { index, stage in
                ofModel(stage, scope: scope.isEmpty ? "model\(index)" : "\(scope).model\(index)")
            }
        }
    }

    /// Parameters of an update: epochs, shuffling and those of the optimizer.
    static func ofUpdates(_ model: SpecModel, scope: String = "") -> [JSONValue] {
        guard let update = model.networkUpdate else {
            guard let last = model.stages.last else { return [] }
            let name = "model\(model.stages.count - 1)"
            return ofUpdates(last, scope: scope.isEmpty ? name : "\(scope).\(name)")
        }
        var list: [JSONValue] = []
        if update.hasEpochs { list.append(parameter("epochs", update.epochs, scope, "Passes over the training data")) }
        if update.hasShuffle {
            list.append(
                entry(
                    "shuffle",
                    "Bool",
                    update.shuffle.defaultValue ? "1" : "0",
                    nil,
                    scope,
                    "Whether the order changes from epoch to epoch"
                )
            )
        }
        if update.hasSeed { list.append(parameter("seed", update.seed, scope, "Seed of the order")) }
        switch update.optimizer.optimizerType {
        case .sgdOptimizer(let optimizer)?:
            list.append(parameter("learningRate", optimizer.learningRate, scope, "Learning rate"))
            list.append(parameter("miniBatchSize", optimizer.miniBatchSize, scope, "Examples of a mini-batch"))
            if optimizer.hasMomentum { list.append(parameter("momentum", optimizer.momentum, scope, "Momentum")) }
        case .adamOptimizer(let optimizer)?:
            list.append(parameter("learningRate", optimizer.learningRate, scope, "Learning rate"))
            list.append(parameter("miniBatchSize", optimizer.miniBatchSize, scope, "Examples of a mini-batch"))
            list.append(parameter("beta1", optimizer.beta1, scope, "Decay of the first moment"))
            list.append(parameter("beta2", optimizer.beta2, scope, "Decay of the second moment"))
            list.append(parameter("eps", optimizer.eps, scope, "Added to the denominator"))
        case nil: break
        }
        return list
    }

    private static func parameter(
        _ name: String,
        _ parameter: SpecInt64Parameter,
        _ scope: String,
        _ description: String
    ) -> JSONValue {
        var allowed: JSONValue.Member?
        switch parameter.allowedValues {
        case .range(let range)?:
            allowed = .init("allowedRange", .string("[\(range.minValue), \(range.maxValue)]"))
        case .set(let set)?:
            allowed = .init("allowedSet", .string("[" + set.values.map { "\($0)" }.joined(separator: ", ") + "]"))
        case nil: break
        }
        return entry(name, "Int64", "\(parameter.defaultValue)", allowed, scope, description)
    }

    private static func parameter(
        _ name: String,
        _ parameter: SpecDoubleParameter,
        _ scope: String,
        _ description: String
    ) -> JSONValue {
        var allowed: JSONValue.Member?
        if case .range(let range)? = parameter.allowedValues {
            allowed = .init("allowedRange", .string("[\(range.minValue), \(range.maxValue)]"))
        }
        return entry(name, "Double", "\(parameter.defaultValue)", allowed, scope, description)
    }

    private static func entry(
        _ name: String,
        _ type: String,
        _ value: String,
        _ allowed: JSONValue.Member?,
        _ scope: String,
        _ description: String
    ) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(name)), .init("dataType", .string(type)), .init("defaultValue", .string(value)),
            .init("shortDescription", .string(description)),
        ]
        if let allowed { members.append(allowed) }
        if !scope.isEmpty { members.append(.init("scope", .string(scope))) }
        return .object(members)
    }
}
