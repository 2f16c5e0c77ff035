/// The backward pass of a recurrent layer: the steps are processed from the last to the first, with the states that the
/// layer recorded (an LSTM) or that are recomputed.
package enum RecurrentBackward: Sendable {
    /// Operands: x [steps, batch, inputs], h, c, then input weight, state weight, bias and peephole of each direction.
    case lstm(LSTMAttributes)
    /// Operands: x, h, input weight, state weight, state bias, input bias.
    case gru(GRUAttributes)
    /// Operands: x, h, input weight, state weight, bias.
    case rnn(RNNAttributes)

    /// The number of elements of scratch memory that a pass needs for operands of these shapes.
    ///
    /// - Parameters:
    ///   - shapes: The shapes of the operands; `nil` for those that are absent.
    ///   - isRecorded: Whether the layer recorded its states.
    /// - Returns: The number of elements.
    package func scratchCount(_ shapes: [[Int]?], isRecorded: Bool) -> Int {
        let x = shapes[0] ?? []
        switch self {
        case .lstm:
            return LSTMBackward<Float>.scratchCount(x, states: shapes[4]?[1] ?? 0, isRecorded: isRecorded)
        case .gru: return GRUBackward<Float>.scratchCount(x, states: shapes[3]?[1] ?? 0)
        case .rnn: return RNNBackward<Float>.scratchCount(x, states: shapes[3]?[1] ?? 0)
        }
    }

    /// Writes gradients of operands, in single precision.
    ///
    /// - Parameters:
    ///   - shapes: The shapes of the operands; `nil` for those that are absent.
    ///   - operands: The operands.
    ///   - resultGradients: The gradients of the results, absent where the loss does not depend on them.
    ///   - gradients: The gradients of the operands, which are overwritten; `nil` for those that nobody needs.
    ///   - record: What an LSTM recorded, [directions, steps, batch, `LSTMRecord.vectorCount`, states]; `nil` when the
    ///     states are to be recomputed.
    ///   - scratch: Memory for `scratchCount` elements.
    package func run(
        shapes: [[Int]?],
        operands: [UnsafePointer<Float>?],
        resultGradients: [UnsafePointer<Float>?],
        gradients: [UnsafeMutablePointer<Float>?],
        record: UnsafePointer<Float>?,
        scratch: UnsafeMutablePointer<Float>
    ) {
        for (shape, gradient) in zip(shapes, gradients) {
            gradient?.update(repeating: 0, count: shape?.reduce(1, *) ?? 0)
        }
        run(
            BackwardRun(
                shapes: shapes,
                operands: operands,
                resultGradients: resultGradients,
                gradients: gradients,
                record: record,
                scratch: scratch
            )
        )
    }

    /// The gradient of every given operand, in double precision by plain loops.
    ///
    /// - Parameters:
    ///   - shapes: The shapes of the operands; `nil` for those that are absent.
    ///   - operands: The elements of the operands.
    ///   - resultGradients: The gradients of the results, absent where the loss does not depend on them.
    /// - Returns: The gradient of each operand; `nil` for those that are absent.
    package func gradients(shapes: [[Int]?], operands: [[Double]?], resultGradients: [[Double]?]) -> [[Double]?] {
        func copies(_ lists: [[Double]?]) -> [UnsafeMutablePointer<Double>?] {
            lists.map { list in
                guard let list else { return nil }
                let copy = UnsafeMutablePointer<Double>.allocate(capacity: max(list.count, 1))
                copy.initialize(from: list, count: list.count)
                return copy
            }
        }
        let provided = copies(operands)
        let results = copies(resultGradients)
        let gradients = operands.map { list -> UnsafeMutablePointer<Double>? in
            guard let list else { return nil }
            let zeros = UnsafeMutablePointer<Double>.allocate(capacity: max(list.count, 1))
            zeros.initialize(repeating: 0, count: max(list.count, 1))
            return zeros
        }
        let count = max(scratchCount(shapes, isRecorded: false), 1)
        let scratch = UnsafeMutablePointer<Double>.allocate(capacity: count)
        scratch.initialize(repeating: 0, count: count)
        defer {
            (provided + results + gradients).forEach { $0?.deallocate() }
            scratch.deallocate()
        }
        run(
            BackwardRun(
                shapes: shapes,
                operands: provided.map { $0.map { UnsafePointer($0) } },
                resultGradients: results.map { $0.map { UnsafePointer($0) } },
                gradients: gradients,
                record: nil,
                scratch: scratch
            )
        )
        return zip(gradients, operands).map { gradient, list in
            gradient.map { Array(UnsafeBufferPointer(start: $0, count: list?.count ?? 0)) }
        }
    }

    private func run<Scalar: BackwardScalar>(_ memory: BackwardRun<Scalar>) {
        switch self {
        case .lstm(let form):
            if form.isBidirectional {
                LSTMBackward(form, memory, first: 3, column: 0, isReverse: false).run()
                LSTMBackward(form, memory, first: 7, column: memory.shape(4)[1], isReverse: true).run()
            } else {
                LSTMBackward(form, memory, first: 3, column: 0, isReverse: form.isReverse).run()
            }
        case .gru(let form): GRUBackward(form, memory).run()
        case .rnn(let form): RNNBackward(form, memory).run()
        }
    }
}

/// The memory of one backward pass: operands, gradients of results, gradients of operands, by index; absent ones are
/// `nil`.
struct BackwardRun<Scalar: BackwardScalar> {
    let shapes: [[Int]?]
    let operands: [UnsafePointer<Scalar>?]
    let resultGradients: [UnsafePointer<Scalar>?]
    let gradients: [UnsafeMutablePointer<Scalar>?]
    let record: UnsafePointer<Scalar>?
    let scratch: UnsafeMutablePointer<Scalar>

    func shape(_ index: Int) -> [Int] { shapes[index] ?? [] }

    /// An operand that every form of the operator has.
    func operand(_ index: Int) -> UnsafePointer<Scalar> {
        guard let operand = operands[index] else { preconditionFailure("operand \(index) is missing") }
        return operand
    }
}

extension BackwardRun {
    /// The gradients of input, input weights, state weights and bias from those of the gates' sums; only those with
    /// memory.
    ///
    /// - Parameters:
    ///   - sums: The gradients of the gates' sums [rows, gates].
    ///   - transposed: A buffer of the same size for the transposed sums.
    ///   - hidden: The states before each step, [rows, states].
    ///   - rows: The number of steps times the batch size.
    ///   - gates: The number of values of all gates in a row.
    ///   - weight: The index of the input weight's operand.
    ///   - stateWeight: The index of the state weight's operand.
    ///   - bias: The index of the bias operand; `nil` when there is none.
    func addWeights(
        sums: UnsafeMutablePointer<Scalar>,
        transposed: UnsafeMutablePointer<Scalar>,
        hidden: UnsafePointer<Scalar>?,
        rows: Int,
        gates: Int,
        weight: Int,
        stateWeight: Int,
        bias: Int?
    ) {
        let inputs = shape(weight)[1]
        let states = shape(stateWeight)[1]
        if let w = operands[weight], let dx = gradients[0] {
            Scalar.multiply(
                sums,
                w,
                termStride: inputs,
                columnStride: 1,
                into: dx,
                rows: rows,
                terms: gates,
                columns: inputs,
                adds: true
            )
        }
        let biasGradient = bias.flatMap { gradients[$0] }
        guard gradients[weight] != nil || gradients[stateWeight] != nil || biasGradient != nil else { return }
        for row in 0..<rows {
            for gate in 0..<gates { transposed[gate * rows + row] = sums[row * gates + gate] }
        }
        if let x = operands[0], let dw = gradients[weight] {
            Scalar.multiply(
                transposed,
                x,
                termStride: inputs,
                columnStride: 1,
                into: dw,
                rows: gates,
                terms: rows,
                columns: inputs,
                adds: true
            )
        }
        if let hidden, let dr = gradients[stateWeight] {
            Scalar.multiply(
                transposed,
                hidden,
                termStride: states,
                columnStride: 1,
                into: dr,
                rows: gates,
                terms: rows,
                columns: states,
                adds: true
            )
        }
        if let biasGradient {
            for gate in 0..<gates {
                var total: Scalar = 0
                for row in 0..<rows { total += transposed[gate * rows + row] }
                biasGradient[gate] += total
            }
        }
    }

    /// The gates' sums over the input, including the bias, [rows, gates].
    func inputSums(
        into sums: UnsafeMutablePointer<Scalar>,
        rows: Int,
        gates: Int,
        weight: Int,
        bias: Int
    ) {
        guard let x = operands[0], let w = operands[weight] else { return }
        let inputs = shape(weight)[1]
        Scalar.multiply(
            x,
            w,
            termStride: 1,
            columnStride: inputs,
            into: sums,
            rows: rows,
            terms: inputs,
            columns: gates,
            adds: false
        )
        guard let b = operands[bias] else { return }
        for row in 0..<rows {
            for gate in 0..<gates { sums[row * gates + gate] += b[gate] }
        }
    }
}
