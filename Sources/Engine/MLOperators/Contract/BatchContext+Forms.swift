package import MLGraph
package import MLNumerics

/// Forms of operations that many batch rules use.
extension BatchContext {
    package func has(_ index: Int) -> Bool { index < operands.count && operands[index] != nil }

    /// Whether operand `index` differs between examples.
    package func isBatched(_ index: Int) -> Bool { index < operands.count && operands[index]?.isBatched == true }

    /// The extents of operand `index` for one example; none when it is absent.
    package func shape(_ index: Int = 0) -> [Int] { index < operands.count ? operands[index]?.shape ?? [] : [] }

    package func rank(_ index: Int = 0) -> Int { shape(index).count }

    /// The contents of an integer operand; `nil` when they are not constant.
    package func integers(_ index: Int) -> [Int]? {
        guard index < operands.count, let operand = operands[index] else { return nil }
        return builder.constant(operand.value)?.integers
    }

    package mutating func constant(integers: [Int]) -> ValueID {
        builder.constant(Tensor(integers.map { Int32(clamping: $0) }, shape: [integers.count]))
    }

    package mutating func reshaped(_ id: ValueID, to shape: [Int]) throws(ModelError) -> ValueID {
        if builder.shape(of: id).counts == shape { return id }
        return try builder.add(Reshape(), id, constant(integers: shape))
    }

    /// Operand `index`, batched, with leading axes of extent 1 up to `rank`; the same for all examples, it is repeated.
    ///
    /// `nil` when it is absent.
    package mutating func stacked(_ index: Int, rank: Int = 0) throws(ModelError) -> ValueID? {
        guard index < operands.count, let operand = operands[index] else { return nil }
        let shape = [Int](repeating: 1, count: max(rank - operand.shape.count, 0)) + operand.shape
        if operand.isBatched { return try reshaped(operand.value, to: [count] + shape) }
        let one = try reshaped(operand.value, to: [1] + shape)
        return try builder.add(Tile(), one, constant(integers: [count] + shape.map { _ in 1 }))
    }

    /// Like `stacked`, with the examples one after another on the operand's own first axis.
    package mutating func joined(_ index: Int, rank: Int = 0) throws(ModelError) -> ValueID? {
        guard let id = try stacked(index, rank: rank), let shape = builder.shape(of: id).counts else { return nil }
        return try reshaped(id, to: joinedShape(Array(shape.dropFirst())))
    }

    /// Appends the operation on batched operands; its results may be joined or stacked.
    ///
    /// `nil` when a result has another shape.
    package mutating func finish(_ op: some Operator, _ operands: [ValueID?]) throws(ModelError) -> [ValueID]? {
        var results: [ValueID] = []
        for (id, type) in zip(try builder.append(op, operands), resultTypes) {
            guard let one = type.shape.counts, let given = builder.shape(of: id).counts else { return nil }
            guard given == joinedShape(one) || given == [count] + one else { return nil }
            results.append(try reshaped(id, to: joinedShape(one)))
        }
        return results
    }

    /// The operation on the joined forms of the operands `along`, which has to compute every index of their first axis
    /// for itself, whatever that axis' extent is, and to keep that axis first; other operands must not differ.
    package mutating func rows(_ op: some Operator, along: [Int] = [0]) throws(ModelError) -> [ValueID]? {
        var given: [ValueID?] = []
        let extent = shape(along[0]).first
        for index in operands.indices {
            guard along.contains(index), has(index) else {
                if isBatched(index) { return nil }
                given.append(operands[index]?.value)
                continue
            }
            guard let extent, shape(index).first == extent else { return nil }
            given.append(try joined(index))
        }
        guard resultTypes.allSatisfy({ $0.shape.first?.count == extent }) else { return nil }
        return try finish(op, given)
    }

    /// The operation `op`, which takes the operands `along` with one more axis in front, on their stacked forms; other
    /// operands must not differ.
    package mutating func shifted(_ op: some Operator, along: [Int] = [0]) throws(ModelError) -> [ValueID]? {
        var given: [ValueID?] = []
        for index in operands.indices {
            guard along.contains(index) else {
                if isBatched(index) { return nil }
                given.append(operands[index]?.value)
                continue
            }
            given.append(try stacked(index))
        }
        return try finish(op, given)
    }

    /// An operation that takes each element by itself.
    package mutating func elements(_ op: some Operator) throws(ModelError) -> [ValueID]? {
        rank() > 0 ? try rows(op) : try shifted(op)
    }

    /// An operation along one axis, which computes the other axes' indices for themselves.
    ///
    /// - Parameters:
    ///   - axis: The axis; negative ones count from the end of `rank` axes.
    ///   - operands: The operands with that axis.
    ///   - rank: The number of axes; `nil` for that of operand 0.
    ///   - op: Makes the operation for another axis.
    /// - Returns: The results; `nil` where other operands differ between examples.
    /// - Throws: Errors of the type rule.
    package mutating func overAxis(
        _ axis: Int,
        of operands: [Int] = [0],
        rank: Int? = nil,
        _ op: (Int) -> some Operator
    ) throws(ModelError) -> [ValueID]? {
        let position = try normalizedAxis(axis, rank: rank ?? self.rank())
        return position > 0 ? try rows(op(position), along: operands) : try shifted(op(1), along: operands)
    }

    /// An operation over some axes, `nil` for all, which computes the other axes' indices for themselves.
    package mutating func overAxes(_ axes: [Int]?, _ op: ([Int]) -> some Operator) throws(ModelError) -> [ValueID]? {
        var positions: [Int] = []
        for axis in axes ?? Array(0..<rank()) { positions.append(try normalizedAxis(axis, rank: rank())) }
        guard !positions.isEmpty else { return nil }
        return positions.contains(0) ? try shifted(op(positions.map { $0 + 1 })) : try rows(op(positions))
    }

    /// The elements in the same order, in the result's shape.
    package mutating func regrouped() throws(ModelError) -> [ValueID]? {
        guard let operand = operands.first ?? nil, operand.isBatched, let shape = resultTypes[0].shape.counts else {
            return nil
        }
        return [try reshaped(operand.value, to: joinedShape(shape))]
    }

    /// An operation whose operands are broadcast, aligned at their last axes, to `rank` axes.
    ///
    /// - Parameters:
    ///   - op: The operation; each index of the first of `rank` axes is computed for itself.
    ///   - rank: The number of axes after broadcasting.
    ///   - lead: The extent of the first axis after broadcasting; `nil` when the first axis is no axis to broadcast.
    /// - Returns: The results; `nil` when they have other shapes than expected.
    /// - Throws: Errors of the type rule.
    package mutating func broadcasting(
        _ op: some Operator,
        rank: Int,
        lead: Int?
    ) throws(ModelError) -> [ValueID]? {
        func first(_ index: Int) -> Int { self.rank(index) < rank ? 1 : shape(index).first ?? 1 }
        let isJoined =
            lead != nil
            && operands.indices.allSatisfy { index in
                isBatched(index) ? first(index) == lead : first(index) == 1
            }
        var given: [ValueID?] = []
        for index in operands.indices {
            guard isBatched(index) else {
                given.append(operands[index]?.value)
                continue
            }
            given.append(isJoined ? try joined(index, rank: rank) : try stacked(index, rank: rank))
        }
        return try finish(op, given)
    }
}

extension BatchContext {
    /// A recurrent layer over x [S, B, I], whose rows B are sequences of their own: more examples are more rows.
    ///
    /// `states` are the operands [B, H] with the initial states. Results are [S, B, H] first, then [B, H].
    package mutating func recurrent(_ op: some Operator, states: [Int]) throws(ModelError) -> [ValueID]? {
        let shape = shape()
        guard shape.count == 3, let x = try stacked(0) else { return nil }
        var given: [ValueID?] = []
        for index in operands.indices {
            if index == 0 {
                let rows = try builder.add(Transpose([1, 0, 2, 3]), x)
                given.append(try reshaped(rows, to: [shape[0], count * shape[1], shape[2]]))
            } else if states.contains(index) {
                guard self.shape(index).first == shape[1] else { return nil }
                given.append(try joined(index))
            } else {
                if isBatched(index) { return nil }
                given.append(operands[index]?.value)
            }
        }
        var results = try builder.append(op, given)
        for (index, type) in resultTypes.enumerated() where type.rank == 3 {
            guard let one = type.shape.counts else { return nil }
            let rows = try reshaped(results[index], to: [one[0], count, one[1], one[2]])
            results[index] = try reshaped(try builder.add(Transpose([1, 0, 2, 3]), rows), to: joinedShape(one))
        }
        return results
    }
}
