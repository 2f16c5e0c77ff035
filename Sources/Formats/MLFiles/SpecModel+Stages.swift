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

    /// The names that the program or the stages refer to weight files by.
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

extension SpecModel {
    /// The model, whose program and stages refer to weight files by other names; names that are no keys stay.
    func renamingWeightFiles(_ names: [String: String]) -> SpecModel {
        var model = self
        func renamed(_ pipeline: SpecPipeline) -> SpecPipeline {
            var pipeline = pipeline
            pipeline.models = pipeline.models.map { $0.renamingWeightFiles(names) }
            return pipeline
        }
        switch type {
        case .mlProgram(var program)?:
            program.functions = program.functions.mapValues { function in
                var function = function
                function.blockSpecializations = function.blockSpecializations.mapValues {
                    $0.renamingWeightFiles(names)
                }
                return function
            }
            model.mlProgram = program
        case .pipeline(let pipeline)?: model.pipeline = renamed(pipeline)
        case .pipelineClassifier(let classifier)?: model.pipelineClassifier.pipeline = renamed(classifier.pipeline)
        case .pipelineRegressor(let regressor)?: model.pipelineRegressor.pipeline = renamed(regressor.pipeline)
        default: break
        }
        return model
    }
}

extension MILBlock {
    fileprivate func renamingWeightFiles(_ names: [String: String]) -> MILBlock {
        var block = self
        block.operations = operations.map { operation in
            var operation = operation
            operation.attributes = operation.attributes.mapValues { $0.renamingWeightFiles(names) }
            operation.inputs = operation.inputs.mapValues { argument in
                var argument = argument
                argument.arguments = argument.arguments.map { binding in
                    guard case .value(let value)? = binding.binding else { return binding }
                    var binding = binding
                    binding.value = value.renamingWeightFiles(names)
                    return binding
                }
                return argument
            }
            operation.blocks = operation.blocks.map { $0.renamingWeightFiles(names) }
            return operation
        }
        return block
    }
}

extension MILValue {
    fileprivate func renamingWeightFiles(_ names: [String: String]) -> MILValue {
        var value = self
        switch self.value {
        case .blobFileValue(let reference)?:
            if let name = names[reference.fileName] { value.blobFileValue.fileName = name }
        case .immediateValue(let immediate)?:
            switch immediate.value {
            case .tuple(var tuple)?:
                tuple.values = tuple.values.map { $0.renamingWeightFiles(names) }
                value.immediateValue.tuple = tuple
            case .list(var list)?:
                list.values = list.values.map { $0.renamingWeightFiles(names) }
                value.immediateValue.list = list
            case .dictionary(var dictionary)?:
                dictionary.values = dictionary.values.map { pair in
                    var pair = pair
                    pair.value = pair.value.renamingWeightFiles(names)
                    return pair
                }
                value.immediateValue.dictionary = dictionary
            default: break
            }
        case nil: break
        }
        return value
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
