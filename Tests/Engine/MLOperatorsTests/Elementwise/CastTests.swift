import MLGraph
import MLGraphTraining
import MLKernels
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct CastTests {
    @Test func conversions() throws {
        let x = Tensor([-1.7, 0, 2.9, 300] as [Float], shape: [4])
        func cast(_ tensor: Tensor, _ type: ScalarType) -> OperatorProblem {
            OperatorProblem("", Cast(to: type), [tensor], expected: [tensor.converted(to: type)])
        }
        for type in [ScalarType.int32, .int8, .uint8, .bool, .float16, .float32] {
            #expect(cast(x, type).failures() == [])
            #expect(cast(x.converted(to: .int32), type).failures() == [])
        }
        #expect(x.converted(to: .uint8).values == [0, 0, 2, 255])
        #expect(
            try OperatorTrial.program(Cast.self, ["x": x, "dtype": OperatorTrial.string("int32")])[0].values == [
                -1, 0, 2, 300,
            ]
        )
    }

    @Test func kernels() {
        let types: [ScalarType] = [.float32, .float16, .int32, .int16, .uint16, .int8, .uint8, .bool]
        for source in types {
            var values = UnaryFunctionsTests.ends + (0..<300).map { Double($0) * 1.75 - 260 }
            if source.isFloat { values += [.nan, .infinity, -.infinity, 2.5, -0.75, 3e9, -3e9] }
            let x = Tensor(values: values, scalarType: source, shape: [values.count])
            for target in types {
                #expect(OperatorProblem("", Cast(to: target), [x], tolerance: 0).failures() == [])
            }
        }
    }

    /// Between floating-point types the gradient is converted back.
    @Test(arguments: KernelTable.available)
    func gradient(_ table: KernelTable) throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [3]))
        let wide = try builder.add(Cast(to: .float64), x)
        let loss = try builder.add(Reduction<SumOfSquares>(axes: nil, keepsDimensions: false), wide)
        let objective = Objective(builder.finished(outputs: [("loss", loss)]), parameters: ["x"])
        let values = Tensor([1, -2, 3] as [Float], shape: [3])
        let (_, gradients) = try GradientProgram(objective, kernels: table).run([], [values])
        #expect(gradients[0].scalarType == .float32)
        #expect(gradients[0].values == [2, -4, 6])
        CensusRecord.shared?.noteGradient(Cast(to: .float64))
    }
}
