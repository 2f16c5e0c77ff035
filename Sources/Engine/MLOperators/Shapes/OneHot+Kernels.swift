package import MLGraph
import MLKernels
import MLNumerics

extension OneHot {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let indices = IndexSource(request, 0), let shape = request.operand(0)?.logicalShape,
            let width = scalarType.copyWidth, let place = try? normalizedAxis(axis, rank: shape.count + 1)
        else { return [] }
        let places = Places(
            outer: shape[..<place].reduce(1, *),
            size: request.results[0].logicalShape[place],
            inner: shape[place...].reduce(1, *)
        )
        let (on, off) = (Tensor(scalar: on, scalarType), Tensor(scalar: off, scalarType))
        return [
            Kernel("one hot", scratchByteCount: indices.scratchByteCount) { context in
                let (list, result) = (indices.pointer(context), context.result())
                let set =
                    switch width {
                    case 1: places.set(UInt8.self)
                    case 2: places.set(UInt16.self)
                    case 4: places.set(UInt32.self)
                    default: places.set(UInt64.self)
                    }
                let sliceByteCount = places.size * places.inner * width
                let each = Swift.max((128 << 10) / Swift.max(sliceByteCount, 1), 1)
                Workers.parallelFor((places.outer + each - 1) / each) { part, _ in
                    let slices = part * each..<Swift.min((part + 1) * each, places.outer)
                    MLKernels.Fill.run(
                        result + slices.lowerBound * sliceByteCount,
                        elementByteCount: width,
                        value: off.address,
                        count: slices.count * places.size * places.inner
                    )
                    set(on.address, list, result, slices)
                }
            }
        ]
    }
}

/// The elements of [outer][size][inner] at indices [outer][inner].
private struct Places {
    let outer: Int
    let size: Int
    let inner: Int

    /// Writes `on` to the elements of some slices of the outermost axis.
    func set<T: BitwiseCopyable>(
        _: T.Type
    ) -> (_ on: UnsafeRawPointer, UnsafePointer<Int32>, UnsafeMutableRawPointer, _ slices: Range<Int>) -> Void {
        { on, indices, result, slices in
            let value = on.load(as: T.self)
            let target = result.assumingMemoryBound(to: T.self)
            for slice in slices {
                for position in 0..<inner {
                    let index = Int(indices[slice * inner + position])
                    guard index >= 0, index < size else { continue }
                    target[(slice * size + index) * inner + position] = value
                }
            }
        }
    }
}
