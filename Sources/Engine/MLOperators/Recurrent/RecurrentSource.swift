import MLGraph
import MLKernels
import MLNumerics

/// The weights of one direction before packing: constants, or operands with known shapes.
struct RecurrentSource: Sendable {
    private struct Weight: Sendable {
        let operand: Int
        let shape: [Int]
        let constant: Tensor?

        /// The numbers, borrowed while a kernel runs when they are not a constant.
        func tensor(_ context: KernelContext) -> Tensor {
            if let constant { return constant }
            let storage = TensorStorage(
                reading: context.operand(operand),
                byteCount: shape.elementCount * 4,
                release: nil
            )
            return Tensor(scalarType: .float32, shape: shape, storage: storage)
        }
    }

    private let cell: RecurrentWeights.Cell
    private let weightX: Weight
    private let weightH: Weight
    private let bias: Weight?
    private let stateBias: Weight?
    private let peephole: Weight?
    private let gateOrder: [Int]?

    /// `nil` when something cannot be packed.
    ///
    /// The state's weight follows that of x.
    init?(
        _ request: KernelRequest,
        _ cell: RecurrentWeights.Cell,
        weightX: Int,
        bias: Int,
        stateBias: Int? = nil,
        peephole: Int? = nil,
        gateOrder: [Int]? = nil
    ) {
        func weight(_ index: Int?) -> Weight? {
            guard let index, let buffer = request.operand(index) else { return nil }
            return Weight(operand: index, shape: buffer.logicalShape, constant: buffer.constant)
        }
        guard let x = weight(weightX), let h = weight(weightX + 1) else { return nil }
        self.cell = cell
        self.weightX = x
        weightH = h
        self.bias = weight(bias)
        self.stateBias = weight(stateBias)
        self.peephole = weight(peephole)
        self.gateOrder = gateOrder
        for weight in [x, h] {
            guard weight.constant?.isPackable ?? (request.operand(weight.operand)?.scalarType == .float32)
            else {
                return nil
            }
        }
        for case let vector? in [self.bias, self.stateBias, self.peephole] {
            guard vector.constant != nil || request.operand(vector.operand)?.scalarType == .float32 else {
                return nil
            }
        }
    }

    private var vectors: [Weight?] { [bias, stateBias, peephole] }

    /// The operands that `packed()` packs.
    var packedOperands: [Int] { [weightX.operand, weightH.operand] }

    /// Whether nothing has to be packed at run time.
    var isConstant: Bool {
        weightX.constant != nil && weightH.constant != nil
            && vectors.allSatisfy { $0 == nil || $0?.constant != nil }
    }

    /// The packed weights, all of which are constants, shared between plans.
    func packed() -> RecurrentWeights? {
        guard let x = weightX.constant, let h = weightH.constant else {
            preconditionFailure("weights that are not constants are packed while running")
        }
        let others = ([weightH] + vectors).map { weight in
            weight?.constant.map { "\(UInt(bitPattern: $0.address))" } ?? "-"
        }
        let form = "\(cell) \(others.joined(separator: " ")) \(KernelTable.current)"
        return PackedConstants.shared(x, form: form) {
            guard let input = gates(x, .input, hiddenSize: h.shape[1]),
                let recurrent = gates(h, .state, hiddenSize: h.shape[1])
            else { return nil }
            return RecurrentWeights(
                cell,
                inputSize: x.shape[1],
                hiddenSize: h.shape[1],
                input: input,
                recurrent: recurrent,
                bias: numbers(bias?.constant),
                recurrentBias: numbers(stateBias?.constant),
                gateOrder: gateOrder,
                peepholes: numbers(peephole?.constant)
            )
        }
    }

    /// A constant matrix of weights, packed.
    private func gates(_ matrix: Tensor, _ factor: RecurrentWeights.Factor, hiddenSize: Int) -> PackedWeights? {
        let order = gateOrder.map { $0.map(String.init).joined(separator: ",") } ?? "-"
        let kernels = KernelTable.current
        // Only tables of low precision pack the two factors' weights differently.
        let name = kernels.isLowPrecision ? "gates \(factor)" : "gates"
        let form = "\(name) \(cell) \(hiddenSize) \(order) \(kernels)"
        return PackedConstants.packed(matrix, form: form) { memory in
            RecurrentWeights.stored(
                memory,
                factor,
                isHalf: matrix.scalarType == .float16,
                terms: matrix.shape[1],
                cell,
                hiddenSize: hiddenSize
            )
        } make: {
            withExtendedLifetime(matrix) {
                RecurrentWeights.packed(
                    source(matrix),
                    factor,
                    terms: matrix.shape[1],
                    cell,
                    hiddenSize: hiddenSize,
                    gateOrder: gateOrder
                )
            }
        }
    }

    /// The weights packed from the operands' contents in this run.
    func packed(_ context: KernelContext) -> RecurrentWeights {
        packed(
            weightX.tensor(context),
            weightH.tensor(context),
            bias?.tensor(context),
            stateBias?.tensor(context),
            peephole?.tensor(context)
        )
    }

    private func packed(
        _ x: Tensor,
        _ h: Tensor,
        _ bias: Tensor?,
        _ stateBias: Tensor?,
        _ peephole: Tensor?
    ) -> RecurrentWeights {
        withExtendedLifetime((x, h)) {
            RecurrentWeights(
                cell,
                inputSize: x.shape[1],
                hiddenSize: h.shape[1],
                inputWeights: source(x),
                recurrentWeights: source(h),
                bias: numbers(bias),
                recurrentBias: numbers(stateBias),
                gateOrder: gateOrder,
                peepholes: numbers(peephole)
            )
        }
    }

    private func source(_ tensor: Tensor) -> RecurrentWeights.Source {
        tensor.withFloatStorage(single: { .single($0) }, half: { .half($0) })
    }

    private func numbers(_ tensor: Tensor?) -> [Float] { tensor?.values.map { Float($0) } ?? [] }
}
