import CMLKernels

/// The packed weights of one direction of a recurrent layer.
///
/// Immutable.
package final class RecurrentWeights: Sendable {
    package enum Cell: Hashable, Sendable {
        /// Gates in the order input, forget, output, cell.
        case lstm
        /// Gates in the order update, reset, output. With `resetAfter` the reset gate multiplies the product of
        /// recurrent weights and state; otherwise the state itself.
        case gru(resetAfter: Bool)

        package var gateCount: Int { self == .lstm ? 4 : 3 }
    }

    /// A matrix `[gates·hidden, terms]`, row-major, as MIL stores recurrent weights.
    package enum Source {
        case single(UnsafePointer<Float>)
        /// Bit patterns of half floats, which are not widened.
        case half(UnsafePointer<UInt16>)
    }

    package let cell: Cell
    package let inputSize: Int
    package let hiddenSize: Int

    let input: PackedWeights
    let recurrent: PackedWeights
    let bias: [Float]
    let recurrentBias: [Float]
    let peepholes: [Float]

    /// The size of the packed matrices in bytes.
    package var byteCount: Int { input.byteCount + recurrent.byteCount }

    /// `gateOrder[g]` is the index of gate g (in the order of `cell`) in the sources and biases, for models with
    /// another order.
    ///
    /// `bias` and `recurrentBias` have `[gates·hidden]` numbers or none; `peepholes` has `[3·hidden]` for input, forget
    /// and output, or none.
    package convenience init(
        _ cell: Cell,
        inputSize: Int,
        hiddenSize: Int,
        inputWeights: Source,
        recurrentWeights: Source,
        bias: [Float] = [],
        recurrentBias: [Float] = [],
        gateOrder: [Int]? = nil,
        peepholes: [Float] = []
    ) {
        let order = gateOrder
        self.init(
            cell,
            inputSize: inputSize,
            hiddenSize: hiddenSize,
            input: Self.packed(inputWeights, .input, terms: inputSize, cell, hiddenSize: hiddenSize, gateOrder: order),
            recurrent: Self.packed(
                recurrentWeights,
                .state,
                terms: hiddenSize,
                cell,
                hiddenSize: hiddenSize,
                gateOrder: order
            ),
            bias: bias,
            recurrentBias: recurrentBias,
            gateOrder: order,
            peepholes: peepholes
        )
    }

    /// What a matrix is multiplied by.
    package enum Factor: Sendable {
        /// The inputs of all steps at once, in bfloat16 where the current table has low precision.
        case input
        /// The state of one step after another, always in single precision.
        case state

        fileprivate var kernels: KernelTable { self == .input ? .current : .current.exact }
    }

    /// A matrix of `terms` columns in the kernels' order of gates.
    package static func packed(
        _ source: Source,
        _ factor: Factor,
        terms: Int,
        _ cell: Cell,
        hiddenSize: Int,
        gateOrder: [Int]?
    ) -> PackedWeights {
        let positions = positions(cell, hiddenSize: hiddenSize, gateOrder: gateOrder)
        let columns = columns(cell, hiddenSize: hiddenSize)
        switch source {
        case .single(let rows):
            let scattered = scattered(rows, positions, columns: columns, terms: terms)
            return PackedWeights(scattered, terms: terms, columns: columns, layout: .columnsByTerms)
        case .half(let rows):
            let scattered = scattered(rows, positions, columns: columns, terms: terms)
            return factor.kernels.perform {
                PackedWeights(half: scattered, terms: terms, columns: columns, layout: .columnsByTerms)
            }
        }
    }

    /// The same for a matrix that was packed before; see `PackedWeights.init(stored:…)`.
    package static func stored(
        _ memory: AlignedMemory,
        _ factor: Factor,
        isHalf: Bool,
        terms: Int,
        _ cell: Cell,
        hiddenSize: Int
    ) -> PackedWeights? {
        let columns = columns(cell, hiddenSize: hiddenSize)
        return factor.kernels.perform {
            PackedWeights(stored: memory, isHalf: isHalf, terms: terms, columns: columns, layout: .columnsByTerms)
        }
    }

    private static func columns(_ cell: Cell, hiddenSize: Int) -> Int {
        cml_rnn_columns(cml_isa_current(), hiddenSize, Int32(cell.gateCount))
    }

    /// The column of each row of a source.
    private static func positions(_ cell: Cell, hiddenSize: Int, gateOrder: [Int]?) -> [Int] {
        let gates = cell.gateCount
        let order = gateOrder ?? Array(0..<gates)
        var positions = [Int](repeating: 0, count: gates * hiddenSize)
        for gate in 0..<gates {
            for unit in 0..<hiddenSize {
                positions[order[gate] * hiddenSize + unit] =
                    cml_rnn_column(cml_isa_current(), unit, Int32(gate), Int32(gates))
            }
        }
        return positions
    }

    /// Combines matrices of `packed` with biases and peepholes.
    package init(
        _ cell: Cell,
        inputSize: Int,
        hiddenSize: Int,
        input: PackedWeights,
        recurrent: PackedWeights,
        bias: [Float] = [],
        recurrentBias: [Float] = [],
        gateOrder: [Int]? = nil,
        peepholes: [Float] = []
    ) {
        self.cell = cell
        self.inputSize = inputSize
        self.hiddenSize = hiddenSize
        self.peepholes = peepholes
        let gates = cell.gateCount
        let order = gateOrder ?? Array(0..<gates)
        let columns = Self.columns(cell, hiddenSize: hiddenSize)
        let positions = Self.positions(cell, hiddenSize: hiddenSize, gateOrder: gateOrder)
        self.input = input
        self.recurrent = recurrent
        func reordered(_ values: [Float]) -> [Float] {
            var result = [Float](repeating: 0, count: columns)
            for (position, value) in zip(positions, values) { result[position] = value }
            return result
        }
        var total = reordered(bias)
        var stateBias = reordered(recurrentBias)
        // The product that a bias belongs to only matters under a reset gate.
        for unit in 0..<gates * hiddenSize {
            let column = positions[unit]
            let isReset = cell == .gru(resetAfter: true) && unit / hiddenSize == order[2]
            if !isReset {
                total[column] += stateBias[column]
                stateBias[column] = 0
            }
        }
        self.bias = total
        self.recurrentBias = stateBias
    }

    private static func scattered<Element: ExpressibleByIntegerLiteral>(
        _ rows: UnsafePointer<Element>,
        _ positions: [Int],
        columns: Int,
        terms: Int
    ) -> [Element] {
        var result = [Element](repeating: 0, count: columns * terms)
        result.withUnsafeMutableBufferPointer { result in
            guard let base = result.baseAddress else { return }
            for (row, position) in positions.enumerated() {
                (base + position * terms).update(from: rows + row * terms, count: terms)
            }
        }
        return result
    }
}
