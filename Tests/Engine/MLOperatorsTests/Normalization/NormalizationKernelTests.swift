import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct NormalizationKernelTests {
    @Test func batchNorm() {
        var random = RandomTensors(seed: 1)
        for shape in [[2, 5, 7], [2, 19, 4, 3], [1, 6, 2, 3, 4]] {
            let channels = [shape[1]]
            let operands: [Tensor?] = [
                random.tensor(shape), random.tensor(channels), random.tensor(channels, in: 0.1...2),
                random.tensor(channels), random.tensor(channels),
            ]
            let full = OperatorProblem("full", BatchNorm(), operands, constants: [1, 2, 3, 4], tolerance: 1e-3)
            #expect(full.failures() == [])
            let bare = OperatorProblem(
                "bare",
                BatchNorm(),
                Array(operands.prefix(3)),
                constants: [1, 2],
                tolerance: 1e-3
            )
            #expect(bare.failures() == [])
        }
    }

    @Test func instanceNorm() {
        var random = RandomTensors(seed: 2)
        for shape in [[2, 5, 7], [2, 19, 4, 3], [1, 3, 2, 3, 4]] {
            let operands: [Tensor?] = [random.tensor(shape), random.tensor([shape[1]]), random.tensor([shape[1]])]
            let full = OperatorProblem("full", InstanceNorm(), operands, constants: [1, 2], tolerance: 1e-3)
            #expect(full.failures() == [])
            let bare = OperatorProblem("bare", InstanceNorm(epsilon: 0.1), [operands[0]], tolerance: 1e-3)
            #expect(bare.failures() == [])
        }
    }

    @Test(arguments: [[-1], [1, 2, 3], [1], [0, 2]]) func layerNorm(axes: [Int]) {
        var random = RandomTensors(seed: 3)
        let shape = [2, 9, 4, 5]
        let extents = axes.map { shape[$0 < 0 ? $0 + 4 : $0] }
        let problem = OperatorProblem(
            "axes",
            LayerNorm(axes: axes),
            [random.tensor(shape), random.tensor(extents), random.tensor(extents)],
            constants: [1, 2],
            tolerance: 1e-3
        )
        #expect(problem.failures() == [])
    }

    @Test func lengthAndNeighbours() {
        var random = RandomTensors(seed: 4)
        let l2 = OperatorProblem("l2", L2Norm(epsilon: 0.01), [random.tensor([2, 3, 4, 5])], tolerance: 1e-4)
        #expect(l2.failures() == [])
        for size in [1, 2, 3, 5, 20] {
            let op = LocalResponseNorm(size: size, alpha: 0.5, beta: 0.75, k: 2)
            let problem = OperatorProblem("neighbours", op, [random.tensor([2, 7, 3, 4])], tolerance: 1e-4)
            #expect(problem.failures() == [])
        }
    }
}
