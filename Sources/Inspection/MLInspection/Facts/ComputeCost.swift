package import MLLowering
import MLFeatureFiles
import MLGraph
package import MLNumerics
import MLOperators
package import MLSpecification

/// The computational cost of one prediction, counted on the graph before optimisation for this machine.
///
/// A multiply–add is a product and its addition: two floating-point operations. In addition to those of convolutions,
/// matrix products and recurrent layers, functions count one operation for each element of their result, reductions one
/// for each element that they read, pools one for each element of a window, batch normalization two and the other
/// normalizations and softmax five for each element. Moving and reshaping data counts nothing. Bodies of branches and
/// loops count once.
package struct ComputeCost: Sendable {
    /// Operations of one kind.
    package struct Row: Sendable {
        package let kind: String
        package var count = 0
        package var multiplyAdds = 0.0
        package var others = 0.0

        package var operations: Double { multiplyAdds * 2 + others }
    }

    /// The costs by floating-point operations, the largest first; kinds that compute nothing are left out.
    package let rows: [Row]
    /// The number of operations whose extents depend on the data; they are not counted.
    package let uncounted: Int
    /// The shapes that were assumed for flexible inputs.
    package let assumedShapes: [String: [Int]]
    /// The maximum size in bytes of the results that are alive at the same time, as float32.
    package let activationBytes: Int

    package var multiplyAdds: Double { rows.reduce(0) { $0 + $1.multiplyAdds } }
    package var operations: Double { rows.reduce(0) { $0 + $1.operations } }

    /// Estimates the cost of one prediction.
    ///
    /// - Parameters:
    ///   - lowered: The model's graph.
    ///   - interface: The model's interface, which declares the default shapes of flexible inputs.
    /// - Throws: An error when the default shapes do not fit the graph.
    package init(_ lowered: LoweredModel, interface: SpecModelDescription) throws(ModelError) {
        var types: [ValueID: ValueType] = [:]
        var assumed: [String: [Int]] = [:]
        for input in lowered.inputs {
            let type = lowered.graph.type(of: input.value)
            guard !type.isBound, let feature = interface.input.first(where: { $0.name == input.name }) else { continue }
            guard let shape = try Self.defaultShape(input, type, feature), shape.count == type.rank else { continue }
            assumed[input.name] = shape
            types[input.value] = type.with(Shape(shape))
        }
        let graph = types.isEmpty ? lowered.graph : try lowered.graph.bound(types)
        var count = CostCount(graph)
        count.add(graph.body)
        rows = count.rows.values.filter { $0.operations > 0 }
            .sorted { ($1.operations, $0.kind) < ($0.operations, $1.kind) }
        uncounted = count.uncounted
        assumedShapes = assumed
        activationBytes = graph.peakLiveBytes
    }

    private static func defaultShape(
        _ input: InputFeature,
        _ type: ValueType,
        _ feature: SpecFeatureDescription
    ) throws(ModelError) -> [Int]? {
        switch (input.form, feature.type.type) {
        case (.array(let mapping), .multiArrayType(let array)?):
            let shape = SampleFeatures.defaultShape(array)
            try MemoryLimit.require(shape, bitWidth: 64)
            return try mapping.graphShape(of: shape)
        case (.image, .imageType(let image)?):
            let size = [Int(clamping: image.height), Int(clamping: image.width)]
            return type.shape.dropLast(2).map { $0.count ?? 1 } + size
        default: return nil
        }
    }
}

/// Sums the costs of a graph's operations with known extents.
private struct CostCount {
    let graph: Graph
    var rows: [String: ComputeCost.Row] = [:]
    var uncounted = 0

    init(_ graph: Graph) { self.graph = graph }

    mutating func add(_ block: Block) {
        for operation in block.operations {
            let name = operation.op.displayName
            for body in operation.blocks { add(body) }
            guard operation.blocks.isEmpty else { continue }
            guard let cost = cost(of: operation) else {
                uncounted += 1
                continue
            }
            rows[name, default: ComputeCost.Row(kind: name)].count += 1
            rows[name]?.multiplyAdds += cost.multiplyAdds
            rows[name]?.others += cost.others
        }
    }

    /// The cost of an operation; `nil` when an extent is unknown.
    private func cost(of operation: Operation) -> (multiplyAdds: Double, others: Double)? {
        let name = operation.op.displayName
        if Self.moving.contains(name) { return (0, 0) }
        guard let result = elements(operation.results.first) else { return nil }
        func operand(_ index: Int) -> [Double]? { shape(operation.operands[safe: index]) }
        switch operation.op {
        case is Convolution, is ConvolutionQuantized:
            guard let weight = operand(1), let outputs = weight.first, outputs > 0 else { return nil }
            let bias = operation.operands[safe: 2] == nil ? 0 : result
            return (result * weight.product / outputs, bias)
        case is ConvolutionTransposed:
            guard let x = operand(0), let weight = operand(1), let inputs = weight.first, inputs > 0 else { return nil }
            return (x.product * weight.product / inputs, operation.operands[safe: 2] == nil ? 0 : result)
        case is Linear, is DynamicLinear:
            guard let depth = operand(0)?.last else { return nil }
            return (result * depth, operation.operands[safe: 2] == nil ? 0 : result)
        case let product as MatMul:
            guard let x = operand(0), !x.isEmpty else { return nil }
            return (result * (x.count > 1 && product.transposeX ? x[x.count - 2] : x[x.count - 1]), 0)
        case let sum as Einsum:
            guard let space = space(of: sum, operation) else { return nil }
            return (space * Double(max(operation.operands.count - 1, 0)), 0)
        case is ScaledDotProductAttention:
            return attention(operation)
        case is LSTM: return recurrent(operation, weight: 3, state: 4, backWeight: 7)
        case is GRU: return recurrent(operation, weight: 2, state: 3, backWeight: nil)
        case is RNN: return recurrent(operation, weight: 2, state: 3, backWeight: nil)
        default: break
        }
        if name.hasPrefix("reduce_") || name == "cumsum" || name == "topk" || name == "argsort" {
            return elements(operation.operands.first ?? nil).map { (0, $0) }
        }
        switch name {
        case "max_pool", "avg_pool", "l2_pool": return pool(operation, result)
        case "batch_norm": return (0, result * 2)
        case "instance_norm", "layer_norm", "l2_norm", "local_response_norm", "softmax": return (0, result * 5)
        default: return (0, result)
        }
    }

    /// The scores for every query and key of a head, and the weighted sums over the values.
    private func attention(_ operation: Operation) -> (multiplyAdds: Double, others: Double)? {
        guard let op = operation.op as? ScaledDotProductAttention, let q = shape(operation.operands[safe: 0]),
            let k = shape(operation.operands[safe: 1]), let v = shape(operation.operands[safe: 2]), q.count > 2
        else { return nil }
        let tokens = op.heads == nil || q.count == 3 ? q.count - 2 : 1
        guard k.count == q.count, v.count == q.count, q[tokens] > 0 else { return nil }
        let heads = q.count == 3 ? Double(op.heads ?? 1) : 1
        let width = q[q.count - 1]
        guard width > 0 else { return nil }
        let scores = q.product / width * k[tokens] * heads
        return (q.product * k[tokens] + v.product * q[tokens], scores * 6)
    }

    private func recurrent(
        _ operation: Operation,
        weight: Int,
        state: Int,
        backWeight: Int?
    ) -> (multiplyAdds: Double, others: Double)? {
        guard let x = shape(operation.operands[safe: 0]), x.count == 3,
            let inputs = shape(operation.operands[safe: weight]), let states = shape(operation.operands[safe: state])
        else { return nil }
        let isBothWays = backWeight.map { operation.operands[safe: $0] != nil } ?? false
        let steps = x[0] * x[1] * (isBothWays ? 2 : 1)
        let gates = inputs.first ?? 0
        return (steps * (inputs.product + states.product), steps * gates * 2)
    }

    private func pool(_ operation: Operation, _ result: Double) -> (multiplyAdds: Double, others: Double)? {
        guard let x = shape(operation.operands[safe: 0]), x.count > 2 else { return nil }
        let kernel: [Int]? =
            switch operation.op {
            case let pool as MaxPool: pool.kernel
            case let pool as AveragePool: pool.kernel
            case let pool as L2Pool: pool.kernel
            default: nil
            }
        let window = kernel.map { $0.map(Double.init).product } ?? x.dropFirst(2).reduce(1, *)
        return (0, result * window)
    }

    /// The product of the extents of all axes that the equation names.
    private func space(of sum: Einsum, _ operation: Operation) -> Double? {
        let left = sum.equation.filter { $0 != " " }.prefix { $0 != "-" }
        var extents: [Character: Double] = [:]
        for (letters, id) in zip(left.split(separator: ","), operation.operands) {
            guard let shape = shape(id), shape.count == letters.count else { return nil }
            for (letter, extent) in zip(letters, shape) { extents[letter] = max(extents[letter] ?? 1, extent) }
        }
        return Array(extents.values).product
    }

    private func elements(_ id: ValueID?) -> Double? { shape(id)?.product }

    private func shape(_ id: ValueID?) -> [Double]? {
        guard let id, let counts = graph.type(of: id).shape.counts else { return nil }
        return counts.map(Double.init)
    }

    /// Operations that only name, move or create values.
    private static let moving: Set<String> = [
        "identity", "reshape", "reshape_like", "transpose", "expand_dims", "squeeze", "concat", "stack", "split",
        "slice_by_index", "slice_by_size", "slice_update", "nn_slice", "nn_regroup", "nn_broadcast_to", "flatten2d",
        "pad", "crop", "tile", "reverse", "reverse_sequence", "gather", "gather_nd", "gather_along_axis", "scatter",
        "scatter_nd", "scatter_along_axis", "shape", "fill", "fill_like", "range_1d", "one_hot", "band_part",
        "depth_to_space", "space_to_depth", "pixel_shuffle", "pixel_unshuffle", "space_to_batch", "batch_to_space",
        "sliding_windows", "upsample_nearest_neighbor", "resize_nearest_neighbor", "cast", "make_list", "list_read",
        "list_write", "list_gather", "list_scatter", "list_length", "read_state", "coreml_update_state", "non_zero",
        "non_maximum_suppression", "classify",
    ]
}

extension Graph {
    /// Operations whose results share their operand's memory.
    private static let views: Set<String> = ["reshape", "expand_dims", "squeeze", "identity", "flatten2d"]

    /// The maximum size in bytes of results and inputs that later operations still need, as float32.
    fileprivate var peakLiveBytes: Int {
        var lastUse: [ValueID: Int] = [:]
        for (location, operation) in body.operations.enumerated() {
            for id in operation.usedValues { lastUse[id] = location }
        }
        for id in body.outputs { lastUse[id] = body.operations.count }
        var ending: [Int: [ValueID]] = [:]
        for (id, location) in lastUse { ending[location, default: []].append(id) }
        // A malicious file may declare inputs whose number of elements overflows.
        func bytes(_ id: ValueID) -> Double {
            guard constant(id) == nil, type(of: id).scalarType != .string, let shape = type(of: id).shape.counts else {
                return 0
            }
            return shape.reduce(4.0) { $0 * Double($1) }
        }
        var isView: Set<ValueID> = []
        var live = body.inputs.reduce(0.0) { $0 + bytes($1) }
        var peak = live
        for (location, operation) in body.operations.enumerated() {
            if Self.views.contains(operation.op.displayName) {
                isView.formUnion(operation.results)
            } else {
                live += operation.results.reduce(0.0) { $0 + bytes($1) }
            }
            peak = max(peak, live)
            for id in ending[location] ?? [] where !isView.contains(id) { live -= bytes(id) }
            for id in operation.results where lastUse[id] == nil && !isView.contains(id) { live -= bytes(id) }
        }
        return Int(saturating: peak)
    }
}

extension Operation {
    /// The operation's operands, and the outer values that its bodies use.
    fileprivate var usedValues: [ValueID] {
        operands.compactMap { $0 } + blocks.flatMap { $0.operations.flatMap(\.usedValues) + $0.outputs }
    }
}

extension [Double] {
    fileprivate var product: Double { reduce(1, *) }
}

extension Array {
    /// The element at `index`, or `nil` beyond the end.
    fileprivate subscript<Wrapped>(safe index: Int) -> Wrapped? where Element == Wrapped? {
        indices.contains(index) ? self[index] : nil
    }
}
