import Dispatch
package import MLGraph
package import MLKernels
package import MLNumerics
import Synchronization

/// An executable graph: binds itself to each new set of input shapes once, and runs the bound plans.
///
/// Immutable to its users and safe to call from any number of threads.
package final class GraphExecutable: Sendable {
    /// The rewrites that binding applies.
    package struct Pipeline: Sendable {
        /// Simplifies and fuses a graph; called on the bound graph.
        package let optimize: @Sendable (Graph) throws(ModelError) -> Graph
        /// Assigns memory layouts of a part that becomes one plan; its inputs and outputs stay row-major.
        package let layOut: @Sendable (Graph) throws(ModelError) -> Graph

        package init(
            optimize: @escaping @Sendable (Graph) throws(ModelError) -> Graph,
            layOut: @escaping @Sendable (Graph) throws(ModelError) -> Graph
        ) {
            self.optimize = optimize
            self.layOut = layOut
        }

        /// Runs graphs unchanged.
        package static let none = Pipeline(
            optimize: { (graph) throws(ModelError) in graph },
            layOut: { (graph) throws(ModelError) in graph }
        )
    }

    /// An input that the caller gives up, and the output that replaces it: a state before and after a run.
    ///
    /// When the plan computes the output in the input's memory, the output's tensor is the input's.
    package struct Overwrite: Sendable {
        package let input: Int
        package let output: Int

        package init(input: Int, output: Int) {
            self.input = input
            self.output = output
        }
    }

    package let graph: Graph
    let pipeline: Pipeline
    /// The indices of inputs whose contents determine shapes, ascending.
    private let contentInputs: [Int]
    private let overwrites: [Overwrite]
    let kernels: KernelTable
    /// The only program, when every input has a fixed shape.
    private let fixed: BoundProgram?
    private let cache = Mutex(RecentCache<BindingKey, BoundProgram>(limit: 16))
    private let ahead = Mutex(Ahead())
    private let plansAhead: Bool?

    /// What is known of the next binding.
    private struct Ahead {
        var forecast = BindingForecast()
        /// The program that another thread binds, or has bound, before it is requested.
        var pending: (key: BindingKey, program: PendingProgram)?
    }

    /// Prepares a graph for prediction.
    ///
    /// - Parameters:
    ///   - graph: The graph.
    ///   - pipeline: Optimizes a bound graph and chooses its memory layouts.
    ///   - contentInputs: The inputs that bind by contents, not only by shape.
    ///   - overwrites: Inputs whose memory an output may reuse; see `Overwrite`.
    ///   - isOptimized: Whether the graph is already bound and rewritten by `pipeline`.
    ///   - kernels: The kernels of every plan, now and later.
    ///   - plansAhead: Whether programs are bound before they are requested, where that can be foreseen; `nil` where there
    ///     are at least four workers. With two, planning and the prediction beside it delay each other by as much as is
    ///     saved.
    /// - Throws: Errors of binding and planning, when the graph's shapes are fixed.
    package init(
        _ graph: Graph,
        pipeline: Pipeline,
        contentInputs: Set<Int> = [],
        overwrites: [Overwrite] = [],
        isOptimized: Bool = false,
        kernels: KernelTable = .current,
        plansAhead: Bool? = nil
    ) throws(ModelError) {
        self.graph = graph
        self.plansAhead = plansAhead
        self.pipeline = pipeline
        self.contentInputs = contentInputs.sorted()
        self.overwrites = overwrites
        self.kernels = kernels
        let previous = kernels.enter()
        defer { KernelTable.leave(to: previous) }
        if contentInputs.isEmpty, graph.inputs.allSatisfy({ graph.type(of: $0).isBound }) {
            let bound = isOptimized ? graph : try pipeline.optimize(try graph.bound())
            fixed = try BoundProgram(optimized: bound, pipeline: pipeline, kernels: kernels, overwrites: overwrites)
        } else {
            fixed = nil
        }
    }

    /// True when there is one plan for the whole graph, whatever the inputs.
    package var isOnePlan: Bool { fixed.map { $0.tail == nil } ?? false }

    /// The constants that the steps of the one plan use, other than those packed by kernels.
    package var plannedConstants: [Tensor] { fixed.map { $0.plan.constants + $0.plan.compressedConstants } ?? [] }

    /// Runs the graph.
    ///
    /// - Parameters:
    ///   - inputs: One tensor for each input, of its scalar type and rank.
    ///   - backings: Tensors that outputs are written to, by output; others are allocated.
    ///   - observer: Is notified of every step.
    /// - Returns: The outputs in their order.
    /// - Throws: `.invalidInput` when inputs do not fit the graph, `.cancelled` when the task is cancelled.
    package func run(
        _ inputs: [Tensor],
        backings: [Tensor?] = [],
        observer: (any StepObserver)? = nil
    ) throws(ModelError) -> [Tensor] {
        try program(for: inputs).run(inputs, backings: backings, observer: observer)
    }

    /// The program for inputs of these shapes, bound now if it is new.
    package func program(for inputs: [Tensor]) throws(ModelError) -> BoundProgram {
        if let fixed {
            try fixed.check(inputs) { graph.label(graph.inputs[$0]) }
            return fixed
        }
        guard inputs.count == graph.inputs.count else {
            throw ModelError(.invalidInput, "\(inputs.count) inputs for a graph that takes \(graph.inputs.count)")
        }
        let key = BindingKey(
            shapes: inputs.map(\.shape),
            contents: contentInputs.map { inputs[$0].values }
        )
        if let known = cache.withLock({ $0.find(key) }) { return known }
        for (id, tensor) in zip(graph.inputs, inputs) {
            let type = ValueType(tensor.scalarType, Shape(tensor.shape), kind: graph.type(of: id).kind)
            guard type.agrees(with: graph.type(of: id)) else {
                throw ModelError(
                    .invalidInput,
                    "input '\(graph.label(id))' is \(type), the model takes \(graph.type(of: id))"
                )
            }
        }
        let scalarTypes = inputs.map(\.scalarType)
        let pending = ahead.withLock { $0.pending?.key == key ? $0.pending?.program : nil }
        let program = try bind(key, scalarTypes, contentInputs.map { inputs[$0] }, pending)
        let kept = cache.withLock { $0.keep(program, for: key) }
        planAhead(after: key, scalarTypes)
        return kept
    }

    /// The program that was, or is being, bound ahead; bound now where there is none.
    private func bind(
        _ key: BindingKey,
        _ scalarTypes: [ScalarType],
        _ contents: [Tensor],
        _ pending: PendingProgram?
    ) throws(ModelError) -> BoundProgram {
        guard let pending else { return try bind(key, scalarTypes, contents) }
        // One that has not begun may wait for a thread that waits for it.
        guard pending.claim() else {
            if let program = pending.wait() { return program }
            return try bind(key, scalarTypes, contents)
        }
        do throws(ModelError) {
            let program = try bind(key, scalarTypes, contents)
            pending.finish(program)
            return program
        } catch {
            pending.finish(nil)
            throw error
        }
    }

    /// Binds the graph to inputs of these shapes, and to the contents of those that bind by contents, and plans it.
    private func bind(
        _ key: BindingKey,
        _ scalarTypes: [ScalarType],
        _ contents: [Tensor]
    ) throws(ModelError) -> BoundProgram {
        var types: [ValueID: ValueType] = [:]
        for (index, id) in graph.inputs.enumerated() {
            types[id] = ValueType(scalarTypes[index], Shape(key.shapes[index]), kind: graph.type(of: id).kind)
        }
        var constants: [ValueID: Tensor] = [:]
        for (index, tensor) in zip(contentInputs, contents) { constants[graph.inputs[index]] = tensor }
        // Constants fold with the kernels of the plan.
        let previous = kernels.enter()
        defer { KernelTable.leave(to: previous) }
        return try BoundProgram(
            optimized: try pipeline.optimize(try graph.bound(types, constants: constants)),
            pipeline: pipeline,
            kernels: kernels,
            overwrites: overwrites
        )
    }

    /// Starts to bind the program that will probably be requested after the one for `key`, on another thread.
    private func planAhead(after key: BindingKey, _ scalarTypes: [ScalarType]) {
        guard plansAhead ?? (Workers.count >= 4) else { return }
        let started = ahead.withLock { ahead -> (key: BindingKey, program: PendingProgram)? in
            ahead.pending = nil
            guard let next = ahead.forecast.next(after: key), isPossible(next, scalarTypes) else { return nil }
            ahead.pending = (next, PendingProgram())
            return ahead.pending
        }
        guard let started else { return }
        DispatchQueue.global(qos: .utility).async {
            guard started.program.claim() else { return }
            let contents = zip(self.contentInputs, started.key.contents).map { index, values in
                Tensor(values: values, scalarType: scalarTypes[index], shape: started.key.shapes[index])
            }
            // An error is thrown again, and reported, when the program is requested.
            started.program.finish(try? self.bind(started.key, scalarTypes, contents))
        }
    }

    private func isPossible(_ key: BindingKey, _ scalarTypes: [ScalarType]) -> Bool {
        let fits = graph.inputs.indices.allSatisfy { index in
            let (type, shape) = (graph.type(of: graph.inputs[index]), key.shapes[index])
            return shape.allSatisfy { $0 > 0 }
                && ValueType(scalarTypes[index], Shape(shape), kind: type.kind).agrees(with: type)
        }
        guard fits else { return false }
        // Contents that stay in the range of their type when they continue.
        let maximum = Double(1 << 30)
        return zip(contentInputs, key.contents).allSatisfy { index, values in
            guard scalarTypes[index] == .int32 || scalarTypes[index] == .int64 else { return false }
            return key.shapes[index].elementCount == values.count && values.allSatisfy { $0.magnitude < maximum }
        }
    }
}

/// A program that one thread binds and others wait for.
private final class PendingProgram: Sendable {
    private let group = DispatchGroup()
    private let program = Mutex<BoundProgram?>(nil)
    private let isClaimed = Mutex(false)

    init() { group.enter() }

    /// Whether nobody else binds it: the caller has to, and to call `finish`.
    func claim() -> Bool {
        isClaimed.withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
    }

    /// Ends the waiting, with the program or `nil` when it could not be bound.
    func finish(_ bound: BoundProgram?) {
        program.withLock { $0 = bound }
        group.leave()
    }

    /// Waits for the program; `nil` when it could not be bound.
    func wait() -> BoundProgram? {
        group.wait()
        return program.withLock { $0 }
    }
}

/// Is notified of the duration of each step.
package protocol StepObserver: AnyObject {
    func didRun(_ step: Plan.Step, nanoseconds: UInt64)
}
