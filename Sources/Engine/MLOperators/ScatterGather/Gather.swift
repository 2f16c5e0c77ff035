package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// The slices of `x` along `axis` at `indices`.
///
/// Operands: x [D], indices [N]. The first `batchDimensions` axes of both correspond. Result: D[..<axis] +
/// N[batchDimensions...] + D[(axis + 1)...].
package struct Gather: Operator {
    package static let names: [MILName] = ["gather"]
    package var axis: Int
    package var batchDimensions: Int
    package var indexRule: IndexRule
    /// Whether slices of a float16 operand are returned as float32.
    package var widensHalf = false

    package init(axis: Int, batchDimensions: Int = 0, indexRule: IndexRule = IndexRule()) {
        self.axis = axis
        self.batchDimensions = batchDimensions
        self.indexRule = indexRule
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("indices")
        axis = try arguments.int("axis", default: 0)
        batchDimensions = try arguments.int("batch_dims", default: 0)
        indexRule = try IndexRule(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let indices = try operands.integerType(1).shape
        let position = try operands.axis(axis)
        guard batchDimensions >= 0, batchDimensions <= position, batchDimensions <= indices.count else {
            throw ModelError(
                .invalidModel,
                "\(batchDimensions) batch axes do not fit axis \(axis) and indices of rank \(indices.count)"
            )
        }
        for axis in 0..<batchDimensions { _ = try unified(type.shape[axis], indices[axis]) }
        let shape = Shape(type.shape[..<position] + indices[batchDimensions...] + type.shape[(position + 1)...])
        return [ValueType(widensHalf && type.scalarType == .float16 ? .float32 : type.scalarType, shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let indices = operands[1]
        let position = try normalizedAxis(axis, rank: x.shape.count)
        let batch = x.shape[..<batchDimensions].reduce(1, *)
        let outer = x.shape[batchDimensions..<position].reduce(1, *)
        let inner = x.shape[(position + 1)...].reduce(1, *)
        let extent = x.shape[position]
        let each = indices.shape[batchDimensions...].reduce(1, *)
        var positions: [Int] = []
        for index in indices.integers { positions.append(try indexRule.position(index, extent: extent)) }
        guard extent > 0 || positions.isEmpty || outer * inner == 0 else {
            throw ModelError(.invalidInput, "axis \(axis) has no elements to gather")
        }
        let values = x.values
        var result: [Double] = []
        result.reserveCapacity(batch * outer * each * inner)
        for item in 0..<batch {
            for block in 0..<outer {
                for index in 0..<each {
                    let start = ((item * outer + block) * extent + positions[item * each + index]) * inner
                    result += values[start..<(start + inner)]
                }
            }
        }
        let shape = Array(x.shape[..<position] + indices.shape[batchDimensions...] + x.shape[(position + 1)...])
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let indices = request.operand(1), let source = IndexSource(request, 1),
            let position = try? normalizedAxis(axis, rank: x.logicalShape.count), x.count > 0,
            x.layout == .rowMajor
        else { return [] }
        let result = request.results[0]
        if let constant = indices.constant, constant.count == 1, batchDimensions == 0,
            result.scalarType == x.scalarType,
            let index = try? indexRule.position(constant.integers[0], extent: x.logicalShape[position])
        {
            return CopyKernels.dense(StridedView(x).sliced(position, from: index, count: 1), of: x)
        }
        // Validation reads indices where they are.
        guard indices.scalarType == .int32 || !indexRule.isValidated else { return [] }
        let rule = indexRule
        let batch = x.logicalShape[..<batchDimensions].reduce(1, *)
        let outer = x.logicalShape[batchDimensions..<position].reduce(1, *)
        let inner = x.logicalShape[(position + 1)...].reduce(1, *)
        let extent = x.logicalShape[position]
        let all = indices.count
        let count = indices.logicalShape[batchDimensions...].reduce(1, *)
        var kernels: [Kernel] = []
        if let constant = x.constant, let matrix = CompressedMatrix(constant), matrix.kernel.isEmpty, position == 0,
            batchDimensions == 0,
            result.scalarType == .float32, !constant.storage.isAbsent
        {
            kernels.append(compressed(matrix, source, count: all, extent: extent))
        }
        if x.scalarType == .float16, result.scalarType == .float32 {
            return kernels + [
                Kernel(
                    "gather f16",
                    scratchByteCount: source.scratchByteCount,
                    checked: { (context) throws(ModelError) in
                        try rule.check(context, operand: 1, count: all, extent: extent)
                        GatherKernel.run(
                            half: context.halves(0),
                            batch: batch,
                            outer: outer,
                            axis: extent,
                            inner: inner,
                            indices: source.pointer(context),
                            count: count,
                            into: context.resultFloats()
                        )
                    }
                )
            ]
        }
        guard result.scalarType == x.scalarType, let width = x.scalarType.copyWidth else { return kernels }
        return kernels + [
            Kernel(
                "gather",
                scratchByteCount: source.scratchByteCount,
                checked: { (context) throws(ModelError) in
                    try rule.check(context, operand: 1, count: all, extent: extent)
                    GatherKernel.run(
                        context.operand(0),
                        batch: batch,
                        outer: outer,
                        axis: extent,
                        inner: inner,
                        elementByteCount: width,
                        indices: source.pointer(context),
                        count: count,
                        into: context.result()
                    )
                }
            )
        ]
    }

    /// Rows of a compressed matrix, decoded as they are looked up.
    private func compressed(_ matrix: CompressedMatrix, _ source: IndexSource, count: Int, extent: Int) -> Kernel {
        let rule = indexRule
        let rows = matrix.codedRows
        let parameters = matrix.blockParameters
        return Kernel(
            "gather \(matrix.name)",
            scratchByteCount: source.scratchByteCount,
            compressedOperands: [0],
            checked: { (context) throws(ModelError) in
                try rule.check(context, operand: 1, count: count, extent: extent)
                rows.gather(
                    CodedRows.Source(codes: matrix.codes.address, parameters: parameters.address),
                    indices: source.pointer(context),
                    count: count,
                    into: context.resultFloats()
                )
            }
        )
    }

    package var halfPrecisionOperands: [Int] { [0] }

    package var widened: any Operator {
        var copy = self
        copy.widensHalf = true
        return copy
    }
}

extension Gather: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("gather", \.gather) { parameters, context throws(ModelError) in
                let indices = try context.integers(context.input(1))
                try context.finish(
                    try context.add(Gather(axis: Int(clamping: parameters.axis)), context.input(), indices)
                )
            }
        ]
    }
}

extension Gather: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard batchDimensions == 0 else { throw notDifferentiable("with axes of a batch") }
        let zeros = try context.zeros()
        let scatter = Scatter(axis: axis, mode: .add, indexRule: indexRule)
        let dx = try context.add(scatter, zeros, context.operand(1), context.resultGradient())
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension Gather {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let position = try normalizedAxis(axis, rank: context.rank())
        var shifted = self
        shifted.axis = position + 1
        switch (context.isBatched(0), context.isBatched(1)) {
        case (true, true):
            shifted.batchDimensions += 1
            return try context.shifted(shifted, along: [0, 1])
        case (true, false): return position > 0 && batchDimensions == 0 ? try context.rows(self) : nil
        default:
            guard position == 0, batchDimensions == 0 else { return nil }
            return context.rank(1) > 0 ? try context.rows(self, along: [1]) : try context.shifted(self, along: [1])
        }
    }
}
