package import MLFiles
import MLGraph
package import MLNumerics
package import MLOperators
import MLSpecification

/// Reads one function of an ML program into a graph.
package struct ProgramReader {
    private let file: ModelFile
    private let catalogue: Catalogue
    private let opset: Opset
    var builder = GraphBuilder()
    var scope: [String: ValueID] = [:]
    var states = StateScope()
    private var classification: Classification?

    private struct Classification {
        let probabilities: ValueID
        let labels: Classifier.Labels
        let outputNames: [String]
    }

    /// Reads the function `functionName`, or the model's default one.
    package static func read(
        _ file: ModelFile,
        functionName: String? = nil,
        catalogue: Catalogue = .standard
    ) throws(ModelError) -> LoweredModel {
        let program = file.specification.mlProgram
        let description = file.specification.description_p.interface(of: functionName)
        let declared = description.defaultFunctionName
        let name = functionName ?? (declared.isEmpty ? "main" : declared)
        guard let function = program.functions[name] else {
            let names = program.functions.keys.sorted().joined(separator: "', '")
            throw ModelError(.invalidInput, "the model has no function '\(name)'; it has '\(names)'")
        }
        guard let opset = Opset(functionOpset: function.opset) else {
            throw ModelError(.unsupported, "function '\(name)' is written for operation set '\(function.opset)'")
        }
        guard let block = function.blockSpecializations[function.opset] else {
            throw ModelError(.invalidModel, "function '\(name)' has no body for operation set '\(function.opset)'")
        }
        var reader = ProgramReader(file: file, catalogue: catalogue, opset: opset)
        return try withErrorContext("function '\(name)'") { () throws(ModelError) in
            try reader.lower(
                function,
                block,
                inputs: description.input,
                outputs: description.output,
                description: description
            )
        }
    }

    private init(file: ModelFile, catalogue: Catalogue, opset: Opset) {
        self.file = file
        self.catalogue = catalogue
        self.opset = opset
    }

    private mutating func lower(
        _ function: MILFunction,
        _ block: MILBlock,
        inputs: [SpecFeatureDescription],
        outputs: [SpecFeatureDescription],
        description: SpecModelDescription
    ) throws(ModelError) -> LoweredModel {
        var count = 0
        for input in function.inputs + block.inputs where scope[input.name] == nil && !states.has(input.name) {
            let type = try ValueType(input.type)
            if type.kind == .state {
                states.declare(input.name, type, contents: builder.input(input.name, type.contents), at: count)
            } else {
                scope[input.name] = builder.input(input.name, type)
            }
            count += 1
        }
        try read(block.operations)
        var results: [(name: String, value: ValueID)] = []
        for name in block.outputs where classification?.outputNames.contains(name) != true {
            results.append((name, try value(name)))
        }
        var kept: [StateFeature] = []
        for state in states.entries {
            let isStored = state.contents != state.initial
            kept.append(StateFeature(name: state.name, input: state.position, output: isStored ? results.count : nil))
            if isStored { results.append((state.name, state.contents)) }
        }
        var classifier: Classifier?
        if let classification {
            classifier = Classifier(
                labels: classification.labels,
                probabilities: results.count,
                predictedFeatureName: description.predictedFeatureName.isEmpty
                    ? classification.outputNames.first ?? "" : description.predictedFeatureName,
                probabilitiesFeatureName: description.predictedProbabilitiesName.isEmpty
                    ? classification.outputNames.last : description.predictedProbabilitiesName
            )
            results.append(("probabilities", classification.probabilities))
        }
        let graph = builder.finished(outputs: results)
        return LoweredModel(
            graph: graph,
            inputs: try graph.inputs.map { id throws(ModelError) in try inputFeature(id, graph, inputs) },
            outputs: try outputFeatures(graph, outputs, classifier),
            states: kept,
            classifier: classifier,
            language: .program
        )
    }

    private func inputFeature(
        _ id: ValueID,
        _ graph: Graph,
        _ features: [SpecFeatureDescription]
    ) throws(ModelError) -> InputFeature {
        let name = graph[id].name
        if states.has(name) { return InputFeature(name: name, value: id, form: .state) }
        guard let feature = features.first(where: { $0.name == name }) else {
            throw ModelError(.invalidModel, "the program takes '\(name)', which the model's description does not list")
        }
        var form = InputFeature.Form.array(.exact)
        var defaultValue = 0.0
        switch feature.type.type {
        case .imageType(let image)?: form = .image(try image.form())
        case .multiArrayType(let array)?: defaultValue = array.defaultValue
        default: break
        }
        return InputFeature(
            name: name,
            value: id,
            form: form,
            isOptional: feature.type.isOptional,
            defaultValue: defaultValue
        )
    }

    private func outputFeatures(
        _ graph: Graph,
        _ features: [SpecFeatureDescription],
        _ classifier: Classifier?
    ) throws(ModelError) -> [OutputFeature] {
        var result: [OutputFeature] = []
        for feature in features {
            guard let index = graph.outputNames.firstIndex(of: feature.name) else {
                if feature.name == classifier?.predictedFeatureName
                    || feature.name == classifier?.probabilitiesFeatureName
                {
                    continue
                }
                throw ModelError(
                    .invalidModel,
                    "the program does not give the output '\(feature.name)' of the description"
                )
            }
            let type = graph.type(of: graph.body.outputs[index])
            var form = OutputFeature.Form.array(.exact, type.scalarType)
            switch feature.type.type {
            case .multiArrayType(let array)?: form = .array(.exact, (try? array.scalarType()) ?? type.scalarType)
            case .imageType(let image)?: form = .image(try image.form())
            case .int64Type?: form = .int64
            case .doubleType?: form = .double
            case .stringType?: form = .string
            default: break
            }
            result.append(OutputFeature(name: feature.name, index: index, form: form))
        }
        return result
    }

    func value(_ name: String) throws(ModelError) -> ValueID {
        guard let id = scope[name] else {
            throw ModelError(.invalidModel, "'\(name)' is used before it is defined")
        }
        return id
    }

    private mutating func read(_ operations: [MILOperation]) throws(ModelError) {
        for operation in operations {
            let name = operation.outputs.first?.name ?? ""
            builder.location = "operation '\(name)' (\(operation.type))"
            try withErrorContext(builder.location) { () throws(ModelError) in try read(operation, named: name) }
        }
    }

    private mutating func read(_ operation: MILOperation, named name: String) throws(ModelError) {
        switch operation.type {
        case "const":
            guard let value = operation.attributes["val"] else {
                throw ModelError(.invalidModel, "a constant without its attribute 'val'")
            }
            scope[name] = builder.constant(try tensor(value), name: name)
        case "classify": try readClassification(operation)
        case "read_state", "coreml_update_state", "write_state": try readStateAccess(operation)
        default: try readOperator(operation)
        }
    }

    private mutating func readOperator(_ operation: MILOperation) throws(ModelError) {
        guard let type = catalogue.operatorType(named: operation.type, opset: opset) else {
            throw ModelError(.unsupported, "the operation '\(operation.type)' of opset \(opset) is not supported yet")
        }
        var bindings: [String: [Arguments.Binding]] = [:]
        for (name, argument) in operation.inputs {
            var values: [Arguments.Binding] = []
            for binding in argument.arguments { values.append(try bind(binding)) }
            bindings[name] = values
        }
        for (name, value) in operation.attributes where name != "name" && bindings[name] == nil {
            let id = builder.constant(try tensor(value))
            bindings[name] = [binding(id)]
        }
        let location = builder.location
        let carried = storedStates(operation.blocks)
        let isLoop = type is WhileLoop.Type
        var blocks: [Block] = []
        for (index, block) in operation.blocks.enumerated() {
            blocks.append(try read(block, carrying: carried, isLoop: isLoop, isCondition: isLoop && index == 0))
        }
        builder.location = location
        var declared: [ValueType] = []
        for output in operation.outputs { declared.append(try ValueType(output.type)) }
        var arguments = Arguments(
            operationName: operation.type,
            opset: opset,
            bindings: bindings,
            declaredTypes: declared,
            blockCount: blocks.count
        )
        let op = try type.init(reading: &arguments)
        try arguments.finish()
        let names = operation.outputs.map(\.name)
        let operands = arguments.operands + (isLoop ? carried.map { states.contents($0) } : [])
        let results = try builder.append(op, operands, names: names, blocks: blocks)
        guard results.count >= names.count + carried.count else {
            throw ModelError(.invalidModel, "'\(operation.type)' gives \(results.count) values, not \(names.count)")
        }
        for (name, result) in zip(names, results) { scope[name] = result }
        for (name, result) in zip(carried, results.suffix(carried.count)) { states.store(result, in: name) }
    }

    /// Reads a nested block; `states` names the states that any block of the operation writes.
    ///
    /// In a loop their contents are additional block inputs and, except in the condition, outputs; elsewhere they are
    /// additional outputs.
    private mutating func read(
        _ block: MILBlock,
        carrying names: [String],
        isLoop: Bool,
        isCondition: Bool
    ) throws(ModelError) -> Block {
        let outer = (scope, states)
        builder.beginBlock()
        for input in block.inputs { scope[input.name] = builder.input(input.name, try ValueType(input.type)) }
        if isLoop { for name in names { carry(name) } }
        let entry = names.map { states.contents($0) }
        try read(block.operations)
        var outputs: [ValueID] = []
        for name in block.outputs { outputs.append(try value(name)) }
        let exit = names.compactMap { states.contents($0) }
        if !isCondition {
            outputs += exit
        } else if exit != entry {
            throw ModelError(.unsupported, "a loop's condition that stores to a state; store in the loop's body")
        }
        (scope, states) = outer
        return builder.endBlock(outputs: outputs)
    }

    mutating func bind(_ binding: MILArgument.Binding) throws(ModelError) -> Arguments.Binding {
        switch binding.binding {
        case .name(let name)?: return self.binding(try value(name))
        case .value(let value)?:
            let id = builder.constant(try tensor(value))
            return self.binding(id)
        case nil: throw ModelError(.malformed, "an argument is neither a name nor a value")
        }
    }

    private func binding(_ id: ValueID) -> Arguments.Binding {
        Arguments.Binding(id: id, type: builder.type(of: id), constant: builder.constant(id))
    }

    /// A constant; a list of tensors of one shape becomes one tensor with a leading axis.
    private func tensor(_ value: MILValue) throws(ModelError) -> Tensor {
        guard case .listType? = value.type.type else { return try file.tensor(of: value) }
        var elements: [Tensor] = []
        for element in value.immediateValue.list.values { elements.append(try file.tensor(of: element)) }
        guard let first = elements.first else { return Tensor(strings: [], shape: [0]) }
        let shape = [elements.count] + first.shape
        if first.scalarType == .string { return Tensor(strings: elements.flatMap(\.strings), shape: [elements.count]) }
        guard elements.allSatisfy({ $0.scalarType == first.scalarType && $0.shape == first.shape }) else {
            throw ModelError(.unsupported, "the elements of a constant list differ in type or shape")
        }
        return Tensor(values: elements.flatMap(\.values), scalarType: first.scalarType, shape: shape)
    }

    private mutating func readClassification(_ operation: MILOperation) throws(ModelError) {
        guard let probabilities = operation.inputs["probabilities"]?.arguments.first,
            let classes = operation.inputs["classes"]?.arguments.first
        else { throw ModelError(.invalidModel, "'classify' needs the arguments 'probabilities' and 'classes'") }
        let source = try bind(probabilities).id
        guard let labels = try bind(classes).constant else {
            throw ModelError(.invalidModel, "the argument 'classes' of 'classify' must be a constant")
        }
        classification = Classification(
            probabilities: source,
            labels: labels.scalarType == .string
                ? .strings(labels.strings) : .integers(labels.integers.map(Int64.init)),
            outputNames: operation.outputs.map(\.name)
        )
    }
}
