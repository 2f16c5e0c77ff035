package import MLNumerics

/// Writes a graph as bytes.
///
/// The bytes hold the distinct operators with their attributes, the constants as whatever number the caller assigns
/// them, and the operations with their operands. Types of results are not written: the reader infers them, so that no
/// bytes can contradict an operator's rule.
package struct GraphEncoder {
    /// The names under which operator types are written.
    package static func name(of type: any Operator.Type) -> String { "\(type)" }

    private let graph: Graph
    private var numbers: [ValueID: Int] = [:]
    private var operators: [OperatorForm: Int] = [:]
    private var operatorList: [OperatorForm] = []
    private var constants: [ValueID] = []
    private var operations = BinaryWriter()

    private struct OperatorForm: Hashable {
        let type: String
        let attributes: ValueTree
    }

    private init(_ graph: Graph) { self.graph = graph }

    /// Encodes a graph.
    ///
    /// - Parameters:
    ///   - graph: The graph to encode.
    ///   - constant: Returns the number that the reader will find a constant by.
    /// - Returns: The encoded graph, which `GraphDecoder.decode` reads.
    /// - Throws: Errors that `constant` throws.
    package static func encode(
        _ graph: Graph,
        constant: (Tensor, _ name: String) throws(ModelError) -> Int
    ) throws(ModelError) -> [UInt8] {
        var encoder = GraphEncoder(graph)
        encoder.number(constantsOf: graph.body)
        try encoder.write(graph.body)
        var writer = BinaryWriter()
        writer.unsigned(encoder.operatorList.count)
        for form in encoder.operatorList {
            writer.text(form.type)
            form.attributes.write(to: &writer)
        }
        writer.unsigned(encoder.constants.count)
        for id in encoder.constants {
            guard let tensor = graph.constant(id) else { continue }
            writer.unsigned(try constant(tensor, graph[id].name))
            writer.text(graph[id].name)
        }
        writer.block(encoder.operations.bytes)
        writer.unsigned(graph.outputNames.count)
        for name in graph.outputNames { writer.text(name) }
        return writer.bytes
    }

    /// Constants are numbered first, in the order in which they are used.
    private mutating func number(constantsOf block: Block) {
        func number(_ id: ValueID) {
            guard graph.constant(id) != nil, numbers[id] == nil else { return }
            numbers[id] = numbers.count
            constants.append(id)
        }
        for operation in block.operations {
            for case let operand? in operation.operands { number(operand) }
            for inner in operation.blocks { self.number(constantsOf: inner) }
        }
        for output in block.outputs { number(output) }
    }

    private mutating func define(_ id: ValueID) { numbers[id] = numbers.count }

    private mutating func write(_ block: Block) throws(ModelError) {
        operations.unsigned(block.inputs.count)
        for input in block.inputs {
            define(input)
            operations.text(graph[input].name)
            write(graph.type(of: input))
        }
        operations.unsigned(block.operations.count)
        for operation in block.operations {
            try withErrorContext(operation.location) { () throws(ModelError) in try write(operation) }
        }
        operations.unsigned(block.outputs.count)
        for output in block.outputs { try write(output) }
    }

    private mutating func write(_ operation: Operation) throws(ModelError) {
        operations.unsigned(try number(of: operation.op))
        operations.text(operation.location)
        operations.unsigned(operation.operands.count)
        for operand in operation.operands { try write(operand) }
        operations.unsigned(operation.blocks.count)
        for block in operation.blocks { try write(block) }
        operations.unsigned(operation.results.count)
        for result in operation.results {
            define(result)
            operations.text(graph[result].name)
        }
    }

    private mutating func number(of op: any Operator) throws(ModelError) -> Int {
        func attributes(_ op: some Operator) throws(ModelError) -> ValueTree { try ValueTree(encoding: op) }
        let form = OperatorForm(type: Self.name(of: type(of: op)), attributes: try attributes(op))
        if let known = operators[form] { return known }
        operators[form] = operatorList.count
        operatorList.append(form)
        return operatorList.count - 1
    }

    /// Writes a value's number plus 1; 0 for an absent operand.
    private mutating func write(_ id: ValueID?) throws(ModelError) {
        guard let id else {
            operations.unsigned(0)
            return
        }
        guard let number = numbers[id] else {
            throw ModelError(.invalidModel, "value '\(graph[id].name)' is used before it is defined")
        }
        operations.unsigned(number + 1)
    }

    private mutating func write(_ type: ValueType) {
        operations.byte(type.kind.code)
        operations.text(type.scalarType.milName)
        operations.unsigned(type.shape.count)
        for extent in type.shape { operations.unsigned(extent.count.map { $0 + 1 } ?? 0) }
    }
}

/// Reads a graph that `GraphEncoder` wrote.
package struct GraphDecoder {
    private let operatorTypes: [String: any Operator.Type]
    private var builder = GraphBuilder()
    private var operators: [any Operator] = []
    private var values: [ValueID] = []
    private static let maximumNesting = 64

    private init(_ operatorTypes: [String: any Operator.Type]) { self.operatorTypes = operatorTypes }

    /// Decodes a graph that `GraphEncoder.encode` wrote.
    ///
    /// - Parameters:
    ///   - bytes: The encoded graph.
    ///   - operatorTypes: The operators by `GraphEncoder.name`.
    ///   - constant: Returns the constant with the number that the encoder was given for it.
    /// - Returns: The graph.
    /// - Throws: `.invalidModel` for bytes that are not a graph, and errors that `constant` throws.
    package static func decode(
        _ bytes: [UInt8],
        operatorTypes: [String: any Operator.Type],
        constant: (Int) throws(ModelError) -> Tensor
    ) throws(ModelError) -> Graph {
        var decoder = GraphDecoder(operatorTypes)
        var reader = BinaryReader(bytes)
        for _ in 0..<(try reader.count()) { decoder.operators.append(try decoder.readOperator(&reader)) }
        for _ in 0..<(try reader.count()) {
            let tensor = try constant(try reader.unsigned())
            decoder.values.append(decoder.builder.constant(tensor, name: try reader.text()))
        }
        var operations = BinaryReader(try reader.block())
        let outputs = try decoder.readBlock(&operations, depth: 0)
        guard operations.isAtEnd else { throw BinaryReader.malformed("bytes are left after the last operation") }
        var names: [String] = []
        for _ in 0..<(try reader.count()) { names.append(try reader.text()) }
        guard reader.isAtEnd, names.count == outputs.count else {
            throw BinaryReader.malformed("\(outputs.count) outputs have \(names.count) names")
        }
        let graph = decoder.builder.finished(outputs: zip(names, outputs).map { ($0, $1) })
        // The builder infers types; the verifier checks which values a block may use.
        if graph.body.operations.contains(where: { !$0.blocks.isEmpty }) { try graph.verify() }
        return graph
    }

    private func readOperator(_ reader: inout BinaryReader) throws(ModelError) -> any Operator {
        let name = try reader.text()
        guard let type = operatorTypes[name] else {
            throw ModelError(.malformed, "'\(name)' is not an operator known here; compile the model again.")
        }
        func decoded<O: Operator>(_: O.Type, _ tree: ValueTree) throws(ModelError) -> any Operator {
            try tree.decoded(as: O.self)
        }
        return try decoded(type, try ValueTree(from: &reader))
    }

    /// Reads into the open block of the builder and returns the outputs.
    private mutating func readBlock(_ reader: inout BinaryReader, depth: Int) throws(ModelError) -> [ValueID] {
        guard depth < Self.maximumNesting else { throw BinaryReader.malformed("blocks are nested too deeply") }
        for _ in 0..<(try reader.count()) {
            let name = try reader.text()
            values.append(builder.input(name, try readType(&reader)))
        }
        for _ in 0..<(try reader.count()) { try readOperation(&reader, depth: depth) }
        var outputs: [ValueID] = []
        for _ in 0..<(try reader.count()) { outputs.append(try required(try readValue(&reader))) }
        return outputs
    }

    private mutating func readOperation(_ reader: inout BinaryReader, depth: Int) throws(ModelError) {
        let index = try reader.unsigned()
        guard index < operators.count else { throw BinaryReader.malformed("there is no operator \(index)") }
        let location = try reader.text()
        var operands: [ValueID?] = []
        for _ in 0..<(try reader.count()) { operands.append(try readValue(&reader)) }
        var blocks: [Block] = []
        for _ in 0..<(try reader.count()) {
            builder.beginBlock()
            let outputs = try readBlock(&reader, depth: depth + 1)
            blocks.append(builder.endBlock(outputs: outputs))
        }
        var names: [String] = []
        for _ in 0..<(try reader.count()) { names.append(try reader.text()) }
        builder.location = location
        let results = try append(operators[index], operands, names, blocks)
        guard results.count == names.count else {
            throw BinaryReader.malformed("'\(location)' gives \(results.count) values, not \(names.count)")
        }
        values += results
    }

    private mutating func append(
        _ op: any Operator,
        _ operands: [ValueID?],
        _ names: [String],
        _ blocks: [Block]
    ) throws(ModelError) -> [ValueID] {
        func open(_ op: some Operator) throws(ModelError) -> [ValueID] {
            try builder.append(op, operands, names: names, blocks: blocks)
        }
        return try open(op)
    }

    private func readValue(_ reader: inout BinaryReader) throws(ModelError) -> ValueID? {
        let number = try reader.unsigned()
        if number == 0 { return nil }
        guard number <= values.count else {
            throw BinaryReader.malformed("value \(number) is used before it is defined")
        }
        return values[number - 1]
    }

    private func required(_ id: ValueID?) throws(ModelError) -> ValueID {
        guard let id else { throw BinaryReader.malformed("an output is not a value") }
        return id
    }

    private func readType(_ reader: inout BinaryReader) throws(ModelError) -> ValueType {
        let code = try reader.byte()
        let name = try reader.text()
        guard let kind = ValueType.Kind(code: code), let scalarType = ScalarType(milName: name) else {
            throw BinaryReader.malformed("'\(name)' of kind \(code) is not a type")
        }
        var shape: Shape = []
        for _ in 0..<(try reader.count()) {
            let extent = try reader.unsigned()
            shape.append(extent == 0 ? .unknown : Dimension(extent - 1))
        }
        let type = ValueType(scalarType, shape, kind: kind)
        try type.requireStorable()
        return type
    }
}

extension ValueType.Kind {
    fileprivate var code: UInt8 {
        switch self {
        case .tensor: 0
        case .list: 1
        case .state: 2
        case .dictionary: 3
        }
    }

    fileprivate init?(code: UInt8) {
        switch code {
        case 0: self = .tensor
        case 1: self = .list
        case 2: self = .state
        case 3: self = .dictionary
        default: return nil
        }
    }
}
