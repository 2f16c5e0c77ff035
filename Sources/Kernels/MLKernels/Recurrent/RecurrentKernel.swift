import CMLKernels

/// LSTM and GRU layers.
package enum RecurrentKernel {
    /// One direction of one layer.
    package struct Layer {
        package var weights: RecurrentWeights
        package var steps: Int
        package var batch: Int
        /// `[steps][batch][inputSize]`, contiguous.
        package var x: UnsafePointer<Float>
        /// Whether the last step is processed first; results keep the positions of their steps.
        package var isReverse = false
        /// `[batch][hiddenSize]`: the initial state, replaced by the last one.
        package var h: UnsafeMutablePointer<Float>
        /// The same for an LSTM's cell state.
        package var c: UnsafeMutablePointer<Float>?
        /// Every state, `[steps][batch]` rows of `yStride` elements; `nil` when only the last is needed.
        package var y: UnsafeMutablePointer<Float>?
        package var yStride: Int
        /// What an LSTM's backward pass reads, `[steps][batch][LSTMRecord.vectorCount][hiddenSize]`; `nil` when there is none.
        package var record: UnsafeMutablePointer<Float>?
        package var gateFunction: UnaryFunction = .sigmoid
        package var cellFunction: UnaryFunction = .tanh
        package var outputFunction: UnaryFunction = .tanh
        /// Clamps the cell state to ±cellClip; 0 for no limit.
        package var cellClip: Float = 0

        package init(
            _ weights: RecurrentWeights,
            steps: Int,
            batch: Int,
            x: UnsafePointer<Float>,
            h: UnsafeMutablePointer<Float>,
            c: UnsafeMutablePointer<Float>? = nil,
            y: UnsafeMutablePointer<Float>? = nil,
            yStride: Int = 0
        ) {
            self.weights = weights
            self.steps = steps
            self.batch = batch
            self.x = x
            self.h = h
            self.c = c
            self.y = y
            self.yStride = yStride == 0 ? weights.hiddenSize : yStride
        }
    }

    /// Runs the layers, concurrently when there are several: the two directions of a bidirectional layer write the
    /// halves of their rows of `y`.
    package static func run(_ layers: [Layer]) {
        guard let first = layers.first else { return }
        precondition(
            layers.allSatisfy { $0.weights.recurrent.instructionSet == first.weights.recurrent.instructionSet }
        )
        let projections = layers.map { layer -> AlignedMemory in
            let weights = layer.weights
            let rows = layer.steps * layer.batch
            let memory = AlignedMemory(byteCount: max(1, rows * weights.input.columns * 4))
            weights.bias.withUnsafeBufferPointer { bias in
                MatMulKernel.multiply(
                    layer.x,
                    rows: rows,
                    by: weights.input,
                    into: memory.address.assumingMemoryBound(to: Float.self),
                    epilogue: Epilogue(bias: bias.baseAddress)
                )
            }
            return memory
        }
        withExtendedLifetime((projections, layers)) {
            var calls: [cml_rnn_call] = []
            lower(layers[...], projections, first.weights.recurrent.instructionSet, &calls)
        }
    }

    /// Adds the C form of the remaining layers while their arrays are pinned, then runs all.
    private static func lower(
        _ layers: ArraySlice<Layer>,
        _ projections: [AlignedMemory],
        _ instructionSet: OpaquePointer,
        _ calls: inout [cml_rnn_call]
    ) {
        guard let layer = layers.first else {
            cml_rnn(instructionSet, calls, Int32(calls.count))
            return
        }
        let weights = layer.weights
        weights.recurrentBias.withUnsafeBufferPointer { recurrentBias in
            weights.peepholes.withUnsafeBufferPointer { peepholes in
                var call = cml_rnn_call()
                call.steps = layer.steps
                call.batch = layer.batch
                call.hidden = weights.hiddenSize
                call.gates = Int32(weights.cell.gateCount)
                call.reset_after = weights.cell == .gru(resetAfter: true) ? 1 : 0
                call.reverse = layer.isReverse ? 1 : 0
                call.projected = UnsafePointer(projections[calls.count].address.assumingMemoryBound(to: Float.self))
                call.recurrent = UnsafeRawPointer(weights.recurrent.memory.address)
                call.storage = weights.recurrent.isHalf ? CML_F16 : CML_F32
                call.recurrent_bias = recurrentBias.baseAddress
                if let base = peepholes.baseAddress, !peepholes.isEmpty {
                    call.peephole = (base, base + weights.hiddenSize, base + 2 * weights.hiddenSize)
                }
                call.cell_clip = layer.cellClip
                call.gate = function(layer.gateFunction)
                call.cell = function(layer.cellFunction)
                call.output = function(layer.outputFunction)
                call.h = layer.h
                call.c = layer.c
                call.y = layer.y
                call.y_stride = layer.yStride
                call.record = layer.record
                calls.append(call)
                lower(layers.dropFirst(), projections, instructionSet, &calls)
            }
        }
    }

    private static func function(_ function: UnaryFunction) -> cml_rnn_function {
        let (function, alpha, beta) = function.lowered
        return cml_rnn_function(function: function, alpha: alpha, beta: beta)
    }
}
