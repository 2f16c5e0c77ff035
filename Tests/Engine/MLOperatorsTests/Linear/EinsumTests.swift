import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct EinsumTests {
    @Test func multipliesWithBroadcasting() throws {
        let x = OperatorTrial.noise([2, 3, 1, 4])
        let y = OperatorTrial.noise([1, 4, 5, 2], seed: 2)
        let result = try OperatorTrial.program(
            Einsum.self,
            ["equation": OperatorTrial.string("nchw,nwhu->nchu")],
            lists: ["values": [x, y]]
        )[0]
        #expect(result.shape == [2, 3, 5, 2])
        var expected: [Double] = []
        for n in 0..<2 {
            for c in 0..<3 {
                for h in 0..<5 {
                    for u in 0..<2 {
                        expected.append(
                            (0..<4).reduce(0) {
                                $0 + x.values[(n * 3 + c) * 4 + $1] * y.values[($1 * 5 + h) * 2 + u]
                            }
                        )
                    }
                }
            }
        }
        expectClose(result, expected)
    }

    @Test func diagonalsTransposesAndSums() throws {
        let x = OperatorTrial.floats([1, 2, 3, 4], [2, 2])
        #expect(try OperatorTrial.reference(Einsum("ii->i"), x)[0].values == [1, 4])
        #expect(try OperatorTrial.reference(Einsum("ij->ji"), x)[0].values == [1, 3, 2, 4])
        #expect(try OperatorTrial.reference(Einsum("ij->"), x)[0].values == [10])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(Einsum("ij->k"), x) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(Einsum("ij"), x) }
    }

    static let equations: [(String, [Int], [Int])] = [
        ("nchw,nwhu->nchu", [2, 3, 5, 4], [2, 4, 5, 6]), ("nchw,nwhu->nchu", [2, 3, 1, 4], [1, 4, 5, 6]),
        ("chw,whr->chr", [3, 5, 4], [4, 5, 2]), ("bhid,bhjd->bhij", [2, 3, 4, 5], [2, 3, 6, 5]), ("i,j->ij", [3], [4]),
        ("ij,ij->", [3, 4], [3, 4]), ("ij,jk->k", [3, 4], [4, 2]),
    ]

    @Test(arguments: equations) func kernels(equation: String, x: [Int], y: [Int]) {
        var random = RandomTensors(seed: 5)
        let trial = OperatorProblem(
            equation,
            Einsum(equation),
            [random.tensor(x), random.tensor(y)],
            tolerance: 1e-4,
            seed: 5
        )
        #expect(trial.failures() == [])
    }

    @Test func gradient() {
        #expect(GradientProblem("", Einsum("abc,acd->abd"), [.real([2, 3, 4]), .real([2, 4, 5])]).failures() == [])
        #expect(
            GradientProblem("", Einsum("nchw,nwhu->nchu"), [.real([2, 3, 4, 5]), .real([2, 5, 4, 3])]).failures() == []
        )
        #expect(GradientProblem("sum", Einsum("abc->b"), [.real([2, 3, 4])]).failures() == [])
    }
}
