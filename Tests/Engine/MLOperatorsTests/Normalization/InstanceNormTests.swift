import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct InstanceNormTests {
    @Test func byHand() throws {
        let x = OperatorTrial.noise([2, 2, 3])
        let result = try OperatorTrial.program(
            InstanceNorm.self,
            ["x": x, "gamma": OperatorTrial.floats([1, 2]), "beta": OperatorTrial.floats([0, 1])]
        )[0]
        var expected: [Double] = []
        for slice in 0..<4 {
            let values = standardized(Array(x.values[slice * 3..<slice * 3 + 3]), 1e-5)
            expected += values.map { slice % 2 == 0 ? $0 : $0 * 2 + 1 }
        }
        expectClose(result, expected)
    }

    @Test func contradictionsAreErrors() {
        let x = OperatorTrial.noise([1, 2, 3])
        let three = OperatorTrial.noise([3])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(InstanceNorm(), x, three) }
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 2)
        for shape in [[2, 5, 7], [2, 19, 4, 3], [1, 3, 2, 3, 4]] {
            let operands: [Tensor?] = [random.tensor(shape), random.tensor([shape[1]]), random.tensor([shape[1]])]
            let full = OperatorProblem("full", InstanceNorm(), operands, constants: [1, 2], tolerance: 1e-3)
            #expect(full.failures() == [])
            let bare = OperatorProblem("bare", InstanceNorm(epsilon: 0.1), [operands[0]], tolerance: 1e-3)
            #expect(bare.failures() == [])
        }
    }

    @Test func gradient() {
        #expect(
            GradientProblem("", InstanceNorm(epsilon: 1e-3), [.real([2, 3, 4, 5]), .real([3]), .real([3])]).failures()
                == []
        )
    }
}
