package import MLGraph
import MLKernels
import MLNumerics

extension ScatterND {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        // A kernel cannot report an index outside.
        guard let data = request.operand(0), let indices = IndexSource(request, 1), !indexRule.isValidated,
            request.operand(2)?.scalarType == data.scalarType, let kernel = ScatterKernel(mode, data.scalarType),
            let length = request.operand(1)?.logicalShape.last, length > 0, length <= 8, data.count > 0
        else { return [] }
        let extents = Array(data.logicalShape[..<length])
        let slice = data.logicalShape[length...].reduce(1, *)
        let byteCount = data.byteCount
        return [
            Kernel(
                "scatter slices",
                scratchByteCount: indices.scratchByteCount,
                inPlaceOperands: [0],
                body: { context in
                    ByteCopy.run(context.operand(0), context.result(), byteCount: byteCount)
                    kernel.slices(
                        context.result(),
                        extents: extents,
                        slice: slice,
                        indices: indices.pointer(context),
                        count: indices.count / length,
                        updates: context.operand(2)
                    )
                }
            )
        ]
    }
}
