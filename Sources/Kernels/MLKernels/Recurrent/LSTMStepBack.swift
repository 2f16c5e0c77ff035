import CMLKernels

/// One step of an LSTM's backward pass, for some examples.
struct LSTMStepBack<Scalar: BackwardScalar> {
    let op: LSTMAttributes
    /// The number of examples.
    let rows: Int
    let states: Int
    /// The values of this step, [rows, `LSTMRecord.vectorCount`, states].
    let record: UnsafePointer<Scalar>
    /// The sums of the gates [rows, 4, states]; `nil` only when the derivatives follow from the values.
    let sums: UnsafePointer<Scalar>?
    /// The cell states before the step, rows of `cellStride` elements.
    let cellBefore: UnsafePointer<Scalar>
    let cellStride: Int
    /// The peepholes, [3, states].
    let peephole: UnsafePointer<Scalar>?
    /// The gradient of the states after the step, [rows, states].
    let hidden: UnsafePointer<Scalar>
    /// The gradient of the cell states after the step, replaced by that of those before it.
    let cell: UnsafeMutablePointer<Scalar>
    /// The gradients of the gates' sums, [rows, 4, states], which are overwritten.
    let gateGradients: UnsafeMutablePointer<Scalar>
    /// The gradient of the peepholes, [3, states], which is added to.
    let peepholeGradient: UnsafeMutablePointer<Scalar>?

    /// Any form of an LSTM by plain loops.
    func run() {
        for row in 0..<rows {
            for unit in 0..<states { run(row, unit) }
        }
    }

    private func run(_ row: Int, _ unit: Int) {
        let (i, f, o, z) = (unit, states + unit, 2 * states + unit, 3 * states + unit)
        let value = record + row * LSTMRecord.vectorCount * states
        let (out, after) = (value[4 * states + unit], value[5 * states + unit])
        let before = cellBefore[row * cellStride + unit]
        let target = gateGradients + row * 4 * states
        let flow = hidden[row * states + unit]
        func slope(_ function: GateFunction, _ gate: Int) -> Scalar {
            function.derivative(sums?[row * 4 * states + gate] ?? .nan, value[gate])
        }
        target[o] = flow * out * slope(op.gateActivation, o)
        var total = cell[row * states + unit] + flow * value[o] * op.activation.derivative(after, out)
        if let peephole { total += target[o] * peephole[o] }
        if let bound = op.clip, after.magnitude >= Scalar(bound) { total = 0 }
        target[z] = total * value[i] * slope(op.cellActivation, z)
        if op.couplesInputAndForget {
            target[i] = total * (value[z] - before) * slope(op.gateActivation, i)
            target[f] = 0
        } else {
            target[i] = total * value[z] * slope(op.gateActivation, i)
            target[f] = total * before * slope(op.gateActivation, f)
        }
        total *= value[f]
        if let peephole { total += target[i] * peephole[i] + target[f] * peephole[f] }
        cell[row * states + unit] = total
        guard let peepholeGradient else { return }
        peepholeGradient[i] += target[i] * before
        peepholeGradient[f] += target[f] * before
        peepholeGradient[o] += target[o] * after
    }
}

extension LSTMStepBack<Float> {
    /// The same by vectors, when the derivatives follow from the values.
    func runByVectors() {
        guard !op.couplesInputAndForget, let gate = op.gateActivation.polynomialSlope,
            let candidate = op.cellActivation.polynomialSlope, let output = op.activation.polynomialSlope
        else { return run() }
        var step = cml_lstm_step()
        step.rows = rows
        step.hidden = states
        step.gate = cml_slope(c: gate)
        step.cell = cml_slope(c: candidate)
        step.output = cml_slope(c: output)
        if let peephole { step.peephole = (peephole, peephole + states, peephole + 2 * states) }
        step.cell_clip = op.clip.map { Float($0) } ?? 0
        step.record = record
        step.c_before = cellBefore
        step.c_stride = cellStride
        step.dh = hidden
        step.dc = cell
        step.sums = gateGradients
        step.peephole_gradient = peepholeGradient
        cml_lstm_back(cml_isa_current(), &step)
    }
}
