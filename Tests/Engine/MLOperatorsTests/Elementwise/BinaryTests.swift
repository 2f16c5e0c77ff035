import Glibc
import MLGraph
import MLNumerics
import MLOperators
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

@Suite struct BinaryTests {
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

    /// The element of `tensor` that goes to `place` of `shape`.
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

    @Test func selection() {
        var random = RandomTensors(seed: 8)
        let condition = random.tensor([2, 3, 4, 5], .bool)
        let a = random.tensor([2, 3, 4, 5])
        let b = random.tensor([1, 3, 1, 1])
        let values = (0..<120).map { condition.values[$0] != 0 ? a.values[$0] : b.values[$0 / 20 % 3] }
        let expected = Tensor(values: values, scalarType: .float32, shape: [2, 3, 4, 5])
        #expect(OperatorProblem("", Select(), [condition, a, b], expected: [expected], seed: 8).failures() == [])
    }
}
