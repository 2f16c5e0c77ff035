import MLGraph
import MLKernels
package import MLNumerics

/// Turns a bound graph into a plan: chooses kernels, computes lifetimes, assigns offsets.
struct Planner {
    private let graph: Graph
    private let kernels: KernelTable
    private var positions: [(base: Plan.Base, offset: Int)?]
    /// By value, or −1.
    private var slotOf: [Int32]
    private var slotValues: [ValueID] = []
    /// By value, the value whose memory it shares, and the offset in it.
    private var roots: [(root: ValueID, offset: Int)?]
    private var constants: [Tensor] = []
    /// Constants that kernels read in the compressed form of their file.
    private var compressed: [Tensor] = []
    private var slots: [Int32] = []
    private var steps: [Plan.Step] = []
    /// The operations that became steps.
    private var planned: Set<Int> = []
    private var lifetimes: [ValueID: MemoryPlan.Lifetime] = [:]
    /// By value, the last operation that uses it.
    private var lastUses: [Int?]
    private var scratchByteCount = 0
    /// For each output the input whose memory it may reuse.
    private let overwritten: [Int: ValueID]
    /// The values that may be written over such an input: one after another, each computed from the previous one.
    private var successors: Set<ValueID> = []

    private init(_ graph: Graph, _ kernels: KernelTable, _ overwrites: [GraphExecutable.Overwrite]) {
        self.graph = graph
        self.kernels = kernels
        positions = []
        slotOf = [Int32](repeating: -1, count: graph.valueCount)
        roots = [(root: ValueID, offset: Int)?](repeating: nil, count: graph.valueCount)
        lastUses = [Int?](repeating: nil, count: graph.valueCount)
        overwritten = Dictionary(
            overwrites.map { ($0.output, graph.inputs[$0.input]) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Plans `graph`, whose values all have known extents, for `kernels`.
    static func plan(
        _ graph: Graph,
        kernels: KernelTable,
        overwrites: [GraphExecutable.Overwrite] = []
    ) throws(ModelError) -> Plan {
        var planner = Planner(graph, kernels, overwrites)
        // Operators choose and pack for the table that is entered.
        let previous = kernels.enter()
        defer { KernelTable.leave(to: previous) }
        return try planner.plan()
    }

    private mutating func plan() throws(ModelError) -> Plan {
        for (index, operation) in graph.body.operations.enumerated() {
            for case let operand? in operation.operands { lastUses[operand.index] = index }
        }
        let end = graph.body.operations.count
        for output in graph.body.outputs { lastUses[output.index] = end }
        for (output, input) in overwritten { allowOverwriting(input, for: graph.body.outputs[output]) }
        for (index, operation) in graph.body.operations.enumerated() {
            try withErrorContext(operation.location) { () throws(ModelError) in try add(operation, at: index) }
        }
        return try finished()
    }

    /// Allows `input` to be overwritten when `output` is computed from it by operations that replace parts of their
    /// first operand.
    private mutating func allowOverwriting(_ input: ValueID, for output: ValueID) {
        var producers: [ValueID: Operation] = [:]
        for operation in graph.body.operations {
            if let result = operation.results.first { producers[result] = operation }
        }
        var chain: Set<ValueID> = []
        var value = output
        while value != input {
            guard let operand = producers[value]?.operands.first ?? nil,
                graph.type(of: operand) == graph.type(of: value), chain.insert(value).inserted
            else { return }
            value = operand
        }
        successors.formUnion(chain)
        lifetimes[input] = MemoryPlan.Lifetime(byteCount: byteCount(input), first: 0, last: lastUses[input.index] ?? 0)
    }

    private func isInput(_ id: ValueID) -> Bool { graph.inputs.contains(id) }

    private func buffer(_ id: ValueID) throws(ModelError) -> KernelRequest.Buffer {
        let type = graph.type(of: id)
        guard let shape = type.shape.counts else {
            throw ModelError(.invalidModel, "the extents of '\(graph.label(id))' are not known: \(type)")
        }
        return KernelRequest.Buffer(
            scalarType: type.scalarType,
            logicalShape: shape,
            layout: graph.layout(of: id),
            constant: graph.constant(id)
        )
    }

    private func request(_ operation: Operation) throws(ModelError) -> KernelRequest {
        var operands: [KernelRequest.Buffer?] = []
        for operand in operation.operands {
            operands.append(try operand.map { id throws(ModelError) in try buffer(id) })
        }
        var results: [KernelRequest.Buffer] = []
        for result in operation.results { results.append(try buffer(result)) }
        return KernelRequest(operands: operands, results: results)
    }

    private mutating func add(_ operation: Operation, at index: Int) throws(ModelError) {
        let request = try request(operation)
        for kernel in operation.op.kernels(for: request) {
            if let alias = kernel.alias, let operand = operation.operands[alias.operand] {
                let (root, offset) = root(of: operand)
                roots[operation.results[0].index] = (root, offset + alias.byteOffset)
                extend(root, to: lastUses[operation.results[0].index] ?? index)
                return
            }
            let body: Plan.Step.Body
            if let checked = kernel.checked {
                body = .checked(checked)
            } else if let prepared = kernel.prepare() {
                body = .kernel(prepared)
            } else {
                continue
            }
            scratchByteCount = max(scratchByteCount, MemoryPlan.aligned(kernel.scratchByteCount))
            reuseOperandBuffer(operation, kernel.inPlaceOperands, at: index)
            compressed += kernel.compressedOperands.compactMap { request.operand($0)?.constant }
            let unseen = kernel.packedOperands + kernel.compressedOperands
            append(operation, request, kernel.name, body, without: unseen, at: index)
            return
        }
        append(operation, request, "reference", .reference(operation.op, request), at: index)
    }

    /// Lets the first result reuse the buffer of an operand that is not needed after this step.
    private mutating func reuseOperandBuffer(_ operation: Operation, _ candidates: [Int], at index: Int) {
        for candidate in candidates {
            guard candidate < operation.operands.count, let operand = operation.operands[candidate] else { continue }
            let (root, offset) = root(of: operand)
            guard offset == 0, let lifetime = lifetimes[root], lifetime.last <= index,
                lifetime.byteCount == byteCount(operation.results[0]),
                !isInput(root) || successors.contains(operation.results[0]),
                operation.operands.filter({ $0.map { self.root(of: $0).root } == root }).count == 1
            else { continue }
            roots[operation.results[0].index] = (root, 0)
            extend(root, to: lastUses[operation.results[0].index] ?? index)
            return
        }
    }

    private mutating func append(
        _ operation: Operation,
        _ request: KernelRequest,
        _ kernelName: String,
        _ body: Plan.Step.Body,
        without unseen: [Int] = [],
        at index: Int
    ) {
        let firstSlot = slots.count
        planned.insert(index)
        for (position, operand) in operation.operands.enumerated() {
            slots.append(unseen.contains(position) ? -1 : operand.map { slot(of: $0) } ?? -1)
        }
        for result in operation.results {
            if roots[result.index] == nil {
                lifetimes[result] = MemoryPlan.Lifetime(
                    byteCount: byteCount(result),
                    first: index,
                    last: max(lastUses[result.index] ?? index, index)
                )
            }
            slots.append(slot(of: result))
        }
        steps.append(
            Plan.Step(
                location: operation.location,
                operatorName: operation.op.displayName,
                kernelName: kernelName,
                body: body,
                shapes: request.results.map(\.shape),
                operandCount: operation.operands.count,
                firstSlot: firstSlot,
                slotCount: slots.count - firstSlot
            )
        )
    }

    private func byteCount(_ id: ValueID) -> Int {
        let type = graph.type(of: id)
        return type.scalarType.byteCount(of: type.shape.counts?.elementCount ?? 0)
    }

    private func root(of id: ValueID) -> (root: ValueID, offset: Int) { roots[id.index] ?? (id, 0) }

    private mutating func extend(_ root: ValueID, to index: Int) {
        guard let lifetime = lifetimes[root] else { return }
        lifetimes[root]?.last = max(lifetime.last, index)
    }

    private mutating func slot(of id: ValueID) -> Int32 {
        guard slotOf[id.index] < 0 else { return slotOf[id.index] }
        let slot = Int32(positions.count)
        slotOf[id.index] = slot
        slotValues.append(id)
        positions.append(nil)
        return slot
    }

    private mutating func finished() throws(ModelError) -> Plan {
        let outputValues = graph.body.outputs
        var outputs: [Plan.Output] = []
        var outputOf: [ValueID: Int] = [:]
        for (index, id) in outputValues.enumerated() {
            let (root, offset) = root(of: id)
            if let input = overwritten[index], root == input, offset == 0, lifetimes[root] != nil,
                let position = graph.inputs.firstIndex(of: input)
            {
                outputs.append(.input(position))
            } else if lifetimes[root] != nil, !isInput(root), offset == 0, byteCount(root) == byteCount(id),
                outputOf[root] == nil
            {
                outputOf[root] = index
                outputs.append(.direct)
            } else {
                outputs.append(.copy(slot: slot(of: id)))
            }
        }
        let owners = lifetimes.keys.filter { outputOf[$0] == nil && !isInput($0) }.sorted { $0.index < $1.index }
        let memory = MemoryPlan(owners.map { lifetimes[$0]! })
        try MemoryLimit.require(
            byteCount: memory.byteCount + scratchByteCount + outputOf.keys.reduce(0) { $0 + byteCount($1) },
            for: "the model with inputs \(graph.inputs.map(graph.type(of:)))"
        )
        var bases: [ValueID: (base: Plan.Base, offset: Int)] = [:]
        for (owner, offset) in zip(owners, memory.offsets) { bases[owner] = (.arena, offset) }
        for (root, index) in outputOf { bases[root] = (.output(index), 0) }
        for (index, id) in graph.inputs.enumerated() { bases[id] = (.input(index), 0) }
        for (slot, id) in slotValues.enumerated() {
            let (root, offset) = root(of: id)
            if bases[root] == nil, let tensor = graph.constant(root) {
                guard !tensor.storage.isAbsent else {
                    throw ModelError(
                        .absentConstant,
                        "the contents of '\(graph.label(root))' are missing; compile the model again"
                    )
                }
                // Requested now, so that the file with the elements is not needed later.
                _ = tensor.address
                bases[root] = (.constant(constants.count), 0)
                constants.append(
                    graph[root].layout == .channelsLast
                        ? tensor.permuted(Layout.channelsLast.permutation(rank: tensor.shape.count)) : tensor
                )
            }
            positions[slot] = bases[root].map { ($0.base, $0.offset + offset) } ?? (.arena, 0)
        }
        if Verification.isOn { try verify(bases) }
        return Plan(
            steps: steps,
            kernels: kernels,
            inputTypes: graph.inputs.map(graph.type(of:)),
            outputTypes: outputValues.map(graph.type(of:)),
            memory: (
                memory.byteCount, scratchByteCount,
                lifetimes.reduce(0) { isInput($1.key) ? $0 : $0 + $1.value.byteCount }
            ),
            slots: slots,
            positions: positions.map { $0 ?? (.arena, 0) },
            outputs: outputs,
            constants: constants,
            compressedConstants: compressed
        )
    }
}

extension Planner {
    /// Verifies the plan by following its steps and the assigned locations of values.
    private func verify(_ bases: [ValueID: (base: Plan.Base, offset: Int)]) throws(ModelError) {
        var positions: [ValueID: PlanVerifier.BufferRange] = [:]
        for id in slotValues + graph.body.outputs + graph.inputs + graph.body.operations.flatMap(\.results) {
            let (root, offset) = root(of: id)
            guard let base = bases[root] else { continue }
            // An input may be declared larger than any memory; no step writes to it.
            let type = graph.type(of: id)
            guard let extents = type.shape.counts,
                (try? MemoryLimit.require(extents, bitWidth: type.scalarType.bitWidth)) != nil
            else { continue }
            let start = base.offset + offset
            positions[id] = PlanVerifier.BufferRange(base.base, start..<start + byteCount(id))
        }
        let overwrittenInputs = Set(overwritten.values.compactMap { graph.inputs.firstIndex(of: $0) })
        try PlanVerifier(graph: graph, positions: positions, steps: planned, overwrittenInputs: overwrittenInputs)
            .verify()
    }
}

extension ModelError.Code {
    /// Only packed forms of a constant exist, but a kernel needs its elements: read the model's specification.
    package static let absentConstant = Self("absent constant")
}
