package import MLGraph
import MLKernels
import MLNumerics

extension GatherAlongAxis {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        // A kernel cannot report an index outside.
        guard let x = request.operand(0), let indices = IndexSource(request, 1), !indexRule.isValidated,
            let width = x.scalarType.copyWidth, let place = try? normalizedAxis(axis, rank: x.logicalShape.count),
            x.count > 0, x.layout == .rowMajor
        else { return [] }
        let source = Lines(shape: x.logicalShape, axis: place)
        let count = request.results[0].logicalShape[place]
        return [
            Kernel("gather elements", scratchByteCount: indices.scratchByteCount) { context in
                ElementGather.alongAxis(
                    context.operand(0),
                    outer: source.outer,
                    axis: source.count,
                    inner: source.stride,
                    elementByteCount: width,
                    indices: indices.pointer(context),
                    count: count,
                    into: context.result()
                )
            }
        ]
    }
}
