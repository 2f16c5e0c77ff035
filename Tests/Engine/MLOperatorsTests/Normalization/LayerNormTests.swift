import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct LayerNormTests {
    @Test(arguments: [[-1], [1, 2], [0, 2], [1]]) func someAxes(axes: [Int]) throws {
        let shape = [2, 3, 4]
        let x = OperatorTrial.noise(shape)
        let inside = axes.map { $0 < 0 ? $0 + 3 : $0 }
        let extents = inside.map { shape[$0] }
        let gamma = OperatorTrial.noise(extents, seed: 2)
        let beta = OperatorTrial.noise(extents, seed: 3)
        let result = try OperatorTrial.program(
            LayerNorm.self,
            ["x": x, "axes": OperatorTrial.integers(axes), "gamma": gamma, "beta": beta]
        )[0]
        var groups: [[Int]: [(place: Int, parameter: Int)]] = [:]
        for place in 0..<24 {
            let index = [place / 12, place / 4 % 3, place % 4]
            let key = (0..<3).map { inside.contains($0) ? -1 : index[$0] }
            let parameter = inside.reduce(0) { $0 * shape[$1] + index[$1] }
            groups[key, default: []].append((place, parameter))
        }
        var expected = [Double](repeating: 0, count: 24)
        for group in groups.values {
            for (value, member) in zip(standardized(group.map { x.values[$0.place] }, 1e-5), group) {
                expected[member.place] = value * gamma.values[member.parameter] + beta.values[member.parameter]
            }
        }
        expectClose(result, expected)
    }

    @Test func overEverything() throws {
        let x = OperatorTrial.noise([2, 3])
        expectClose(try OperatorTrial.program(LayerNorm.self, ["x": x])[0], standardized(x.values, 1e-5))
    }

    @Test func contradictionsAreErrors() {
        let x = OperatorTrial.noise([1, 2, 3])
        let two = OperatorTrial.noise([2])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(LayerNorm(axes: [3]), x) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(LayerNorm(axes: [2]), x, two) }
    }

    @Test(arguments: [[-1], [1, 2, 3], [1], [0, 2]]) func kernels(axes: [Int]) {
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

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 3])],
            as: LayerNorm(axes: [-1], epsilon: 0.1),
            [counting([2, 3]), OperatorTrial.floats([1, 2, 3]), OperatorTrial.floats([4, 5, 6])],
            tolerance: 1e-4
        ) {
            $0.layerNormalization.normalizedShape = [3]
            $0.layerNormalization.eps = 0.1
            $0.layerNormalization.gamma.floatValue = [1, 2, 3]
            $0.layerNormalization.beta.floatValue = [4, 5, 6]
        },
        LayerProblem([counting([1, 2, 2, 3])], as: LayerNorm(axes: [-3, -2, -1], epsilon: 0.1), tolerance: 1e-4) {
            $0.mvn.acrossChannels = true
            $0.mvn.normalizeVariance = true
            $0.mvn.epsilon = 0.1
        },
        LayerProblem([counting([1, 2, 1, 3])], expected: [OperatorTrial.floats([-1, 0, 1, -1, 0, 1], [1, 2, 1, 3])]) {
            $0.mvn = .init()
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        for axes: [Int]? in [[-1], [1, 2], [0], nil] {
            let shape = (axes ?? [0, 1, 2]).map { [2, 3, 4][($0 + 3) % 3] }
            let op = LayerNorm(axes: axes, epsilon: 1e-3)
            #expect(GradientProblem("", op, [.real([2, 3, 4]), .real(shape), .real(shape)]).failures() == [])
        }
    }
}
