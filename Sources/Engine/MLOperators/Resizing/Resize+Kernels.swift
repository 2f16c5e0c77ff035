package import MLGraph
import MLKernels
import MLNumerics

extension Resize {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let y = request.results.first,
            x.layout == y.layout, x.count > 0, y.count > 0, (1...2).contains(attributes.target.count)
        else { return [] }
        let rank = x.logicalShape.count
        let isLast = x.layout == .channelsLast
        guard rank >= 2, !isLast || rank == 4 else { return [] }
        let source = x.logicalShape
        let samplings = samplings(from: source, to: y.logicalShape)
        func axis(_ place: Int) -> ResizeKernel.Axis {
            let extent = source[place]
            guard let sampling = samplings.first(where: { $0.axis == place })?.sampling else {
                return ResizeKernel.Axis(inputSize: extent, nearestAt: Array(0..<extent))
            }
            return ResizeKernel.Axis(
                inputSize: extent,
                low: sampling.lower.map { Int32($0) },
                high: sampling.upper.map { Int32($0) },
                weight: sampling.share.map { Float($0) }
            )
        }
        let (height, width) = (axis(rank - 2), axis(rank - 1))
        let batch = isLast ? source[0] : source.dropLast(2).reduce(1, *)
        let inner = isLast ? source[1] : 1
        return [
            Kernel("resize") { context in
                ResizeKernel.resize(
                    context.floats(0),
                    into: context.resultFloats(),
                    batch: batch,
                    height: height,
                    width: width,
                    inner: inner
                )
            }
        ]
    }
}
