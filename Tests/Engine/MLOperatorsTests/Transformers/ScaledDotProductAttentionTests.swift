import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct ScaledDotProductAttentionTests {
    @Test func byHand() throws {
        // Scores 1 and 0 with scale 1: weights e / (e + 1) and 1 / (e + 1).
        let result = try OperatorTrial.reference(
            ScaledDotProductAttention(scale: 1),
            OperatorTrial.floats([1, 0], [1, 1, 2]),
            OperatorTrial.floats([1, 0, 0, 1], [1, 2, 2]),
            OperatorTrial.floats([10, 20], [1, 2, 1])
        )[0]
        let e = 2.718281828459045
        expectClose(result, [(10 * e + 20) / (e + 1)])
    }

    @Test func masksHideAndAdd() throws {
        let q = OperatorTrial.noise([1, 2, 3])
        let k = OperatorTrial.noise([1, 2, 3], seed: 2)
        let v = OperatorTrial.floats([1, 2], [1, 2, 1])
        let mask = Tensor(values: [1, 0, 0, 0], scalarType: .bool, shape: [2, 2])
        let hidden = try OperatorTrial.program(
            ScaledDotProductAttention.self,
            ["query": q, "key": k, "value": v, "attn_mask": mask]
        )[0]
        #expect(hidden.values == [1, 0])
        let pushed = try OperatorTrial.reference(
            ScaledDotProductAttention(),
            q,
            k,
            v,
            OperatorTrial.floats([0, 1000], [2])
        )[0]
        expectClose(pushed, [2, 2])
    }

    @Test func tokensFirstIsTheSameWithAxesMoved() throws {
        let (b, h, l, s, e) = (2, 3, 4, 5, 6)
        let q = OperatorTrial.noise([b, h, l, e])
        let k = OperatorTrial.noise([b, h, s, e], seed: 2)
        let v = OperatorTrial.noise([b, h, s, e], seed: 3)
        let mask = OperatorTrial.noise([b, 1, l, s], seed: 4)
        let heads = try OperatorTrial.reference(ScaledDotProductAttention(), q, k, v, mask)[0]
        let moved = [q, k, v].map { $0.permuted([0, 2, 1, 3]) }
        let tokens = try OperatorTrial.reference(
            ScaledDotProductAttention(heads: h),
            moved[0],
            moved[1],
            moved[2],
            mask
        )[0]
        expectClose(tokens.permuted([0, 2, 1, 3]), heads.values)
        let merged = try OperatorTrial.reference(
            ScaledDotProductAttention(heads: h),
            moved[0].reshaped([b, l, h * e]),
            moved[1].reshaped([b, s, h * e]),
            moved[2].reshaped([b, s, h * e]),
            mask
        )[0]
        #expect(merged.shape == [b, l, h * e])
        expectClose(merged, tokens.values)
    }

    struct Problem: Sendable {
        var op: ScaledDotProductAttention
        var q: [Int]
        var k: [Int]
        var v: [Int]
        var mask: [Int]?
        var maskType = ScalarType.float32
        var keyType = ScalarType.float32
    }

    static let problems: [Problem] = [
        Problem(op: .init(), q: [2, 3, 5, 8], k: [2, 3, 7, 8], v: [2, 3, 7, 4]),
        Problem(op: .init(), q: [2, 5, 8], k: [2, 7, 8], v: [2, 7, 8], mask: [5, 7]),
        Problem(op: .init(scale: 0.3), q: [2, 3, 5, 8], k: [2, 3, 7, 8], v: [2, 3, 7, 8], mask: [2, 1, 1, 7]),
        Problem(op: .init(isCausal: true), q: [1, 2, 6, 16], k: [1, 2, 6, 16], v: [1, 2, 6, 16]),
        Problem(op: .init(isCausal: true), q: [1, 2, 3, 16], k: [1, 2, 9, 16], v: [1, 2, 9, 16]),
        Problem(op: .init(), q: [1, 4, 5, 8], k: [1, 4, 5, 8], v: [1, 4, 5, 8], mask: [5, 5], maskType: .bool),
        Problem(op: .init(), q: [2, 2, 2, 5, 8], k: [2, 2, 2, 6, 8], v: [2, 2, 2, 6, 8], mask: [1, 1, 2, 1, 6]),
        Problem(op: .init(heads: 4), q: [2, 5, 32], k: [2, 6, 32], v: [2, 6, 32], mask: [2, 1, 5, 6]),
        Problem(op: .init(heads: 3), q: [2, 5, 3, 8], k: [2, 6, 3, 8], v: [2, 6, 3, 8]),
        Problem(op: .init(), q: [1, 8, 1, 64], k: [1, 8, 33, 64], v: [1, 8, 33, 64]),
        Problem(op: .init(sharesKeys: true), q: [2, 6, 5, 8], k: [2, 2, 7, 8], v: [2, 2, 7, 4], mask: [2, 1, 5, 7]),
        Problem(op: .init(heads: 6, sharesKeys: true), q: [2, 3, 6, 8], k: [2, 7, 2, 8], v: [2, 7, 2, 8]),
        Problem(
            op: .init(keysAreTokensFirst: true),
            q: [2, 6, 5, 8],
            k: [2, 7, 6, 8],
            v: [2, 7, 6, 8],
            mask: [5, 7]
        ),
        Problem(
            op: .init(sharesKeys: true, keysAreTokensFirst: true),
            q: [1, 12, 1, 64],
            k: [1, 40, 4, 64],
            v: [1, 40, 4, 64],
            mask: [1, 1, 1, 40],
            keyType: .float16
        ),
        Problem(
            op: .init(isCausal: true, sharesKeys: true, keysAreTokensFirst: true),
            q: [2, 4, 20, 20],
            k: [2, 20, 2, 20],
            v: [2, 20, 2, 36],
            keyType: .float16
        ),
    ]

    @Test(arguments: problems) func kernels(problem: Problem) {
        var random = RandomTensors(seed: 12)
        let operands: [Tensor?] = [
            random.tensor(problem.q), random.tensor(problem.k, problem.keyType),
            random.tensor(problem.v, problem.keyType),
            problem.mask.map { random.tensor($0, problem.maskType) },
        ]
        let trial = OperatorProblem("attention", problem.op, operands, tolerance: 1e-4, seed: 12)
        #expect(trial.failures() == [])
    }

    @Test func contradictionsAreErrors() {
        let q = OperatorTrial.noise([1, 2, 3])
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(ScaledDotProductAttention(), q, OperatorTrial.noise([1, 2, 4]), q)
        }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(ScaledDotProductAttention(heads: 2), q, q, q) }
        let (five, two) = (OperatorTrial.noise([1, 5, 3, 4]), OperatorTrial.noise([1, 2, 3, 4]))
        for op in [ScaledDotProductAttention(), .init(sharesKeys: true)] {
            #expect(throws: ModelError.self) { try OperatorTrial.reference(op, five, two, two) }
        }
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(ScaledDotProductAttention(keysAreTokensFirst: true), q, q, q)
        }
    }
}
