import CMLKernels

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

    /// Whether the backward pass can read what the layer recorded while it ran: the derivatives of its functions follow from
    /// their values, and each gate has weights of its own.
    package var followsFromRecord: Bool {
        !couplesInputAndForget
            && [gateActivation, cellActivation, activation].allSatisfy { $0.polynomialSlope != nil }
    }
}

/// What a layer records of each step and example for the backward pass: vectors of `states` elements.
package enum LSTMRecord {
    /// The number of vectors: input, forget and output gate, candidate, function of the cell state, cell state.
    package static let vectorCount = Int(CML_LSTM_RECORD)
}

/// The backward pass of one direction of an LSTM.
///
/// All values from the forward pass are in time order.
struct LSTMBackward<Scalar: BackwardScalar> {
    /// The number of examples that one worker takes through all steps.
    ///
    /// A constant, so that results do not depend on the number of threads.
    private static var groupRows: Int { 16 }

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

    private let gateGradients: UnsafeMutablePointer<Scalar>
    private let transposed: UnsafeMutablePointer<Scalar>
    private let hiddenBefore: UnsafeMutablePointer<Scalar>
    /// While the states are recomputed the current ones, then the gradients of the current ones.
    private let hidden: UnsafeMutablePointer<Scalar>
    private let cell: UnsafeMutablePointer<Scalar>
    /// What the layer recorded; `nil` when the states are recomputed.
    private let recorded: UnsafePointer<Scalar>?
    /// Memory for what it would have recorded, and for the gates' sums.
    private let recomputed: UnsafeMutablePointer<Scalar>
    private let sums: UnsafeMutablePointer<Scalar>

    static func scratchCount(_ x: [Int], states: Int, isRecorded: Bool) -> Int {
        let rows = x.prefix(2).reduce(1, *)
        let recomputed = isRecorded ? 0 : LSTMRecord.vectorCount + 4
        return rows * states * (2 * 4 + 1 + recomputed) + 2 * (x.count > 1 ? x[1] : 0) * states
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
        gateGradients = take(rows * 4 * states)
        transposed = take(rows * 4 * states)
        hiddenBefore = take(rows * states)
        hidden = take(batch * states)
        cell = take(batch * states)
        let recordCount = rows * LSTMRecord.vectorCount * states
        recorded = memory.record.map { $0 + (column > 0 ? recordCount : 0) }
        recomputed = take(recorded == nil ? recordCount : 0)
        sums = take(recorded == nil ? rows * 4 * states : 0)
    }

    func run() {
        guard length > 0, batch > 0, states > 0 else { return }
        if recorded == nil { forwards() }
        backwards()
        if memory.gradients[first + 1] != nil { findStatesBefore() }
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

    private var record: UnsafePointer<Scalar> { recorded ?? UnsafePointer(recomputed) }
    /// The elements of the record of one step and example.
    private var recordWidth: Int { LSTMRecord.vectorCount * states }

    private func timeIndex(_ index: Int) -> Int { isReverse ? length - 1 - index : index }

    private func forwards() {
        guard let recursion = memory.operands[first + 1], let h = memory.operands[1] else { return }
        let peephole = memory.operands[first + 3]
        memory.inputSums(into: sums, rows: length * batch, gates: 4 * states, weight: first, bias: first + 2)
        for item in 0..<batch {
            (hidden + item * states).update(from: h + item * width + column, count: states)
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
            Scalar.multiply(hidden, weights, into: sums + start * 4 * states, rows: batch, adds: true)
            let (before, stride) = cellBefore(index)
            for item in 0..<batch { step(start + item, item, before + item * stride, peephole) }
        }
    }

    private func step(
        _ row: Int,
        _ item: Int,
        _ before: UnsafePointer<Scalar>,
        _ peephole: UnsafePointer<Scalar>?
    ) {
        let sum = sums + row * 4 * states
        let gate = recomputed + row * recordWidth
        let (out, after) = (gate + 4 * states, gate + 5 * states)
        if let peephole {
            for unit in 0..<2 * states { sum[unit] += peephole[unit] * before[unit % states] }
        }
        // The output gate has to wait for the cell state that a peephole shows it.
        Scalar.apply(op.gateActivation, sum, into: gate, count: (peephole == nil ? 3 : 2) * states)
        if op.couplesInputAndForget {
            for unit in 0..<states { gate[states + unit] = 1 - gate[unit] }
        }
        Scalar.apply(op.cellActivation, sum + 3 * states, into: gate + 3 * states, count: states)
        let bound = op.clip.map { Scalar($0) } ?? .infinity
        for unit in 0..<states {
            let value = gate[states + unit] * before[unit] + gate[unit] * gate[3 * states + unit]
            after[unit] = min(max(value, -bound), bound)
        }
        if let peephole {
            for unit in 0..<states { sum[2 * states + unit] += peephole[2 * states + unit] * after[unit] }
            Scalar.apply(op.gateActivation, sum + 2 * states, into: gate + 2 * states, count: states)
        }
        Scalar.apply(op.activation, after, into: out, count: states)
        for unit in 0..<states { hidden[item * states + unit] = gate[2 * states + unit] * out[unit] }
    }

    /// The cell states before a step, and the distance from one example's to the next one's.
    private func cellBefore(_ index: Int) -> (states: UnsafePointer<Scalar>, stride: Int) {
        guard index > 0 else { return (memory.operand(2) + column, width) }
        return (record + timeIndex(index - 1) * batch * recordWidth + 5 * states, recordWidth)
    }

    /// The states before each step, products of output gates and functions of cell states.
    private func findStatesBefore() {
        for index in 0..<length {
            for item in 0..<batch {
                let target = hiddenBefore + (timeIndex(index) * batch + item) * states
                guard index > 0 else {
                    target.update(from: memory.operand(1) + item * width + column, count: states)
                    continue
                }
                let values = record + (timeIndex(index - 1) * batch + item) * recordWidth
                for unit in 0..<states { target[unit] = values[2 * states + unit] * values[4 * states + unit] }
            }
        }
    }

    private func backwards() {
        guard let recursion = memory.operands[first + 1] else { return }
        let weights = Scalar.factor(
            recursion,
            terms: 4 * states,
            columns: states,
            termStride: states,
            columnStride: 1
        )
        // All examples add to the gradient of the peepholes.
        let groupRows = memory.gradients[first + 3] == nil ? Self.groupRows : batch
        Workers.parallelFor((batch + groupRows - 1) / groupRows) { group, _ in
            backwards(group * groupRows..<min((group + 1) * groupRows, batch), weights)
        }
    }

    /// Takes some examples through all steps.
    private func backwards(_ items: Range<Int>, _ weights: Scalar.Factor) {
        for item in items {
            for unit in 0..<states {
                let position = item * width + column + unit
                var total = memory.resultGradients[1]?[position] ?? 0
                if !op.returnsSequence { total += memory.resultGradients[0]?[position] ?? 0 }
                hidden[item * states + unit] = total
                cell[item * states + unit] = memory.resultGradients[2]?[position] ?? 0
            }
        }
        for index in (0..<length).reversed() {
            if op.returnsSequence, let steps = memory.resultGradients[0] {
                let step = op.isBidirectional ? timeIndex(index) : index
                for item in items {
                    let source = steps + (step * batch + item) * width + column
                    for unit in 0..<states { hidden[item * states + unit] += source[unit] }
                }
            }
            let row = timeIndex(index) * batch + items.lowerBound
            let (before, stride) = cellBefore(index)
            Scalar.stepBack(
                LSTMStepBack(
                    op: op,
                    rows: items.count,
                    states: states,
                    record: record + row * recordWidth,
                    sums: recorded == nil ? UnsafePointer(sums + row * 4 * states) : nil,
                    cellBefore: before + items.lowerBound * stride,
                    cellStride: stride,
                    peephole: memory.operands[first + 3],
                    hidden: hidden + items.lowerBound * states,
                    cell: cell + items.lowerBound * states,
                    gateGradients: gateGradients + row * 4 * states,
                    peepholeGradient: memory.gradients[first + 3]
                )
            )
            Scalar.multiply(
                gateGradients + row * 4 * states,
                weights,
                into: hidden + items.lowerBound * states,
                rows: items.count,
                adds: false
            )
        }
        for item in items {
            for unit in 0..<states {
                let position = item * width + column + unit
                memory.gradients[1]?[position] = hidden[item * states + unit]
                memory.gradients[2]?[position] = cell[item * states + unit]
            }
        }
    }
}
