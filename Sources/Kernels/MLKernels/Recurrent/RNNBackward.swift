/// The attributes of a plain recurrent network that its backward pass depends on.
package struct RNNAttributes: Sendable {
    let isReverse: Bool
    let returnsSequence: Bool
    let activation: GateFunction

    /// A plain recurrent network.
    ///
    /// - Parameters:
    ///   - isReverse: Whether the last step is processed first.
    ///   - returnsSequence: Whether result 0 has the states of every step.
    ///   - activation: The function of the sums.
    package init(isReverse: Bool, returnsSequence: Bool, activation: GateFunction) {
        self.isReverse = isReverse
        self.returnsSequence = returnsSequence
        self.activation = activation
    }
}

/// The backward pass of a plain recurrent network.
///
/// All values from the forward pass are in time order.
struct RNNBackward<Scalar: BackwardScalar> {
    private let op: RNNAttributes
    private let memory: BackwardRun<Scalar>

    static func scratchCount(_ x: [Int], states: Int) -> Int {
        (5 * x.prefix(2).reduce(1, *) + (x.count > 1 ? x[1] : 0)) * states
    }

    init(_ op: RNNAttributes, _ memory: BackwardRun<Scalar>) {
        self.op = op
        self.memory = memory
    }

    func run() {
        let (length, batch) = (memory.shape(0)[0], memory.shape(0)[1])
        let states = memory.shape(3)[1]
        let rows = length * batch
        guard rows * states > 0, let recursion = memory.operands[3], let h = memory.operands[1] else { return }
        let sums = memory.scratch
        let values = sums + rows * states
        let before = values + rows * states
        let gateGradients = before + rows * states
        let transposed = gateGradients + rows * states
        let hidden = transposed + rows * states
        func timeIndex(_ index: Int) -> Int { op.isReverse ? length - 1 - index : index }
        memory.inputSums(into: sums, rows: rows, gates: states, weight: 2, bias: 4)
        hidden.update(from: h, count: batch * states)
        let forwards = Scalar.factor(
            recursion,
            terms: states,
            columns: states,
            termStride: 1,
            columnStride: states
        )
        for index in 0..<length {
            let start = timeIndex(index) * batch * states
            (before + start).update(from: hidden, count: batch * states)
            Scalar.multiply(hidden, forwards, into: sums + start, rows: batch, adds: true)
            Scalar.apply(op.activation, sums + start, into: values + start, count: batch * states)
            hidden.update(from: values + start, count: batch * states)
        }
        // From here on the current state's buffer holds its gradient.
        for position in 0..<batch * states {
            var total = memory.resultGradients[1]?[position] ?? 0
            if !op.returnsSequence { total += memory.resultGradients[0]?[position] ?? 0 }
            hidden[position] = total
        }
        let backwards = Scalar.factor(
            recursion,
            terms: states,
            columns: states,
            termStride: states,
            columnStride: 1
        )
        for index in (0..<length).reversed() {
            let start = timeIndex(index) * batch * states
            for position in 0..<batch * states {
                if op.returnsSequence, let steps = memory.resultGradients[0] {
                    hidden[position] += steps[index * batch * states + position]
                }
                let slope = op.activation.derivative(sums[start + position], values[start + position])
                gateGradients[start + position] = hidden[position] * slope
            }
            Scalar.multiply(gateGradients + start, backwards, into: hidden, rows: batch, adds: false)
        }
        memory.gradients[1]?.update(from: hidden, count: batch * states)
        memory.addWeights(
            sums: gateGradients,
            transposed: transposed,
            hidden: before,
            rows: rows,
            gates: states,
            weight: 2,
            stateWeight: 3,
            bias: 4
        )
    }
}
