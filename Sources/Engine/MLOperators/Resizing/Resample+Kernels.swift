package import MLGraph
import MLKernels
import MLNumerics

extension Resample {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.operand(1)?.scalarType == .float32, let points = request.operand(1)?.logicalShape else {
            return []
        }
        let count = points[1] * points[2]
        return kernels(for: request) { context, image in
            let list = context.floats(1) + image * count * 2
            return { index in (Double(list[index * 2]), Double(list[index * 2 + 1])) }
        }
    }

    /// - Parameter points: For an image the function from the index of a point to its position.
    func kernels(
        for request: KernelRequest,
        points: @escaping @Sendable (KernelContext, _ image: Int) -> (Int) -> (x: Double, y: Double)
    ) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), x.layout == .rowMajor, x.count > 0,
            let result = request.results.first, result.layout == .rowMajor, result.count > 0
        else { return [] }
        let (height, width) = (x.logicalShape[2], x.logicalShape[3])
        let (images, channels) = (x.logicalShape[0], x.logicalShape[1])
        let (plane, count) = (height * width, result.logicalShape[2] * result.logicalShape[3])
        guard plane <= Int(Int32.max) else { return [] }
        let sampling = self
        return [
            Kernel("sample", scratchByteCount: SampledPoints.byteCount(count)) { context in
                let sampled = SampledPoints(context.scratch, count: count, taps: sampling.isLinear ? 4 : 1)
                for image in 0..<images {
                    let point = points(context, image)
                    let chunk = 512
                    Workers.parallelFor((count + chunk - 1) / chunk) { part, _ in
                        for index in part * chunk..<Swift.min((part + 1) * chunk, count) {
                            let place = point(index)
                            sampling.sample(
                                sampling.units.pixel(place.x, extent: width, isAligned: sampling.alignsCorners),
                                sampling.units.pixel(place.y, extent: height, isAligned: sampling.alignsCorners),
                                height,
                                width,
                                into: sampled,
                                index
                            )
                        }
                    }
                    sampled.blend(
                        context.floats(0) + image * channels * plane,
                        into: context.resultFloats() + image * channels * count,
                        planes: channels,
                        plane: plane
                    )
                }
            }
        ]
    }

    /// The taps of the point (x, y), in pixels.
    private func sample(
        _ x: Double,
        _ y: Double,
        _ height: Int,
        _ width: Int,
        into points: SampledPoints,
        _ index: Int
    ) {
        if !isLinear {
            guard let row = inside((y + 0.5).rounded(.down), height),
                let column = inside((x + 0.5).rounded(.down), width)
            else { return points.start(index, outside) }
            points.start(index, 0)
            return points.set(0, of: index, place: row * width + column, share: 1)
        }
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (across, down) = (x - left, y - top)
        let rows = (inside(top, height), inside(top + 1, height))
        let columns = (inside(left, width), inside(left + 1, width))
        let shares = ((1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across)
        var missing = 0.0
        func share(_ row: Int?, _ column: Int?, _ share: Double) {
            if share != 0, row == nil || column == nil { missing += share * outside }
        }
        share(rows.0, columns.0, shares.0)
        share(rows.0, columns.1, shares.1)
        share(rows.1, columns.0, shares.2)
        share(rows.1, columns.1, shares.3)
        points.start(index, missing)
        func set(_ tap: Int, _ row: Int?, _ column: Int?, _ share: Double) {
            if let row, let column { points.set(tap, of: index, place: row * width + column, share: share) }
        }
        set(0, rows.0, columns.0, shares.0)
        set(1, rows.0, columns.1, shares.1)
        set(2, rows.1, columns.0, shares.2)
        set(3, rows.1, columns.1, shares.3)
    }
}

extension Affine {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let maps = request.operand(1), maps.scalarType == .float32 else { return [] }
        let isShared = maps.logicalShape[0] == 1
        let (height, width, isAligned) = (height, width, sampling.alignsCorners)
        @Sendable func coordinate(_ index: Int, _ extent: Int) -> Double {
            let (i, n) = (Double(index), Double(extent))
            if !isAligned { return (2 * i + 1) / n - 1 }
            return extent == 1 ? 0 : 2 * i / (n - 1) - 1
        }
        return sampling.kernels(for: request) { context, image in
            let map = context.floats(1) + (isShared ? 0 : image * 6)
            let m = (0..<6).map { Double(map[$0]) }
            return { index in
                let (x, y) = (coordinate(index % width, width), coordinate(index / width, height))
                return (m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5])
            }
        }
    }
}
