import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct RandomCategoricalTests {
    @Test func randomNumbers() throws {
        let weights = Tensor([0, 1, 3] as [Float], shape: [1, 3])
        let draws = try OperatorTrial.reference(
            RandomCategorical(isLogarithmic: false, count: 2000, seed: 3),
            weights
        )[0].values
        #expect(draws.allSatisfy { $0 == 1 || $0 == 2 } && abs(draws.reduce(0, +) - 3500) < 100)
    }

    static let layers: [LayerProblem] = [
        LayerProblem([OperatorTrial.noise([2, 5])], as: RandomCategorical(isLogarithmic: true, count: 20, seed: 7)) {
            $0.categoricalDistribution.isLogits = true
            $0.categoricalDistribution.numSamples = 20
            $0.categoricalDistribution.seed = 7
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
