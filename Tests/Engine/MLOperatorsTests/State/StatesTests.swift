import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct StatesTests {
    @Test func keepTheirType() throws {
        let state = ValueType(.float16, [2, 3], kind: .state)
        func types(_ op: some Operator, _ operands: ValueType...) throws -> [ValueType] {
            OperatorTrial.note(op)
            return try op.resultTypes(of: Operands(operands.map { Operands.Operand(type: $0) }))
        }
        #expect(try types(ReadState(), state) == [ValueType(.float16, [2, 3])])
        #expect(try types(UpdateState(), state, ValueType(.float16, [2, 3])) == [ValueType(.float16, [2, 3])])
        #expect(throws: ModelError.self) { try types(ReadState(), ValueType(.float16, [2, 3])) }
        #expect(throws: ModelError.self) { try types(UpdateState(), state, ValueType(.float32, [2, 3])) }
        #expect(throws: ModelError.self) { try types(UpdateState(), state, ValueType(.float16, [2, 4])) }
    }
}
