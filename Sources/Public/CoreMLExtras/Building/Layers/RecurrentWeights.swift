import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The weights of a GRU layer: matrices [outputs, inputs], recursion matrices [outputs, outputs], biases [outputs].
    public struct GRUWeights: Hashable, Sendable {
        /// Weights for each gate of a GRU.
        public struct Gates: Hashable, Sendable {
            /// The weights of the update gate.
            public var update: LayerWeights
            /// The weights of the reset gate.
            public var reset: LayerWeights
            /// The weights of the output gate.
            public var output: LayerWeights

            /// Creates weights for each gate.
            ///
            /// - Parameters:
            ///   - update: The weights of the update gate.
            ///   - reset: The weights of the reset gate.
            ///   - output: The weights of the output gate.
            public init(update: LayerWeights, reset: LayerWeights, output: LayerWeights) {
                self.update = update
                self.reset = reset
                self.output = output
            }
        }

        /// The matrices applied to the input, [outputs, inputs].
        public var input: Gates
        /// The matrices applied to the previous output, [outputs, outputs].
        public var recursion: Gates
        /// The biases, [outputs]; nil for none.
        public var bias: Gates?

        /// Creates the weights of a GRU layer.
        ///
        /// - Parameters:
        ///   - input: The matrices applied to the input, [outputs, inputs].
        ///   - recursion: The matrices applied to the previous output, [outputs, outputs].
        ///   - bias: The biases, [outputs]; nil, the default, for none.
        public init(input: Gates, recursion: Gates, bias: Gates? = nil) {
            self.input = input
            self.recursion = recursion
            self.bias = bias
        }
    }

    /// The weights of one direction of an LSTM layer.
    ///
    /// Matrices are [outputs, inputs], recursion matrices [outputs, outputs], biases and peepholes [outputs].
    public struct LSTMWeights: Hashable, Sendable {
        /// Weights for each gate and for the block input.
        public struct Gates: Hashable, Sendable {
            /// The weights of the input gate.
            public var input: LayerWeights
            /// The weights of the forget gate.
            public var forget: LayerWeights
            /// The weights of the block input (the cell candidate).
            public var block: LayerWeights
            /// The weights of the output gate.
            public var output: LayerWeights

            /// Creates weights for each gate and the block input.
            ///
            /// - Parameters:
            ///   - input: The weights of the input gate.
            ///   - forget: The weights of the forget gate.
            ///   - block: The weights of the block input.
            ///   - output: The weights of the output gate.
            public init(input: LayerWeights, forget: LayerWeights, block: LayerWeights, output: LayerWeights) {
                self.input = input
                self.forget = forget
                self.block = block
                self.output = output
            }
        }

        /// Weights of the connections from the cell state to the gates.
        public struct Peepholes: Hashable, Sendable {
            /// The weights of the input gate.
            public var input: LayerWeights
            /// The weights of the forget gate.
            public var forget: LayerWeights
            /// The weights of the output gate.
            public var output: LayerWeights

            /// Creates peephole weights for each gate.
            ///
            /// - Parameters:
            ///   - input: The weights of the input gate.
            ///   - forget: The weights of the forget gate.
            ///   - output: The weights of the output gate.
            public init(input: LayerWeights, forget: LayerWeights, output: LayerWeights) {
                self.input = input
                self.forget = forget
                self.output = output
            }
        }

        /// The matrices applied to the input, [outputs, inputs].
        public var input: Gates
        /// The matrices applied to the previous output, [outputs, outputs].
        public var recursion: Gates
        /// The biases, [outputs]; nil for none.
        public var bias: Gates?
        /// The peephole weights, [outputs]; nil for none.
        public var peepholes: Peepholes?

        /// Creates the weights of one direction of an LSTM layer.
        ///
        /// - Parameters:
        ///   - input: The matrices applied to the input, [outputs, inputs].
        ///   - recursion: The matrices applied to the previous output, [outputs, outputs].
        ///   - bias: The biases, [outputs]; nil, the default, for none.
        ///   - peepholes: The peephole weights, [outputs]; nil, the default, for none.
        public init(input: Gates, recursion: Gates, bias: Gates? = nil, peepholes: Peepholes? = nil) {
            self.input = input
            self.recursion = recursion
            self.bias = bias
            self.peepholes = peepholes
        }
    }

    /// The activation functions of an LSTM layer.
    public struct LSTMActivations: Hashable, Sendable {
        /// The function of the gates; sigmoid by default.
        public var gates: Activation
        /// The function of the block input; hyperbolic tangent by default.
        public var block: Activation
        /// The function of the cell state in the output; hyperbolic tangent by default.
        public var output: Activation

        /// Creates activation functions: sigmoid for the gates, hyperbolic tangent elsewhere by default.
        public init(gates: Activation = .sigmoid, block: Activation = .tanh, output: Activation = .tanh) {
            self.gates = gates
            self.block = block
            self.output = output
        }
    }

    /// The options of an LSTM layer.
    public struct LSTMOptions: Hashable, Sendable {
        /// Whether the result has all steps rather than the last one; false by default.
        public var givesSequence: Bool
        /// Whether 1 is added to the bias of the forget gate; false by default.
        public var addsForgetBias: Bool
        /// Whether the forget gate is 1 − the input gate; false by default.
        public var couplesGates: Bool
        /// The bound of the cell state's absolute value; 50 by default.
        public var cellClip: Float

        /// Creates options.
        ///
        /// - Parameters:
        ///   - givesSequence: Whether the result has all steps rather than the last one.
        ///   - addsForgetBias: Whether 1 is added to the bias of the forget gate.
        ///   - couplesGates: Whether the forget gate is 1 − the input gate.
        ///   - cellClip: The bound of the cell state's absolute value.
        public init(
            givesSequence: Bool = false,
            addsForgetBias: Bool = false,
            couplesGates: Bool = false,
            cellClip: Float = 50
        ) {
            self.givesSequence = givesSequence
            self.addsForgetBias = addsForgetBias
            self.couplesGates = couplesGates
            self.cellClip = cellClip
        }
    }
}
