package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Cuts boxes out of images and resizes each to one size by bilinear interpolation.
///
/// Operands: images [B, C, H, W]; boxes [N, 4] with box indices [N]?, or, with `usesRegions`, regions [N, 1, 4, 1, 1],
/// or [N, 1, 5, 1, 1] whose first element is the image's index.
/// Result: [N, C, h, w], box n from image index n (or n itself); with regions [N, B, C, h, w], every box from every
/// image, or [N, 1, C, h, w].
package struct CropResize: Operator {
    package static let names: [MILName] = ["crop_resize"]

    /// The meaning of the four numbers of a box.
    package enum BoxForm: String, Hashable, Sendable, Codable {
        case cornersHeightFirst = "CORNERS_HEIGHT_FIRST"
        case cornersWidthFirst = "CORNERS_WIDTH_FIRST"
        case centerSizeHeightFirst = "CENTER_SIZE_HEIGHT_FIRST"
        case centerSizeWidthFirst = "CENTER_SIZE_WIDTH_FIRST"
    }

    package var height: Int
    package var width: Int
    /// Coordinates are in 0…1 and are multiplied by H − 1 and W − 1.
    package var isNormalized: Bool
    package var spatialScale: Double
    package var boxForm: BoxForm
    package var samplingMode: SamplingMode
    /// The value outside the image; `nil` repeats its border.
    package var padValue: Double?
    package var usesRegions: Bool

    package init(
        height: Int,
        width: Int,
        isNormalized: Bool = false,
        spatialScale: Double = 1,
        boxForm: BoxForm = .cornersHeightFirst,
        samplingMode: SamplingMode = .standard,
        padValue: Double? = nil,
        usesRegions: Bool = false
    ) {
        self.height = height
        self.width = width
        self.isNormalized = isNormalized
        self.spatialScale = spatialScale
        self.boxForm = boxForm
        self.samplingMode = samplingMode
        self.padValue = padValue
        self.usesRegions = usesRegions
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let usesRegions = arguments.opset < .iOS17
        if usesRegions {
            try arguments.operand("roi")
        } else {
            try arguments.operand("boxes")
            arguments.optionalOperand("box_indices")
        }
        let form = try arguments.string("box_coordinate_mode", default: "CORNERS_HEIGHT_FIRST")
        guard let boxForm = BoxForm(rawValue: form.uppercased()) else {
            throw ModelError(.invalidModel, "box_coordinate_mode '\(form)' is not known")
        }
        self.init(
            height: try arguments.int("target_height", default: 1),
            width: try arguments.int("target_width", default: 1),
            isNormalized: try arguments.bool("normalized_coordinates", default: false),
            spatialScale: try arguments.float("spatial_scale", default: 1),
            boxForm: boxForm,
            samplingMode: try SamplingMode(reading: &arguments),
            padValue: arguments.opset >= .iOS16 ? try arguments.float("pad_value", default: 0) : nil,
            usesRegions: usesRegions
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let boxes = try operands.shape(1)
        guard x.rank == 4, height > 0, width > 0 else {
            throw ModelError(.invalidModel, "crop_resize needs x of rank 4 and a positive size, not \(x)")
        }
        let size: Shape = [Dimension(height), Dimension(width)]
        if usesRegions {
            guard boxes.count == 5, (4...5).contains(boxes[2].count ?? 4),
                [1, 3, 4].allSatisfy({ boxes[$0].count ?? 1 == 1 })
            else {
                throw ModelError(.invalidModel, "roi has shape \(boxes); [N, 1, 4, 1, 1] or [N, 1, 5, 1, 1] is needed")
            }
            // Four numbers contain no image index: every box is cut from every image.
            let images = boxes[2].count.map { $0 == 4 ? x.shape[0] : 1 } ?? .unknown
            return [x.with([boxes[0], images, x.shape[1]] + size)]
        }
        guard boxes.count == 2, (boxes[1].count ?? 4) == 4 else {
            throw ModelError(.invalidModel, "boxes have shape \(boxes); [N, 4] is needed")
        }
        try checkVector(operands, 2, boxes[0], "box_indices")
        return [x.with([boxes[0], x.shape[1]] + size)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let images = x.values
        let numbers = operands[1].values
        let count = operands[1].shape[0]
        let step = usesRegions ? operands[1].shape[2] : 4
        let indices = operands.optional(2)?.integers
        var result: [Double] = []
        result.reserveCapacity(operands.shape().elementCount)
        for n in 0..<count {
            let box = Array(numbers[n * step + step - 4..<(n + 1) * step])
            let (rows, columns) = positions(box, images: x.shape)
            var sources = [indices?[n] ?? n]
            if usesRegions { sources = step == 5 ? [Int(saturating: numbers[n * step])] : Array(0..<x.shape[0]) }
            for image in sources {
                guard image >= 0, image < x.shape[0] else {
                    throw ModelError(
                        .invalidInput,
                        "box \(n) refers to image \(image), but there are \(x.shape[0]) images"
                    )
                }
                for channel in 0..<x.shape[1] {
                    let start = (image * x.shape[1] + channel) * x.shape[2] * x.shape[3]
                    for row in rows {
                        for column in columns { result.append(sample(images, start, x.shape, row, column)) }
                    }
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: operands.shape())]
    }

    func positions(_ box: [Double], images: [Int]) -> (rows: [Double], columns: [Double]) {
        let (low, high): ((Double, Double), (Double, Double)) =
            switch boxForm {
            case .cornersHeightFirst: ((box[0], box[1]), (box[2], box[3]))
            case .cornersWidthFirst: ((box[1], box[0]), (box[3], box[2]))
            case .centerSizeHeightFirst:
                ((box[0] - box[2] / 2, box[1] - box[3] / 2), (box[0] + box[2] / 2, box[1] + box[3] / 2))
            case .centerSizeWidthFirst:
                ((box[1] - box[3] / 2, box[0] - box[2] / 2), (box[1] + box[3] / 2, box[0] + box[2] / 2))
            }
        let (bottom, right) = (Double(images[2] - 1), Double(images[3] - 1))
        let vertical = spatialScale * (isNormalized ? bottom : 1)
        let horizontal = spatialScale * (isNormalized ? right : 1)
        // Without padding, a reversed box outside the image stands for the whole image.
        if padValue == nil, high.0 < low.0, high.1 < low.1, low.0 * vertical > bottom, low.1 * horizontal > right {
            return (
                samplingMode.positions(first: 0, last: bottom, count: height),
                samplingMode.positions(first: 0, last: right, count: width)
            )
        }
        return (
            samplingMode.positions(first: low.0 * vertical, last: high.0 * vertical, count: height),
            samplingMode.positions(first: low.1 * horizontal, last: high.1 * horizontal, count: width)
        )
    }

    private func sample(_ values: [Double], _ start: Int, _ shape: [Int], _ row: Double, _ column: Double) -> Double {
        let (lastRow, lastColumn) = (Double(shape[2] - 1), Double(shape[3] - 1))
        if let padValue, !(row >= 0 && row <= lastRow && column >= 0 && column <= lastColumn) { return padValue }
        guard lastRow >= 0, lastColumn >= 0 else { return 0 }
        let r = Swift.min(Swift.max(row, 0), lastRow)
        let c = Swift.min(Swift.max(column, 0), lastColumn)
        guard r.isFinite, c.isFinite else { return .nan }
        let (top, left) = (Int(r), Int(c))
        let (bottom, right) = (Swift.min(top + 1, shape[2] - 1), Swift.min(left + 1, shape[3] - 1))
        let (down, across) = (r - Double(top), c - Double(left))
        func value(_ y: Int, _ x: Int) -> Double { values[start + y * shape[3] + x] }
        let above = value(top, left) * (1 - across) + value(top, right) * across
        let below = value(bottom, left) * (1 - across) + value(bottom, right) * across
        return above * (1 - down) + below * down
    }
}

extension CropResize: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("cropResize", \.cropResize) { parameters, context throws(ModelError) in
                // Images [1, B, C, H, W] and regions [N, 1, 4 or 5, 1, 1] give [N, B or 1, C, h, w].
                let images = try context.merged(context.input(0), keeping: 3)
                let regions =
                    context.usesRank5Mapping
                    ? try context.add(Regroup.insertingBatch, context.input(1)) : try context.sequence(1)
                if context.shape(of: regions)[2].count == 5 { context.outputBatch = 1 }
                let size = parameters.targetSize.isEmpty ? [1, 1] : integers(parameters.targetSize)
                guard size.count == 2 else {
                    throw ModelError(.invalidModel, "\(size.count) target extents; rows and columns need one each")
                }
                let op = CropResize(
                    height: size[0],
                    width: size[1],
                    isNormalized: parameters.normalizedCoordinates,
                    spatialScale: stated(parameters.spatialScale, or: 1),
                    boxForm: try BoxForm(parameters.boxIndicesMode),
                    samplingMode: try SamplingMode(parameters.mode),
                    usesRegions: true
                )
                let result = try context.add(op, images, regions)
                try context.setOutputs([try context.blob(fromSequence: result, like: result)])
            }
        ]
    }
}

extension CropResize.BoxForm {
    init(_ mode: SpecBoxCoordinatesMode) throws(ModelError) {
        switch mode.boxMode {
        case .cornersHeightFirst: self = .cornersHeightFirst
        case .cornersWidthFirst: self = .cornersWidthFirst
        case .centerSizeHeightFirst: self = .centerSizeHeightFirst
        case .centerSizeWidthFirst: self = .centerSizeWidthFirst
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "box coordinates \(value) are not known")
        }
    }
}

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
                    let positions = crop.positions(box, images: shape)
                    let points = SampledPoints(context.scratch + n * SampledPoints.byteCount(count), count: count)
                    for (i, row) in positions.rows.enumerated() {
                        for (j, column) in positions.columns.enumerated() {
                            crop.sample(row, column, shape, into: points, i * crop.width + j)
                        }
                    }
                    for (item, image) in sources[n].enumerated() {
                        points.sample(
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
        points.set(0, of: index, position: top * shape[3] + left, weight: (1 - down) * (1 - across))
        points.set(1, of: index, position: top * shape[3] + right, weight: (1 - down) * across)
        points.set(2, of: index, position: bottom * shape[3] + left, weight: down * (1 - across))
        points.set(3, of: index, position: bottom * shape[3] + right, weight: down * across)
    }
}
