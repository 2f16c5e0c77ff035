package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// The operands concatenated along `axis`; interleaved, element `i` of operand `k` of `n` goes to `i·n + k`.
///
/// Operands: any number of tensors of one scalar type that differ at most in `axis` (not at all when interleaved).
/// Scalars are treated as vectors of one element.
package struct Concat: Operator {
    package static let names: [MILName] = ["concat"]
    package var axis: Int
    package var isInterleaved: Bool

    package init(axis: Int, isInterleaved: Bool = false) {
        self.axis = axis
        self.isInterleaved = isInterleaved
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.variadicOperand("values")
        axis = try arguments.int("axis")
        isInterleaved = try arguments.bool("interleave", default: false)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        guard operands.count > 0 else { throw ModelError(.invalidModel, "there is nothing to concatenate") }
        var type = try operands.type(0)
        if type.rank == 0 { type.shape = [1] }
        let position = try normalizedAxis(axis, rank: type.rank)
        var total: Dimension = 0
        for index in 0..<operands.count {
            let other = try operands.type(index)
            var shape = other.rank == 0 ? [1] : other.shape
            guard shape.count == type.rank else {
                throw ModelError(.invalidModel, "operands of shapes \(type.shape) and \(shape) cannot be concatenated")
            }
            if other.scalarType != type.scalarType { type.scalarType = try operands.promotedType(0, index) }
            total = total + shape[position]
            if !isInterleaved { shape[position] = type.shape[position] }
            type.shape = try unified(type.shape, shape)
        }
        type.shape[position] = total
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shapes = (0..<operands.count).map { operands[$0].shape.isEmpty ? [1] : operands[$0].shape }
        let position = try normalizedAxis(axis, rank: shapes[0].count)
        var shape = shapes[0]
        shape[position] = shapes.reduce(0) { $0 + $1[position] }
        if operands.scalarType() == .string {
            var strings = [String](repeating: "", count: shape.elementCount)
            for (index, view) in targets(shapes, in: StridedView(dense: shape), along: position).enumerated() {
                view.write(operands[index].strings, into: &strings)
            }
            return [Tensor(strings: strings, shape: shape)]
        }
        var values = [Double](repeating: 0, count: shape.elementCount)
        for (index, view) in targets(shapes, in: StridedView(dense: shape), along: position).enumerated() {
            view.write(operands[index].values, into: &values)
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        let result = request.results[0]
        let rank = result.logicalShape.count
        guard let width = result.scalarType.copyWidth, let axis = try? normalizedAxis(axis, rank: rank),
            request.operands.allSatisfy({ $0?.scalarType == result.scalarType })
        else { return [] }
        let operands = request.operands.compactMap { $0 }
        let shapes = operands.map { $0.logicalShape.isEmpty ? [1] : $0.logicalShape }
        let order = result.layout.permutation(rank: rank)
        let targets = targets(shapes, in: StridedView(result), along: axis)
        var copies: [(index: Int, start: Int, copy: StridedCopy)] = []
        for (index, operand) in operands.enumerated() where operand.count > 0 {
            let target = targets[index].transposed(order)
            let source = operand.logicalShape.isEmpty ? StridedView(dense: [1]) : StridedView(operand).transposed(order)
            guard let copy = StridedCopy(source, target, width: width) else { return [] }
            copies.append((index, target.offset * width, copy))
        }
        return [
            Kernel("concatenation") { [copies] context in
                for (index, start, copy) in copies { copy.run(context.operand(index), context.result() + start) }
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }

    /// The position of each operand in the result.
    private func targets(_ shapes: [[Int]], in whole: StridedView, along axis: Int) -> [StridedView] {
        var start = 0
        return shapes.enumerated().map { index, operand in
            defer { start += operand[axis] }
            return isInterleaved
                ? whole.sliced(axis, from: index, by: shapes.count, count: operand[axis])
                : whole.sliced(axis, from: start, count: operand[axis])
        }
    }
}

extension Concat: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("concat", \.concat) { parameters, context throws(ModelError) in
                // Channels, or the sequence, which comes first.
                let rank = context.rank(of: try context.input())
                let axis = parameters.sequenceConcat ? (rank == 4 ? 0 : -5) : rank >= 3 ? -3 : 0
                try context.finish(try context.append(Concat(axis: axis), context.inputs)[0])
            },
            LayerRule("concatND", \.concatNd) { parameters, context throws(ModelError) in
                let op = Concat(axis: Int(clamping: parameters.axis), isInterleaved: parameters.interleave)
                try context.finish(try context.append(op, context.inputs)[0])
            },
        ]
    }
}

extension Concat: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let dy = try context.resultGradient()
        let shape = try context.extents(dy)
        let position = try normalizedAxis(axis, rank: shape.count)
        var sizes: [Int] = []
        for index in context.operands.indices {
            let extents = try context.extents(context.operand(index))
            sizes.append(extents.isEmpty ? 1 : extents[position])
        }
        var parts: [ValueID]
        if isInterleaved {
            // Element i of operand k is at i · n + k.
            var apart = shape
            apart.replaceSubrange(position...position, with: [sizes[0], sizes.count])
            let split = Split(axis: position + 1, count: sizes.count)
            parts = try context.builder.append(split, [context.reshaped(dy, to: apart)])
        } else {
            parts = try context.builder.append(Split(axis: position, sizes: sizes), [dy])
        }
        for index in context.operands.indices where context.isNeeded(index) {
            let target = try context.operand(index)
            parts[index] = try context.reshaped(parts[index], to: context.extents(target))
            context.setGradient(ofOperand: index, to: parts[index])
        }
    }
}

extension Concat {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        guard context.rank() > 0 else { return nil }
        let all = Array(context.operands.indices)
        return try context.overAxis(axis, of: all) { Concat(axis: $0, isInterleaved: isInterleaved) }
    }
}
