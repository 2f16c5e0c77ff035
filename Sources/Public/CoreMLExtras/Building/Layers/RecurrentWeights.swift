import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The weights of a GRU layer: matrices [outputs, inputs], recursions [outputs, outputs], biases [outputs].
    public struct GRUWeights: Hashable, Sendable {
        /// One for each gate.
        public struct Gates: Hashable, Sendable {
            public var update: LayerWeights
            public var reset: LayerWeights
            public var output: LayerWeights

            public init(update: LayerWeights, reset: LayerWeights, output: LayerWeights) {
                self.update = update
                self.reset = reset
                self.output = output
            }
        }

        public var input: Gates
        public var recursion: Gates
        public var bias: Gates?

        public init(input: Gates, recursion: Gates, bias: Gates? = nil) {
            self.input = input
            self.recursion = recursion
            self.bias = bias
        }
    }

    /// The weights of one direction of an LSTM layer: matrices [outputs, inputs], recursions [outputs, outputs],
    /// biases and peepholes [outputs].
    public struct LSTMWeights: Hashable, Sendable {
        /// One for each gate and one for the block input.
        public struct Gates: Hashable, Sendable {
            public var input: LayerWeights
            public var forget: LayerWeights
            public var block: LayerWeights
            public var output: LayerWeights

            public init(input: LayerWeights, forget: LayerWeights, block: LayerWeights, output: LayerWeights) {
                self.input = input
                self.forget = forget
                self.block = block
                self.output = output
            }
        }

        /// What the gates see of the cell.
        public struct Peepholes: Hashable, Sendable {
            public var input: LayerWeights
            public var forget: LayerWeights
            public var output: LayerWeights

            public init(input: LayerWeights, forget: LayerWeights, output: LayerWeights) {
                self.input = input
                self.forget = forget
                self.output = output
            }
        }

        public var input: Gates
        public var recursion: Gates
        public var bias: Gates?
        public var peepholes: Peepholes?

        public init(input: Gates, recursion: Gates, bias: Gates? = nil, peepholes: Peepholes? = nil) {
            self.input = input
            self.recursion = recursion
            self.bias = bias
            self.peepholes = peepholes
        }
    }

    /// The functions of an LSTM layer.
    public struct LSTMActivations: Hashable, Sendable {
        public var gates: Activation
        public var block: Activation
        public var output: Activation

        public init(gates: Activation = .sigmoid, block: Activation = .tanh, output: Activation = .tanh) {
            self.gates = gates
            self.block = block
            self.output = output
        }
    }

    /// What an LSTM layer does besides multiplying.
    public struct LSTMOptions: Hashable, Sendable {
        /// All steps, else the last one.
        public var givesSequence: Bool
        /// Adds 1 to the bias of the forget gate.
        public var addsForgetBias: Bool
        /// The forget gate is 1 − the input gate.
        public var couplesGates: Bool
        /// The cell stays within ± this.
        public var cellClip: Float

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
