/// The attributes of an LSTM that its backward pass depends on.
package struct LSTMAttributes: Sendable {
    let isReverse: Bool
    let isBidirectional: Bool
    let returnsSequence: Bool
    let gateActivation: GateFunction
    let cellActivation: GateFunction
    let activation: GateFunction
    let clip: Double?
    let couplesInputAndForget: Bool

    /// An LSTM.
    ///
    /// - Parameters:
    ///   - isReverse: Whether the last step is processed first.
    ///   - isBidirectional: Whether there are two directions, the reverse one behind the other in rows of states.
    ///   - returnsSequence: Whether result 0 has the states of every step.
    ///   - gateActivation: The function of the input, forget and output gates.
    ///   - cellActivation: The function of the cell gate.
    ///   - activation: The function of the cell state in the output.
    ///   - clip: The bound of the cell state; `nil` for none.
    ///   - couplesInputAndForget: Whether the forget gate is 1 − the input gate.
    package init(
        isReverse: Bool,
        isBidirectional: Bool,
        returnsSequence: Bool,
        gateActivation: GateFunction,
        cellActivation: GateFunction,
        activation: GateFunction,
        clip: Double?,
        couplesInputAndForget: Bool
    ) {
        self.isReverse = isReverse
        self.isBidirectional = isBidirectional
        self.returnsSequence = returnsSequence
        self.gateActivation = gateActivation
        self.cellActivation = cellActivation
        self.activation = activation
        self.clip = clip
        self.couplesInputAndForget = couplesInputAndForget
    }
}

/// The backward pass of one direction of an LSTM.
///
/// All values from the forward pass are in time order.
struct LSTMBackward<Scalar: BackwardScalar> {
    private let op: LSTMAttributes
    private let memory: BackwardRun<Scalar>
    /// The index of the input weight among the operands; state weight, bias and peephole follow.
    private let first: Int
    /// The first column of this direction's states in a row of states.
    private let column: Int
    private let isReverse: Bool
    private let length: Int
    private let batch: Int
    private let states: Int
    private let width: Int

    private let sums: UnsafeMutablePointer<Scalar>
    private let gates: UnsafeMutablePointer<Scalar>
    private let gateGradients: UnsafeMutablePointer<Scalar>
    private let transposed: UnsafeMutablePointer<Scalar>
    private let hiddenBefore: UnsafeMutablePointer<Scalar>
    private let cellBefore: UnsafeMutablePointer<Scalar>
    private let cellAfter: UnsafeMutablePointer<Scalar>
    private let cellOut: UnsafeMutablePointer<Scalar>
    private let isClipped: UnsafeMutablePointer<Scalar>
    private let hidden: UnsafeMutablePointer<Scalar>
    private let cell: UnsafeMutablePointer<Scalar>
    private let slopes: UnsafeMutablePointer<Scalar>

    static func scratchCount(_ x: [Int], states: Int) -> Int {
        let rows = x.prefix(2).reduce(1, *)
        return rows * states * (4 * 4 + 5) + 2 * (x.count > 1 ? x[1] : 0) * states + states
    }

    init(_ op: LSTMAttributes, _ memory: BackwardRun<Scalar>, first: Int, column: Int, isReverse: Bool) {
        self.op = op
        self.memory = memory
        self.first = first
        self.column = column
        self.isReverse = isReverse
        let x = memory.shape(0)
        (length, batch) = (x[0], x[1])
        states = memory.shape(4)[1]
        width = op.isBidirectional ? 2 * states : states
        var next = memory.scratch
        func take(_ count: Int) -> UnsafeMutablePointer<Scalar> {
            defer { next += count }
            return next
        }
        let rows = length * batch
        sums = take(rows * 4 * states)
        gates = take(rows * 4 * states)
        gateGradients = take(rows * 4 * states)
        transposed = take(rows * 4 * states)
        hiddenBefore = take(rows * states)
        cellBefore = take(rows * states)
        cellAfter = take(rows * states)
        cellOut = take(rows * states)
        isClipped = take(rows * states)
        hidden = take(batch * states)
        cell = take(batch * states)
        slopes = take(states)
    }

    func run() {
        guard length > 0, batch > 0, states > 0 else { return }
        forwards()
        backwards()
        memory.addWeights(
            sums: gateGradients,
            transposed: transposed,
            hidden: hiddenBefore,
            rows: length * batch,
            gates: 4 * states,
            weight: first,
            stateWeight: first + 1,
            bias: first + 2
        )
    }

    private func timeIndex(_ index: Int) -> Int { isReverse ? length - 1 - index : index }

    private func forwards() {
        guard let recursion = memory.operands[first + 1], let h = memory.operands[1], let c = memory.operands[2] else {
            return
        }
        let peephole = memory.operands[first + 3]
        memory.inputSums(into: sums, rows: length * batch, gates: 4 * states, weight: first, bias: first + 2)
        for item in 0..<batch {
            (hidden + item * states).update(from: h + item * width + column, count: states)
            (cell + item * states).update(from: c + item * width + column, count: states)
        }
        let weights = Scalar.factor(
            recursion,
            terms: states,
            columns: 4 * states,
            termStride: 1,
            columnStride: states
        )
        for index in 0..<length {
            let start = timeIndex(index) * batch
            (hiddenBefore + start * states).update(from: hidden, count: batch * states)
            (cellBefore + start * states).update(from: cell, count: batch * states)
            Scalar.multiply(hidden, weights, into: sums + start * 4 * states, rows: batch, adds: true)
            for item in 0..<batch { step(start + item, item, peephole) }
        }
    }

    private func step(_ row: Int, _ item: Int, _ peephole: UnsafePointer<Scalar>?) {
        let sum = sums + row * 4 * states
        let gate = gates + row * 4 * states
        let before = cellBefore + row * states
        let after = cellAfter + row * states
        if let peephole {
            for unit in 0..<2 * states { sum[unit] += peephole[unit] * before[unit % states] }
        }
        // The output gate has to wait for the cell state that a peephole shows it.
        Scalar.apply(op.gateActivation, sum, into: gate, count: (peephole == nil ? 3 : 2) * states)
        if op.couplesInputAndForget {
            for unit in 0..<states { gate[states + unit] = 1 - gate[unit] }
        }
        Scalar.apply(op.cellActivation, sum + 3 * states, into: gate + 3 * states, count: states)
        let bound = op.clip.map { Scalar($0) }
        for unit in 0..<states {
            var value = gate[states + unit] * before[unit] + gate[unit] * gate[3 * states + unit]
            var clipped: Scalar = 0
            if let bound, value > bound || value < -bound {
                value = min(max(value, -bound), bound)
                clipped = 1
            }
            isClipped[row * states + unit] = clipped
            after[unit] = value
        }
        if let peephole {
            for unit in 0..<states { sum[2 * states + unit] += peephole[2 * states + unit] * after[unit] }
            Scalar.apply(op.gateActivation, sum + 2 * states, into: gate + 2 * states, count: states)
        }
        Scalar.apply(op.activation, after, into: cellOut + row * states, count: states)
        for unit in 0..<states {
            hidden[item * states + unit] = gate[2 * states + unit] * cellOut[row * states + unit]
            cell[item * states + unit] = after[unit]
        }
    }

    private func backwards() {
        guard let recursion = memory.operands[first + 1] else { return }
        let peephole = memory.operands[first + 3]
        // From here on the current states' buffers hold their gradients.
        for item in 0..<batch {
            for unit in 0..<states {
                let position = item * width + column + unit
                var total = memory.resultGradients[1]?[position] ?? 0
                if !op.returnsSequence { total += memory.resultGradients[0]?[position] ?? 0 }
                hidden[item * states + unit] = total
                cell[item * states + unit] = memory.resultGradients[2]?[position] ?? 0
            }
        }
        let weights = Scalar.factor(
            recursion,
            terms: 4 * states,
            columns: states,
            termStride: states,
            columnStride: 1
        )
        for index in (0..<length).reversed() {
            let start = timeIndex(index) * batch
            if op.returnsSequence, let steps = memory.resultGradients[0] {
                let step = op.isBidirectional ? timeIndex(index) : index
                for item in 0..<batch {
                    let source = steps + (step * batch + item) * width + column
                    for unit in 0..<states { hidden[item * states + unit] += source[unit] }
                }
            }
            for item in 0..<batch { stepBack(start + item, item, peephole) }
            Scalar.multiply(gateGradients + start * 4 * states, weights, into: hidden, rows: batch, adds: false)
        }
        for item in 0..<batch {
            for unit in 0..<states {
                let position = item * width + column + unit
                memory.gradients[1]?[position] = hidden[item * states + unit]
                memory.gradients[2]?[position] = cell[item * states + unit]
            }
        }
    }

    /// The gradients of a step's sums and of the cell state before it, from those of the states after it.
    ///
    /// Loops do one thing each, so that the compiler vectorises them.
    private func stepBack(_ row: Int, _ item: Int, _ peephole: UnsafePointer<Scalar>?) {
        let (sum, gate, target) = (sums + row * 4 * states, gates + row * 4 * states, gateGradients + row * 4 * states)
        let (before, after) = (cellBefore + row * states, cellAfter + row * states)
        let (out, dh, dc) = (cellOut + row * states, hidden + item * states, cell + item * states)
        let (i, f, o, z) = (0, states, 2 * states, 3 * states)
        // The derivatives of the gates' functions take the place of their arguments.
        op.gateActivation.derivatives(sum, gate, into: sum, count: 3 * states)
        op.cellActivation.derivatives(sum + z, gate + z, into: sum + z, count: states)
        op.activation.derivatives(after, out, into: slopes, count: states)
        for unit in 0..<states { target[o + unit] = dh[unit] * out[unit] * sum[o + unit] }
        for unit in 0..<states { dc[unit] += dh[unit] * gate[o + unit] * slopes[unit] }
        if let peephole {
            for unit in 0..<states { dc[unit] += target[o + unit] * peephole[o + unit] }
        }
        if op.clip != nil {
            for unit in 0..<states where isClipped[row * states + unit] != 0 { dc[unit] = 0 }
        }
        for unit in 0..<states { target[z + unit] = dc[unit] * gate[i + unit] * sum[z + unit] }
        if op.couplesInputAndForget {
            for unit in 0..<states {
                target[i + unit] = dc[unit] * (gate[z + unit] - before[unit]) * sum[i + unit]
                target[f + unit] = 0
            }
        } else {
            for unit in 0..<states { target[i + unit] = dc[unit] * gate[z + unit] * sum[i + unit] }
            for unit in 0..<states { target[f + unit] = dc[unit] * before[unit] * sum[f + unit] }
        }
        for unit in 0..<states { dc[unit] *= gate[f + unit] }
        if let peephole {
            for unit in 0..<states {
                dc[unit] += target[i + unit] * peephole[i + unit] + target[f + unit] * peephole[f + unit]
            }
        }
        if let dp = memory.gradients[first + 3] {
            for unit in 0..<states {
                dp[i + unit] += target[i + unit] * before[unit]
                dp[f + unit] += target[f + unit] * before[unit]
                dp[o + unit] += target[o + unit] * after[unit]
            }
        }
    }
}
