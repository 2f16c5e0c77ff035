package import MLGraph
import MLKernels
import MLNumerics

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
