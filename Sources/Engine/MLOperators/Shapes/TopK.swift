package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// The `count` greatest (or, ascending, least) elements along `axis`, best first, and their indices.
///
/// Equal elements keep their order. [d0…dn] → two tensors with extent `count` at `axis`: values like `x`, indices as
/// integers (absent when `givesIndices` is false).
package struct TopK: Operator {
    package static let names: [MILName] = ["topk"]
    /// −1 for all.
    package var count: Int
    package var axis: Int
    package var isAscending: Bool
    package var givesIndices: Bool
    package var indexType: ScalarType

    package init(
        count: Int,
        axis: Int = -1,
        isAscending: Bool = false,
        givesIndices: Bool = true,
        indexType: ScalarType = .int32
    ) {
        self.count = count
        self.axis = axis
        self.isAscending = isAscending
        self.givesIndices = givesIndices
        self.indexType = indexType
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        count = try arguments.int("k", default: 1)
        axis = try arguments.int("axis", default: -1)
        isAscending = try arguments.bool("ascending", default: false)
        // Unsorted results may have any order, including this one.
        arguments.ignore("sort")
        givesIndices = try arguments.bool("return_indices", default: true)
        indexType = try arguments.indexType("output_indices_dtype")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let position = try operands.axis(axis)
        var shape = type.shape
        guard count >= -1, count <= type.shape[position].count ?? Int.max else {
            throw ModelError(.invalidModel, "\(count) elements are asked of an axis that has \(type.shape[position])")
        }
        if count >= 0 { shape[position] = Dimension(count) }
        return givesIndices ? [type.with(shape), ValueType(indexType, shape)] : [type.with(shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let position = try normalizedAxis(axis, rank: x.shape.count)
        let values = x.values
        var shape = x.shape
        if count >= 0 { shape[position] = count }
        guard shape[position] <= x.shape[position] else {
            throw ModelError(.invalidInput, "\(count) elements are asked of an axis that has \(x.shape[position])")
        }
        let order = sortedIndices(values, shape: x.shape, axis: position, isAscending: isAscending)
        let view = StridedView(dense: x.shape).sliced(position, from: 0, count: shape[position])
        let indices = view.read(order)
        let source = Lines(shape: x.shape, axis: position)
        let target = Lines(shape: shape, axis: position)
        var best = [Double](repeating: 0, count: indices.count)
        for index in indices.indices where target.count > 0 {
            let start = index / (target.count * target.stride) * source.count * source.stride + index % target.stride
            best[index] = values[start + indices[index] * source.stride]
        }
        let found = Tensor(values: best, scalarType: x.scalarType, shape: shape)
        guard givesIndices else { return [found] }
        return [found, Tensor(values: indices.map(Double.init), scalarType: indexType, shape: shape)]
    }
}

extension TopK: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("topK", \.topK) { parameters, context throws(ModelError) in
                var op = TopK(
                    count: Int(clamping: parameters.k),
                    axis: Int(clamping: parameters.axis),
                    isAscending: parameters.useBottomK
                )
                let x = try context.input()
                guard context.inputs.count > 1 else {
                    try context.setOutputs(try context.append(op, [x]))
                    return
                }
                // The second input is the number of elements: all are sorted, then the first ones are taken.
                op.count = -1
                let rank = context.rank(of: x)
                let axis = try normalizedAxis(op.axis, rank: rank)
                let count = try context.add(
                    Reshape(),
                    context.integers(context.input(1)),
                    context.constant(integers: [1])
                )
                var parts: [ValueID?] = []
                for position in 0..<rank { parts.append(position == axis ? count : context.constant(integers: [-1])) }
                let sizes = try context.append(Concat(axis: 0), parts)[0]
                let begins = context.constant(integers: [Int](repeating: 0, count: rank))
                var outputs: [ValueID] = []
                for result in try context.append(op, [x]) {
                    outputs.append(try context.add(SliceBySize(), result, begins, sizes))
                }
                try context.setOutputs(outputs)
            }
        ]
    }
}

extension TopK {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), x.scalarType == .float32 || x.scalarType == .int32,
            !givesIndices || indexType == .int32, let position = try? normalizedAxis(axis, rank: x.logicalShape.count),
            x.count > 0
        else { return [] }
        let lines = Lines(shape: x.logicalShape, axis: position)
        let count = request.results[0].logicalShape[position]
        let (isInteger, isAscending, givesIndices) = (x.scalarType == .int32, isAscending, givesIndices)
        return [
            Kernel("sort") { context in
                SortKernel.run(
                    context.operand(0),
                    outer: lines.outer,
                    axis: lines.count,
                    inner: lines.stride,
                    count: count,
                    isInteger: isInteger,
                    isAscending: isAscending,
                    values: context.result(),
                    positions: givesIndices ? context.resultIntegers(1) : nil
                )
            }
        ]
    }
}

/// For each line along `axis` the indices of its elements in sorted order, in the layout of the elements.
func sortedIndices(_ values: [Double], shape: [Int], axis: Int, isAscending: Bool) -> [Int] {
    let lines = Lines(shape: shape, axis: axis)
    var result = [Int](repeating: 0, count: values.count)
    lines.forEach { start in
        // Swift's sort is stable.
        let order = (0..<lines.count).sorted { a, b in
            let (x, y) = (values[start + a * lines.stride], values[start + b * lines.stride])
            return isAscending ? x < y : x > y
        }
        for (rank, position) in order.enumerated() { result[start + rank * lines.stride] = position }
    }
    return result
}

extension TopK {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        var shifted = self
        return try context.overAxis(axis) { position in
            shifted.axis = position
            return shifted
        }
    }
}
