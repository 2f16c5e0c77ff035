package import MLGraph
import MLKernels
import MLNumerics

extension FillLike {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let width = scalarType.copyWidth else { return [] }
        let count = request.results[0].count
        let constant = Tensor(scalar: value, scalarType)
        return [
            Kernel("fill") { context in
                MLKernels.Fill.run(context.result(), elementByteCount: width, value: constant.address, count: count)
            }
        ]
    }
}
