package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// For each index on `batchAxis`, the first `lengths[index]` elements along `sequenceAxis` reversed.
///
/// Operands: x, lengths [x.shape[batchAxis]].
package struct ReverseSequence: Operator {
    package static let names: [MILName] = ["reverse_sequence"]
    package var sequenceAxis: Int
    package var batchAxis: Int

    package init(sequenceAxis: Int, batchAxis: Int) {
        self.sequenceAxis = sequenceAxis
        self.batchAxis = batchAxis
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("lengths")
        sequenceAxis = try arguments.int("seq_axis", default: 0)
        batchAxis = try arguments.int("batch_axis", default: 0)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        _ = try operands.axis(sequenceAxis)
        let lengths = try operands.require(rank: 1, of: 1)
        _ = try unified(lengths[0], type.shape[try operands.axis(batchAxis)])
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let sequence = try normalizedAxis(sequenceAxis, rank: x.shape.count)
        let batch = try normalizedAxis(batchAxis, rank: x.shape.count)
        let lengths = operands[1].integers
        let strides = x.shape.rowMajorStrides
        let values = x.values
        var result = values
        for index in values.indices {
            let position = index / strides[sequence] % x.shape[sequence]
            let length = min(max(lengths[index / strides[batch] % x.shape[batch]], 0), x.shape[sequence])
            if position < length { result[index] = values[index + (length - 1 - 2 * position) * strides[sequence]] }
        }
        return [Tensor(values: result, scalarType: x.scalarType, shape: x.shape)]
    }
}

extension ReverseSequence: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("reverseSeq", \.reverseSeq) { parameters, context throws(ModelError) in
                let op = ReverseSequence(
                    sequenceAxis: Int(clamping: parameters.sequenceAxis),
                    batchAxis: Int(clamping: parameters.batchAxis)
                )
                let lengths = try context.integers(context.input(1))
                try context.finish(try context.add(op, context.input(), lengths))
            }
        ]
    }
}

extension ReverseSequence {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let lengths = IndexSource(request, 1), let width = x.scalarType.copyWidth,
            let sequence = try? normalizedAxis(sequenceAxis, rank: x.logicalShape.count),
            let batch = try? normalizedAxis(batchAxis, rank: x.logicalShape.count), sequence != batch, x.count > 0
        else { return [] }
        let shape = x.logicalShape
        let (first, second) = (min(sequence, batch), max(sequence, batch))
        let outer = shape[..<first].reduce(1, *)
        let middle = shape[(first + 1)..<second].reduce(1, *)
        let slice = shape[(second + 1)...].reduce(width, *)
        return [
            Kernel("reverse sequences", scratchByteCount: lengths.scratchByteCount) { context in
                SequenceReversal.run(
                    context.operand(0),
                    into: context.result(),
                    outer: outer,
                    first: shape[first],
                    middle: middle,
                    second: shape[second],
                    slice: slice,
                    lengths: lengths.pointer(context),
                    itemsFirst: batch < sequence
                )
            }
        ]
    }
}

extension ReverseSequence: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.add(self, context.resultGradient(), context.operand(1)))
    }
}
