package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// The slices of `x` whose leading indices are listed in the last axis of `indices`.
///
/// Operands: x [D], indices [K…, n]. The first `batchDimensions` axes of both correspond. Result: K +
/// D[(batchDimensions + n)...].
package struct GatherND: Operator {
    package static let names: [MILName] = ["gather_nd"]
    package var batchDimensions: Int
    package var indexRule: IndexRule

    package init(batchDimensions: Int = 0, indexRule: IndexRule = IndexRule()) {
        self.batchDimensions = batchDimensions
        self.indexRule = indexRule
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("indices")
        batchDimensions = try arguments.int("batch_dims", default: 0)
        indexRule = try IndexRule(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let indices = try operands.integerType(1).shape
        guard let length = indices.last?.count else {
            throw ModelError(.unknownRank, "the last extent of the indices must be known; give it a fixed length")
        }
        guard batchDimensions >= 0, batchDimensions < indices.count, batchDimensions + length <= type.rank else {
            throw ModelError(
                .invalidModel,
                "\(batchDimensions) batch axes and \(length) indices do not fit shapes \(type.shape) and \(indices)"
            )
        }
        for axis in 0..<batchDimensions { _ = try unified(type.shape[axis], indices[axis]) }
        return [type.with(Shape(indices.dropLast() + type.shape[(batchDimensions + length)...]))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let indices = operands[1]
        let length = indices.shape[indices.shape.count - 1]
        let slice = x.shape[(batchDimensions + length)...].reduce(1, *)
        let items = indices.shape[batchDimensions...].dropLast().reduce(1, *)
        let starts = try indexRule.starts(
            indices.integers,
            length: length,
            groups: indices.shape.dropLast().reduce(1, *),
            axes: Array(x.shape[batchDimensions..<(batchDimensions + length)])
        )
        let batchSize = x.shape[batchDimensions...].reduce(1, *)
        let values = x.values
        var result: [Double] = []
        for (position, start) in starts.enumerated() where slice > 0 {
            let offset = position / items * batchSize + start * slice
            result += values[offset..<(offset + slice)]
        }
        let shape = Array(indices.shape.dropLast() + x.shape[(batchDimensions + length)...])
        return [Tensor(values: result, scalarType: x.scalarType, shape: shape)]
    }
}

extension GatherND: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("gatherND", \.gatherNd) { _, context throws(ModelError) in
                let indices = try context.integers(context.input(1))
                try context.finish(try context.add(GatherND(), context.input(), indices))
            }
        ]
    }
}

extension GatherND {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        // A kernel cannot report an index outside.
        guard let x = request.operand(0), let indices = IndexSource(request, 1), !indexRule.isValidated,
            let width = x.scalarType.copyWidth, x.count > 0, x.layout == .rowMajor,
            let shape = request.operand(1)?.logicalShape, let length = shape.last, length > 0, length <= 8
        else { return [] }
        let extents = Array(x.logicalShape[batchDimensions..<(batchDimensions + length)])
        let slice = x.logicalShape[(batchDimensions + length)...].reduce(1, *)
        let batch = x.logicalShape[..<batchDimensions].reduce(1, *)
        let count = shape[batchDimensions...].dropLast().reduce(1, *)
        return [
            Kernel("gather slices", scratchByteCount: indices.scratchByteCount) { context in
                ElementGather.slices(
                    context.operand(0),
                    batch: batch,
                    extents: extents,
                    slice: slice,
                    elementByteCount: width,
                    indices: indices.pointer(context),
                    count: count,
                    into: context.result()
                )
            }
        ]
    }
}

extension GatherND: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard batchDimensions == 0 else { throw notDifferentiable("with axes of a batch") }
        let zeros = try context.zeros()
        let scatter = ScatterND(mode: .add, indexRule: indexRule)
        let dx = try context.add(scatter, zeros, context.operand(1), context.resultGradient())
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension IndexRule {
    /// For each of the `groups` of `length` indices the flat index in an array of shape `axes`.
    func starts(_ indices: [Int], length: Int, groups: Int, axes: [Int]) throws(ModelError) -> [Int] {
        guard length > 0 else { return [Int](repeating: 0, count: groups) }
        guard !axes.contains(0) || indices.isEmpty else {
            throw ModelError(.invalidInput, "there are no elements to index")
        }
        var result: [Int] = []
        for group in 0..<(indices.count / length) {
            var start = 0
            for axis in 0..<length {
                start = start * axes[axis] + (try position(indices[group * length + axis], extent: axes[axis]))
            }
            result.append(start)
        }
        return result
    }
}
