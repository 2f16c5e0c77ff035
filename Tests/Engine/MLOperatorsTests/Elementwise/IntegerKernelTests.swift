import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Elementwise work on types besides float32, with the ends of their ranges.
@Suite struct IntegerKernelTests {
    private static let ends: [Double] = [
        -2_147_483_648, 2_147_483_647, -1, 0, 1, 46_340, 46_341, -46_341, 127, 128, -129, 255, 256, 65_535, 65_536, -7,
    ]

    @Test func casts() {
        let types: [ScalarType] = [.float32, .float16, .int32, .int16, .uint16, .int8, .uint8, .bool]
        for source in types {
            var values = Self.ends + (0..<300).map { Double($0) * 1.75 - 260 }
            if source.isFloat { values += [.nan, .infinity, -.infinity, 2.5, -0.75, 3e9, -3e9] }
            let x = Tensor(values: values, scalarType: source, shape: [values.count])
            for target in types {
                #expect(OperatorProblem("", Cast(to: target), [x], tolerance: 0).failures() == [])
            }
        }
    }

    @Test func functions() {
        let x = Tensor(values: Self.ends, scalarType: .int32, shape: [4, 4])
        for op: any Operator in [Unary(Abs()), Unary(Sign()), Unary(Square()), Unary(Threshold(alpha: 3))] {
            #expect(OperatorProblem("", op, [x], tolerance: 0).failures() == [])
        }
        var random = RandomTensors(seed: 51)
        let truth = random.tensor([3, 700], .bool)
        #expect(OperatorProblem("", Unary(LogicalNot()), [truth], tolerance: 0).failures() == [])
    }

    @Test func quotientsAndPowers() {
        let count = Self.ends.count
        let x = Tensor(values: Self.ends, scalarType: .int32, shape: [count, 1])
        let divisors = Self.ends.filter { $0 != -1 }
        let y = Tensor(values: divisors, scalarType: .int32, shape: [1, divisors.count])
        for op: any Operator in [Binary<RealDiv>(), Binary<FloorDiv>(), Binary<Mod>()] {
            #expect(OperatorProblem("", op, [x, y], tolerance: 0).failures() == [])
        }
        let small = Tensor(values: [-3, -2, -1, 1, 2, 3, 10], scalarType: .int32, shape: [7, 1])
        let exponents = Tensor(values: [0, 1, 2, 5, 9, 31, 40], scalarType: .int32, shape: [1, 7])
        #expect(OperatorProblem("", Binary<Pow>(), [small, exponents], tolerance: 0).failures() == [])
    }

    @Test func choices() {
        var random = RandomTensors(seed: 52)
        for type in [ScalarType.float32, .int32, .float16, .int8, .bool] {
            let (a, b) = (random.tensor([40, 33], type, in: -9...9), random.tensor([40, 33], type, in: -9...9))
            for shape in [[40, 33], [40, 1], [1]] {
                let problem = OperatorProblem("", Select(), [random.tensor(shape, .bool), a, b], tolerance: 0)
                #expect(problem.failures() == [])
            }
        }
    }
}
