package import MLGraph
import MLKernels
import MLNumerics

extension TopK {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), x.scalarType == .float32 || x.scalarType == .int32,
            !givesIndices || indexType == .int32, let place = try? normalizedAxis(axis, rank: x.logicalShape.count),
            x.count > 0
        else { return [] }
        let lines = Lines(shape: x.logicalShape, axis: place)
        let count = request.results[0].logicalShape[place]
        let (isInteger, isAscending, givesIndices) = (x.scalarType == .int32, isAscending, givesIndices)
        return [
            Kernel("sort") { context in
                SortKernel.run(
                    context.operand(0),
                    outer: lines.outer,
                    axis: lines.count,
                    inner: lines.stride,
                    count: count,
                    isInteger: isInteger,
                    isAscending: isAscending,
                    values: context.result(),
                    places: givesIndices ? context.result(1).assumingMemoryBound(to: Int32.self) : nil
                )
            }
        ]
    }
}

extension ArgSort {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), x.scalarType == .float32 || x.scalarType == .int32,
            let place = try? normalizedAxis(axis, rank: x.logicalShape.count), x.count > 0
        else { return [] }
        let lines = Lines(shape: x.logicalShape, axis: place)
        let (isInteger, isAscending) = (x.scalarType == .int32, isAscending)
        return [
            Kernel("sort") { context in
                SortKernel.run(
                    context.operand(0),
                    outer: lines.outer,
                    axis: lines.count,
                    inner: lines.stride,
                    count: lines.count,
                    isInteger: isInteger,
                    isAscending: isAscending,
                    values: nil,
                    places: context.result().assumingMemoryBound(to: Int32.self)
                )
            }
        ]
    }
}
