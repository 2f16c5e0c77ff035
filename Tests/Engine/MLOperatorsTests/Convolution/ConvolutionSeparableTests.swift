import MLGraph
import MLNumerics
import MLOperators
import Testing

/// The step that `FuseSeparable` creates: its plain evaluation is that of three convolutions. Its kernel: `FuseSeparableTests`.
@Suite struct ConvolutionSeparableTests {
    struct Problem: Sendable, CustomTestStringConvertible {
        var x: [Int]
        var wide: Int
        var kernel = [3, 3]
        var strides = [1, 1]
        var outputs = 0
        var isExpanded = true
        var testDescription: String { "\(x) \(wide) \(kernel) s\(strides) \(outputs)" }
    }

    static let problems = [
        Problem(x: [1, 3, 9, 8], wide: 10, outputs: 5), Problem(x: [2, 4, 7, 9], wide: 6, strides: [2, 2]),
        Problem(x: [1, 6, 8, 5], wide: 6, kernel: [5, 5], outputs: 3, isExpanded: false),
    ]

    @Test(arguments: problems)
    func isThreeConvolutions(problem: Problem) throws {
        func noise(_ shape: [Int], _ seed: Int) -> Tensor {
            let values = (0..<shape.elementCount).map { Double(($0 * 37 + seed * 11) % 23) / 23 - 0.4 }
            return Tensor(values: values, scalarType: .float32, shape: shape)
        }
        let half = problem.kernel.map { $0 / 2 }
        var depthwise = Convolution(
            strides: problem.strides,
            padding: .custom(before: half, after: half),
            groups: problem.wide
        )
        depthwise.activation = .relu
        var expansion = Convolution(strides: [1, 1])
        expansion.activation = .relu
        let projection = Convolution(strides: [1, 1])
        let op = ConvolutionSeparable(
            expansion: problem.isExpanded ? expansion : nil,
            depthwise: depthwise,
            projection: problem.outputs > 0 ? projection : nil
        )
        let x = noise(problem.x, 1)
        let weights = [
            problem.isExpanded ? noise([problem.wide, problem.x[1], 1, 1], 2) : nil,
            noise([problem.wide, 1] + problem.kernel, 3),
            problem.outputs > 0 ? noise([problem.outputs, problem.wide, 1, 1], 4) : nil,
        ]
        let biases = [
            weights[0].map { _ in noise([problem.wide], 5) }, nil, weights[2].map { noise([$0.shape[0]], 6) },
        ]
        var expected = x
        if problem.isExpanded {
            expected = try OperatorTrial.reference(expansion, [expected, weights[0], biases[0]])[0]
        }
        expected = try OperatorTrial.reference(depthwise, [expected, weights[1]])[0]
        var residual: Tensor?
        if problem.outputs > 0 {
            residual = noise([problem.x[0], problem.outputs] + expected.shape.dropFirst(2), 7)
            expected = try OperatorTrial.reference(projection, [expected, weights[2], biases[2], residual])[0]
        }
        let operands = [x, weights[0], biases[0], weights[1], biases[1], weights[2], biases[2], residual]
        let plain = try OperatorTrial.reference(op, operands)[0]
        #expect(plain.shape == expected.shape)
        #expect(plain.values == expected.values)
    }
}
