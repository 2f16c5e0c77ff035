package import MLGraph
import MLKernels
import MLNumerics

extension BandPart {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let width = x.scalarType.copyWidth, x.count > 0 else { return [] }
        let rows = x.logicalShape[x.logicalShape.count - 2]
        let columns = x.logicalShape[x.logicalShape.count - 1]
        // Zero is all bits clear in every type.
        let (lower, upper) = (Swift.min(lower ?? rows, rows), Swift.min(upper ?? columns, columns))
        let total = x.count / columns
        let each = Swift.max(1, (1 << 14) / columns)
        return [
            Kernel(
                "band",
                inPlaceOperands: [0],
                body: { context in
                    let (source, target) = (context.operand(0), context.result())
                    Workers.parallelFor((total + each - 1) / each) { part, _ in
                        for line in part * each..<Swift.min((part + 1) * each, total) {
                            let row = line % rows
                            let first = Swift.min(Swift.max(row - lower, 0), columns)
                            let end = Swift.min(Swift.max(row + upper + 1, first), columns)
                            let start = line * columns * width
                            let to = target + start
                            to.initializeMemory(as: UInt8.self, repeating: 0, count: first * width)
                            if UnsafeRawPointer(target) != source {
                                (to + first * width).copyMemory(
                                    from: source + start + first * width,
                                    byteCount: (end - first) * width
                                )
                            }
                            (to + end * width).initializeMemory(
                                as: UInt8.self,
                                repeating: 0,
                                count: (columns - end) * width
                            )
                        }
                    }
                }
            )
        ]
    }
}
