import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct SelectTests {
    @Test func selection() {
        var random = RandomTensors(seed: 8)
        let condition = random.tensor([2, 3, 4, 5], .bool)
        let a = random.tensor([2, 3, 4, 5])
        let b = random.tensor([1, 3, 1, 1])
        let values = (0..<120).map { condition.values[$0] != 0 ? a.values[$0] : b.values[$0 / 20 % 3] }
        let expected = Tensor(values: values, scalarType: .float32, shape: [2, 3, 4, 5])
        #expect(OperatorProblem("", Select(), [condition, a, b], expected: [expected], seed: 8).failures() == [])
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 52)
        for type in [ScalarType.float32, .int32, .float16, .int8, .bool] {
            let (a, b) = (random.tensor([40, 33], type, in: -9...9), random.tensor([40, 33], type, in: -9...9))
            for shape in [[40, 33], [40, 1], [1]] {
                let problem = OperatorProblem("", Select(), [random.tensor(shape, .bool), a, b], tolerance: 0)
                #expect(problem.failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [OperatorTrial.floats([0, 3]), OperatorTrial.floats([1, 2]), OperatorTrial.floats([5, 6])],
            expected: [OperatorTrial.floats([5, 2])]
        ) { $0.whereBroadcastable = .init() }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: [([3, 4], [3, 4]), ([3, 1], [4]), ([2, 3, 4], [3, 1]), ([], [2, 2]), ([1, 4], [3, 4])])
    func gradient(_ x: [Int], _ y: [Int]) {
        let condition = Tensor(values: [1, 0, 0, 1], scalarType: .bool, shape: [4])
        if x.last ?? 1 == 4 || y.last == 4 {
            #expect(GradientProblem("", Select(), [.fixed(condition), .real(x), .real(y)]).failures() == [])
        }
    }
}
