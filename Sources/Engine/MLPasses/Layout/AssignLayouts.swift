package import MLGraph
package import MLNumerics
import MLOperators

extension Graph {
    /// The graph with memory layouts assigned: channels-last inside convolutional parts, row-major elsewhere and at its
    /// inputs and outputs.
    ///
    /// Operations that gain from channels-last (`LayoutRole.channelsLast`) get it; those that work on any layout follow
    /// their operands; a `Relayout` is inserted between different layouts, at most once for each value.
    package func withLayouts() throws(ModelError) -> Graph {
        guard needsLayouts else { return self }
        var counterparts: [ValueID: ValueID] = [:]
        func value(_ id: ValueID, in layout: Layout, _ builder: inout GraphBuilder) throws(ModelError) -> ValueID {
            if builder.layout(of: id) == layout { return id }
            if let known = counterparts[id] { return known }
            let result: ValueID
            if let constant = builder.constant(id) {
                result = builder.constant(constant, name: builder.graph[id].name)
            } else {
                result = try builder.add(Relayout(), id)
            }
            builder.setLayout(result, layout)
            counterparts[id] = result
            counterparts[result] = id
            return result
        }
        let adjacentValues = adjacentValues
        let laidOut = try rebuilt { (id, builder) throws(ModelError) in
            builder.input(self[id].name, type(of: id))
        } output: { (_, new, builder) throws(ModelError) in
            try value(new, in: .rowMajor, &builder)
        } operation: { (operation, operands, builder) throws(ModelError) in
            let operands = builder.alignedRanks(operands, of: operation)
            let choice = builder.layoutChoice(
                operation,
                operands,
                isFollowed: operation.results.contains { adjacentValues.contains($0) },
                hasCounterparts: operands.contains { $0.map { counterparts[$0] != nil } ?? false }
            )
            var placed: [ValueID?] = []
            for (index, operand) in operands.enumerated() {
                guard let operand else {
                    placed.append(nil)
                    continue
                }
                placed.append(try value(operand, in: choice.operands[index], &builder))
            }
            let names = operation.results.map(name(of:))
            let results = try builder.append(operation.op, placed, names: names)
            for result in results where builder.constant(result) == nil { builder.setLayout(result, choice.result) }
            return results
        }
        if Verification.isOn { try laidOut.verify(after: "assignment of layouts") }
        return laidOut
    }
}

extension Graph {
    /// False where everything is row-major: no operation prefers channels-last, and none is left that only has constants as
    /// operands, which the rewrite would fold.
    private var needsLayouts: Bool {
        body.operations.contains { operation in
            guard operation.blocks.isEmpty else { return true }
            let operands = operation.operands
            if !operands.isEmpty, operands.allSatisfy({ $0.map { constant($0) != nil } ?? true }) { return true }
            switch operation.op.layoutRole(self.operands(operands)) {
            case .channelsLast, .channelsLastIfAdjacent: return true
            case .agnostic, .rowMajor: return false
            }
        }
    }

    /// The values used by operations of a layout other than row-major, or of any layout.
    private var adjacentValues: Set<ValueID> {
        var values: Set<ValueID> = []
        for operation in body.operations
        where !operation.blocks.isEmpty || operation.op.layoutRole(operands(operation.operands)) != .rowMajor {
            for case let operand? in operation.operands { values.insert(operand) }
        }
        return values
    }
}

extension GraphBuilder {
    /// The operands, with constants of lower rank padded with leading ones, when that makes the operation work on
    /// any layout.
    fileprivate mutating func alignedRanks(_ operands: [ValueID?], of operation: Operation) -> [ValueID?] {
        guard operation.op.layoutRole(graph.operands(operands)) == .rowMajor, operands.count > 1,
            operands.contains(where: { $0.map { layout(of: $0) } == .channelsLast })
        else { return operands }
        let rank = operands.compactMap { $0.map { type(of: $0).rank } }.max() ?? 0
        var types: [Operands.Operand?] = []
        for operand in operands {
            guard let operand else {
                types.append(nil)
                continue
            }
            var type = type(of: operand)
            guard type.rank == rank || constant(operand) != nil else { return operands }
            type.shape = Shape(repeating: 1, count: rank - type.rank) + type.shape
            types.append(Operands.Operand(type: type, constant: nil))
        }
        guard operation.op.layoutRole(Operands(types)) == .agnostic else { return operands }
        return operands.map { operand in
            guard let operand, let tensor = constant(operand), tensor.shape.count < rank else { return operand }
            return constant(tensor.reshaped([Int](repeating: 1, count: rank - tensor.shape.count) + tensor.shape))
        }
    }

    /// The preferred layout of each operand and of the results.
    ///
    /// - Parameters:
    ///   - operation: An operation of a graph without layouts.
    ///   - operands: Its operands in the new graph.
    ///   - isFollowed: Whether an operation of a layout other than row-major, or of any layout, takes a result.
    ///   - hasCounterparts: Whether an operand exists in both layouts.
    /// - Returns: The layouts.
    fileprivate func layoutChoice(
        _ operation: Operation,
        _ operands: [ValueID?],
        isFollowed: Bool,
        hasCounterparts: Bool
    ) -> (operands: [Layout], result: Layout) {
        let rowMajor = (operands.map { _ in Layout.rowMajor }, Layout.rowMajor)
        let info = graph.operands(operands)
        guard operation.blocks.isEmpty, !operation.results.isEmpty,
            let types = try? operation.op.resultTypes(of: info), let rank = types.first?.rank, (3...5).contains(rank),
            types.allSatisfy({ $0.rank == rank })
        else { return rowMajor }
        var role = operation.op.layoutRole(info)
        if role == .channelsLastIfAdjacent {
            let isFed = operands.contains { $0.map { layout(of: $0) == .channelsLast } ?? false }
            role = isFed || isFollowed || hasCounterparts ? .channelsLast : .rowMajor
        }
        switch role {
        case .rowMajor: return rowMajor
        case .channelsLast, .channelsLastIfAdjacent:
            let layouts = operands.enumerated().map { index, operand -> Layout in
                guard let operand, type(of: operand).rank == rank else { return .rowMajor }
                return index == 0 || constant(operand) == nil ? .channelsLast : .rowMajor
            }
            return (layouts, .channelsLast)
        case .agnostic:
            let follows = operands.contains { operand in
                guard let operand, constant(operand) == nil else { return false }
                return layout(of: operand) == .channelsLast && type(of: operand).rank == rank
            }
            guard follows, isFollowed || !isLarger(types[0], than: operands) else { return rowMajor }
            let layouts = operands.map { operand -> Layout in
                guard let operand, type(of: operand).rank == rank, type(of: operand).shape.elementCount.count != 1
                else {
                    return .rowMajor
                }
                return .channelsLast
            }
            return (layouts, .channelsLast)
        }
    }

    /// Whether a result has at least twice the elements of each operand that is not constant: converting those costs less.
    private func isLarger(_ result: ValueType, than operands: [ValueID?]) -> Bool {
        guard let count = result.shape.elementCount.count else { return false }
        return operands.allSatisfy { operand in
            guard let operand, constant(operand) == nil else { return true }
            return type(of: operand).shape.elementCount.count.map { 2 * $0 <= count } ?? false
        }
    }
}
