package import MLGraph
package import MLNumerics

/// Operations that many gradient rules use.
extension GradientContext {
    /// The gradient with respect to the only result, or to the first.
    package func resultGradient() throws(ModelError) -> ValueID {
        guard let gradient = resultGradients[0] else {
            throw ModelError(.invalidModel, "the loss does not depend on the operation's first result")
        }
        return gradient
    }

    /// Operand `index`, which must be present.
    package func operand(_ index: Int = 0) throws(ModelError) -> ValueID {
        guard index < operands.count, let id = operands[index] else {
            throw ModelError(.invalidModel, "operand \(index) is missing")
        }
        return id
    }

    package func has(_ index: Int) -> Bool { index < operands.count && operands[index] != nil }

    /// The extents of a value of the bound graph.
    package func extents(_ id: ValueID) throws(ModelError) -> [Int] {
        guard let counts = builder.shape(of: id).counts else {
            throw ModelError(.unsupported, "gradients need known extents; bind the graph to shapes first")
        }
        return counts
    }

    package func scalarType(_ id: ValueID) -> ScalarType { builder.type(of: id).scalarType }

    package mutating func add(_ op: some Operator, _ operands: ValueID?...) throws(ModelError) -> ValueID {
        try builder.append(op, operands)[0]
    }

    /// A constant of rank 0 and of the scalar type of `like`.
    package mutating func scalar(_ value: Double, like id: ValueID) -> ValueID {
        builder.constant(Tensor(scalar: value, scalarType(id)))
    }

    package mutating func integers(_ values: [Int]) -> ValueID {
        builder.constant(Tensor(values.map { Int32(clamping: $0) }, shape: [values.count]))
    }

    package mutating func sum(_ a: ValueID, _ b: ValueID) throws(ModelError) -> ValueID { try add(Binary<Add>(), a, b) }

    package mutating func difference(_ a: ValueID, _ b: ValueID) throws(ModelError) -> ValueID {
        try add(Binary<Sub>(), a, b)
    }

    package mutating func product(_ a: ValueID, _ b: ValueID) throws(ModelError) -> ValueID {
        try add(Binary<Mul>(), a, b)
    }

    package mutating func quotient(_ a: ValueID, _ b: ValueID) throws(ModelError) -> ValueID {
        try add(Binary<RealDiv>(), a, b)
    }

    package mutating func scaled(_ id: ValueID, by factor: Double) throws(ModelError) -> ValueID {
        try product(id, scalar(factor, like: id))
    }

    package mutating func negated(_ id: ValueID) throws(ModelError) -> ValueID { try scaled(id, by: -1) }

    /// `id` where `condition` holds, 0 elsewhere.
    package mutating func kept(_ id: ValueID, where condition: ValueID) throws(ModelError) -> ValueID {
        try add(Select(), condition, id, scalar(0, like: id))
    }

    /// The same elements in another shape.
    package mutating func reshaped(_ id: ValueID, to shape: [Int]) throws(ModelError) -> ValueID {
        if try extents(id) == shape { return id }
        guard !shape.isEmpty else { return try add(Squeeze(axes: nil), id) }
        return try add(Reshape(), id, integers(shape))
    }

    package mutating func summed(_ id: ValueID, axes: [Int], keepsDimensions: Bool) throws(ModelError) -> ValueID {
        axes.isEmpty
            ? id : try add(Reduction<SumOfElements>(axes: axes, keepsDimensions: keepsDimensions), id)
    }

    package mutating func mean(_ id: ValueID, axes: [Int], keepsDimensions: Bool) throws(ModelError) -> ValueID {
        axes.isEmpty
            ? id : try add(Reduction<MeanOfElements>(axes: axes, keepsDimensions: keepsDimensions), id)
    }

    /// The sum over the axes along which a value of shape `shape` was broadcast to the shape of `id`.
    package mutating func summed(_ id: ValueID, toShape shape: [Int]) throws(ModelError) -> ValueID {
        let source = try extents(id)
        if source == shape { return id }
        let lead = source.count - shape.count
        let axes = source.indices.filter { $0 < lead || (shape[$0 - lead] == 1 && source[$0] != 1) }
        return try reshaped(summed(id, axes: axes, keepsDimensions: false), to: shape)
    }

    /// Sets the gradient of an operand that is broadcast to the result: the sum over the repeated axes.
    package mutating func setBroadcastGradient(ofOperand index: Int, to gradient: ValueID) throws(ModelError) {
        let operand = try operand(index)
        var summed = try summed(gradient, toShape: extents(operand))
        if scalarType(summed) != scalarType(operand) { summed = try add(Cast(to: scalarType(operand)), summed) }
        setGradient(ofOperand: index, to: summed)
    }

    /// A vector with one value per channel, in a shape that broadcasts over axis 1 of a tensor of `rank`.
    package mutating func channels(_ vector: ValueID, rank: Int) throws(ModelError) -> ValueID {
        let count = try extents(vector).elementCount
        return try reshaped(vector, to: [count] + [Int](repeating: 1, count: Swift.max(rank - 2, 0)))
    }

    /// Sets the gradient of operand 0 of an operation whose only result consists of that operand's elements, reordered,
    /// in part or repeated, for any such operation whose other operands are constants.
    package mutating func setMovedGradient(by op: some Operator) throws(ModelError) {
        let x = try operand()
        let shape = try extents(x)
        let count = shape.elementCount
        var tensors: [Tensor?] = [Tensor(values: (0..<count).map(Double.init), scalarType: .float64, shape: shape)]
        for operand in operands.dropFirst() {
            guard let operand else {
                tensors.append(nil)
                continue
            }
            guard let constant = builder.constant(operand) else {
                throw ModelError(
                    .unsupported,
                    "the gradient of '\(op.displayName)' needs constants for all operands but the first"
                )
            }
            tensors.append(constant)
        }
        let type = builder.type(of: results[0]).with(.float64)
        let positions = try op.reference(ReferenceOperands(tensors, resultTypes: [type]))[0].integers
        try setScatteredGradient(positions: positions)
    }

    /// Sets the gradient of operand 0 when element i of the result is its element `positions[i]`.
    package mutating func setScatteredGradient(positions: [Int]) throws(ModelError) {
        let x = try operand()
        let shape = try extents(x)
        let zeros = try reshaped(
            add(FillLike(value: 0, scalarType: scalarType(x)), x),
            to: [shape.elementCount]
        )
        let flat = try reshaped(resultGradient(), to: [positions.count])
        let scattered = try add(Scatter(axis: 0, mode: .add), zeros, integers(positions), flat)
        setGradient(ofOperand: 0, to: try reshaped(scattered, to: shape))
    }
}

extension GradientContext {
    /// Sets the gradients of bias (operand 2) and residual (operand 3) of a convolution.
    mutating func setChannelSums() throws(ModelError) {
        let dy = try resultGradient()
        if isNeeded(2) {
            let axes = try extents(dy).indices.filter { $0 != 1 }
            setGradient(ofOperand: 2, to: try summed(dy, axes: axes, keepsDimensions: false))
        }
        if isNeeded(3) { try setBroadcastGradient(ofOperand: 3, to: dy) }
    }
}

extension GradientContext {
    /// Gradients of x (operand 0), gamma (1) and beta (2) of y = (x − E[x]) / √(Var[x] + epsilon) · gamma + beta, with
    /// statistics over `axes` and one gamma and beta for each index of `parameterAxes`:
    /// with s the standardised x and g = dy · gamma, dx = (g − E[g] − s · E[g · s]) / √(Var[x] + epsilon).
    mutating func setStandardizedGradients(
        axes: [Int],
        parameterAxes: [Int],
        epsilon: Double
    ) throws(ModelError) {
        let x = try operand()
        let dy = try resultGradient()
        let shape = try extents(x)
        let others = shape.indices.filter { !parameterAxes.contains($0) }
        let centred = try difference(x, mean(x, axes: axes, keepsDimensions: true))
        let variance = try mean(product(centred, centred), axes: axes, keepsDimensions: true)
        let scale = try add(Unary(Rsqrt(epsilon: epsilon)), variance)
        let standard = try product(centred, scale)
        if isNeeded(0) {
            var flow = dy
            if has(1) {
                let spread = shape.indices.map { parameterAxes.contains($0) ? shape[$0] : 1 }
                flow = try product(dy, reshaped(operand(1), to: spread))
            }
            let level = try mean(flow, axes: axes, keepsDimensions: true)
            let slope = try mean(product(flow, standard), axes: axes, keepsDimensions: true)
            let remaining = try difference(difference(flow, level), product(standard, slope))
            setGradient(ofOperand: 0, to: try product(remaining, scale))
        }
        if isNeeded(1) {
            setGradient(
                ofOperand: 1,
                to: try summed(product(dy, standard), axes: others, keepsDimensions: false)
            )
        }
        if isNeeded(2) { setGradient(ofOperand: 2, to: try summed(dy, axes: others, keepsDimensions: false)) }
    }
}

extension GradientContext {
    /// Zeros of the type of operand 0.
    mutating func zeros() throws(ModelError) -> ValueID {
        let x = try operand()
        return try add(FillLike(value: 0, scalarType: scalarType(x)), x)
    }
}

extension GradientContext {
    /// The gradient of an operand whose elements keep their order.
    mutating func setReshapedGradient() throws(ModelError) {
        setGradient(ofOperand: 0, to: try reshaped(resultGradient(), to: extents(operand())))
    }
}

extension Operator {
    /// The error for operators with only some differentiable forms.
    func notDifferentiable(_ reason: String) -> ModelError {
        ModelError(
            .unsupported,
            "'\(displayName)' has no gradient \(reason); leave it out of the updatable part of the model"
        )
    }
}
