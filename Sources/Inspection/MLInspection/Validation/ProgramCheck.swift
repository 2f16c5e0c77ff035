import MLFiles
import MLGraph
import MLLowering
import MLNumerics
import MLOperators
import MLSpecification

/// Checks the functions of a program.
///
/// Every operation is read with the types that the program declares for its operands, so that a wrong one hides no
/// other.
enum ProgramCheck {
    static func check(_ program: MILProgram, _ file: ModelFile, _ list: inout FindingList) {
        let description = file.specification.description_p
        let defaultName = description.defaultFunctionName.isEmpty ? "main" : description.defaultFunctionName
        let names = program.functions.keys.sorted()
        if program.functions[defaultName] == nil {
            list.error(
                "the program has no function '\(defaultName)'; it has \(quoted(names))",
                at: "mlProgram"
            )
        }
        for function in description.functions where program.functions[function.name] == nil {
            list.error("the program has no such function; it has \(quoted(names))", at: "function '\(function.name)'")
        }
        for name in names {
            guard let function = program.functions[name] else { continue }
            list.inside("function '\(name)'") { list in
                guard let opset = Opset(functionOpset: function.opset) else {
                    list.error("operation set '\(function.opset)' is not known; convert the model for an older system")
                    return
                }
                guard let block = function.blockSpecializations[function.opset] else {
                    list.error("the function has no body for its operation set '\(function.opset)'")
                    return
                }
                let isDescribed = name == defaultName || description.functions.contains { $0.name == name }
                if isDescribed {
                    checkInterface(function, block, description.interface(of: name), &list)
                } else {
                    list.warning("the model's description does not list the function, so no app can choose it")
                }
                var check = BodyCheck(file, opset)
                check.declare(function.inputs + block.inputs, &list)
                check.check(block, isWhole: true, &list)
            }
        }
    }

    private static func checkInterface(
        _ function: MILFunction,
        _ block: MILBlock,
        _ description: SpecModelDescription,
        _ list: inout FindingList
    ) {
        let features = description.input + description.state
        for input in function.inputs {
            guard let feature = features.first(where: { $0.name == input.name }) else {
                list.error("the function takes it, but the description does not list it", at: "input '\(input.name)'")
                continue
            }
            compare(feature, input.type, &list)
        }
        let used = Set((function.inputs + block.inputs).map(\.name))
        for feature in features where !used.contains(feature.name) {
            list.error("the description lists it, but the function does not take it", at: "input '\(feature.name)'")
        }
        var created = Set(block.outputs)
        for operation in block.operations where operation.type == "classify" {
            created.formUnion([description.predictedFeatureName, description.predictedProbabilitiesName])
            created.formUnion(operation.outputs.map(\.name))
        }
        for feature in description.output where !created.contains(feature.name) {
            list.error("the description lists it, but the function does not give it", at: "output '\(feature.name)'")
        }
    }

    /// Reports different declarations of an array's type in the interface and the program.
    private static func compare(_ feature: SpecFeatureDescription, _ type: MILValueType, _ list: inout FindingList) {
        let subject = "input '\(feature.name)'"
        guard let declared = try? ValueType(type) else { return }
        let array: SpecArrayFeatureType
        switch feature.type.type {
        case .multiArrayType(let value)?: array = value
        case .stateType(let value)?:
            array = value.arrayType
            if declared.kind != .state {
                list.error("the description has a state, the function takes \(declared)", at: subject)
            }
        default: return
        }
        if case .stateType? = feature.type.type {
        } else if declared.kind == .state {
            list.error("the function keeps a state of that name, but the description has an array", at: subject)
        }
        guard array.shapeFlexibility == nil, !array.shape.isEmpty, let shape = declared.shape.counts else { return }
        if array.shape.map({ Int(clamping: $0) }) != shape {
            list.error("the description has the shape \(array.shape), the function takes \(declared)", at: subject)
        }
    }

    static func quoted(_ names: [String]) -> String { "'" + names.joined(separator: "', '") + "'" }
}

/// A traversal of a function's operations.
private struct BodyCheck {
    private let file: ModelFile
    private let opset: Opset
    private var builder = GraphBuilder()
    private var scope: [String: ValueID] = [:]
    /// Names whose operation failed, or whose type cannot be read: values derived from them are not checked.
    private var untyped: Set<String> = []

    init(_ file: ModelFile, _ opset: Opset) {
        self.file = file
        self.opset = opset
    }

    mutating func declare(_ inputs: [MILNamedValueType], _ list: inout FindingList) {
        for input in inputs where scope[input.name] == nil { declare(input, &list) }
    }

    /// Creates a value of the type that the program declares.
    private mutating func declare(_ value: MILNamedValueType, _ list: inout FindingList) {
        do throws(ModelError) {
            scope[value.name] = builder.input(value.name, try ValueType(value.type))
        } catch {
            list.inside("'\(value.name)'") { $0.error(error) }
            untyped.insert(value.name)
        }
    }

    mutating func check(_ block: MILBlock, isWhole: Bool, _ list: inout FindingList) {
        for operation in block.operations {
            let name = operation.outputs.first?.name ?? ""
            list.inside("operation '\(name)' (\(operation.type))") { list in check(operation, &list) }
        }
        for output in block.outputs where scope[output] == nil && !untyped.contains(output) {
            list.error("'\(output)' leaves the \(isWhole ? "function" : "block"), but nothing makes it")
        }
    }

    private mutating func check(_ operation: MILOperation, _ list: inout FindingList) {
        for output in operation.outputs where scope[output.name] != nil || untyped.contains(output.name) {
            list.error("the name '\(output.name)' is given twice")
        }
        if operation.type == "const" { return checkConstant(operation, &list) }
        var isKnown = true
        for (name, argument) in operation.inputs.sorted(by: { $0.key < $1.key }) {
            for case .name(let source)? in argument.arguments.map(\.binding) where scope[source] == nil {
                isKnown = false
                if !untyped.contains(source) {
                    list.error("its argument '\(name)' is '\(source)', which nothing before it makes")
                }
            }
        }
        for (index, block) in operation.blocks.enumerated() {
            let outer = (scope, untyped)
            list.inside("block \(index)") { list in
                declare(block.inputs, &list)
                check(block, isWhole: false, &list)
            }
            (scope, untyped) = outer
        }
        switch operation.type {
        case "classify": return checkClassification(operation, &list)
        case "read_state", "coreml_update_state", "write_state": break
        default:
            guard let type = Catalogue.standard.operatorType(named: operation.type, opset: opset) else {
                list.error("the operation '\(operation.type)' of opset \(opset) is not supported")
                break
            }
            if isKnown, operation.blocks.isEmpty, append(operation, type, &list) { return }
        }
        for output in operation.outputs { declare(output, &list) }
    }

    private mutating func checkConstant(_ operation: MILOperation, _ list: inout FindingList) {
        guard let output = operation.outputs.first else {
            list.error("a constant without a name")
            return
        }
        guard let value = operation.attributes["val"] else {
            list.error("a constant without its attribute 'val'")
            untyped.insert(output.name)
            return
        }
        if case .listType? = value.type.type {
            declare(output, &list)
            return
        }
        do throws(ModelError) {
            let tensor = try file.tensor(of: value)
            scope[output.name] = builder.constant(tensor, name: output.name)
            if case .tensorType(let declared)? = output.type.type,
                (try? ModelFile.shape(of: declared)) != tensor.shape
                    || ScalarType(declared.dataType) != tensor.scalarType
            {
                let type = ValueType(tensor.scalarType, Shape(tensor.shape))
                list.error("the constant is declared other than it is; it is \(type)")
            }
        } catch {
            list.error(error.without(file.path))
            declare(output, &list)
        }
    }

    private mutating func checkClassification(_ operation: MILOperation, _ list: inout FindingList) {
        func binding(_ name: String) -> ValueID? {
            guard case .name(let source)? = operation.inputs[name]?.arguments.first?.binding else { return nil }
            return scope[source]
        }
        if operation.inputs["probabilities"] == nil { list.error("it has no argument 'probabilities'") }
        if operation.inputs["classes"] == nil { list.error("it has no argument 'classes'") }
        if let probabilities = binding("probabilities"),
            let count = builder.shape(of: probabilities).elementCount.count,
            let labels = ClassLabels(of: file.specification)
        {
            LabelCheck.compare(labels, probabilities: count, &list)
        }
        for output in operation.outputs { untyped.insert(output.name) }
    }

    /// Reads the operation and infers the types of its results.
    ///
    /// - Returns: False when that failed and the declared types must be used.
    private mutating func append(
        _ operation: MILOperation,
        _ type: any Operator.Type,
        _ list: inout FindingList
    ) -> Bool {
        do throws(ModelError) {
            var bindings: [String: [Arguments.Binding]] = [:]
            for (name, argument) in operation.inputs {
                var values: [Arguments.Binding] = []
                for binding in argument.arguments { values.append(try bind(binding)) }
                bindings[name] = values
            }
            for (name, value) in operation.attributes where name != "name" && bindings[name] == nil {
                let id = builder.constant(try file.tensor(of: value))
                bindings[name] = [binding(id)]
            }
            var declared: [ValueType] = []
            for output in operation.outputs { declared.append(try ValueType(output.type)) }
            var arguments = Arguments(
                operationName: operation.type,
                opset: opset,
                bindings: bindings,
                declaredTypes: declared
            )
            let op = try type.init(reading: &arguments)
            try arguments.finish()
            builder.location = ""
            let results = try builder.append(op, arguments.operands, names: operation.outputs.map(\.name))
            guard results.count >= operation.outputs.count else {
                throw ModelError(.invalidModel, "it gives \(results.count) values, not \(operation.outputs.count)")
            }
            for ((output, stated), result) in zip(zip(operation.outputs, declared), results) {
                let inferred = builder.type(of: result)
                if !Self.agree(inferred, stated) {
                    list.error("the program declares '\(output.name)' as \(stated), but it is \(inferred)")
                }
                scope[output.name] = result
            }
            return true
        } catch {
            // A rank that depends on an extent is known only when the extent is.
            if error.code != .unknownRank { list.error(error.without(operation.type).without(file.path)) }
            return false
        }
    }

    /// Whether types are compatible; unknown extents are compatible with any.
    private static func agree(_ a: ValueType, _ b: ValueType) -> Bool {
        guard a.kind == b.kind, a.scalarType == b.scalarType else { return a.kind != .tensor || b.kind != .tensor }
        return a.rank == b.rank && zip(a.shape, b.shape).allSatisfy { !$0.isKnown || !$1.isKnown || $0 == $1 }
    }

    private mutating func bind(_ binding: MILArgument.Binding) throws(ModelError) -> Arguments.Binding {
        switch binding.binding {
        case .name(let name)?:
            guard let id = scope[name] else {
                throw ModelError(.invalidModel, "'\(name)' is used before it is defined")
            }
            return self.binding(id)
        case .value(let value)?:
            let id = builder.constant(try file.tensor(of: value))
            return self.binding(id)
        case nil: throw ModelError(.malformed, "an argument is neither a name nor a value")
        }
    }

    private func binding(_ id: ValueID) -> Arguments.Binding {
        Arguments.Binding(id: id, type: builder.type(of: id), constant: builder.constant(id))
    }
}
