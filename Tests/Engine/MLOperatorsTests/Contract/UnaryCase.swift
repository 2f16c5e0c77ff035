import MLGraph
import MLNumerics
import MLSpecification
import TestSupport
import Testing

/// One function of one number, beside an independent formula for it: by plain evaluation, kernels and as a layer.
struct UnaryCase: Sendable, CustomTestStringConvertible {
    var op: any Operator
    var range: ClosedRange<Double> = -3...3
    /// The layer that is the operator, where there is one.
    var layer: (@Sendable (inout SpecNeuralNetworkLayer) -> Void)?
    var formula: @Sendable (Double) -> Double
    var testDescription: String { "\(op.displayName) \(op)" }

    /// The differences between the operator and the formula on tensors of several shapes, for the test in `file`.
    func failures(file: String = #fileID) -> [String] {
        var random = RandomTensors(seed: 3)
        var failures: [String] = []
        for shape in [[], [1], [33], [2, 3, 4, 5], [2, 3, 5]] {
            let x = random.tensor(shape, in: range)
            let expected = Tensor(values: x.values.map(formula), scalarType: .float32, shape: shape)
            failures +=
                OperatorProblem("", op, [x], expected: [expected], tolerance: 2e-5, seed: 3, file: file).failures()
            guard let layer, !shape.isEmpty else { continue }
            failures += LayerProblem([x], expected: [expected], tolerance: 2e-5, layer).failures()
        }
        return failures
    }
}
