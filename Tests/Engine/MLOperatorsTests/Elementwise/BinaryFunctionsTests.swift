import Glibc
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

struct BinaryCase: Sendable, CustomTestStringConvertible {
    var op: any Operator
    var isPredicate = false
    var formula: @Sendable (Double, Double) -> Double
    var testDescription: String { op.displayName }

    static let all: [BinaryCase] = [
        BinaryCase(op: Binary<Add>()) { $1 + $0 },
        BinaryCase(op: Binary<Sub>()) { -($1 - $0) },
        BinaryCase(op: Binary<Mul>()) { $1 * $0 },
        BinaryCase(op: Binary<RealDiv>()) { $0 * pow($1, -1) },
        BinaryCase(op: Binary<FloorDiv>()) { floor($0 / $1) },
        BinaryCase(op: Binary<Mod>()) { $0 - $1 * floor($0 / $1) },
        BinaryCase(op: Binary<Pow>()) { exp($1 * log($0)) },
        BinaryCase(op: Binary<Max>()) { $0 > $1 ? $0 : $1 },
        BinaryCase(op: Binary<Min>()) { $0 < $1 ? $0 : $1 },
        BinaryCase(op: Binary<Equal>(), isPredicate: true) { $0 == $1 ? 1 : 0 },
        BinaryCase(op: Binary<NotEqual>(), isPredicate: true) { $0 == $1 ? 0 : 1 },
        BinaryCase(op: Binary<Less>(), isPredicate: true) { $0 < $1 ? 1 : 0 },
        BinaryCase(op: Binary<LessEqual>(), isPredicate: true) { $0 > $1 ? 0 : 1 },
        BinaryCase(op: Binary<Greater>(), isPredicate: true) { $0 > $1 ? 1 : 0 },
        BinaryCase(op: Binary<GreaterEqual>(), isPredicate: true) { $0 < $1 ? 0 : 1 },
    ]
}

@Suite struct BinaryFunctionsTests {
    /// Left shape, right shape, common shape, and for each axis of the common shape whether an operand repeats there.
    private static let shapes: [(x: [Int], y: [Int], z: [Int])] = [
        ([], [], []), ([17], [17], [17]), ([2, 3, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5]),
        ([2, 3, 4, 5], [], [2, 3, 4, 5]),
        ([2, 3, 4, 5], [1, 3, 1, 1], [2, 3, 4, 5]), ([1, 1, 4, 5], [2, 3, 1, 1], [2, 3, 4, 5]), ([3, 1], [4], [3, 4]),
        ([4], [2, 3, 4], [2, 3, 4]), ([2, 1, 4], [1, 3, 1], [2, 3, 4]),
    ]

    @Test(arguments: BinaryCase.all) func formula(_ binary: BinaryCase) {
        var random = RandomTensors(seed: 5)
        for (xShape, yShape, shape) in Self.shapes {
            // Multiples of 1/4, so that equal pairs occur and quotients are exact.
            let quarter = { (tensor: Tensor) in
                Tensor(
                    values: tensor.values.map { ($0 * 4).rounded() / 4 + 0.25 },
                    scalarType: .float32,
                    shape: tensor.shape
                )
            }
            let x = quarter(random.tensor(xShape, in: 0.25...3))
            let y = quarter(random.tensor(yShape, in: 0.25...3))
            let values = (0..<shape.elementCount).map { place in
                binary.formula(Self.element(x, place, shape), Self.element(y, place, shape))
            }
            let expected = Tensor(values: values, scalarType: binary.isPredicate ? .bool : .float32, shape: shape)
            let problem = OperatorProblem("", binary.op, [x, y], expected: [expected], seed: 5)
            #expect(problem.failures() == [])
        }
    }

    /// The element of `tensor` that goes to `position` of `shape`.
    private static func element(_ tensor: Tensor, _ place: Int, _ shape: [Int]) -> Double {
        let strides = shape.rowMajorStrides
        var offset = 0
        for axis in tensor.shape.indices {
            let target = axis + shape.count - tensor.shape.count
            let index = place / strides[target] % shape[target]
            offset = offset * tensor.shape[axis] + (tensor.shape[axis] == 1 ? 0 : index)
        }
        return tensor.values[offset]
    }

    @Test func integersAndLogic() throws {
        func ints(_ values: [Int32]) -> Tensor { Tensor(values, shape: [values.count]) }
        let (x, y) = (ints([7, -7, 7, -7]), ints([2, 2, -2, -2]))
        let expected: [(any Operator, [Int32])] = [
            (Binary<FloorDiv>(), [3, -4, -4, 3]), (Binary<Mod>(), [1, 1, -1, -1]), (Binary<Add>(), [9, -5, 5, -9]),
            (Binary<Mul>(), [14, -14, -14, 14]),
        ]
        for (op, values) in expected {
            #expect(OperatorProblem("", op, [x, y], expected: [ints(values)]).failures() == [])
        }
        func truths(_ values: [Double]) -> Tensor { Tensor(values: values, scalarType: .bool, shape: [values.count]) }
        let (a, b) = (truths([0, 0, 1, 1]), truths([0, 1, 0, 1]))
        let logic: [(any Operator, [Double])] = [
            (Binary<LogicalAnd>(), [0, 0, 0, 1]), (Binary<LogicalOr>(), [0, 1, 1, 1]),
            (Binary<LogicalXor>(), [0, 1, 1, 0]),
        ]
        for (op, values) in logic {
            #expect(OperatorProblem("", op, [a, b], expected: [truths(values)]).failures() == [])
        }
    }

    @Test func quotientsAndPowers() {
        let count = UnaryFunctionsTests.ends.count
        let x = Tensor(values: UnaryFunctionsTests.ends, scalarType: .int32, shape: [count, 1])
        let divisors = UnaryFunctionsTests.ends.filter { $0 != -1 }
        let y = Tensor(values: divisors, scalarType: .int32, shape: [1, divisors.count])
        for op: any Operator in [Binary<RealDiv>(), Binary<FloorDiv>(), Binary<Mod>()] {
            #expect(OperatorProblem("", op, [x, y], tolerance: 0).failures() == [])
        }
        let small = Tensor(values: [-3, -2, -1, 1, 2, 3, 10], scalarType: .int32, shape: [7, 1])
        let exponents = Tensor(values: [0, 1, 2, 5, 9, 31, 40], scalarType: .int32, shape: [1, 7])
        #expect(OperatorProblem("", Binary<Pow>(), [small, exponents], tolerance: 0).failures() == [])
    }

    @Test func typesThatDoNotMix() {
        let float = Operands.Operand(type: ValueType(.float32, [2]))
        let int = Operands.Operand(type: ValueType(.int32, [2]))
        let half = Operands.Operand(type: ValueType(.float16, [2]))
        #expect(throws: ModelError.self) { try Binary<Add>().resultTypes(of: Operands([float, int])) }
        #expect(throws: ModelError.self) {
            try Binary<Add>().resultTypes(of: Operands([float, .init(type: ValueType(.float32, [3]))]))
        }
        #expect((try? Binary<Add>().resultTypes(of: Operands([half, float])))?.first?.scalarType == .float32)
    }

    private static let x = counting([2, 3])
    private static let y = OperatorTrial.floats([2, 2, 2, 2, 2, 2], [2, 3])

    static let layers: [LayerProblem] = [
        LayerProblem([x, y], as: Binary<Add>()) { $0.addBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<Mul>()) { $0.multiplyBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<Sub>()) { $0.subtractBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<RealDiv>()) { $0.divideBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<FloorDiv>()) { $0.floorDivBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<Mod>()) { $0.modBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<Pow>()) { $0.powBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<Max>()) { $0.max = .init() },
        LayerProblem([x, y], as: Binary<Max>()) { $0.maxBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<Min>()) { $0.min = .init() },
        LayerProblem([x, y], as: Binary<Min>()) { $0.minBroadcastable = .init() },
        LayerProblem([x, y], as: Binary<Equal>()) { $0.equal = .init() },
        LayerProblem([x, y], as: Binary<NotEqual>()) { $0.notEqual = .init() },
        LayerProblem([x, y], as: Binary<Greater>()) { $0.greaterThan = .init() },
        LayerProblem([x, y], as: Binary<GreaterEqual>()) { $0.greaterEqual = .init() },
        LayerProblem([x, y], as: Binary<Less>()) { $0.lessThan = .init() },
        LayerProblem([x, y], as: Binary<LessEqual>()) { $0.lessEqual = .init() },
        LayerProblem([x], as: Binary<Equal>(), [x, Tensor(scalar: 2, .float32)]) { $0.equal.alpha = 2 },
        LayerProblem([x], as: Binary<NotEqual>(), [x, Tensor(scalar: 2, .float32)]) { $0.notEqual.alpha = 2 },
        LayerProblem([x], as: Binary<Greater>(), [x, Tensor(scalar: 2, .float32)]) { $0.greaterThan.alpha = 2 },
        LayerProblem([x], as: Binary<GreaterEqual>(), [x, Tensor(scalar: 2, .float32)]) { $0.greaterEqual.alpha = 2 },
        LayerProblem([x], as: Binary<Less>(), [x, Tensor(scalar: 2, .float32)]) { $0.lessThan.alpha = 2 },
        LayerProblem([x], as: Binary<LessEqual>(), [x, Tensor(scalar: 2, .float32)]) { $0.lessEqual.alpha = 2 },
        LayerProblem([x], as: Binary<Add>(), [x, Tensor(scalar: 2, .float32)]) { $0.add.alpha = 2 },
        LayerProblem([x], as: Binary<Mul>(), [x, Tensor(scalar: 2, .float32)]) { $0.multiply.alpha = 2 },
        LayerProblem(
            [OperatorTrial.floats([0, 0, 1, 1]), OperatorTrial.floats([0, 1, 0, 1])],
            expected: [OperatorTrial.floats([0, 0, 0, 1])]
        ) {
            $0.logicalAnd = .init()
        },
        LayerProblem(
            [OperatorTrial.floats([0, 0, 1, 1]), OperatorTrial.floats([0, 1, 0, 1])],
            expected: [OperatorTrial.floats([0, 1, 1, 1])]
        ) {
            $0.logicalOr = .init()
        },
        LayerProblem(
            [OperatorTrial.floats([0, 0, 1, 1]), OperatorTrial.floats([0, 1, 0, 1])],
            expected: [OperatorTrial.floats([0, 1, 1, 0])]
        ) {
            $0.logicalXor = .init()
        },
        LayerProblem([x, y], expected: [OperatorTrial.floats([1, 1.5, 2, 2.5, 3, 3.5], [2, 3])]) {
            $0.average = .init()
        },
        LayerProblem([counting([1, 2, 1, 2])], expected: [OperatorTrial.floats([5, 6, 8, 9], [1, 2, 1, 2])]) {
            $0.bias.shape = [2]
            $0.bias.bias.floatValue = [5, 6]
        },
        LayerProblem([counting([1, 2, 1, 2])], expected: [OperatorTrial.floats([1, 6, 22, 32], [1, 2, 1, 2])]) {
            $0.scale.shapeScale = [2]
            $0.scale.scale.floatValue = [5, 10]
            $0.scale.hasBias_p = true
            $0.scale.shapeBias = [2]
            $0.scale.bias.floatValue = [1, 2]
        },
        LayerProblem(
            [OperatorTrial.floats([3, 4], [1, 2, 1, 1]), OperatorTrial.floats([1, 0], [1, 2, 1, 1])],
            expected: [OperatorTrial.floats([3], [1, 1, 1, 1])]
        ) { $0.dot = .init() },
        LayerProblem(
            [OperatorTrial.floats([3, 4], [1, 2, 1, 1]), OperatorTrial.floats([1, 0], [1, 2, 1, 1])],
            expected: [OperatorTrial.floats([0.6], [1, 1, 1, 1])]
        ) { $0.dot.cosineSimilarity = true },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: [([3, 4], [3, 4]), ([3, 1], [4]), ([2, 3, 4], [3, 1]), ([], [2, 2]), ([1, 4], [3, 4])])
    func gradient(_ x: [Int], _ y: [Int]) {
        let ops: [any Operator] = [Binary<Add>(), Binary<Sub>(), Binary<Mul>(), Binary<Max>(), Binary<Min>()]
        for op in ops { #expect(GradientProblem("", op, [.real(x), .real(y)]).failures() == []) }
        #expect(GradientProblem("", Binary<RealDiv>(), [.real(x), .real(y, in: 0.5...2)]).failures() == [])
        #expect(GradientProblem("", Binary<Pow>(), [.real(x, in: 0.5...2), .real(y)]).failures() == [])
        #expect(GradientProblem("", Binary<Mod>(), [.real(x, in: 3.1...3.6), .real(y, in: 1.6...2)]).failures() == [])
    }

    @Test func gradientOfOnePlaceTwice() {
        // A constant to one side, and what a square of a sum needs: equal operands.
        #expect(
            GradientProblem("", Binary<Pow>(), [.real([5], in: -2...2), .fixed(Tensor(scalar: 3, .float64))]).failures()
                == []
        )
    }
}
