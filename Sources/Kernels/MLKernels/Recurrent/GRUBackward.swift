/// The attributes of a GRU that its backward pass depends on.
package struct GRUAttributes: Sendable {
    let isReverse: Bool
    let returnsSequence: Bool
    let gateActivation: GateFunction
    let activation: GateFunction
    let resetsAfter: Bool

    /// A GRU.
    ///
    /// - Parameters:
    ///   - isReverse: Whether the last step is processed first.
    ///   - returnsSequence: Whether result 0 has the states of every step.
    ///   - gateActivation: The function of the update and reset gates.
    ///   - activation: The function of the output gate.
    ///   - resetsAfter: Whether the reset gate multiplies the product of state weights and state.
    package init(
        isReverse: Bool,
        returnsSequence: Bool,
        gateActivation: GateFunction,
        activation: GateFunction,
        resetsAfter: Bool
    ) {
        self.isReverse = isReverse
        self.returnsSequence = returnsSequence
        self.gateActivation = gateActivation
        self.activation = activation
        self.resetsAfter = resetsAfter
    }
}

/// The backward pass of a GRU.
///
/// All values from the forward pass are in time order; gates have the order r, o, z.
struct GRUBackward<Scalar: BackwardScalar> {
    private let op: GRUAttributes
    private let memory: BackwardRun<Scalar>
    private let length: Int
    private let batch: Int
    private let states: Int

    /// The arguments of the gates' functions, their values, and the gradients of the arguments.
    private let sums: UnsafeMutablePointer<Scalar>
    private let gates: UnsafeMutablePointer<Scalar>
    private let gateGradients: UnsafeMutablePointer<Scalar>
    private let transposed: UnsafeMutablePointer<Scalar>
    /// R h of the gates, [batch, 3H], of one step.
    private let recurrent: UnsafeMutablePointer<Scalar>
    private let hiddenBefore: UnsafeMutablePointer<Scalar>
    /// r · h, or R_o h + b_o when the reset is applied after.
    private let inner: UnsafeMutablePointer<Scalar>
    private let hidden: UnsafeMutablePointer<Scalar>
    private let spare: UnsafeMutablePointer<Scalar>

    static func scratchCount(_ x: [Int], states: Int) -> Int {
        let rows = x.prefix(2).reduce(1, *)
        return rows * states * (4 * 3 + 2) + 5 * (x.count > 1 ? x[1] : 0) * states
    }

    init(_ op: GRUAttributes, _ memory: BackwardRun<Scalar>) {
        self.op = op
        self.memory = memory
        let x = memory.shape(0)
        (length, batch) = (x[0], x[1])
        states = memory.shape(3)[1]
        var next = memory.scratch
        func take(_ count: Int) -> UnsafeMutablePointer<Scalar> {
            defer { next += count }
            return next
        }
        let rows = length * batch
        sums = take(rows * 3 * states)
        gates = take(rows * 3 * states)
        gateGradients = take(rows * 3 * states)
        transposed = take(rows * 3 * states)
        hiddenBefore = take(rows * states)
        inner = take(rows * states)
        recurrent = take(batch * 3 * states)
        hidden = take(batch * states)
        spare = take(batch * states)
    }

    private func timeIndex(_ index: Int) -> Int { op.isReverse ? length - 1 - index : index }

    func run() {
        guard length * batch * states > 0, let recursion = memory.operands[3], let h = memory.operands[1] else {
            return
        }
        memory.inputSums(into: sums, rows: length * batch, gates: 3 * states, weight: 2, bias: 5)
        hidden.update(from: h, count: batch * states)
        let all = factor(recursion, gate: 0, count: 3, isTransposed: true)
        let output = op.resetsAfter ? nil : factor(recursion, gate: 1, count: 1, isTransposed: true)
        for index in 0..<length { forwards(timeIndex(index) * batch, all, output) }
        // From here on the current state's buffer holds its gradient.
        for position in 0..<batch * states {
            var total = memory.resultGradients[1]?[position] ?? 0
            if !op.returnsSequence { total += memory.resultGradients[0]?[position] ?? 0 }
            hidden[position] = total
        }
        let allBack = factor(recursion, gate: 0, count: 3, isTransposed: false)
        let outputBack = op.resetsAfter ? nil : factor(recursion, gate: 1, count: 1, isTransposed: false)
        for index in (0..<length).reversed() {
            if op.returnsSequence, let steps = memory.resultGradients[0] {
                for position in 0..<batch * states { hidden[position] += steps[index * batch * states + position] }
            }
            backwards(timeIndex(index) * batch, allBack, outputBack)
        }
        memory.gradients[1]?.update(from: hidden, count: batch * states)
        // Input weights and input bias use the gradients unchanged.
        memory.addWeights(
            sums: gateGradients,
            transposed: transposed,
            hidden: nil,
            rows: length * batch,
            gates: 3 * states,
            weight: 2,
            stateWeight: 3,
            bias: 5
        )
        addRecurrentWeights()
    }

    /// The state weights of `count` gates from `gate` on, [count · states, states], or transposed.
    private func factor(
        _ recursion: UnsafePointer<Scalar>,
        gate: Int,
        count: Int,
        isTransposed: Bool
    ) -> Scalar.Factor {
        Scalar.factor(
            recursion + gate * states * states,
            terms: isTransposed ? states : count * states,
            columns: isTransposed ? count * states : states,
            termStride: isTransposed ? 1 : states,
            columnStride: isTransposed ? states : 1
        )
    }

    /// A step, with the transposed state weights of all gates, and of the output when the reset is applied before.
    private func forwards(_ start: Int, _ all: Scalar.Factor, _ output: Scalar.Factor?) {
        let bias = memory.operands[4]
        (hiddenBefore + start * states).update(from: hidden, count: batch * states)
        Scalar.multiply(hidden, all, into: recurrent, rows: batch, adds: false)
        for item in 0..<batch {
            let sum = sums + (start + item) * 3 * states
            let gate = gates + (start + item) * 3 * states
            let before = hiddenBefore + (start + item) * states
            let own = inner + (start + item) * states
            let state = recurrent + item * 3 * states
            for unit in 0..<states {
                sum[unit] += state[unit] + (bias?[unit] ?? 0)
                sum[2 * states + unit] += state[2 * states + unit] + (bias?[2 * states + unit] ?? 0)
            }
            Scalar.apply(op.gateActivation, sum, into: gate, count: states)
            Scalar.apply(op.gateActivation, sum + 2 * states, into: gate + 2 * states, count: states)
            for unit in 0..<states {
                own[unit] =
                    op.resetsAfter
                    ? state[states + unit] + (bias?[states + unit] ?? 0) : gate[unit] * before[unit]
            }
        }
        if let output { Scalar.multiply(inner + start * states, output, into: spare, rows: batch, adds: false) }
        for item in 0..<batch {
            let sum = sums + (start + item) * 3 * states + states
            let gate = gates + (start + item) * 3 * states
            for unit in 0..<states {
                sum[unit] +=
                    op.resetsAfter
                    ? gate[unit] * inner[(start + item) * states + unit]
                    : spare[item * states + unit] + (bias?[states + unit] ?? 0)
            }
            Scalar.apply(op.activation, sum, into: gate + states, count: states)
            for unit in 0..<states {
                let z = gate[2 * states + unit]
                let before = hiddenBefore[(start + item) * states + unit]
                hidden[item * states + unit] = (1 - z) * gate[states + unit] + z * before
            }
        }
    }

    private func backwards(_ start: Int, _ all: Scalar.Factor, _ output: Scalar.Factor?) {
        // The gradient of R_o h + b_o when the reset is applied after, otherwise of R_o (r · h).
        for item in 0..<batch {
            let row = start + item
            let (sum, gate, target) = (
                sums + row * 3 * states, gates + row * 3 * states, gateGradients + row * 3 * states
            )
            for unit in 0..<states {
                let dh = hidden[item * states + unit]
                let (o, z) = (gate[states + unit], gate[2 * states + unit])
                let before = hiddenBefore[row * states + unit]
                target[states + unit] = dh * (1 - z) * op.activation.derivative(sum[states + unit], o)
                target[2 * states + unit] =
                    dh * (before - o) * op.gateActivation.derivative(sum[2 * states + unit], z)
                // The part that bypasses through the update gate.
                hidden[item * states + unit] = dh * z
                if op.resetsAfter {
                    let dr = target[states + unit] * inner[row * states + unit]
                    target[unit] = dr * op.gateActivation.derivative(sum[unit], gate[unit])
                }
            }
        }
        if let output {
            let outputs = recurrent
            for item in 0..<batch {
                for unit in 0..<states {
                    outputs[item * states + unit] = gateGradients[(start + item) * 3 * states + states + unit]
                }
            }
            Scalar.multiply(outputs, output, into: spare, rows: batch, adds: false)
            for item in 0..<batch {
                let row = start + item
                for unit in 0..<states {
                    let reset = gates[row * 3 * states + unit]
                    let dk = spare[item * states + unit]
                    gateGradients[row * 3 * states + unit] =
                        dk * hiddenBefore[row * states + unit]
                        * op.gateActivation.derivative(sums[row * 3 * states + unit], reset)
                    hidden[item * states + unit] += dk * reset
                }
            }
        }
        // Through the state weights of the gates that use h directly.
        for item in 0..<batch {
            let row = start + item
            for unit in 0..<states {
                let target = recurrent + item * 3 * states
                target[unit] = gateGradients[row * 3 * states + unit]
                target[2 * states + unit] = gateGradients[row * 3 * states + 2 * states + unit]
                target[states + unit] =
                    op.resetsAfter
                    ? gateGradients[row * 3 * states + states + unit] * gates[row * 3 * states + unit] : 0
            }
        }
        Scalar.multiply(recurrent, all, into: hidden, rows: batch, adds: true)
    }

    /// The gradients of state weights and bias.
    private func addRecurrentWeights() {
        guard memory.gradients[3] != nil || memory.gradients[4] != nil else { return }
        let rows = length * batch
        // `transposed` becomes the gradient of R h, transposed: for the output gate times the reset when that is
        // applied after.
        for row in 0..<rows {
            for gate in 0..<3 * states {
                var value = gateGradients[row * 3 * states + gate]
                if op.resetsAfter, gate / states == 1 { value *= gates[row * 3 * states + gate - states] }
                transposed[gate * rows + row] = value
            }
        }
        if let db = memory.gradients[4] {
            for gate in 0..<3 * states {
                var total: Scalar = 0
                for row in 0..<rows { total += transposed[gate * rows + row] }
                db[gate] += total
            }
        }
        guard let dr = memory.gradients[3] else { return }
        for gate in 0..<3 {
            let visited = gate == 1 && !op.resetsAfter ? inner : hiddenBefore
            Scalar.multiply(
                transposed + gate * states * rows,
                visited,
                termStride: states,
                columnStride: 1,
                into: dr + gate * states * states,
                rows: states,
                terms: rows,
                columns: states,
                adds: true
            )
        }
    }
}
