import Glibc
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

struct ReductionCase: Sendable, CustomTestStringConvertible {
    var make: @Sendable ([Int]?, Bool) -> any Operator
    var formula: @Sendable ([Double]) -> Double
    var testDescription: String { make([0], true).displayName }

    static let all: [ReductionCase] = [
        ReductionCase(make: { Reduction<SumOfElements>(axes: $0, keepsDimensions: $1) }) { $0.reduce(0, +) },
        ReductionCase(make: { Reduction<MeanOfElements>(axes: $0, keepsDimensions: $1) }) {
            $0.reduce(0, +) / Double($0.count)
        },
        ReductionCase(make: { Reduction<ProductOfElements>(axes: $0, keepsDimensions: $1) }) { $0.reduce(1, *) },
        ReductionCase(make: { Reduction<LargestElement>(axes: $0, keepsDimensions: $1) }) { $0.max() ?? 0 },
        ReductionCase(make: { Reduction<SmallestElement>(axes: $0, keepsDimensions: $1) }) { $0.min() ?? 0 },
        ReductionCase(make: { Reduction<L1NormOfElements>(axes: $0, keepsDimensions: $1) }) {
            $0.map(abs).reduce(0, +)
        },
        ReductionCase(make: { Reduction<L2NormOfElements>(axes: $0, keepsDimensions: $1) }) {
            pow($0.map { $0 * $0 }.reduce(0, +), 0.5)
        },
        ReductionCase(make: { Reduction<SumOfSquares>(axes: $0, keepsDimensions: $1) }) {
            $0.map { $0 * $0 }.reduce(0, +)
        },
        ReductionCase(make: { Reduction<LogOfSum>(axes: $0, keepsDimensions: $1) }) { log($0.reduce(0, +)) },
        ReductionCase(make: { Reduction<LogOfSumOfExponentials>(axes: $0, keepsDimensions: $1) }) {
            log($0.map(exp).reduce(0, +))
        },
    ]
}

@Suite struct ReductionFunctionsTests {
    @Test(arguments: ReductionCase.all) func formula(_ reduction: ReductionCase) {
        var random = RandomTensors(seed: 4)
        let shape = [2, 3, 4, 5]
        let x = random.tensor(shape, in: 0.1...2)
        for axes in [nil, [0], [1], [-1], [2, 3], [-1, -2], [1, 3], [0, 2], [0, 1, 2, 3]] as [[Int]?] {
            for keeps in [false, true] {
                let places = Set((axes ?? Array(0..<4)).map { $0 < 0 ? $0 + 4 : $0 })
                let expected = Self.reduced(x, places, keeps, reduction.formula)
                let problem = OperatorProblem("", reduction.make(axes, keeps), [x], expected: [expected], seed: 4)
                #expect(problem.failures() == [])
            }
        }
    }

    private static func reduced(_ x: Tensor, _ axes: Set<Int>, _ keeps: Bool, _ formula: ([Double]) -> Double) -> Tensor
    {
        var groups: [[Int]: [Double]] = [:]
        let strides = x.shape.rowMajorStrides
        for (place, value) in x.values.enumerated() {
            let key = x.shape.indices.filter { !axes.contains($0) }.map { place / strides[$0] % x.shape[$0] }
            groups[key, default: []].append(value)
        }
        let keys = groups.keys.sorted { $0.lexicographicallyPrecedes($1) }
        let shape = x.shape.indices.compactMap { axes.contains($0) ? (keeps ? 1 : nil) : x.shape[$0] }
        return Tensor(values: keys.map { formula(groups[$0] ?? []) }, scalarType: .float32, shape: shape)
    }

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
                ]
                for op in problems { #expect(OperatorProblem("", op, [x], tolerance: 0).failures() == []) }
            }
        }
    }

    private static let image: Tensor = {
        var random = RandomTensors(seed: 45)
        return random.tensor([2, 3, 4, 5], in: 0.1...2)
    }()

    static let layers: [LayerProblem] = [
        LayerProblem([image], as: Reduction<L1NormOfElements>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceL1.axes = [1, -1]
            $0.reduceL1.keepDims = true
        },
        LayerProblem([image], as: Reduction<L2NormOfElements>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceL2.axes = [1, -1]
            $0.reduceL2.keepDims = true
        },
        LayerProblem([image], as: Reduction<LargestElement>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceMax.axes = [1, -1]
            $0.reduceMax.keepDims = true
        },
        LayerProblem([image], as: Reduction<SmallestElement>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceMin.axes = [1, -1]
            $0.reduceMin.keepDims = true
        },
        LayerProblem([image], as: Reduction<SumOfElements>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceSum.axes = [1, -1]
            $0.reduceSum.keepDims = true
        },
        LayerProblem([image], as: Reduction<ProductOfElements>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceProd.axes = [1, -1]
            $0.reduceProd.keepDims = true
        },
        LayerProblem([image], as: Reduction<MeanOfElements>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceMean.axes = [1, -1]
            $0.reduceMean.keepDims = true
        },
        LayerProblem([image], as: Reduction<LogOfSum>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceLogSum.axes = [1, -1]
            $0.reduceLogSum.keepDims = true
        },
        LayerProblem([image], as: Reduction<SumOfSquares>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceSumSquare.axes = [1, -1]
            $0.reduceSumSquare.keepDims = true
        },
        LayerProblem([image], as: Reduction<LogOfSumOfExponentials>(axes: [1, 3], keepsDimensions: true)) {
            $0.reduceLogSumExp.axes = [1, -1]
            $0.reduceLogSumExp.keepDims = true
        },
        LayerProblem([image], as: Reduction<SumOfElements>(axes: nil, keepsDimensions: false)) {
            $0.reduceSum.reduceAll = true
        },
        LayerProblem([image], as: Reduction<SumOfElements>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .sum
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: Reduction<MeanOfElements>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .avg
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: Reduction<ProductOfElements>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .prod
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: Reduction<SumOfSquares>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .sumsquare
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: Reduction<L1NormOfElements>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .l1
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: Reduction<L2NormOfElements>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .l2
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: Reduction<LargestElement>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .max
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: Reduction<SmallestElement>(axes: [-1], keepsDimensions: true)) {
            $0.reduce.mode = .min
            $0.reduce.axis = .w
        },
        LayerProblem([image], as: ReduceArg<Greatest>(axis: -3, keepsDimensions: true)) {
            $0.reduce.mode = .argmax
            $0.reduce.axis = .c
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: UInt64(1)...2)
    func gradient(seed: UInt64) {
        for axes: [Int]? in [nil, [0], [-1], [0, 2], [1]] {
            for keeps in [false, true] {
                let ops: [any Operator] = [
                    Reduction<SumOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<MeanOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<LargestElement>(axes: axes, keepsDimensions: keeps),
                    Reduction<SmallestElement>(axes: axes, keepsDimensions: keeps),
                    Reduction<ProductOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<L1NormOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<L2NormOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<SumOfSquares>(axes: axes, keepsDimensions: keeps),
                    Reduction<LogOfSumOfExponentials>(axes: axes, keepsDimensions: keeps),
                ]
                for op in ops {
                    #expect(GradientProblem("\(axes ?? [])", op, [.real([2, 3, 4])], seed: seed).failures() == [])
                }
                let log = Reduction<LogOfSum>(axes: axes, keepsDimensions: keeps)
                #expect(GradientProblem("", log, [.real([2, 3, 4], in: 0.5...2)], seed: seed).failures() == [])
            }
        }
    }
}
