import MLGraph
import MLNumerics
import TestSupport
import Testing

/// x + 1, with deliberate mistakes.
private struct Increment: Operator {
    enum Mistake: Hashable, Sendable, CaseIterable, Codable {
        case none, wrongValue, wrongType, rankDependsOnExtents, writesOperand, writesBeyond, wrongInChannelsLast
    }

    var mistake: Mistake

    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        if mistake == .rankDependsOnExtents, !x.isBound { return [x.with([.unknown])] }
        return [mistake == .wrongType ? x.with([7]) : x]
    }

    func reference(_ operands: ReferenceOperands) -> [Tensor] {
        [Tensor(values: operands[0].values.map { $0 + 1 }, scalarType: .float32, shape: operands[0].shape)]
    }

    func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }

    func kernels(for request: KernelRequest) -> [Kernel] {
        let count = request.results[0].count
        let mistake = mistake
        let isChannelsLast = request.results[0].layout == .channelsLast
        return [
            Kernel(
                "increment",
                inPlaceOperands: [0],
                body: { context in
                    let source = context.floats(0)
                    let target = context.resultFloats()
                    for index in 0..<count { target[index] = source[index] + 1 }
                    if mistake == .wrongValue { target[count - 1] = 0 }
                    if mistake == .wrongInChannelsLast, isChannelsLast { target[0] = 9 }
                    if mistake == .writesBeyond { target[count] = 0 }
                    if mistake == .writesOperand { UnsafeMutablePointer(mutating: source)[0] = 5 }
                }
            )
        ]
    }
}

@Test(arguments: Increment.Mistake.allCases)
private func mistakesAreFound(_ mistake: Increment.Mistake) {
    var random = RandomTensors(seed: 1)
    let problem = OperatorProblem("increment", Increment(mistake: mistake), [random.tensor([2, 3, 4, 5])], seed: 1)
    #expect(problem.failures().isEmpty == (mistake == .none), "\(problem.failures())")
}

@Test func expectedValuesAreCompared() {
    let x = Tensor([1, 2] as [Float], shape: [2])
    func problem(_ expected: [Float]) -> OperatorProblem {
        OperatorProblem("", Increment(mistake: .none), [x], expected: [Tensor(expected, shape: [expected.count])])
    }
    #expect(problem([2, 3]).failures() == [])
    #expect(problem([2, 4]).failures().count == 1)
    #expect(problem([2, 3, 4]).failures().count == 1)
}

@Test func randomTensorsRepeat() {
    var first = RandomTensors(seed: 7)
    var second = RandomTensors(seed: 7)
    var other = RandomTensors(seed: 8)
    let tensor = first.tensor([100])
    #expect(difference(tensor, second.tensor([100]), tolerance: 0) == nil)
    #expect(difference(tensor, other.tensor([100]), tolerance: 0) != nil)
    #expect(tensor.values.allSatisfy { abs($0) <= 1 })
}
