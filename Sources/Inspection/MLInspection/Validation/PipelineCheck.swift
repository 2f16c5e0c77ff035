import MLFeatureFiles
import MLFiles
import MLSpecification

/// Checks the models of a pipeline and their connections.
enum PipelineCheck {
    static func check(_ file: ModelFile, _ list: inout FindingList) {
        let model = file.specification
        let stages = model.stages
        let stated = model.statedStageNames
        if !stated.isEmpty, stated.count != stages.count {
            list.error("the pipeline has \(stages.count) models, but \(stated.count) names", at: "names")
        }
        var names: Set<String> = []
        for name in stated where !names.insert(name).inserted {
            list.error("two models are called '\(name)'", at: "names")
        }
        var known: [String: SpecFeatureDescription] = [:]
        for input in model.description_p.input { known[input.name] = input }
        for (stage, name) in zip(stages, file.stageNames) {
            list.inside("model '\(name)'") { list in
                if stage.specificationVersion > model.specificationVersion {
                    list.warning(
                        "its specification \(stage.specificationVersion) is newer than the pipeline's "
                            + "\(model.specificationVersion)",
                        at: "specificationVersion"
                    )
                }
                for input in stage.description_p.input {
                    guard let source = known[input.name] else {
                        if input.type.isOptional { continue }
                        list.error(
                            "nothing gives it: no input of the pipeline and no output of an earlier model has that name",
                            at: "input '\(input.name)'"
                        )
                        continue
                    }
                    compare(source, input, &list)
                }
                ModelValidation.check(file.stage(stage, named: name), &list)
            }
            for output in stage.description_p.output { known[output.name] = output }
        }
        for output in model.description_p.output where known[output.name] == nil {
            list.error("no model of the pipeline makes it", at: "output '\(output.name)'")
        }
        var keepers: [String: String] = [:]
        for (stage, name) in zip(stages, file.stageNames) {
            for state in stage.description_p.state {
                if let other = keepers.updateValue(name, forKey: state.name) {
                    list.error(
                        "'\(other)' keeps a state of that name, too",
                        at: "model '\(name)'",
                        "state '\(state.name)'"
                    )
                }
            }
        }
    }

    /// Reports a value whose type differs from what a model expects.
    private static func compare(
        _ source: SpecFeatureDescription,
        _ input: SpecFeatureDescription,
        _ list: inout FindingList
    ) {
        let location = "input '\(input.name)'"
        func isNumber(_ type: SpecFeatureType) -> Bool {
            switch type.type {
            case .int64Type?, .doubleType?: true
            default: false
            }
        }
        switch (source.type.type, input.type.type) {
        case (.multiArrayType(let provided)?, .multiArrayType(let used)?):
            if provided.shapeFlexibility == nil, used.shapeFlexibility == nil, !provided.shape.isEmpty,
                !used.shape.isEmpty,
                provided.shape.filter({ $0 != 1 }) != used.shape.filter({ $0 != 1 })
            {
                list.warning("it takes \(input.typeText), but \(source.typeText) is given", at: location)
            }
        case (.imageType?, .imageType?), (.stringType?, .stringType?), (.stateType?, .stateType?): break
        case (.dictionaryType(let provided)?, .dictionaryType(let used)?):
            if provided.keyType != used.keyType { mismatch() }
        case (.sequenceType(let provided)?, .sequenceType(let used)?):
            if provided.type != used.type { mismatch() }
        case (nil, _), (_, nil): break
        default: if !isNumber(source.type) || !isNumber(input.type) { mismatch() }
        }
        func mismatch() {
            list.error("it takes \(input.typeText), but \(source.typeText) is given", at: location)
        }
    }
}
