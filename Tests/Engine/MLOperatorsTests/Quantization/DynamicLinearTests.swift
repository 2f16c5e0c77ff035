import Foundation
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

struct DynamicLinearTests {
    private static let (inputs, outputs) = (34, 5)

    private static func codes() -> [Int8] {
        (0..<inputs * outputs).map { Int8(truncatingIfNeeded: $0 * 37 % 255 - 127) }
    }

    /// The product of rows that are rounded to 255 levels of their own with the stored integers.
    private static func expected(_ x: Tensor, scale: Double) -> Tensor {
        let (values, codes) = (x.values, codes())
        var results: [Double] = []
        for start in stride(from: 0, to: values.count, by: inputs) {
            let row = values[start..<start + inputs]
            let step = row.map(\.magnitude).max()! / 127
            for column in 0..<outputs {
                var sum = 0.0
                for (term, value) in row.enumerated() {
                    sum += (value / step).rounded(.toNearestOrEven) * Double(codes[column * inputs + term])
                }
                results.append(sum * step * scale)
            }
        }
        return Tensor(values: results, scalarType: .float32, shape: x.shape.dropLast() + [outputs])
    }

    /// Few rows are multiplied as floats, many as integers; both have the same results.
    @Test(arguments: [1, 3, 7, 8, 41]) func innerProduct(rows: Int) {
        let x = OperatorTrial.noise([rows, Self.inputs], seed: 2)
        let problem = LayerProblem([x], expected: [Self.expected(x, scale: 0.25)], tolerance: 1e-4) {
            $0.innerProduct.inputChannels = UInt64(Self.inputs)
            $0.innerProduct.outputChannels = UInt64(Self.outputs)
            $0.innerProduct.int8DynamicQuantize = true
            $0.innerProduct.weights = Self.weights
        }
        #expect(problem.failures() == [])
    }

    @Test(arguments: [2, 20]) func batchedMatmul(rows: Int) {
        let x = OperatorTrial.noise([2, rows, Self.inputs], seed: 3)
        var expected = Self.expected(x, scale: 0.25)
        let bias: [Float] = [1, 2, 3, 4, 5]
        expected = Tensor(
            values: expected.values.enumerated().map { $1 + Double(bias[$0 % Self.outputs]) },
            scalarType: .float32,
            shape: expected.shape
        )
        let problem = LayerProblem([x], expected: [expected], tolerance: 1e-4) {
            $0.batchedMatmul.weightMatrixFirstDimension = UInt64(Self.inputs)
            $0.batchedMatmul.weightMatrixSecondDimension = UInt64(Self.outputs)
            $0.batchedMatmul.int8DynamicQuantize = true
            $0.batchedMatmul.weights = Self.weights
            $0.batchedMatmul.hasBias_p = true
            $0.batchedMatmul.bias.floatValue = bias
        }
        #expect(problem.failures() == [])
    }

    private static var weights: SpecWeightParams {
        var weights = SpecWeightParams()
        weights.int8RawValue = Data(codes().map { UInt8(bitPattern: $0) })
        weights.quantization.numberOfBits = 8
        weights.quantization.linearQuantization.scale = [0.25]
        return weights
    }

    @Test func roundsRows() {
        var random = RandomTensors(seed: 5)
        for shape in [[7], [3, 33], [2, 4, 16]] {
            let problem = OperatorProblem("", RoundRows(), [random.tensor(shape)], tolerance: 1e-6, seed: 5)
            #expect(problem.failures() == [])
        }
        let zeros = Tensor(uninitialized: .float32, shape: [2, 3], zeroed: true)
        #expect(OperatorProblem("zeros", RoundRows(), [zeros], expected: [zeros]).failures() == [])
    }
}
