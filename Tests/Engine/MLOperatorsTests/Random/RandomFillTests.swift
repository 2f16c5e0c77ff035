import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct RandomFillTests {
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
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([4, 5])], as: RandomFill(Normal(mean: 3, deviation: 2), seed: 7), [ints([4, 5])]) {
            $0.randomNormalLike.seed = 7
            $0.randomNormalLike.mean = 3
            $0.randomNormalLike.stdDev = 2
        },
        LayerProblem([], as: RandomFill(Normal(mean: 3, deviation: 2), seed: 7), [ints([4, 5])]) {
            $0.randomNormalStatic.seed = 7
            $0.randomNormalStatic.outputShape = [4, 5]
            $0.randomNormalStatic.mean = 3
            $0.randomNormalStatic.stdDev = 2
        },
        LayerProblem(
            [OperatorTrial.floats([4, 5])],
            as: RandomFill(Normal(mean: 3, deviation: 2), seed: 7),
            [ints([4, 5])]
        ) {
            $0.randomNormalDynamic.seed = 7
            $0.randomNormalDynamic.mean = 3
            $0.randomNormalDynamic.stdDev = 2
        },
        LayerProblem([counting([4, 5])], as: RandomFill(Uniform(low: -1, high: 1), seed: 7), [ints([4, 5])]) {
            $0.randomUniformLike.seed = 7
            $0.randomUniformLike.minVal = -1
            $0.randomUniformLike.maxVal = 1
        },
        LayerProblem([], as: RandomFill(Uniform(low: -1, high: 1), seed: 7), [ints([4, 5])]) {
            $0.randomUniformStatic.seed = 7
            $0.randomUniformStatic.outputShape = [4, 5]
            $0.randomUniformStatic.minVal = -1
            $0.randomUniformStatic.maxVal = 1
        },
        LayerProblem(
            [OperatorTrial.floats([4, 5])],
            as: RandomFill(Uniform(low: -1, high: 1), seed: 7),
            [ints([4, 5])]
        ) {
            $0.randomUniformDynamic.seed = 7
            $0.randomUniformDynamic.minVal = -1
            $0.randomUniformDynamic.maxVal = 1
        },
        LayerProblem([counting([4, 5])], as: RandomFill(Bernoulli(probability: 0.25), seed: 7), [ints([4, 5])]) {
            $0.randomBernoulliLike.seed = 7
            $0.randomBernoulliLike.prob = 0.25
        },
        LayerProblem([], as: RandomFill(Bernoulli(probability: 0.25), seed: 7), [ints([4, 5])]) {
            $0.randomBernoulliStatic.seed = 7
            $0.randomBernoulliStatic.outputShape = [4, 5]
            $0.randomBernoulliStatic.prob = 0.25
        },
        LayerProblem(
            [OperatorTrial.floats([4, 5])],
            as: RandomFill(Bernoulli(probability: 0.25), seed: 7),
            [ints([4, 5])]
        ) {
            $0.randomBernoulliDynamic.seed = 7
            $0.randomBernoulliDynamic.prob = 0.25
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
