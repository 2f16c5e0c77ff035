import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct RNNTests {
    private static func noise(_ shape: [Int], _ seed: UInt64) -> Tensor { OperatorTrial.noise(shape, seed: seed) }

    @Test func byHand() throws {
        let results = try OperatorTrial.program(
            RNN.self,
            [
                "x": OperatorTrial.floats([1, -2], [2, 1, 1]), "initial_h": OperatorTrial.floats([0.5], [1, 1]),
                "weight_ih": OperatorTrial.floats([2], [1, 1]), "weight_hh": OperatorTrial.floats([3], [1, 1]),
                "bias": OperatorTrial.floats([0.5]), "output_sequence": OperatorTrial.bool(true),
                "activation": OperatorTrial.string("relu"),
            ]
        )
        #expect(results[0].values == [4, 8.5])
        #expect(results[1].values == [8.5])
    }

    @Test func contradictionsAreErrors() {
        let x = Self.noise([2, 1, 3], 1)
        let h = Self.noise([1, 4], 2)
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(RNN(), [x, h, Self.noise([4, 3], 3), Self.noise([4, 5], 4)])
        }
    }

    @Test(arguments: [false, true]) func kernels(returnsSequence: Bool) {
        var random = RandomTensors(seed: 11)
        let operands: [Tensor?] = [
            random.tensor([4, 3, 6]), random.tensor([3, 9]), random.tensor([9, 6]), random.tensor([9, 9]),
            random.tensor([9]),
        ]
        let op = RNN(direction: returnsSequence ? .reverse : .forward, returnsSequence: returnsSequence)
        let problem = OperatorProblem("rnn", op, operands, constants: [2, 3, 4], tolerance: 1e-3, seed: 11)
        #expect(problem.failures() == [])
        #expect(problem.computingWeights.failures() == [])
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [OperatorTrial.floats([1, -2], [2, 1, 1, 1, 1])],
            expected: [OperatorTrial.floats([2.5, 4], [2, 1, 1, 1, 1])]
        ) {
            $0.simpleRecurrent.inputVectorSize = 1
            $0.simpleRecurrent.outputVectorSize = 1
            $0.simpleRecurrent.sequenceOutput = true
            $0.simpleRecurrent.activation.reLu = .init()
            $0.simpleRecurrent.weightMatrix.floatValue = [2]
            $0.simpleRecurrent.recursionMatrix.floatValue = [3]
            $0.simpleRecurrent.hasBiasVector_p = true
            $0.simpleRecurrent.biasVector.floatValue = [0.5]
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: [RecurrentDirection.forward, .reverse], [false, true])
    func gradient(_ direction: RecurrentDirection, _ returnsSequence: Bool) {
        let (s, b, i, h) = (4, 3, 2, 5)
        let x: [GradientProblem.Operand] = [.real([s, b, i]), .real([b, h])]
        for activation: Activation in [.tanh, .sigmoid, .scaledTanh(alpha: 1.2, beta: 0.7)] {
            let op = RNN(direction: direction, returnsSequence: returnsSequence, activation: activation)
            #expect(
                GradientProblem("\(activation)", op, x + [.real([h, i]), .real([h, h]), .real([h])]).failures() == []
            )
        }
        let plain = RNN(direction: direction, returnsSequence: returnsSequence)
        #expect(GradientProblem("no bias", plain, x + [.real([h, i]), .real([h, h]), .none]).failures() == [])
    }
}
