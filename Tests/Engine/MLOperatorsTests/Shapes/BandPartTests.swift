import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct BandPartTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .uint8, .bool]

    static let problems: [OperatorProblem] = [
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
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func kernels() {
        var random = RandomTensors(seed: 22)
        for (lower, upper) in [(nil, nil), (nil, 0), (0, nil), (2, 3), (0, 0), (100, 1)] as [(Int?, Int?)] {
            for shape in [[3, 40, 70], [70, 40], [2, 2, 1, 5]] {
                for type in Self.types {
                    let x = random.tensor(shape, type, in: 0...90)
                    let problem = OperatorProblem("", BandPart(lower: lower, upper: upper), [x], tolerance: 0)
                    #expect(problem.failures() == [])
                }
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([1, 3, 3])], as: BandPart(lower: 1, upper: nil)) {
            $0.matrixBandPart.numLower = 1
            $0.matrixBandPart.numUpper = -1
        },
        LayerProblem([counting([3, 4])], as: BandPart(lower: nil, upper: 1)) { $0.lowerTriangular.k = 1 },
        LayerProblem([counting([3, 4])], as: BandPart(lower: -1, upper: nil)) { $0.upperTriangular.k = 1 },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", BandPart(lower: 1, upper: 0), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
