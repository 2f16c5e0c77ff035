import MLGraph
import MLNumerics
import MLRuntime
import Testing

/// Graphs as bytes: read back as they were, and refused when they are anything else.
struct GraphCodingTests {
    private static let operatorTypes: [String: any Operator.Type] = [
        GraphEncoder.name(of: ToyAdd.self): ToyAdd.self, GraphEncoder.name(of: ToyFlatten.self): ToyFlatten.self,
        GraphEncoder.name(of: ToyRepeat.self): ToyRepeat.self, GraphEncoder.name(of: ToyScale.self): ToyScale.self,
    ]

    /// y = flatten(x · scale + c), where c is a constant.
    private func graph() throws -> Graph {
        var builder = GraphBuilder()
        builder.location = "operation under test"
        let x = builder.input("x", ValueType(.float32, [2, .unknown]))
        let c = builder.constant(Tensor([1, 2, 3, 4] as [Float], shape: [2, 2]), name: "c")
        let scaled = try builder.add(ToyScale(factor: 0.5, labels: ["a", "ü", ""], axis: nil), x)
        let sum = try builder.add(ToyAdd(), scaled, c, name: "sum")
        let flat = try builder.add(ToyFlatten(), sum)
        return builder.finished(outputs: [("y", flat)])
    }

    private func encoded(_ graph: Graph) throws -> (bytes: [UInt8], constants: [Tensor]) {
        var constants: [Tensor] = []
        let bytes = try GraphEncoder.encode(graph) { (tensor, _) in
            constants.append(tensor)
            return constants.count - 1
        }
        return (bytes, constants)
    }

    private func decoded(_ bytes: [UInt8], _ constants: [Tensor]) throws(ModelError) -> Graph {
        try GraphDecoder.decode(bytes, operatorTypes: Self.operatorTypes) { (number) throws(ModelError) in
            guard constants.indices.contains(number) else { throw BinaryReader.malformed("no constant \(number)") }
            return constants[number]
        }
    }

    @Test func aGraphIsReadBackAsItWas() throws {
        let graph = try graph()
        let (bytes, constants) = try encoded(graph)
        let read = try decoded(bytes, constants)
        #expect(constants.count == 1)
        #expect(read.outputNames == ["y"])
        #expect(read.inputs.map { read[$0].name } == ["x"])
        #expect(read.body.operations.map(\.location) == graph.body.operations.map(\.location))
        #expect(zip(read.body.operations, graph.body.operations).allSatisfy { $0.op.isEqual(to: $1.op) })
        let x = Tensor([2, 4, 6, 8] as [Float], shape: [2, 2])
        let answers = try [graph, read].map { try GraphExecutable($0, pipeline: .none).run([x])[0].values }
        #expect(answers[0] == answers[1])
        #expect(answers[0] == [2, 4, 6, 8])
        #expect(try encoded(read).bytes == bytes)
    }

    @Test func operatorsThatFilesNeverHoldAreNamed() throws {
        let (bytes, constants) = try encoded(graph())
        let error = #expect(throws: ModelError.self) {
            try GraphDecoder.decode(bytes, operatorTypes: [:]) { constants[$0] }
        }
        #expect(error?.message.contains("'ToyScale'") == true)
    }

    @Test func otherBytesAreRefusedOrReadButNeverTrap() throws {
        let (bytes, constants) = try encoded(graph())
        var generator = SplitMix64(seed: 1)
        var refused = 0
        for round in 0..<20_000 {
            var changed = bytes
            if round % 5 == 0 {
                changed.removeLast(1 + Int(generator.next() % UInt64(bytes.count)))
            } else {
                for _ in 0..<1 + Int(generator.next() % 4) {
                    changed[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
                }
            }
            do throws(ModelError) { _ = try decoded(changed, constants) } catch { refused += 1 }
        }
        #expect(refused > 10_000)
    }

    @Test(arguments: [0, 1, -1, 127, 128, -129, 1 << 40, .max, .min]) func numbersAreReadBack(number: Int) throws {
        var writer = BinaryWriter()
        writer.integer(number)
        writer.unsigned(max(number, 0))
        writer.double(.nan)
        writer.text("µ")
        var reader = BinaryReader(writer.bytes)
        #expect(try reader.integer() == number)
        #expect(try reader.unsigned() == max(number, 0))
        #expect(try reader.double().isNaN)
        #expect(try reader.text() == "µ")
        #expect(reader.isAtEnd)
    }
}

/// x · factor; its attributes are of every kind that operators have.
struct ToyScale: Operator {
    var factor: Double
    var labels: [String]
    var axis: Int?

    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }
    func reference(_ operands: ReferenceOperands) -> [Tensor] {
        let values = operands[0].values.map { $0 * factor }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: operands.shape())]
    }
}
