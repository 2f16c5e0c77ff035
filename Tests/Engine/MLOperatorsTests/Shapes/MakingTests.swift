import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct MakingTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Fill(value: 7, scalarType: .int32),
            [ints([2, 2])],
            expected: [Tensor([7, 7, 7, 7] as [Int32], shape: [2, 2])]
        ),
        OperatorProblem(
            "",
            FillLike(value: 1.5, scalarType: .float32),
            [counting([3], .int32)],
            expected: [Tensor([1.5, 1.5, 1.5] as [Float], shape: [3])]
        ),
        OperatorProblem(
            "",
            Range1D(),
            [Tensor(scalar: 1, .int32), Tensor(scalar: 8, .int32), Tensor(scalar: 3, .int32)],
            expected: [ints([1, 4, 7])]
        ),
        OperatorProblem(
            "",
            Range1D(),
            [Tensor(scalar: 1, .float32), Tensor(scalar: 0, .float32), Tensor(scalar: -0.5, .float32)],
            expected: [Tensor([1, 0.5] as [Float], shape: [2])]
        ),
        OperatorProblem(
            "",
            Range1D(),
            [Tensor(scalar: 3, .int32), Tensor(scalar: 1, .int32), Tensor(scalar: 1, .int32)],
            expected: [ints([])]
        ),
        OperatorProblem(
            "",
            OneHot(axis: -1, scalarType: .float32),
            [ints([1, 0, 5]), Tensor(scalar: 2, .int32)],
            expected: [Tensor([0, 1, 1, 0, 0, 0] as [Float], shape: [3, 2])]
        ),
        OperatorProblem(
            "",
            OneHot(axis: 0, on: 5, off: -1, scalarType: .int32),
            [ints([1, 0]), Tensor(scalar: 3, .int32)],
            expected: [Tensor([-1, 5, 5, -1, -1, -1] as [Int32], shape: [3, 2])]
        ),
        OperatorProblem(
            "",
            TopK(count: 2),
            [Tensor([1, 5, 5, 2] as [Float], shape: [1, 4])],
            expected: [Tensor([5, 5] as [Float], shape: [1, 2]), Tensor([1, 2] as [Int32], shape: [1, 2])]
        ),
        OperatorProblem(
            "",
            TopK(count: 1, axis: 0, isAscending: true),
            [Tensor([3, 1, 2, 4] as [Float], shape: [2, 2])],
            expected: [Tensor([2, 1] as [Float], shape: [1, 2]), Tensor([1, 0] as [Int32], shape: [1, 2])]
        ),
        OperatorProblem(
            "",
            TopK(count: -1, axis: 1),
            [Tensor([1, 3, 2] as [Int32], shape: [1, 3])],
            expected: [Tensor([3, 2, 1] as [Int32], shape: [1, 3]), Tensor([1, 2, 0] as [Int32], shape: [1, 3])]
        ),
        OperatorProblem("", ArgSort(), [Tensor([1, 3, 2] as [Float], shape: [3])], expected: [ints([1, 2, 0])]),
        OperatorProblem(
            "",
            ArgSort(axis: 0, isAscending: true),
            [Tensor([1, 3, 0, 4] as [Float], shape: [2, 2])],
            expected: [Tensor([1, 0, 0, 1] as [Int32], shape: [2, 2])]
        ),
        OperatorProblem(
            "",
            NonZero(),
            [Tensor([0, 2, 3, 0] as [Float], shape: [2, 2])],
            expected: [Tensor([0, 1, 1, 0] as [Int32], shape: [2, 2])]
        ),
        OperatorProblem(
            "upper",
            BandPart(lower: 0, upper: nil),
            [counting([1, 3, 3])],
            expected: [Tensor([0, 1, 2, 0, 4, 5, 0, 0, 8] as [Float], shape: [1, 3, 3])]
        ),
        OperatorProblem(
            "lower without diagonal",
            BandPart(lower: nil, upper: -1),
            [counting([3, 3])],
            expected: [Tensor([0, 0, 0, 3, 0, 0, 6, 7, 0] as [Float], shape: [3, 3])]
        ),
        OperatorProblem(
            "",
            ReverseSequence(sequenceAxis: 1, batchAxis: 0),
            [counting([2, 3]), ints([2, 3])],
            expected: [Tensor([1, 0, 2, 5, 4, 3] as [Float], shape: [2, 3])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func randomNumbers() throws {
        let shape = ints([40, 50])
        let normal = RandomFill(Normal(mean: 3, deviation: 2), seed: 7)
        let first = try OperatorTrial.reference(normal, shape)[0]
        #expect(try OperatorTrial.reference(normal, shape)[0].values == first.values)
        let mean = first.values.reduce(0, +) / 2000
        let variance = first.values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 2000
        #expect(abs(mean - 3) < 0.2 && abs(variance - 4) < 0.5)
        let uniform = try OperatorTrial.reference(RandomFill(Uniform(low: -1, high: 1), seed: 1), shape)[0].values
        #expect(uniform.allSatisfy { (-1..<1).contains($0) } && abs(uniform.reduce(0, +)) < 120)
        let coin = try OperatorTrial.reference(RandomFill(Bernoulli(probability: 0.25), seed: 2), shape)[0].values
        #expect(abs(coin.reduce(0, +) - 500) < 100)
        #expect(!RandomFill(Uniform(low: 0, high: 1)).isPure)
        let weights = Tensor([0, 1, 3] as [Float], shape: [1, 3])
        let draws = try OperatorTrial.reference(
            RandomCategorical(isLogarithmic: false, count: 2000, seed: 3),
            weights
        )[0].values
        #expect(draws.allSatisfy { $0 == 1 || $0 == 2 } && abs(draws.reduce(0, +) - 3500) < 100)
    }
}
