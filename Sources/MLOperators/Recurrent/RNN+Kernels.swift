package import MLGraph
import MLKernels
import MLNumerics

extension RNN {
    package var halfPrecisionOperands: [Int] { [2, 3] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0)?.logicalShape, x.elementCount > 0,
            request.operand(1)?.scalarType == .float32, let weightX = request.operand(2)?.constant,
            let weightH = request.operand(3)?.constant, weightX.isPackable, weightH.isPackable,
            let bias = FloatSource(request, 4)
        else { return [] }
        let (steps, batch, states) = (x[0], x[1], weightH.shape[1])
        let function = activation.kernelFunction
        let sums = steps * batch * states
        let isReverse = direction == .reverse
        let returnsSequence = returnsSequence
        return [
            Kernel("rnn", scratchByteCount: (sums + 2 * batch * states) * 4) {
                let input = packedMatrix(weightX, terms: x[2], columns: states, layout: .columnsByTerms)
                let recurrent = packedMatrix(weightH, terms: states, columns: states, layout: .columnsByTerms)
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
}
