package import MLGraph
import MLKernels
import MLNumerics

extension ScatterAlongAxis {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        // A kernel cannot report an index outside.
        guard let data = request.operand(0), let indices = IndexSource(request, 1), !indexRule.isValidated,
            request.operand(2)?.scalarType == data.scalarType, let kernel = ScatterKernel(mode, data.scalarType),
            let place = try? normalizedAxis(axis, rank: data.logicalShape.count), data.count > 0,
            let count = request.operand(1)?.logicalShape[place]
        else { return [] }
        let lines = Lines(shape: data.logicalShape, axis: place)
        let byteCount = data.byteCount
        return [
            Kernel(
                "scatter elements",
                scratchByteCount: indices.scratchByteCount,
                inPlaceOperands: [0],
                body: { context in
                    ByteCopy.run(context.operand(0), context.result(), byteCount: byteCount)
                    kernel.alongAxis(
                        context.result(),
                        outer: lines.outer,
                        axis: lines.count,
                        inner: lines.stride,
                        indices: indices.pointer(context),
                        count: count,
                        updates: context.operand(2)
                    )
                }
            )
        ]
    }
}
