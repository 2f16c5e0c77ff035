package import MLGraph
import MLKernels
import MLNumerics

extension ReverseSequence {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let lengths = IndexSource(request, 1), let width = x.scalarType.copyWidth,
            let sequence = try? normalizedAxis(sequenceAxis, rank: x.logicalShape.count),
            let batch = try? normalizedAxis(batchAxis, rank: x.logicalShape.count), sequence != batch, x.count > 0
        else { return [] }
        let shape = x.logicalShape
        let (first, second) = (min(sequence, batch), max(sequence, batch))
        let outer = shape[..<first].reduce(1, *)
        let middle = shape[(first + 1)..<second].reduce(1, *)
        let byteCount = shape[(second + 1)...].reduce(width, *)
        let (extent, count, batchIsFirst) = (shape[first], shape[second], batch < sequence)
        let steps = shape[sequence]
        return [
            Kernel("reverse sequences", scratchByteCount: lengths.scratchByteCount) { context in
                let (source, target, list) = (context.operand(0), context.result(), lengths.pointer(context))
                Workers.parallelFor(outer * extent) { row, _ in
                    let (block, a) = (row / extent, row % extent)
                    for m in 0..<middle {
                        for b in 0..<count {
                            let (item, position) = batchIsFirst ? (a, b) : (b, a)
                            let length = min(max(Int(list[item]), 0), steps)
                            let turned = position < length ? length - 1 - position : position
                            let (p, q) = batchIsFirst ? (a, turned) : (turned, b)
                            (target + (((block * extent + a) * middle + m) * count + b) * byteCount).copyMemory(
                                from: source + (((block * extent + p) * middle + m) * count + q) * byteCount,
                                byteCount: byteCount
                            )
                        }
                    }
                }
            }
        ]
    }
}
