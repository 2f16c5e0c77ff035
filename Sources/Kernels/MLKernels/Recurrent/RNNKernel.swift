/// Plain recurrent networks: h′ = function(W x + R h + b).
package struct RNNKernel: Sendable {
    private let steps: Int
    private let batch: Int
    private let inputs: Int
    private let states: Int
    private let isReverse: Bool
    private let returnsSequence: Bool
    private let function: UnaryFunction

    /// A layer of these sizes.
    ///
    /// - Parameters:
    ///   - steps: The number of steps.
    ///   - batch: The number of sequences.
    ///   - inputs: The number of elements of an input.
    ///   - states: The number of elements of a state.
    ///   - isReverse: Whether the last step is processed first.
    ///   - returnsSequence: Whether every state is a result, in the order of processing, or the last one only.
    ///   - function: The function of the sums.
    package init(
        steps: Int,
        batch: Int,
        inputs: Int,
        states: Int,
        isReverse: Bool,
        returnsSequence: Bool,
        function: UnaryFunction
    ) {
        self.steps = steps
        self.batch = batch
        self.inputs = inputs
        self.states = states
        self.isReverse = isReverse
        self.returnsSequence = returnsSequence
        self.function = function
    }

    private var sumCount: Int { steps * batch * states }
    /// The size of the scratch memory that `run` needs.
    package var scratchByteCount: Int { (sumCount + 2 * batch * states) * 4 }

    /// Runs the layer with packed weights.
    ///
    /// - Parameters:
    ///   - x: The inputs [steps, batch, inputs].
    ///   - weights: The weights of the inputs, [inputs, states].
    ///   - recurrent: The weights of the states, [states, states].
    ///   - bias: A number for each state; `nil` for 0.
    ///   - h: The initial state [batch, states].
    ///   - y: The states [steps, batch, states], or the last one [batch, states].
    ///   - last: The last state [batch, states].
    ///   - scratch: Memory of `scratchByteCount` bytes.
    package func run(
        _ x: UnsafePointer<Float>,
        by weights: PackedWeights,
        recurrent: PackedWeights,
        bias: UnsafePointer<Float>?,
        h: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        last: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>
    ) {
        MatMulKernel.multiply(x, rows: steps * batch, by: weights, into: scratch, epilogue: Epilogue(bias: bias))
        runSteps(h, into: y, last: last, sums: scratch) { state, next, epilogue in
            MatMulKernel.multiply(state, rows: batch, by: recurrent, into: next, epilogue: epilogue)
        }
    }

    /// Runs the layer with weights [states, inputs] and [states, states] that were not packed.
    package func run(
        _ x: UnsafePointer<Float>,
        by weights: UnsafePointer<Float>,
        recurrent: UnsafePointer<Float>,
        bias: UnsafePointer<Float>?,
        h: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        last: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>
    ) {
        MatMulKernel.multiply(
            x,
            MatMulKernel.RightHandSide(address: weights, termStride: 1, columnStride: inputs),
            into: scratch,
            rows: steps * batch,
            terms: inputs,
            columns: states,
            epilogue: Epilogue(bias: bias)
        )
        runSteps(h, into: y, last: last, sums: scratch) { state, next, epilogue in
            MatMulKernel.multiply(
                state,
                MatMulKernel.RightHandSide(address: recurrent, termStride: 1, columnStride: states),
                into: next,
                rows: batch,
                terms: states,
                columns: states,
                epilogue: epilogue
            )
        }
    }

    /// Processes the steps: `multiply` writes the next state from the sums over the inputs and the state.
    private func runSteps(
        _ h: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        last: UnsafeMutablePointer<Float>,
        sums: UnsafeMutablePointer<Float>,
        multiply: (_ state: UnsafePointer<Float>, _ next: UnsafeMutablePointer<Float>, Epilogue) -> Void
    ) {
        var state = h
        for index in 0..<steps {
            let time = isReverse ? steps - 1 - index : index
            let next = returnsSequence ? y + index * batch * states : sums + sumCount + index % 2 * batch * states
            multiply(state, next, Epilogue(residual: sums + time * batch * states, function: function))
            state = UnsafePointer(next)
        }
        last.update(from: state, count: batch * states)
        if !returnsSequence { y.update(from: state, count: batch * states) }
    }
}
