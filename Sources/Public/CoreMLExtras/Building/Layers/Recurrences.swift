import MLSpecification
import SwiftProtobuf

/// Recurrent layers over the sequence of [Sequence, Batch, C, 1, 1].
///
/// Without initial states they begin with zeros. State outputs are the states after the last step.
extension NeuralNetworkBuilder {
    /// A simple recurrent layer: h = f(W x + R h + b).
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - inputs: The number of input channels.
    ///   - outputs: The number of output channels.
    ///   - activation: The function f; hyperbolic tangent by default.
    ///   - weights: W, [outputs, inputs].
    ///   - recursion: R, [outputs, outputs].
    ///   - bias: b, [outputs]; none by default.
    ///   - givesSequence: Whether the result has all steps rather than the last one; false by default.
    ///   - isReversed: Whether the sequence is processed from its end; false by default.
    ///   - state: The value with the initial h; zeros by default.
    ///   - output: The name of the result; the layer's name by default.
    ///   - stateOutput: The name of h after the last step; nil, the default, for no such output.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func simpleRecurrent(
        _ name: String,
        _ input: Value,
        inputs: Int,
        outputs: Int,
        activation: Activation = .tanh,
        weights: LayerWeights,
        recursion: LayerWeights,
        bias: LayerWeights? = nil,
        givesSequence: Bool = false,
        isReversed: Bool = false,
        state: Value? = nil,
        output: Value? = nil,
        stateOutput: Value? = nil
    ) -> Value {
        var layer = SpecSimpleRecurrentLayerParams()
        layer.inputVectorSize = natural(name, "the number of inputs", inputs, atLeast: 1)
        layer.outputVectorSize = natural(name, "the number of outputs", outputs, atLeast: 1)
        layer.activation = specification(of: activation, name)
        layer.sequenceOutput = givesSequence
        layer.reverseInput = isReversed
        layer.weightMatrix = self.weights(name, "weights", weights, shape: [outputs, inputs])
        layer.recursionMatrix = self.weights(name, "recursion", recursion, shape: [outputs, outputs])
        if let bias {
            layer.hasBiasVector_p = true
            layer.biasVector = self.weights(name, "bias", bias, count: outputs)
        }
        let values = [output ?? name] + (stateOutput.map { [$0] } ?? [])
        return add(name, [input] + (state.map { [$0] } ?? []), outputs: values, .simpleRecurrent(layer))[0]
    }

    /// A gated recurrent unit (GRU).
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - inputs: The number of input channels.
    ///   - outputs: The number of output channels.
    ///   - gateActivation: The function of the gates; sigmoid by default.
    ///   - activation: The function of the output; hyperbolic tangent by default.
    ///   - weights: The weights of the gates.
    ///   - givesSequence: Whether the result has all steps rather than the last one; false by default.
    ///   - isReversed: Whether the sequence is processed from its end; false by default.
    ///   - state: The value with the initial h; zeros by default.
    ///   - output: The name of the result; the layer's name by default.
    ///   - stateOutput: The name of h after the last step; nil, the default, for no such output.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func gru(
        _ name: String,
        _ input: Value,
        inputs: Int,
        outputs: Int,
        gateActivation: Activation = .sigmoid,
        activation: Activation = .tanh,
        weights: GRUWeights,
        givesSequence: Bool = false,
        isReversed: Bool = false,
        state: Value? = nil,
        output: Value? = nil,
        stateOutput: Value? = nil
    ) -> Value {
        var layer = SpecGRULayerParams()
        layer.inputVectorSize = natural(name, "the number of inputs", inputs, atLeast: 1)
        layer.outputVectorSize = natural(name, "the number of outputs", outputs, atLeast: 1)
        layer.activations = [specification(of: gateActivation, name), specification(of: activation, name)]
        layer.sequenceOutput = givesSequence
        layer.reverseInput = isReversed
        let (matrix, square) = ([outputs, inputs], [outputs, outputs])
        layer.updateGateWeightMatrix = self.weights(name, "update weights", weights.input.update, shape: matrix)
        layer.resetGateWeightMatrix = self.weights(name, "reset weights", weights.input.reset, shape: matrix)
        layer.outputGateWeightMatrix = self.weights(name, "output weights", weights.input.output, shape: matrix)
        layer.updateGateRecursionMatrix = self.weights(
            name,
            "update recursion",
            weights.recursion.update,
            shape: square
        )
        layer.resetGateRecursionMatrix = self.weights(name, "reset recursion", weights.recursion.reset, shape: square)
        layer.outputGateRecursionMatrix = self.weights(
            name,
            "output recursion",
            weights.recursion.output,
            shape: square
        )
        if let bias = weights.bias {
            layer.hasBiasVectors_p = true
            layer.updateGateBiasVector = self.weights(name, "update bias", bias.update, count: outputs)
            layer.resetGateBiasVector = self.weights(name, "reset bias", bias.reset, count: outputs)
            layer.outputGateBiasVector = self.weights(name, "output bias", bias.output, count: outputs)
        }
        let values = [output ?? name] + (stateOutput.map { [$0] } ?? [])
        return add(name, [input] + (state.map { [$0] } ?? []), outputs: values, .gru(layer))[0]
    }

    /// A long short-term memory (LSTM).
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - inputs: The number of input channels.
    ///   - outputs: The number of output channels.
    ///   - activations: The activation functions.
    ///   - options: The form of the result, and variations of the cell.
    ///   - weights: The weights of the gates.
    ///   - isReversed: Whether the sequence is processed from its end; false by default.
    ///   - states: The values with the initial h and c; none, the default, or both.
    ///   - output: The name of the result; the layer's name by default.
    ///   - stateOutputs: The names of h and c after the last step; none, the default, or both.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func lstm(
        _ name: String,
        _ input: Value,
        inputs: Int,
        outputs: Int,
        activations: LSTMActivations = LSTMActivations(),
        options: LSTMOptions = LSTMOptions(),
        weights: LSTMWeights,
        isReversed: Bool = false,
        states: [Value] = [],
        output: Value? = nil,
        stateOutputs: [Value] = []
    ) -> Value {
        var layer = SpecUniDirectionalLSTMLayerParams()
        layer.inputVectorSize = natural(name, "the number of inputs", inputs, atLeast: 1)
        layer.outputVectorSize = natural(name, "the number of outputs", outputs, atLeast: 1)
        layer.activations = specification(of: activations, name)
        layer.params = specification(of: options, weights)
        layer.weightParams = specification(of: weights, name, inputs, outputs)
        layer.reverseInput = isReversed
        checkStates(name, states, stateOutputs, 2)
        return add(name, [input] + states, outputs: [output ?? name] + stateOutputs, .uniDirectionalLstm(layer))[0]
    }

    /// An LSTM in both directions, whose result has the channels of both, forward ones first.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - inputs: The number of input channels.
    ///   - outputs: The number of output channels of each direction.
    ///   - activations: The activation functions of the forward direction.
    ///   - backwardActivations: The activation functions of the backward direction; those of the forward one by
    ///     default.
    ///   - options: The form of the result, and variations of the cell.
    ///   - forward: The weights of the forward direction.
    ///   - backward: The weights of the backward direction.
    ///   - states: The values with the initial h and c, forward then backward; none, the default, or four.
    ///   - output: The name of the result; the layer's name by default.
    ///   - stateOutputs: The names of h and c after the last step, forward then backward; none, the default, or four.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func bidirectionalLSTM(
        _ name: String,
        _ input: Value,
        inputs: Int,
        outputs: Int,
        activations: LSTMActivations = LSTMActivations(),
        backwardActivations: LSTMActivations? = nil,
        options: LSTMOptions = LSTMOptions(),
        forward: LSTMWeights,
        backward: LSTMWeights,
        states: [Value] = [],
        output: Value? = nil,
        stateOutputs: [Value] = []
    ) -> Value {
        var layer = SpecBiDirectionalLSTMLayerParams()
        layer.inputVectorSize = natural(name, "the number of inputs", inputs, atLeast: 1)
        layer.outputVectorSize = natural(name, "the number of outputs", outputs, atLeast: 1)
        layer.activationsForwardLstm = specification(of: activations, name)
        layer.activationsBackwardLstm = specification(of: backwardActivations ?? activations, name)
        layer.params = specification(of: options, forward)
        layer.weightParams = [
            specification(of: forward, name, inputs, outputs), specification(of: backward, name, inputs, outputs),
        ]
        if (forward.bias == nil) != (backward.bias == nil) || (forward.peepholes == nil) != (backward.peepholes == nil)
        {
            problem(name, "biases and peepholes are there for both directions or for none")
        }
        checkStates(name, states, stateOutputs, 4)
        return add(name, [input] + states, outputs: [output ?? name] + stateOutputs, .biDirectionalLstm(layer))[0]
    }

    // MARK: Messages

    private mutating func checkStates(_ name: String, _ states: [Value], _ outputs: [Value], _ count: Int) {
        for (what, values) in [("states", states), ("state outputs", outputs)] where ![0, count].contains(values.count)
        {
            problem(name, "there are \(values.count) \(what); give none or \(count)")
        }
    }

    private mutating func specification(
        of activations: LSTMActivations,
        _ name: String
    ) -> [SpecActivationParams] {
        [activations.gates, activations.block, activations.output].map { specification(of: $0, name) }
    }

    private func specification(of options: LSTMOptions, _ weights: LSTMWeights) -> SpecLSTMParams {
        .with {
            $0.sequenceOutput = options.givesSequence
            $0.hasBiasVectors_p = weights.bias != nil
            $0.forgetBias = options.addsForgetBias
            $0.hasPeepholeVectors_p = weights.peepholes != nil
            $0.coupledInputAndForgetGate = options.couplesGates
            $0.cellClipThreshold = options.cellClip
        }
    }

    private mutating func specification(
        of weights: LSTMWeights,
        _ name: String,
        _ inputs: Int,
        _ outputs: Int
    ) -> SpecLSTMWeightParams {
        var layer = SpecLSTMWeightParams()
        let (matrix, square) = ([outputs, inputs], [outputs, outputs])
        layer.inputGateWeightMatrix = self.weights(name, "input weights", weights.input.input, shape: matrix)
        layer.forgetGateWeightMatrix = self.weights(name, "forget weights", weights.input.forget, shape: matrix)
        layer.blockInputWeightMatrix = self.weights(name, "block weights", weights.input.block, shape: matrix)
        layer.outputGateWeightMatrix = self.weights(name, "output weights", weights.input.output, shape: matrix)
        layer.inputGateRecursionMatrix = self.weights(name, "input recursion", weights.recursion.input, shape: square)
        layer.forgetGateRecursionMatrix = self.weights(
            name,
            "forget recursion",
            weights.recursion.forget,
            shape: square
        )
        layer.blockInputRecursionMatrix = self.weights(name, "block recursion", weights.recursion.block, shape: square)
        layer.outputGateRecursionMatrix = self.weights(
            name,
            "output recursion",
            weights.recursion.output,
            shape: square
        )
        if let bias = weights.bias {
            layer.inputGateBiasVector = self.weights(name, "input bias", bias.input, count: outputs)
            layer.forgetGateBiasVector = self.weights(name, "forget bias", bias.forget, count: outputs)
            layer.blockInputBiasVector = self.weights(name, "block bias", bias.block, count: outputs)
            layer.outputGateBiasVector = self.weights(name, "output bias", bias.output, count: outputs)
        }
        if let peepholes = weights.peepholes {
            layer.inputGatePeepholeVector = self.weights(name, "input peephole", peepholes.input, count: outputs)
            layer.forgetGatePeepholeVector = self.weights(name, "forget peephole", peepholes.forget, count: outputs)
            layer.outputGatePeepholeVector = self.weights(name, "output peephole", peepholes.output, count: outputs)
        }
        return layer
    }
}
