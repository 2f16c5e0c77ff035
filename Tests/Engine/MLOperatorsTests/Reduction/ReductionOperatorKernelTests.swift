import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Reductions of integers, over scattered axes and of what is no number.
@Suite struct ReductionOperatorKernelTests {
    private static let axes: [[Int]?] = [nil, [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [0, 2, 3]]

    private func problems(_ x: Tensor, _ axes: [Int]?, tolerance: Double) -> [OperatorProblem] {
        func problem<F: ReductionFunction>(_: F.Type) -> [OperatorProblem] {
            [false, true].map {
                OperatorProblem("", Reduction<F>(axes: axes, keepsDimensions: $0), [x], tolerance: tolerance)
            }
        }
        return problem(SumOfElements.self) + problem(MeanOfElements.self) + problem(LargestElement.self)
            + problem(SmallestElement.self) + problem(SumOfSquares.self) + problem(L1NormOfElements.self)
            + problem(ProductOfElements.self) + problem(L2NormOfElements.self)
            + problem(LogOfSumOfExponentials.self)
    }

    @Test(arguments: axes) func everyAxis(axes: [Int]?) {
        var random = RandomTensors(seed: 41)
        let floats = random.tensor([12, 9, 11, 14], in: 0.5...1.5)
        for problem in problems(floats, axes, tolerance: 1e-3) where problem.op.displayName != "reduce_prod" {
            #expect(problem.failures() == [])
        }
        let integers = random.tensor([12, 9, 11, 14], .int32, in: -99...99)
        for problem in problems(integers, axes, tolerance: 0) { #expect(problem.failures() == []) }
    }

    @Test func longAxes() {
        var random = RandomTensors(seed: 42)
        for shape in [[1, 40_001], [40_001, 3], [2, 36_000]] {
            let axis = shape[0] > shape[1] ? 0 : 1
            let integers = random.tensor(shape, .int32, in: -1000...1000)
            for problem in problems(integers, [axis], tolerance: 0) { #expect(problem.failures() == []) }
            let floats = random.tensor(shape, in: 0.5...1.5)
            for problem in problems(floats, [axis], tolerance: 1e-2) where problem.op.displayName != "reduce_prod" {
                #expect(problem.failures() == [])
            }
        }
    }

    @Test func notANumber() {
        for shape in [[1, 70], [70, 1], [70, 3], [1, 40_000]] {
            let axis = shape[0] > shape[1] ? 0 : 1
            for place in [0, 5, 37, 69] {
                var values = (0..<shape[0] * shape[1]).map { Double($0 % 50) }
                values[place] = .nan
                let x = Tensor(values: values, scalarType: .float32, shape: shape)
                let problems: [any Operator] = [
                    Reduction<LargestElement>(axes: [axis], keepsDimensions: false),
                    Reduction<SmallestElement>(axes: [axis], keepsDimensions: false),
                    ReduceArg<Greatest>(axis: axis, keepsDimensions: false),
                    ReduceArg<Least>(axis: axis, keepsDimensions: true),
                ]
                for op in problems { #expect(OperatorProblem("", op, [x], tolerance: 0).failures() == []) }
            }
        }
    }

    @Test func integerPlaces() {
        var random = RandomTensors(seed: 43)
        for shape in [[5, 40, 9], [3, 700, 1], [900, 2, 2]] {
            let x = random.tensor(shape, .int32, in: -20...20)
            for axis in 0..<3 {
                let greatest = ReduceArg<Greatest>(axis: axis, keepsDimensions: false)
                #expect(OperatorProblem("", greatest, [x], tolerance: 0).failures() == [])
                let least = ReduceArg<Least>(axis: axis, keepsDimensions: false)
                #expect(OperatorProblem("", least, [x], tolerance: 0).failures() == [])
            }
        }
    }

    @Test(arguments: [[5, 40, 9], [1, 70_000, 1], [2, 300, 70], [6, 5, 300]]) func runningSums(shape: [Int]) {
        var random = RandomTensors(seed: 44)
        for type in [ScalarType.float32, .int32] {
            let x = random.tensor(shape, type, in: type == .int32 ? -90_000...100_000 : -1...1)
            for axis in 0..<3 {
                for (isExclusive, isReversed) in [(false, false), (true, false), (false, true), (true, true)] {
                    let sum = CumulativeSum(axis: axis, isExclusive: isExclusive, isReversed: isReversed)
                    #expect(OperatorProblem("", sum, [x], tolerance: 1e-5).failures() == [])
                }
            }
        }
    }
}
