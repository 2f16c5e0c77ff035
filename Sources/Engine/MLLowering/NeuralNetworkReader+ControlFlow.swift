import MLGraph
import MLNumerics
import MLOperators
import MLSpecification

/// Branches and loops.
///
/// Layers assign blobs by name, including those of the networks around them; a graph defines values once. So a branch
/// returns, as results, the blobs that either side assigns, and a loop carries those that its body assigns.
///
/// A break or a continue sets flags of its loop; the rest of the body is then executed under a condition on them.
extension NeuralNetworkReader {
    /// A loop around the layer being read.
    struct Loop {
        /// The blob that becomes nonzero when the current iteration is to end.
        let stopFlag: String
        /// The blob that becomes nonzero when the loop is to end.
        let breakFlag: String
    }

    enum Interruption { case breaks, continues }

    mutating func assign(_ name: String, _ blob: Blob) { blobs[name] = blob }

    // MARK: Branches

    mutating func lower(_ branch: SpecBranchLayerParams, of layer: SpecNeuralNetworkLayer) throws(ModelError) {
        guard let name = layer.input.first, let condition = blobs[name] else {
            throw ModelError(.invalidModel, "the branch has no condition")
        }
        try lower(condition: condition.value, ifBranch: branch.ifBranch.layers, elseBranch: branch.elseBranch.layers)
    }

    private mutating func lower(
        condition: ValueID,
        ifBranch: [SpecNeuralNetworkLayer],
        elseBranch: [SpecNeuralNetworkLayer]
    ) throws(ModelError) {
        if let known = builder.constant(condition)?.values.first {
            return try lower(abs(known) > Self.tolerance ? ifBranch : elseBranch)
        }
        let isTrue = try boolean(condition)
        let location = builder.location
        let sides = [ifBranch, elseBranch]
        let before = blobs
        var candidates = sides.reduce(into: Set()) { $0.formUnion(assignedNames($1)) }
        // A dry run of both sides tells which blobs both have in the end, and with which rank.
        var ranks: [String: Int] = [:]
        for side in sides {
            var trial = self
            trial.builder.beginBlock()
            try trial.lower(side)
            for name in candidates {
                guard let blob = trial.blobs[name] else {
                    candidates.remove(name)
                    continue
                }
                let rank = try trial.unfolded(blob, rankOnly: true)
                if let known = ranks[name], known != rank { candidates.remove(name) }
                ranks[name] = rank
            }
        }
        let names = candidates.sorted()
        var blocks: [Block] = []
        for side in sides {
            blobs = before
            builder.beginBlock()
            try lower(side)
            builder.location = location
            var outputs: [ValueID] = []
            for name in names {
                guard let blob = blobs[name] else { continue }
                outputs.append(try unfolded(blob))
            }
            blocks.append(builder.endBlock(outputs: outputs))
        }
        blobs = before
        let results = try builder.append(Cond(), [isTrue], names: names, blocks: blocks)
        for (name, result) in zip(names, results) { assign(name, Blob(value: result, isFolded: false)) }
    }

    /// Conditions with at most this magnitude are false.
    private static let tolerance = 1e-6

    /// Whether a condition holds.
    private mutating func boolean(_ condition: ValueID) throws(ModelError) -> ValueID {
        if builder.type(of: condition).scalarType == .bool { return condition }
        let limit = builder.constant(Tensor([Float(Self.tolerance)], shape: []))
        return try builder.add(Binary<Greater>(), builder.add(Unary(Abs()), condition), limit)
    }

    /// The rank of a blob in the model.
    private func unfolded(_ blob: Blob, rankOnly: Bool) throws(ModelError) -> Int {
        blob.isFolded ? 5 : builder.shape(of: blob.value).count
    }

    // MARK: Loops

    mutating func lower(_ loop: SpecLoopLayerParams, of layer: SpecNeuralNetworkLayer) throws(ModelError) {
        let location = builder.location
        let depth = loops.count
        let frame = Loop(stopFlag: "stop of loop \(depth)", breakFlag: "break of loop \(depth)")
        let condition = loop.conditionNetwork.layers
        let body = loop.bodyNetwork.layers
        let interrupts = interruptions(in: body)
        if interrupts {
            assign(frame.stopFlag, Blob(value: builder.constant(Tensor([0] as [Float], shape: [1])), isFolded: false))
            assign(frame.breakFlag, Blob(value: builder.constant(Tensor([0] as [Float], shape: [1])), isFolded: false))
        }
        // The condition is computed before the loop and at the end of each iteration, because the body may use its
        // blobs.
        try lower(condition)
        builder.location = location
        var limit: ValueID?
        if let name = layer.input.first {
            guard let blob = blobs[name] else {
                throw ModelError(.invalidModel, "no earlier layer gives the number of iterations '\(name)'")
            }
            limit = blob.value
        }
        loops.append(frame)
        defer { loops.removeLast() }
        let assigned = assignedNames(condition + body).union(interrupts ? [frame.stopFlag, frame.breakFlag] : [])
        let names = try carriedNames(assigned, iteration: [body, condition])
        var start: [ValueID] = []
        for name in names {
            guard let blob = blobs[name] else { continue }
            start.append(try unfolded(blob))
        }
        start.append(builder.constant(Tensor([0] as [Float], shape: [1])))

        let types = try carriedTypes(names, start, iteration: [body, condition])
        let outside = blobs
        let test = try conditionBlock(loop, names, types, limit: limit, frame: interrupts ? frame : nil)
        let iteration = try bodyBlock(names, types, iteration: [body, condition])
        blobs = outside
        builder.location = location
        // Without a condition and an input the number of iterations is fixed.
        let counts = layer.input.isEmpty && (loop.maxLoopIterations > 0 || loop.conditionVar.isEmpty)
        let bound = counts ? Int(clamping: loop.maxLoopIterations) : nil
        let results = try builder.append(WhileLoop(limit: bound), start, names: names, blocks: [test, iteration])
        for (name, result) in zip(names, results) { assign(name, Blob(value: result, isFolded: false)) }
    }

    /// The names among `assigned` that have a value before the loop.
    ///
    /// A blob that only the body assigns, and that later layers use, starts as zeros of the shape that the body gives
    /// it.
    private mutating func carriedNames(
        _ assigned: Set<String>,
        iteration: [[SpecNeuralNetworkLayer]]
    ) throws(ModelError) -> [String] {
        var trial = self
        trial.builder.beginBlock()
        for part in iteration { try trial.lower(part) }
        for name in assigned where blobs[name] == nil {
            guard let blob = trial.blobs[name], !blob.isFolded,
                let shape = trial.builder.shape(of: blob.value).counts
            else { continue }
            let zeros = Tensor(uninitialized: .float32, shape: shape, zeroed: true)
            assign(name, Blob(value: builder.constant(zeros), isFolded: false))
        }
        return assigned.filter { blobs[$0] != nil }.sorted()
    }

    /// Types that hold in every iteration: extents that change become unknown.
    ///
    /// The last is that of the counter.
    private func carriedTypes(
        _ names: [String],
        _ start: [ValueID],
        iteration: [[SpecNeuralNetworkLayer]]
    ) throws(ModelError) -> [ValueType] {
        var types = start.map { builder.type(of: $0) }
        for _ in 0...8 {
            var trial = self
            let block = try trial.bodyBlock(names, types, iteration: iteration)
            let next = block.outputs.map { trial.builder.type(of: $0) }
            var isStable = true
            for index in types.indices {
                guard next[index].rank == types[index].rank else {
                    throw ModelError(
                        .unsupported,
                        "an iteration of the loop changes the rank of '\(index < names.count ? names[index] : "")'"
                    )
                }
                let shape: Shape = zip(types[index].shape, next[index].shape).map { $0 == $1 ? $0 : .unknown }
                if shape != types[index].shape { isStable = false }
                types[index].shape = shape
            }
            if isStable { return types }
        }
        throw ModelError(.unsupported, "the shapes in the loop do not converge")
    }

    private mutating func enter(_ names: [String], _ types: [ValueType]) -> ValueID {
        builder.beginBlock()
        for (name, type) in zip(names, types) {
            assign(name, Blob(value: builder.input(name, type), isFolded: false))
        }
        return builder.input("turns", ValueType(.float32, [1]))
    }

    private mutating func conditionBlock(
        _ loop: SpecLoopLayerParams,
        _ names: [String],
        _ types: [ValueType],
        limit: ValueID?,
        frame: Loop?
    ) throws(ModelError) -> Block {
        let turns = enter(names, types)
        var tests: [ValueID] = []
        let zero = builder.constant(Tensor([0] as [Float], shape: []))
        if let limit { tests.append(try builder.add(Binary<Less>(), turns, limit)) }
        if !loop.conditionVar.isEmpty {
            guard let blob = blobs[loop.conditionVar] else {
                throw ModelError(.invalidModel, "no layer gives the condition '\(loop.conditionVar)'")
            }
            tests.append(try boolean(blob.value))
        }
        if let frame, let flag = blobs[frame.breakFlag] {
            tests.append(try builder.add(Binary<Equal>(), flag.value, zero))
        }
        var result = try builder.add(Cast(to: .bool), builder.constant(Tensor([1] as [Float], shape: [])))
        for test in tests {
            let scalar = try builder.add(Regroup([]), test)
            result = try builder.add(Binary<LogicalAnd>(), result, scalar)
        }
        return builder.endBlock(outputs: [result])
    }

    private mutating func bodyBlock(
        _ names: [String],
        _ types: [ValueType],
        iteration: [[SpecNeuralNetworkLayer]]
    ) throws(ModelError) -> Block {
        let turns = enter(names, types)
        if let flag = loops.last?.stopFlag, blobs[flag] != nil {
            assign(flag, Blob(value: builder.constant(Tensor([0] as [Float], shape: [1])), isFolded: false))
        }
        for part in iteration { try lower(part) }
        var outputs: [ValueID] = []
        for name in names {
            guard let blob = blobs[name] else { continue }
            outputs.append(try unfolded(blob))
        }
        let one = builder.constant(Tensor([1] as [Float], shape: [1]))
        outputs.append(try builder.add(Binary<Add>(), turns, one))
        return builder.endBlock(outputs: outputs)
    }

    // MARK: Break and continue

    mutating func interrupt(_ kind: Interruption) throws(ModelError) {
        guard let loop = loops.last else { throw ModelError(.invalidModel, "the layer is not inside a loop") }
        let one = Blob(value: builder.constant(Tensor([1] as [Float], shape: [1])), isFolded: false)
        assign(loop.stopFlag, one)
        if kind == .breaks { assign(loop.breakFlag, one) }
    }

    /// Appends `rest`, which follows a layer that may have ended the iteration, under a condition on that.
    mutating func lowerUnlessStopped(_ rest: [SpecNeuralNetworkLayer]) throws(ModelError) {
        guard !rest.isEmpty, let loop = loops.last, let flag = blobs[loop.stopFlag] else { return }
        let zero = builder.constant(Tensor([0] as [Float], shape: [1]))
        let runs = try builder.add(Binary<Equal>(), flag.value, zero)
        try lower(condition: runs, ifBranch: rest, elseBranch: [])
    }

    /// Whether `layers` end an iteration of the enclosing loop.
    func interruptions(in layers: [SpecNeuralNetworkLayer]) -> Bool {
        layers.contains { interrupts($0) }
    }

    func interrupts(_ layer: SpecNeuralNetworkLayer) -> Bool {
        switch layer.layer {
        case .loopBreak, .loopContinue: true
        case .branch(let branch):
            interruptions(in: branch.ifBranch.layers) || interruptions(in: branch.elseBranch.layers)
        default: false
        }
    }

    /// Every blob that `layers` may assign, including those assigned within branches and loops.
    private func assignedNames(_ layers: [SpecNeuralNetworkLayer]) -> Set<String> {
        var result: Set<String> = []
        for layer in layers {
            result.formUnion(layer.output)
            switch layer.layer {
            case .branch(let branch):
                result.formUnion(assignedNames(branch.ifBranch.layers))
                result.formUnion(assignedNames(branch.elseBranch.layers))
            case .loop(let loop):
                result.formUnion(assignedNames(loop.conditionNetwork.layers))
                result.formUnion(assignedNames(loop.bodyNetwork.layers))
            case .loopBreak:
                if let loop = loops.last { result.formUnion([loop.stopFlag, loop.breakFlag]) }
            case .loopContinue:
                if let loop = loops.last { result.insert(loop.stopFlag) }
            default: break
            }
        }
        return result
    }
}
