package import MLGraph
import MLKernels
import MLNumerics

extension CumulativeSum {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), request.isAll(.float32) || request.isAll(.int32),
            let axis = try? normalizedAxis(axis, rank: x.logicalShape.count), x.count > 0
        else { return [] }
        let lines = Lines(shape: x.logicalShape, axis: axis)
        let (isExclusive, isReversed, isInteger) = (isExclusive, isReversed, x.scalarType == .int32)
        return [
            Kernel(
                "running sum",
                inPlaceOperands: [0],
                body: { context in
                    ReductionKernel.cumulativeSum(
                        context.operand(0),
                        into: context.result(),
                        outer: lines.outer,
                        axis: lines.count,
                        inner: lines.stride,
                        isInteger: isInteger,
                        isExclusive: isExclusive,
                        isReversed: isReversed
                    )
                }
            )
        ]
    }
}
