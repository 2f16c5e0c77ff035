import MLGraph
import MLKernels
import MLNumerics
import MLPasses
import MLRuntime
import Synchronization

/// Computes recorded operations: as graphs of bounded size, each optimised and planned like a model's.
enum LazyEvaluation {
    /// The most operations of one graph: the passes take longer than in proportion to them.
    private static let chunkCount = 512
    /// Plans that need more working memory are not kept, because a kept plan keeps its memory.
    private static let keptArenaByteCount = 64 << 20
    private static let programs = Mutex(RecentCache<LazyProgram.Key, GraphExecutable>(limit: 64))

    /// Computes the results of `targets` and of all other operations on the way that somebody refers to.
    static func run(_ targets: [LazyStep]) throws(ModelError) {
        let order = try pending(targets)
        guard !order.isEmpty else { return }
        var chunkOfLastUse: [ObjectIdentifier: Int] = [:]
        for (position, entry) in order.enumerated() {
            for source in entry.recorded.sources {
                chunkOfLastUse[ObjectIdentifier(source.step)] = position / chunkCount
            }
        }
        let wanted = Set(targets.map { ObjectIdentifier($0) })
        for start in stride(from: 0, to: order.count, by: chunkCount) {
            let chunk = Array(order[start..<min(start + chunkCount, order.count)])
            let outputs = chunk.indices.filter { index in
                let step = chunk[index].step
                return wanted.contains(ObjectIdentifier(step)) || step.useCount.load(ordering: .relaxed) > 0
                    || chunkOfLastUse[ObjectIdentifier(step)] ?? 0 > start / chunkCount
            }
            try Cancellation.forSteps?.check()
            try compute(chunk, outputs)
        }
    }

    /// A step that is still to be computed.
    struct Entry {
        let step: LazyStep
        let recorded: LazyStep.Recorded
    }

    /// The operations that `targets` need, operands first.
    ///
    /// Operations without operands that are tensors, such as random numbers, are computed on the way.
    private static func pending(_ targets: [LazyStep]) throws(ModelError) -> [Entry] {
        var order: [Entry] = []
        var visited: Set<ObjectIdentifier> = []
        var stack: [(step: LazyStep, entry: Entry?)] = targets.map { ($0, nil) }
        while let (step, entry) = stack.popLast() {
            if let entry {
                order.append(entry)
                continue
            }
            guard visited.insert(ObjectIdentifier(step)).inserted, let recorded = step.recorded else { continue }
            let sources = recorded.sources
            if sources.isEmpty {
                step.keep(try evaluated(recorded, step.types))
                continue
            }
            stack.append((step, Entry(step: step, recorded: recorded)))
            for source in sources.reversed() { stack.append((source.step, nil)) }
        }
        return order
    }

    private static func evaluated(_ recorded: LazyStep.Recorded, _ types: [ValueType]) throws(ModelError) -> [Tensor] {
        let operands = recorded.operands.map { operand -> Tensor? in
            switch operand {
            case .scalar(let tensor), .parameter(let tensor): tensor
            case .source: nil
            }
        }
        return try recorded.op.reference(ReferenceOperands(operands, resultTypes: types))
    }

    private static func compute(_ chunk: [Entry], _ outputs: [Int]) throws(ModelError) {
        let program = try LazyProgram(chunk, outputs)
        // Numbers that change from one evaluation to the next become inputs, so that the plan stays.
        let fixed = program.key(scalarsAreInputs: false)
        let open = program.key(scalarsAreInputs: true)
        var form = fixed
        var found = programs.withLock { $0.find(fixed) }
        if found == nil {
            found = programs.withLock { $0.find(open) }
            if found != nil { form = open }
        }
        let executable: GraphExecutable
        if let found {
            executable = found
        } else {
            if seen.withLock({ $0.find(open.hash) != nil }) { form = open }
            executable = try plan(program.graph(scalarsAreInputs: form.scalarsAreInputs))
            _ = seen.withLock { $0.keep(true, for: open.hash) }
            let isKept = try executable.program(for: program.inputs(form)).plan.arenaByteCount <= keptArenaByteCount
            if isKept { _ = programs.withLock { $0.keep(executable, for: form) } }
        }
        var results = try executable.run(program.inputs(form))[...]
        for index in outputs {
            let step = chunk[index].step
            step.keep(Array(results.prefix(step.types.count)))
            results = results.dropFirst(step.types.count)
        }
    }

    /// The forms, with scalars as inputs, that have been planned.
    private static let seen = Mutex(RecentCache<Int, Bool>(limit: 256))

    private static func plan(_ graph: Graph) throws(ModelError) -> GraphExecutable {
        try GraphExecutable(
            try PassPipeline.prepare(graph),
            pipeline: GraphExecutable.Pipeline(
                optimize: { (graph) throws(ModelError) in try PassPipeline.optimize(graph) },
                layOut: { (graph) throws(ModelError) in try PassPipeline.layOut(graph) }
            )
        )
    }
}

extension LazyStep.Recorded {
    /// The operands that are results of other steps.
    var sources: [LazySource] {
        operands.compactMap { if case .source(let source) = $0 { source } else { nil } }
    }
}
