import Glibc
import MLGraph
import MLNumerics
import MLOperators
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

@Suite struct ReductionTests {
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

    @Test func placesOfExtrema() {
        let x = Tensor([3, 1, 3, 0, -1, -1] as [Float], shape: [2, 3])
        func ints(_ values: [Int32], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }
        let problems = [
            OperatorProblem(
                "",
                ReduceArg<Greatest>(axis: -1, keepsDimensions: false),
                [x],
                expected: [ints([0, 0], [2])]
            ),
            OperatorProblem(
                "",
                ReduceArg<Least>(axis: 1, keepsDimensions: true),
                [x],
                expected: [ints([1, 1], [2, 1])]
            ),
            OperatorProblem(
                "",
                ReduceArg<Least>(axis: 0, keepsDimensions: false),
                [x],
                expected: [ints([1, 1, 1], [3])]
            ),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }

    @Test func runningSums() {
        let x = Tensor([1, 2, 3, 4, 5, 6] as [Float], shape: [2, 3])
        let cases: [(CumulativeSum, [Float])] = [
            (CumulativeSum(axis: 1), [1, 3, 6, 4, 9, 15]),
            (CumulativeSum(axis: -1, isExclusive: true), [0, 1, 3, 0, 4, 9]),
            (CumulativeSum(axis: 1, isReversed: true), [6, 5, 3, 15, 11, 6]),
            (CumulativeSum(axis: 1, isExclusive: true, isReversed: true), [5, 3, 0, 11, 6, 0]),
            (CumulativeSum(axis: 0), [1, 2, 3, 5, 7, 9]),
        ]
        for (op, values) in cases {
            #expect(OperatorProblem("", op, [x], expected: [Tensor(values, shape: [2, 3])]).failures() == [])
        }
    }
}
