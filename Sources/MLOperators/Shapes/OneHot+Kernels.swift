package import MLGraph
import MLKernels
import MLNumerics

extension OneHot {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let indices = IndexSource(request, 0), let shape = request.operand(0)?.logicalShape,
            let width = scalarType.copyWidth, let place = try? normalizedAxis(axis, rank: shape.count + 1)
        else { return [] }
        let size = request.results[0].logicalShape[place]
        let inner = shape[place...].reduce(1, *)
        let total = request.results[0].count
        let (on, off) = (Tensor(scalar: on, scalarType), Tensor(scalar: off, scalarType))
        return [
            Kernel("one hot", scratchByteCount: indices.scratchByteCount) { context in
                let (list, result) = (indices.pointer(context), context.result())
                MLKernels.Fill.run(result, elementByteCount: width, value: off.address, count: total)
                for position in 0..<indices.count {
                    let index = Int(list[position])
                    guard index >= 0, index < size else { continue }
                    let target = (position / inner * size + index) * inner + position % inner
                    (result + target * width).copyMemory(from: on.address, byteCount: width)
                }
            }
        ]
    }
}
