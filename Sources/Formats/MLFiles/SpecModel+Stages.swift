package import MLSpecification

extension SpecModel {
    /// The models of a pipeline of any kind, in order; empty for other models.
    package var stages: [SpecModel] {
        switch type {
        case .pipeline(let pipeline)?: pipeline.models
        case .pipelineClassifier(let classifier)?: classifier.pipeline.models
        case .pipelineRegressor(let regressor)?: regressor.pipeline.models
        default: []
        }
    }

    /// The names by which the program or the stages refer to weight files.
    package var weightFileNames: Set<String> {
        var names: Set<String> = []
        if case .mlProgram(let program)? = type {
            for function in program.functions.values {
                for block in function.blockSpecializations.values { block.collectWeightFiles(&names) }
            }
        }
        for stage in stages { names.formUnion(stage.weightFileNames) }
        return names
    }
}

extension MILBlock {
    fileprivate func collectWeightFiles(_ names: inout Set<String>) {
        for operation in operations {
            for value in operation.attributes.values { value.collectWeightFiles(&names) }
            for argument in operation.inputs.values {
                for case .value(let value)? in argument.arguments.map(\.binding) { value.collectWeightFiles(&names) }
            }
            for block in operation.blocks { block.collectWeightFiles(&names) }
        }
    }
}

extension MILValue {
    fileprivate func collectWeightFiles(_ names: inout Set<String>) {
        switch value {
        case .blobFileValue(let reference)?: names.insert(reference.fileName)
        case .immediateValue(let immediate)?:
            switch immediate.value {
            case .tuple(let tuple)?: for value in tuple.values { value.collectWeightFiles(&names) }
            case .list(let list)?: for value in list.values { value.collectWeightFiles(&names) }
            case .dictionary(let dictionary)?:
                for pair in dictionary.values { pair.value.collectWeightFiles(&names) }
            default: break
            }
        case nil: break
        }
    }
}
