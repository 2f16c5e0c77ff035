package import MLGraph
package import MLNumerics
import MLOperators

/// dequantize(quantize(x)) around convolutions and linear layers with 8-bit weights → products of quantised integers,
/// whose results are rounded where they are stored; other pairs → one step that rounds.
///
/// The rules are tried in order; the first that finds something is the one of this call, so that its patches touch no
/// operation twice.
package struct UseIntegers: Pass {
    package let name = "use integers"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        guard block.operations.contains(where: { $0.is(Dequantize.self) || $0.is(ToGrid.self) }) else { return [] }
        var patches = try pairs(block)
        if patches.isEmpty { patches = try sharedGrids(block) }
        if patches.isEmpty { patches = try poolings(block) }
        if patches.isEmpty { patches = try bytes(block) }
        if patches.isEmpty { patches = try products(block) }
        if patches.isEmpty { patches = try residuals(block) }
        if patches.isEmpty { patches = try activations(block) }
        if patches.isEmpty { patches = try quantizedResults(block) }
        if patches.isEmpty { patches = try roundings(block) }
        return patches
    }

    /// dequantize(quantize(x)) → FromGrid(ToGrid(x)).
    ///
    /// Several `dequantize` of one `quantize` may differ in their scale, which only `FromGrid` has.
    private func pairs(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() where operation.is(Dequantize.self) {
            guard let (quantize, first, _) = block.producer(of: operation.operands[0], as: Quantize.self),
                let x = first.operands[0], block.type(of: x).scalarType == .float32,
                block.type(of: operation.results[0]).scalarType == .float32,
                let range = quantize.scalarType.integerRange,
                let (scale, zero) = parameters(first, block), let (step, other) = parameters(operation, block),
                zero == other,
                let grid = QuantizationGrid(
                    scale: scale,
                    step: scale,
                    low: Int(range.lowerBound) - zero,
                    high: Int(range.upperBound) - zero
                ), Float(step).isFinite
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let whole = try builder.add(ToGrid(grid), x)
                    return [(operation.results[0], try builder.add(FromGrid(step: step), whole))]
                }
            )
        }
        return patches
    }

    /// Scale and zero point of `quantize` and `dequantize`, when they are one number each for the whole tensor.
    private func parameters(_ operation: Operation, _ block: BlockView) -> (scale: Double, zero: Int)? {
        guard let scale = block.constant(operation.operands[1]), scale.count == 1 else { return nil }
        guard operation.operands.count > 2, let zero = operation.operands[2] else { return (scale.values[0], 0) }
        guard let zero = block.constant(zero), zero.count == 1, let number = Int(exactly: zero.values[0]),
            number.magnitude <= 255
        else { return nil }
        return (scale.values[0], number)
    }

    /// Two ToGrid of one value → one.
    private func sharedGrids(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        struct Key: Hashable {
            var source: ValueID
            var op: ToGrid
        }
        var known: [Key: ValueID] = [:]
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let op = operation.as(ToGrid.self), let source = operation.operands[0] else { continue }
            let key = Key(source: source, op: op)
            guard let first = known[key] else {
                known[key] = operation.results[0]
                continue
            }
            patches.append(try block.patch(before: index) { _ in [(operation.results[0], first)] })
        }
        return patches
    }

    /// max_pool(FromGrid(ToGrid(x))) → FromGrid(ToGrid(max_pool(x))), and ToGrid(FromGrid(x)) on one grid → x.
    private func poolings(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            if let pool = operation.as(MaxPool.self), pool.alwaysMeetsElements, let reals = operation.operands[0],
                let (from, source, _) = block.producer(of: reals, as: FromGrid.self), from.step > 0,
                let whole = source.operands[0], let (to, first, _) = block.producer(of: whole, as: ToGrid.self),
                let x = first.operands[0], block.isUsedOnce(reals), block.isUsedOnce(whole)
            {
                patches.append(
                    try block.patch(before: index) { (builder) throws(ModelError) in
                        let whole = try builder.add(to, builder.add(pool, x))
                        return [(operation.results[0], try builder.add(from, whole))]
                    }
                )
            } else if let to = operation.as(ToGrid.self),
                let (from, source, _) = block.producer(of: operation.operands[0], as: FromGrid.self),
                from.step == to.grid.scale, let whole = source.operands[0],
                block.producer(of: whole, as: ToGrid.self)?.op == to
            {
                patches.append(try block.patch(before: index) { _ in [(operation.results[0], whole)] })
            }
        }
        return patches
    }

    /// FromGrid(ToGrid(x)) of numbers that are not negative → the same of bytes, where layers multiply these.
    private func bytes(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        var takesBytes: [ValueID: Bool] = [:]
        for operation in block.operations {
            guard let candidate = IntegerCandidate(operation, block) else { continue }
            takesBytes[candidate.whole, default: true] =
                takesBytes[candidate.whole, default: true] && candidate.takesBytes
        }
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let from = operation.as(FromGrid.self), let whole = operation.operands[0], takesBytes[whole] == true,
                let (to, source, _) = block.producer(of: whole, as: ToGrid.self), let x = source.operands[0],
                let grid = to.grid.nonNegative, grid.scalarType == .uint8, block.isNonNegative(x),
                block.users(of: whole).allSatisfy({ block.operations[$0].is(FromGrid.self) })
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let whole = try builder.add(ToGrid(grid), x)
                    return [(operation.results[0], try builder.add(from, whole))]
                }
            )
        }
        return patches
    }

    /// conv(FromGrid(x)), linear(FromGrid(x)) with 8-bit weights → IntegerProduct.
    private func products(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let candidate = IntegerCandidate(operation, block) else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    [(operation.results[0], try candidate.append(to: &builder))]
                }
            )
        }
        return patches
    }

    /// add(FromGrid(product), y) → a product that is rounded first and adds y.
    private func residuals(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() where operation.is(Binary<Add>.self) {
            let choices = [(0, 1), (1, 0)].sorted {
                (block.producerIndex(of: operation.operands[$0.0]) ?? -1)
                    > (block.producerIndex(of: operation.operands[$1.0]) ?? -1)
            }
            for (one, other) in choices {
                guard let sum = operation.operands[one], let addend = operation.operands[other], sum != addend,
                    let (from, source, _) = block.producer(of: sum, as: FromGrid.self), block.isUsedOnce(sum),
                    let whole = source.operands[0], block.isUsedOnce(whole),
                    let (product, created, _) = block.producer(of: whole, as: IntegerProduct.self),
                    let grid = product.grid, product.activation == .none, created.operands[5] == nil,
                    let rounded = QuantizationGrid(
                        scale: grid.scale,
                        step: from.step,
                        low: grid.low,
                        high: grid.high
                    ), block.type(of: addend) == block.type(of: sum), block.type(of: sum).isBound,
                    block.constant(addend) == nil
                else { continue }
                patches.append(
                    try block.patch(before: index) { (builder) throws(ModelError) in
                        var product = product
                        product.grid = nil
                        product.rounded = rounded
                        var operands = created.operands
                        operands[5] = addend
                        if let (from, source, _) = block.producer(of: addend, as: FromGrid.self) {
                            product.residualStep = from.step
                            operands[5] = source.operands[0]
                        }
                        return [(operation.results[0], try builder.append(product, operands)[0])]
                    }
                )
                break
            }
        }
        return patches
    }

    /// f(product) → a product that applies f.
    private func activations(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        try merged(block) { (operation, product) in
            guard product.activation == .none, let activation = Activation(operation) else { return nil }
            var product = product
            product.activation = activation
            return product
        }
    }

    /// ToGrid(product) → a product whose results are quantised.
    private func quantizedResults(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        try merged(block) { (operation, product) in
            guard let op = operation.as(ToGrid.self) else { return nil }
            var product = product
            product.grid = op.grid
            return product
        }
    }

    /// Operations on the float32 results of products that nothing else uses → products that `change` returns.
    private func merged(
        _ block: BlockView,
        _ change: (Operation, IntegerProduct) -> IntegerProduct?
    ) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let x = operation.operands.first ?? nil,
                let (product, created, _) = block.producer(of: x, as: IntegerProduct.self), product.grid == nil,
                block.isUsedOnce(x), let changed = change(operation, product)
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    [(operation.results[0], try builder.append(changed, created.operands)[0])]
                }
            )
        }
        return patches
    }

    /// FromGrid(ToGrid(x)) whose integers nothing else uses → OntoGrid(x).
    private func roundings(_ block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let from = operation.as(FromGrid.self), let whole = operation.operands[0], block.isUsedOnce(whole),
                let (to, first, _) = block.producer(of: whole, as: ToGrid.self), let x = first.operands[0],
                let grid = QuantizationGrid(
                    scale: to.grid.scale,
                    step: from.step,
                    low: to.grid.low,
                    high: to.grid.high
                )
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    [(operation.results[0], try builder.add(OntoGrid(grid), x))]
                }
            )
        }
        return patches
    }
}

/// A convolution or linear layer that can be computed with integers.
private struct IntegerCandidate {
    private var product: IntegerProduct
    let whole: ValueID
    /// Whether the weights can be multiplied with bytes.
    let takesBytes: Bool
    private let weight: IntegerMatrix
    private let step: Double
    private let columns: Int
    private let bias: ValueID?
    private let residual: ValueID?

    init?(_ operation: Operation, _ block: BlockView) {
        guard let layer = Self.layer(operation.op), let activation = (operation.op as? any Fusable)?.activation,
            let (from, source, _) = block.producer(of: operation.operands[0], as: FromGrid.self),
            let whole = source.operands[0], let reach = Self.maximumMagnitude(of: whole, block),
            let constant = block.constant(operation.operands[1])
        else { return nil }
        product = IntegerProduct(layer, reach: reach, activation: activation)
        guard let weight = IntegerMatrix(constant, resultAxis: product.resultAxis) else { return nil }
        let order = product.order(constant.shape)
        guard IntegerProduct.isExact(terms: order.terms, taps: order.taps, reach: reach, weights: weight.range)
        else { return nil }
        takesBytes = IntegerProduct.takesBytes(terms: order.terms, weights: weight.range)
        guard takesBytes || block.type(of: whole).scalarType == .int16 else { return nil }
        func operand(_ index: Int) -> ValueID? { index < operation.operands.count ? operation.operands[index] : nil }
        bias = operand(2)
        guard bias == nil || block.constant(bias) != nil else { return nil }
        if let added = operand(3), let (from, source, _) = block.producer(of: added, as: FromGrid.self) {
            residual = source.operands[0]
            product.residualStep = from.step
        } else {
            residual = operand(3)
        }
        if let residual, block.type(of: residual).shape != block.type(of: operation.results[0]).shape { return nil }
        self.whole = whole
        self.weight = weight
        step = from.step
        columns = constant.shape[product.resultAxis]
    }

    private static func layer(_ op: any Operator) -> IntegerProduct.Layer? {
        switch op {
        case var op as Convolution where op.groups == 1:
            op.activation = .none
            return .convolution(op)
        case var op as Linear:
            op.activation = .none
            return .linear(op)
        default: return nil
        }
    }

    /// The greatest magnitude of a quantised integer, by the grid of its operation.
    private static func maximumMagnitude(of whole: ValueID, _ block: BlockView) -> Int? {
        let grid =
            block.producer(of: whole, as: ToGrid.self)?.op.grid
            ?? block.producer(of: whole, as: IntegerProduct.self)?.op.grid
        return grid?.reach
    }

    func append(to builder: inout GraphBuilder) throws(ModelError) -> ValueID {
        func filled(_ values: [Double]) -> [Double] {
            values.count == 1 ? [Double](repeating: values[0], count: columns) : values
        }
        let scale = Tensor(
            values: filled(weight.scales).map { $0 * step },
            scalarType: .float32,
            shape: [columns]
        )
        let zero =
            weight.zeros.isEmpty
            ? nil
            : builder.constant(
                Tensor(values: filled(weight.zeros.map { Double($0) }), scalarType: .int16, shape: [columns])
            )
        let operands = [
            whole, builder.constant(weight.codes), builder.constant(scale), zero, bias, residual,
        ]
        return try builder.append(product, operands)[0]
    }
}
