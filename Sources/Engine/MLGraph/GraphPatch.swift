package import MLNumerics

/// A change to one block: operations inserted before one of its operations, and values that replace others.
///
/// This is the only way to change a graph. Operations whose results are no longer used are removed when the patch is
/// applied.
package struct GraphPatch: Sendable {
    /// The index of the operation in the block before which the insertions go.
    ///
    /// Everything the insertions use must be defined before it.
    package let anchor: Int
    let insertions: [Operation]
    /// The replaced values and their replacements.
    let replacements: [(old: ValueID, new: ValueID)]
    /// The values that the insertions define, numbered from the end of the graph's.
    let values: [Value]
}

/// Finds patches for one block of a graph.
package protocol Pass: Sendable {
    var name: String { get }
    /// The patches for `block`, each built with `block.patch`. Patches of one call must not touch the same operations.
    func patches(for block: BlockView) throws(ModelError) -> [GraphPatch]
}

/// A pass's view of a block: its operations with producers and users of every value.
package struct BlockView: Sendable {
    package let graph: Graph
    package let block: Block
    /// By value: the operation that defines it, or −1.
    private let producers: [Int32]
    /// The users of value v are `users[firstUser[v]..<firstUser[v + 1]]`.
    private let firstUser: [Int32]
    private let users: [Int32]
    /// By value: whether it leaves the block or a nested block uses it.
    private let escaping: [Bool]

    init(_ block: Block, of graph: Graph) {
        self.graph = graph
        self.block = block
        let count = graph.values.count
        var producers = [Int32](repeating: -1, count: count)
        var firstUser = [Int32](repeating: 0, count: count + 1)
        var escaping = [Bool](repeating: false, count: count)
        for output in block.outputs { escaping[output.index] = true }
        for (index, operation) in block.operations.enumerated() {
            for result in operation.results { producers[result.index] = Int32(index) }
            for case let operand? in operation.operands { firstUser[operand.index + 1] += 1 }
            for inner in operation.blocks { for id in inner.usedValues { escaping[id.index] = true } }
        }
        for value in 0..<count { firstUser[value + 1] += firstUser[value] }
        var next = firstUser
        var users = [Int32](repeating: 0, count: Int(firstUser[count]))
        for (index, operation) in block.operations.enumerated() {
            for case let operand? in operation.operands {
                users[Int(next[operand.index])] = Int32(index)
                next[operand.index] += 1
            }
        }
        self.producers = producers
        self.firstUser = firstUser
        self.users = users
        self.escaping = escaping
    }

    /// False for values that a patch being built defines.
    private func isKnown(_ id: ValueID) -> Bool { id.index < producers.count }

    package var operations: [Operation] { block.operations }
    package func type(of id: ValueID) -> ValueType { graph.type(of: id) }
    package func constant(_ id: ValueID?) -> Tensor? { id.flatMap { graph.constant($0) } }

    /// The index of the operation of this block that defines `id`.
    package func producerIndex(of id: ValueID?) -> Int? {
        guard let id, isKnown(id), producers[id.index] >= 0 else { return nil }
        return Int(producers[id.index])
    }

    /// The operation that defines `id`, if its operator is an `O`.
    package func producer<O: Operator>(of id: ValueID?, as: O.Type) -> (op: O, operation: Operation, index: Int)? {
        guard let index = producerIndex(of: id), let op = operations[index].as(O.self) else { return nil }
        return (op, operations[index], index)
    }

    /// The indices of the operations of this block that use `id`.
    package func users(of id: ValueID) -> [Int] {
        guard isKnown(id) else { return [] }
        return users[Int(firstUser[id.index])..<Int(firstUser[id.index + 1])].map { Int($0) }
    }

    /// The only user of `id`; `nil` when there are several, or it leaves the block, or a nested block uses it.
    package func soleUser(of id: ValueID) -> Int? {
        guard isKnown(id) else { return nil }
        let first = Int(firstUser[id.index])
        guard !escaping[id.index], Int(firstUser[id.index + 1]) == first + 1 else { return nil }
        return Int(users[first])
    }

    /// Whether exactly one operand slot uses `id` and nothing else does.
    package func isUsedOnce(_ id: ValueID) -> Bool { soleUser(of: id) != nil }

    /// A patch that inserts the operations that `build` appends before the operation at `anchor`, and replaces each
    /// `old` value that it returns by the `new` one.
    package func patch(
        before anchor: Int,
        _ build: (inout GraphBuilder) throws(ModelError) -> [(old: ValueID, new: ValueID)]
    ) throws(ModelError) -> GraphPatch {
        var builder = GraphBuilder(extending: graph)
        builder.location = operations[anchor].location
        let replacements = try build(&builder)
        for (old, new) in replacements where !builder.type(of: new).agrees(with: graph.type(of: old)) {
            throw ModelError(
                .invalidModel,
                "a rewrite gives \(builder.type(of: new)) where \(graph.type(of: old)) stood",
                at: operations[anchor].location
            )
        }
        return GraphPatch(
            anchor: anchor,
            insertions: builder.operations,
            replacements: replacements,
            values: builder.additions
        )
    }
}

extension ValueType {
    /// Whether two types are equal where both are known.
    package func agrees(with other: ValueType) -> Bool {
        kind == other.kind && scalarType == other.scalarType && shape.count == other.shape.count
            && zip(shape, other.shape).allSatisfy { !$0.isKnown || !$1.isKnown || $0 == $1 }
    }
}

extension Block {
    /// Every value that operations of this block or of nested ones use, and its outputs.
    package var usedValues: Set<ValueID> {
        var result = Set(outputs)
        for operation in operations {
            for case let operand? in operation.operands { result.insert(operand) }
            for block in operation.blocks { result.formUnion(block.usedValues) }
        }
        return result
    }

    /// The block with every use of a value replaced.
    func replacing(_ replacements: Replacements) -> Block {
        var result = self
        result.outputs = outputs.map(replacements.resolved)
        result.operations = operations.map { $0.replacing(replacements) }
        return result
    }

    /// The block without pure operations whose results are unused.
    package func withoutDeadOperations() -> Block {
        var live = ValueSet(outputs)
        var kept: [Operation] = []
        kept.reserveCapacity(operations.count)
        for operation in operations.reversed() {
            guard !operation.op.isPure || operation.results.contains(where: live.contains) else { continue }
            for case let operand? in operation.operands { live.insert(operand) }
            guard !operation.blocks.isEmpty else {
                kept.append(operation)
                continue
            }
            let blocks = operation.blocks.map { $0.withoutDeadOperations() }
            for block in blocks { for id in block.usedValues { live.insert(id) } }
            kept.append(operation.with(blocks: blocks))
        }
        kept.reverse()
        var result = self
        result.operations = kept
        return result
    }
}

/// The values that replace others, by number.
struct Replacements {
    /// By value: its replacement, or itself.
    private var targets: [Int32]

    /// Of values that may be numbered up to `count`.
    init(count: Int) { targets = (0..<Int32(count)).map { $0 } }

    mutating func replace(_ old: ValueID, by new: ValueID) { targets[old.index] = Int32(new.index) }

    /// The value that finally replaces `id`, or `id` itself.
    func resolved(_ id: ValueID) -> ValueID {
        var index = id.index
        while targets[index] != index { index = Int(targets[index]) }
        return ValueID(index: index)
    }

    fileprivate func changes(_ id: ValueID) -> Bool { targets[id.index] != id.index }
}

extension Operation {
    /// The operation with every use of a value replaced.
    func replacing(_ replacements: Replacements) -> Operation {
        let isChanged = operands.contains { $0.map(replacements.changes) ?? false }
        guard isChanged || !blocks.isEmpty else { return self }
        return with(
            operands: isChanged ? operands.map { $0.map(replacements.resolved) } : nil,
            blocks: blocks.map { $0.replacing(replacements) }
        )
    }
}

/// A set of values, as a flag for each number.
private struct ValueSet {
    private var flags: [Bool] = []

    init(_ values: [ValueID]) { for value in values { insert(value) } }

    mutating func insert(_ id: ValueID) {
        if id.index >= flags.count {
            flags += [Bool](repeating: false, count: max(id.index + 1, 2 * flags.count) - flags.count)
        }
        flags[id.index] = true
    }

    func contains(_ id: ValueID) -> Bool { id.index < flags.count && flags[id.index] }
}

extension Graph {
    /// The graph after one application of `pass` to every block, innermost first, and whether anything changed.
    package func applying(_ pass: some Pass) throws(ModelError) -> (graph: Graph, changed: Bool) {
        var graph = self
        var view: BlockView?
        let changed = try graph.apply(pass, reusing: &view)
        return (graph, changed)
    }

    /// Applies `pass` once to every block, innermost first.
    ///
    /// - Parameters:
    ///   - pass: The pass.
    ///   - view: The view of the body that an earlier pass left unchanged; afterwards that of this body, or `nil`.
    /// - Returns: Whether anything changed.
    /// - Throws: Errors of the pass.
    package mutating func apply(_ pass: some Pass, reusing view: inout BlockView?) throws(ModelError) -> Bool {
        let hasNested = body.operations.contains { !$0.blocks.isEmpty }
        if hasNested { view = nil }
        var changed = false
        var rewritten = body
        if hasNested {
            rewritten = try withErrorContext("pass \(pass.name)") { () throws(ModelError) in
                try nestedRewritten(pass, in: body, &changed)
            }
        }
        let current = view ?? BlockView(rewritten, of: self)
        let patches = try withErrorContext("pass \(pass.name)") { () throws(ModelError) in
            try pass.patches(for: current)
        }
        if patches.isEmpty {
            view = changed || hasNested ? nil : current
        } else {
            view = nil
            changed = true
            rewritten = apply(patches, to: rewritten)
        }
        if changed { body = rewritten.withoutDeadOperations() }
        return changed
    }

    /// `block` after `pass` was applied to the blocks inside it.
    private mutating func nestedRewritten(
        _ pass: some Pass,
        in block: Block,
        _ changed: inout Bool
    ) throws(ModelError) -> Block {
        var block = block
        for index in block.operations.indices where !block.operations[index].blocks.isEmpty {
            var bodies: [Block] = []
            for body in block.operations[index].blocks {
                let inner = try nestedRewritten(pass, in: body, &changed)
                let patches = try pass.patches(for: BlockView(inner, of: self))
                changed = changed || !patches.isEmpty
                bodies.append(patches.isEmpty ? inner : apply(patches, to: inner))
            }
            block.operations[index] = block.operations[index].with(blocks: bodies)
        }
        return block
    }

    /// Splices patches into `block`.
    ///
    /// Values that patches define are renumbered, because each patch was built independently.
    private mutating func apply(_ patches: [GraphPatch], to block: Block) -> Block {
        let base = values.count
        var insertions: [Int: [Operation]] = [:]
        var replaced: [(old: ValueID, new: ValueID)] = []
        for patch in patches {
            let shift = values.count - base
            values.append(contentsOf: patch.values)
            func moved(_ id: ValueID) -> ValueID { id.index < base ? id : ValueID(index: id.index + shift) }
            insertions[patch.anchor, default: []] += patch.insertions.map { operation in
                shift == 0
                    ? operation
                    : operation.with(
                        operands: operation.operands.map { $0.map(moved) },
                        results: operation.results.map(moved)
                    )
            }
            for (old, new) in patch.replacements {
                let target = moved(new)
                if values[target.index].name.isEmpty { values[target.index].name = values[old.index].name }
                replaced.append((old, target))
            }
        }
        var replacements = Replacements(count: values.count)
        for (old, new) in replaced { replacements.replace(old, by: new) }
        var result = block
        result.outputs = block.outputs.map(replacements.resolved)
        result.operations = []
        result.operations.reserveCapacity(block.operations.count + insertions.count)
        for (index, operation) in block.operations.enumerated() {
            for inserted in insertions[index] ?? [] { result.operations.append(inserted.replacing(replacements)) }
            result.operations.append(operation.replacing(replacements))
        }
        return result
    }
}
