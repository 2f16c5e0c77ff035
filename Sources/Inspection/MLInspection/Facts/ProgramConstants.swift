import MLFiles
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification

/// The constants of one function of a program, including compressed ones.
struct ProgramConstants: Sendable {
    private let file: ModelFile
    private let opset: Opset
    /// The operations that define constants, by the names of their results.
    private let makers: [String: MILOperation]
    /// The names in the order of the program.
    private let names: [String]

    init(_ file: ModelFile, _ function: MILFunction) {
        self.file = file
        opset = Opset(functionOpset: function.opset) ?? .newest
        var (makers, names) = ([String: MILOperation](), [String]())
        if let block = function.blockSpecializations[function.opset] {
            block.forEachOperation { operation in
                guard operation.type == "const" || operation.isConstantExpression else { return }
                for (index, output) in operation.outputs.enumerated() {
                    if makers.updateValue(operation, forKey: output.name) == nil, index == 0 {
                        names.append(output.name)
                    }
                }
            }
        }
        (self.makers, self.names) = (makers, names)
    }

    func isConstant(_ name: String) -> Bool { makers[name] != nil }

    /// The contents of the constant `name`; `nil` when there is none of that name.
    func tensor(named name: String) throws(ModelError) -> Tensor? {
        guard let maker = makers[name] else { return nil }
        var builder = GraphBuilder()
        let id = try value(name, maker, &builder, depth: 0)
        guard let tensor = builder.constant(id) else {
            throw ModelError(.invalidModel, "'\(name)' (\(maker.type)) does not follow from constants alone")
        }
        return tensor
    }

    /// The learned parameters: floating-point constants of rank 1 or more, and all compressed constants.
    func parameterTensors() -> [ParameterTensor] {
        var parts: Set<String> = []
        for maker in makers.values where maker.isConstantExpression { parts.formUnion(maker.constantNames) }
        return names.compactMap { name in
            guard let maker = makers[name], !maker.outputs.contains(where: { parts.contains($0.name) }),
                let type = maker.outputs.first?.type.tensorType, !type.dimensions.isEmpty,
                maker.isConstantExpression || type.dataType.isFloatingPoint,
                let shape = try? ModelFile.shape(of: type)
            else { return nil }
            let isPlain = !maker.isConstantExpression
            return ParameterTensor(
                name: name,
                shape: shape,
                count: shape.elementCount,
                storage: isPlain
                    ? ParameterStorage(type.dataType.longName) : ParameterStorage(compressedForm(maker)),
                byteCount: storedByteCount(maker),
                origin: origin(maker)
            ) { () throws(ModelError) in
                guard let tensor = try tensor(named: name) else {
                    throw ModelError(.invalidModel, "there is no constant of that name")
                }
                return tensor
            }
        }
    }

    // MARK: Reading

    private static let deepest = 16

    /// The result `name` of an operation.
    private func value(_ name: String, _ maker: MILOperation, _ builder: inout GraphBuilder, depth: Int)
        throws(ModelError) -> ValueID
    {
        guard depth < Self.deepest else {
            throw ModelError(.invalidModel, "constants refer to one another in a circle")
        }
        if maker.type == "const" {
            guard let value = maker.attributes["val"] else {
                throw ModelError(.invalidModel, "a constant without its attribute 'val'")
            }
            return builder.constant(try file.tensor(of: value))
        }
        guard let type = Catalogue.standard.operatorType(named: maker.type, opset: opset) else {
            throw ModelError(.unsupported, "the operation '\(maker.type)' of opset \(opset) is not supported yet")
        }
        var bindings: [String: [Arguments.Binding]] = [:]
        func bind(_ id: ValueID, _ builder: GraphBuilder) -> Arguments.Binding {
            Arguments.Binding(id: id, type: builder.type(of: id), constant: builder.constant(id))
        }
        for (name, argument) in maker.inputs {
            var values: [Arguments.Binding] = []
            for binding in argument.arguments {
                switch binding.binding {
                case .name(let source)?:
                    guard let inner = makers[source] else {
                        throw ModelError(.invalidModel, "its argument '\(name)' is not a constant")
                    }
                    let id = try value(source, inner, &builder, depth: depth + 1)
                    values.append(bind(id, builder))
                case .value(let value)?:
                    let id = builder.constant(try file.tensor(of: value))
                    values.append(bind(id, builder))
                case nil: throw ModelError(.malformed, "an argument is neither a name nor a value")
                }
            }
            bindings[name] = values
        }
        for (name, value) in maker.attributes where name != "name" && bindings[name] == nil {
            let id = builder.constant(try file.tensor(of: value))
            bindings[name] = [bind(id, builder)]
        }
        var declared: [ValueType] = []
        for output in maker.outputs {
            let tensor = output.type.tensorType
            declared.append(ValueType(try ModelFile.scalarType(of: tensor), Shape(try ModelFile.shape(of: tensor))))
        }
        var arguments = Arguments(
            operationName: maker.type,
            opset: opset,
            bindings: bindings,
            declaredTypes: declared
        )
        let op = try type.init(reading: &arguments)
        let results = try builder.append(op, arguments.operands, names: maker.outputs.map(\.name))
        guard let location = maker.outputs.firstIndex(where: { $0.name == name }), location < results.count else {
            throw ModelError(.invalidModel, "'\(maker.type)' gives no value '\(name)'")
        }
        return results[location]
    }

    // MARK: Storage

    /// The storage format of a compressed constant, from the outside in: sparse values may be palettized inside.
    private func compressedForm(_ maker: MILOperation, depth: Int = 0) -> String {
        func type(_ argument: String) -> String {
            element(of: maker, argument).map(\.longName) ?? "unknown"
        }
        func inner(_ argument: String) -> MILOperation? {
            guard depth < Self.deepest, case .name(let name)? = maker.inputs[argument]?.arguments.first?.binding,
                let source = makers[name], source.isConstantExpression
            else { return nil }
            return source
        }
        switch maker.type {
        case "constexpr_affine_dequantize": return "linear \(type("quantized_data"))"
        case "constexpr_cast": return type("source_val")
        case "constexpr_blockwise_shift_scale": return "linear \(type("data"))"
        case "constexpr_sparse_blockwise_shift_scale": return "linear \(type("nonzero_data"))"
        case "constexpr_lut_to_dense", "constexpr_lut_to_sparse":
            let indices = maker.type == "constexpr_lut_to_sparse" ? "indices_nonzero_data" : "indices"
            let table = inner("lut").map { " of \(compressedForm($0, depth: depth + 1))" } ?? ""
            return "palette of \(indexBits(maker, indices)) bits\(table)"
        case "constexpr_sparse_to_dense":
            guard let source = inner("nonzero_data") else { return "sparse \(type("nonzero_data"))" }
            return "sparse, \(compressedForm(source, depth: depth + 1))"
        default: return maker.type
        }
    }

    /// The bits of an index: those of its type, or before iOS 18, where indices are packed bytes, those that the
    /// table's size requires.
    private func indexBits(_ maker: MILOperation, _ indices: String) -> String {
        if opset < .iOS18, let entries = stored(maker, "lut")?.type.tensorType.dimensions.last?.constant.size,
            entries > 1
        {
            return "\(UInt64.bitWidth - (entries - 1).leadingZeroBitCount)"
        }
        return element(of: maker, indices).flatMap { ScalarType($0) }.map { "\($0.bitWidth)" } ?? "unknown"
    }

    private func element(of maker: MILOperation, _ argument: String) -> MILDataType? {
        if let value = stored(maker, argument) { return value.type.tensorType.dataType }
        guard case .name(let name)? = maker.inputs[argument]?.arguments.first?.binding else { return nil }
        return makers[name]?.outputs.last?.type.tensorType.dataType
    }

    /// The constant that is an argument of a compressed constant, inline or in a weight file.
    private func stored(_ maker: MILOperation, _ argument: String) -> MILValue? {
        if let attribute = maker.attributes[argument] { return attribute }
        switch maker.inputs[argument]?.arguments.first?.binding {
        case .value(let value)?: return value
        case .name(let name)?: return makers[name].flatMap { $0.type == "const" ? $0.attributes["val"] : nil }
        case nil: return nil
        }
    }

    /// The stored bytes of an operation's constants and of the constants that they depend on, each once.
    private func storedByteCount(_ maker: MILOperation) -> Int {
        var known: Set<String> = []
        return storedByteCount(maker, &known)
    }

    private func storedByteCount(_ maker: MILOperation, _ known: inout Set<String>) -> Int {
        guard known.insert(maker.outputs.first?.name ?? "").inserted else { return 0 }
        var bytes = 0
        for (name, value) in maker.attributes where !Self.settings.contains(name) { bytes += byteCount(value) }
        for (name, argument) in maker.inputs where !Self.settings.contains(name) {
            for binding in argument.arguments {
                switch binding.binding {
                case .value(let value)?: bytes += byteCount(value)
                case .name(let source)?:
                    if let inner = makers[source] { bytes += storedByteCount(inner, &known) }
                case nil: break
                }
            }
        }
        return bytes
    }

    /// Arguments that say how a constant is decoded, and hold no data of it.
    private static let settings: Set<String> = ["name", "shape", "axis", "vector_axis", "output_dtype"]

    private func byteCount(_ value: MILValue) -> Int {
        guard let scalarType = ScalarType(value.type.tensorType.dataType), scalarType != .string,
            let shape = try? ModelFile.shape(of: value.type.tensorType)
        else { return 0 }
        return scalarType.byteCount(of: shape.elementCount)
    }

    /// The position of its bytes in a weight file.
    private func origin(_ maker: MILOperation) -> String? {
        let values = maker.type == "const" ? [maker.attributes["val"]] : maker.partNames.map { stored(maker, $0) }
        let locations = values.compactMap { value -> String? in
            guard case .blobFileValue(let reference)? = value?.value else { return nil }
            return "\(reference.fileName)@\(reference.offset)"
        }
        return locations.isEmpty ? nil : locations.joined(separator: " ")
    }
}

extension MILOperation {
    /// Whether the operation decodes a constant.
    var isConstantExpression: Bool { type.hasPrefix("constexpr_") }

    /// The constants that an operation depends on, by name.
    fileprivate var constantNames: [String] {
        inputs.values.flatMap(\.arguments).compactMap { if case .name(let name)? = $0.binding { name } else { nil } }
    }

    /// Its arguments and attributes by name, in order.
    fileprivate var partNames: [String] { Set(inputs.keys).union(attributes.keys).subtracting(["name"]).sorted() }
}

extension MILBlock {
    /// Calls `body` with every operation, including those inside branches and loops.
    func forEachOperation(_ body: (MILOperation) -> Void) {
        for operation in operations {
            body(operation)
            for block in operation.blocks { block.forEachOperation(body) }
        }
    }
}

extension MILDataType {
    var isFloatingPoint: Bool {
        switch self {
        case .float16, .float32, .float64, .bfloat16, .float8E4M3Fn, .float8E5M2: true
        default: false
        }
    }

    /// The name in reports: "float16", "int4".
    var longName: String {
        switch self {
        case .float16: "float16"
        case .float32: "float32"
        case .float64: "float64"
        case .bfloat16: "bfloat16"
        default: milName
        }
    }
}
