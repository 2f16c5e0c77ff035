package import MLGraph
import MLKernels
import MLNumerics

extension RNN {
    package var halfPrecisionOperands: [Int] { [2, 3] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0)?.logicalShape, x.elementCount > 0,
            request.operand(1)?.scalarType == .float32, let first = request.operand(2),
            let second = request.operand(3),
            let bias = FloatSource(request, 4)
        else { return [] }
        guard let weightX = first.constant, let weightH = second.constant else {
            guard first.constant == nil, second.constant == nil, request.isAll(.float32) else {
                return []
            }
            return [atRunTime(x, states: second.logicalShape[1], bias)]
        }
        guard weightX.isPackable, weightH.isPackable else { return [] }
        let (steps, batch, states) = (x[0], x[1], weightH.shape[1])
        let function = activation.kernelFunction
        let sums = steps * batch * states
        let isReverse = direction == .reverse
        let returnsSequence = returnsSequence
        return [
            Kernel("rnn", scratchByteCount: (sums + 2 * batch * states) * 4, packedOperands: [2, 3]) {
                guard let input = packedMatrix(weightX, terms: x[2], columns: states, layout: .columnsByTerms),
                    let recurrent = packedMatrix(weightH, terms: states, columns: states, layout: .columnsByTerms)
                else { return nil }
                return { context in
                    let projected = context.scratch.assumingMemoryBound(to: Float.self)
                    MatMulKernel.multiply(
                        context.floats(0),
                        rows: steps * batch,
                        by: input,
                        into: projected,
                        epilogue: Epilogue(bias: bias.pointer(context))
                    )
                    var state = context.floats(1)
                    for index in 0..<steps {
                        let time = isReverse ? steps - 1 - index : index
                        let next =
                            returnsSequence
                            ? context.resultFloats() + index * batch * states
                            : projected + sums + index % 2 * batch * states
                        MatMulKernel.multiply(
                            state,
                            rows: batch,
                            by: recurrent,
                            into: next,
                            epilogue: Epilogue(residual: projected + time * batch * states, function: function)
                        )
                        state = UnsafePointer(next)
                    }
                    context.resultFloats(1).update(from: state, count: batch * states)
                    if !returnsSequence { context.resultFloats(0).update(from: state, count: batch * states) }
                }
            }
        ]
    }

    /// The kernel for weights that are only known at run time.
    private func atRunTime(_ x: [Int], states: Int, _ bias: FloatSource) -> Kernel {
        let (steps, batch) = (x[0], x[1])
        let sums = steps * batch * states
        let function = activation.kernelFunction
        let isReverse = direction == .reverse
        let returnsSequence = returnsSequence
        return Kernel("rnn, packing", scratchByteCount: (sums + 2 * batch * states) * 4) { context in
            let projected = context.scratch.assumingMemoryBound(to: Float.self)
            MatMulKernel.multiply(
                context.floats(0),
                MatMulKernel.RightHandSide(address: context.floats(2), termStride: 1, columnStride: x[2]),
                into: projected,
                rows: steps * batch,
                terms: x[2],
                columns: states,
                epilogue: Epilogue(bias: bias.pointer(context))
            )
            var state = context.floats(1)
            for index in 0..<steps {
                let time = isReverse ? steps - 1 - index : index
                let next =
                    returnsSequence
                    ? context.resultFloats() + index * batch * states
                    : projected + sums + index % 2 * batch * states
                MatMulKernel.multiply(
                    state,
                    MatMulKernel.RightHandSide(
                        address: context.floats(3),
                        termStride: 1,
                        columnStride: states
                    ),
                    into: next,
                    rows: batch,
                    terms: states,
                    columns: states,
                    epilogue: Epilogue(residual: projected + time * batch * states, function: function)
                )
                state = UnsafePointer(next)
            }
            context.resultFloats(1).update(from: state, count: batch * states)
            if !returnsSequence { context.resultFloats(0).update(from: state, count: batch * states) }
        }
    }
}
