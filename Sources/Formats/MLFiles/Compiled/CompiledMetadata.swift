package import MLSpecification

/// The description of a model in the `metadata.json` of a compiled folder: a list of one object with Apple's keys.
package enum CompiledMetadata {
    /// Describes a model; `name` is its name, from which the name of its generated class follows.
    package static func json(_ model: SpecModel, named name: String) -> JSONValue {
        let description = model.description_p
        let metadata = description.metadata
        var members: [JSONValue.Member] = [
            .init("metadataOutputVersion", .string("3.0")),
            .init("modelType", kind(model)),
            .init("method", .string("predict")),
            .init("generatedClassName", .string(SwiftIdentifier.className(name))),
            .init("specificationVersion", .number(Double(model.specificationVersion))),
            .init("isUpdatable", .string(model.isUpdatable ? "1" : "0")),
            .init("inputSchema", schema(description.input)),
            .init("outputSchema", schema(description.output)),
            .init("stateSchema", schema(description.state)),
            .init("modelParameters", .array(CompiledParameters.ofModel(model))),
        ]
        if model.isUpdatable {
            members.append(.init("trainingInputSchema", schema(description.trainingInput)))
            members.append(.init("updateParameters", .array(CompiledParameters.ofUpdates(model))))
        }
        if let labels = labels(of: model) { members.append(.init("classLabels", labels)) }
        if !description.functions.isEmpty {
            members.append(.init("functions", .array(description.functions.map { function($0, of: model) })))
            members.append(.init("defaultFunctionName", .string(description.defaultFunctionName)))
        }
        if !description.predictedFeatureName.isEmpty {
            members.append(.init("predictedFeatureName", .string(description.predictedFeatureName)))
        }
        if !description.predictedProbabilitiesName.isEmpty {
            members.append(.init("predictedProbabilitiesName", .string(description.predictedProbabilitiesName)))
        }
        if let systems = SpecificationVersion.systems(model.specificationVersion) {
            var availability: [JSONValue.Member] = [
                .init("iOS", .string(systems.iOS)), .init("macCatalyst", .string(systems.iOS)),
                .init("macOS", .string(systems.macOS)), .init("tvOS", .string(systems.tvOS)),
                .init("watchOS", .string(systems.watchOS)),
            ]
            if let visionOS = systems.visionOS { availability.append(.init("visionOS", .string(visionOS))) }
            members.append(.init("availability", .object(availability)))
        }
        members += CompiledCensus(model).members
        for (name, value) in [
            ("author", metadata.author), ("license", metadata.license), ("version", metadata.versionString),
            ("shortDescription", metadata.shortDescription),
        ] where !value.isEmpty {
            members.append(.init(name, .string(value)))
        }
        let custom = metadata.userDefined.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
        members.append(.init("userDefinedMetadata", .object(custom)))
        return .array([.object(members)])
    }

    /// The kind of a model, as the specification names its field; for a pipeline, also the kinds of its models.
    private static func kind(_ model: SpecModel) -> JSONValue {
        let name = model.type.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "unknown"
        var members: [JSONValue.Member] = [.init("name", .string("MLModelType_" + name))]
        switch model.type {
        case .pipeline?, .pipelineClassifier?, .pipelineRegressor?:
            members.append(.init("structure", .array(model.stages.map(kind))))
        default: break
        }
        return .object(members)
    }

    /// The labels of a classifier or detector.
    ///
    /// Integers are numbers in networks and programs, and texts in all other models.
    private static func labels(of model: SpecModel) -> JSONValue? {
        switch ClassLabels(of: model) {
        case .strings(let labels)?: return .array(labels.map { .string($0) })
        case .integers(let labels)?:
            let isNetwork = model.networkLayers != nil || model.mlProgram.functions.isEmpty == false
            return .array(labels.map { isNetwork ? .number(Double($0)) : .string("\($0)") })
        case nil: break
        }
        if case .nonMaximumSuppression(let detector)? = model.stages.last?.type {
            let labels = detector.stringClassLabels.vector + detector.int64ClassLabels.vector.map { "\($0)" }
            if !labels.isEmpty { return .array(labels.map { .string($0) }) }
        }
        return model.description_p.predictedFeatureName.isEmpty ? nil : .array([])
    }

    static func schema(_ features: [SpecFeatureDescription]) -> JSONValue {
        .array(features.map { .object(CompiledFeature.members($0)) })
    }

    private static func function(_ function: SpecFunctionDescription, of model: SpecModel) -> JSONValue {
        .object(
            [
                .init("name", .string(function.name)),
                .init("inputSchema", schema(function.input)),
                .init("outputSchema", schema(function.output)),
                .init("stateSchema", schema(function.state)),
            ] + CompiledCensus(model, function: function.name).members
        )
    }
}
