package import MLGraph
import MLKernels
import MLNumerics

extension CropResize {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), x.layout == .rowMajor, x.count > 0,
            let boxes = request.operand(1), boxes.scalarType == .float32, request.results[0].count > 0,
            request.results[0].layout == .rowMajor, let sources = sources(request)
        else { return [] }
        let shape = x.logicalShape
        let (plane, planes) = (shape[2] * shape[3], shape[1])
        let (count, boxCount) = (height * width, boxes.logicalShape[0])
        let step = usesRegions ? boxes.logicalShape[2] : 4
        guard plane <= Int(Int32.max) else { return [] }
        let crop = self
        return [
            Kernel("crop and resize", scratchByteCount: boxCount * SampledPoints.byteCount(count)) { context in
                Workers.parallelFor(boxCount) { n, _ in
                    let box = (0..<4).map { Double(context.floats(1)[n * step + step - 4 + $0]) }
                    let places = crop.places(box, images: shape)
                    let points = SampledPoints(context.scratch + n * SampledPoints.byteCount(count), count: count)
                    for (i, row) in places.rows.enumerated() {
                        for (j, column) in places.columns.enumerated() {
                            crop.sample(row, column, shape, into: points, i * crop.width + j)
                        }
                    }
                    for (item, image) in sources[n].enumerated() {
                        points.blend(
                            context.floats(0) + image * planes * plane,
                            into: context.resultFloats() + (n * sources[n].count + item) * planes * count,
                            planes: planes,
                            plane: plane
                        )
                    }
                }
            }
        ]
    }

    /// The image index of each box, when all are known to exist: a kernel cannot report others.
    private func sources(_ request: KernelRequest) -> [[Int]]? {
        guard let x = request.operand(0), let boxes = request.operand(1) else { return nil }
        let (images, count) = (x.logicalShape[0], boxes.logicalShape[0])
        if usesRegions {
            return boxes.logicalShape[2] == 4 ? (0..<count).map { _ in Array(0..<images) } : nil
        }
        var indices = Array(0..<count)
        if let operand = request.operand(2) {
            guard let constant = operand.constant else { return nil }
            indices = constant.integers
        }
        guard indices.allSatisfy({ (0..<images).contains($0) }) else { return nil }
        return indices.map { [$0] }
    }

    private func sample(_ row: Double, _ column: Double, _ shape: [Int], into points: SampledPoints, _ index: Int) {
        let (lastRow, lastColumn) = (Double(shape[2] - 1), Double(shape[3] - 1))
        if let padValue, !(row >= 0 && row <= lastRow && column >= 0 && column <= lastColumn) {
            return points.start(index, padValue)
        }
        let r = Swift.min(Swift.max(row, 0), lastRow)
        let c = Swift.min(Swift.max(column, 0), lastColumn)
        guard r.isFinite, c.isFinite else { return points.start(index, .nan) }
        let (top, left) = (Int(r), Int(c))
        let (bottom, right) = (Swift.min(top + 1, shape[2] - 1), Swift.min(left + 1, shape[3] - 1))
        let (down, across) = (r - Double(top), c - Double(left))
        points.start(index, 0)
        points.set(0, of: index, place: top * shape[3] + left, share: (1 - down) * (1 - across))
        points.set(1, of: index, place: top * shape[3] + right, share: (1 - down) * across)
        points.set(2, of: index, place: bottom * shape[3] + left, share: down * (1 - across))
        points.set(3, of: index, place: bottom * shape[3] + right, share: down * across)
    }
}
