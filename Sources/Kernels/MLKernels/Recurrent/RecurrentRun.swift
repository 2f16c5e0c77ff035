/// The memory of a recurrent operator while it runs: initial and final states are [batch, directions · states].
package struct RecurrentRun: Sendable {
    private let steps: Int
    private let batch: Int
    private let states: Int
    private let directions: Int
    private let isReverse: Bool
    private let returnsSequence: Bool

    /// A run of one layer.
    ///
    /// - Parameters:
    ///   - steps: The number of steps.
    ///   - batch: The number of sequences.
    ///   - states: The number of elements of a direction's state.
    ///   - directions: The number of directions; the second one is reverse.
    ///   - isReverse: Whether a single direction processes the last step first.
    ///   - returnsSequence: Whether every state is a result, or the last one only.
    package init(steps: Int, batch: Int, states: Int, directions: Int, isReverse: Bool, returnsSequence: Bool) {
        self.steps = steps
        self.batch = batch
        self.states = states
        self.directions = directions
        self.isReverse = isReverse
        self.returnsSequence = returnsSequence
    }

    private var stateCount: Int { (batch * states + 15) / 16 * 16 }
    /// The size of the scratch memory that `run` needs.
    package var scratchByteCount: Int { 2 * directions * stateCount * 4 }

    /// Runs the layer.
    ///
    /// - Parameters:
    ///   - weights: The weights of each direction.
    ///   - x: The inputs [steps, batch, inputs].
    ///   - initialH: The initial state.
    ///   - initialC: The initial cell state of an LSTM, `nil` for other cells.
    ///   - y: The states [steps, batch, directions · states], those of a single reverse direction in the order of
    ///     processing; or the last state.
    ///   - lastH: The last state.
    ///   - lastC: The last cell state of an LSTM, `nil` for other cells.
    ///   - record: Memory for what the backward pass of an LSTM reads, [directions, steps, batch,
    ///     `LSTMRecord.vectorCount`, states]; `nil` when there is none.
    ///   - scratch: Memory of `scratchByteCount` bytes.
    ///   - configure: Sets the functions of a direction.
    package func run(
        _ weights: [RecurrentWeights],
        x: UnsafePointer<Float>,
        h initialH: UnsafePointer<Float>,
        c initialC: UnsafePointer<Float>?,
        into y: UnsafeMutablePointer<Float>,
        lastH: UnsafeMutablePointer<Float>,
        lastC: UnsafeMutablePointer<Float>?,
        record: UnsafeMutablePointer<Float>? = nil,
        scratch: UnsafeMutablePointer<Float>,
        _ configure: (inout RecurrentKernel.Layer) -> Void
    ) {
        let width = directions * states
        var layers: [RecurrentKernel.Layer] = []
        for direction in 0..<directions {
            let h = scratch + 2 * direction * stateCount
            let c = h + stateCount
            for item in 0..<batch {
                let position = item * width + direction * states
                (h + item * states).update(from: initialH + position, count: states)
                if let initialC { (c + item * states).update(from: initialC + position, count: states) }
            }
            var layer = RecurrentKernel.Layer(
                weights[direction],
                steps: steps,
                batch: batch,
                x: x,
                h: h,
                c: initialC == nil ? nil : c,
                y: returnsSequence ? y + direction * states : nil,
                yStride: width
            )
            layer.isReverse = isReverse || direction == 1
            layer.record = record.map { $0 + direction * steps * batch * LSTMRecord.vectorCount * states }
            configure(&layer)
            layers.append(layer)
        }
        RecurrentKernel.run(layers)
        if isReverse, returnsSequence { reverseSteps(y) }
        for direction in 0..<directions {
            let h = scratch + 2 * direction * stateCount
            for item in 0..<batch {
                let position = item * width + direction * states
                if !returnsSequence { (y + position).update(from: h + item * states, count: states) }
                (lastH + position).update(from: h + item * states, count: states)
                if let lastC { (lastC + position).update(from: h + stateCount + item * states, count: states) }
            }
        }
    }

    /// Steps of the direction `reverse` are returned in processing order; the kernel writes them in time order.
    private func reverseSteps(_ rows: UnsafeMutablePointer<Float>) {
        let count = batch * states
        for (early, late) in zip(0..<steps / 2, (0..<steps).reversed()) {
            for index in 0..<count {
                let kept = rows[early * count + index]
                rows[early * count + index] = rows[late * count + index]
                rows[late * count + index] = kept
            }
        }
    }
}
