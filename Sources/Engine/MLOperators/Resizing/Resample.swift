package import MLGraph
package import MLNumerics
import MLKernels

/// Samples images at given points.
///
/// Operands: images [B, C, H, W], points [B, h, w, 2] as (x, y). Result: [B, C, h, w].
package struct Resample: Operator {
    package static let names: [MILName] = ["resample"]

    /// The values outside the image.
    package enum Border: Hashable, Sendable, Codable {
        case constant(Double)
        /// The edge is repeated.
        case edge
        /// Mirrored at the edge elements, which are not repeated.
        case reflection
        /// Mirrored beyond the edge elements, which are repeated.
        case symmetric
    }

    /// The units of points.
    package enum Units: String, Hashable, Sendable, Codable {
        case pixels = "unnormalized"
        case minusOneToOne = "normalized_minus_one_to_one"
        case zeroToOne = "normalized_zero_to_one"

        /// The position in pixels of `value` on an axis of `extent` elements; with `isAligned` the ends of the unit
        /// range are the centres of the edge elements, otherwise their outer edges.
        func pixel(_ value: Double, extent: Int, isAligned: Bool) -> Double {
            let n = Double(extent)
            return switch self {
            case .pixels: value
            case .minusOneToOne: isAligned ? (value + 1) / 2 * (n - 1) : ((value + 1) * n - 1) / 2
            case .zeroToOne: isAligned ? value * (n - 1) : value * n - 0.5
            }
        }
    }

    package var isLinear: Bool
    package var border: Border
    package var units: Units
    package var alignsCorners: Bool

    package init(isLinear: Bool = true, border: Border = .constant(0), units: Units, alignsCorners: Bool) {
        self.isLinear = isLinear
        self.border = border
        self.units = units
        self.alignsCorners = alignsCorners
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("coordinates")
        try self.init(sampling: &arguments)
    }

    /// Reads the attributes, not the operands.
    init(sampling arguments: inout Arguments) throws(ModelError) {
        let mode = try arguments.string("sampling_mode").lowercased()
        guard mode == "bilinear" || mode == "nearest" else {
            throw ModelError(.unsupported, "sampling_mode '\(mode)' is neither bilinear nor nearest")
        }
        let padding = try arguments.string("padding_mode").lowercased()
        let value = try arguments.float("padding_value", default: 0)
        let border: Border
        switch padding {
        case "constant": border = .constant(value)
        case "border": border = .edge
        case "reflection": border = .reflection
        case "symmetric": border = .symmetric
        default:
            throw ModelError(
                .unsupported,
                "padding_mode '\(padding)' is not one of constant, border, reflection, symmetric"
            )
        }
        let name = try arguments.string("coordinates_mode").lowercased()
        guard let units = Units(rawValue: name) else {
            throw ModelError(.unsupported, "coordinates_mode '\(name)' is not known")
        }
        self.init(
            isLinear: mode == "bilinear",
            border: border,
            units: units,
            alignsCorners: try arguments.bool("align_corners")
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let points = try operands.shape(1)
        guard x.rank == 4, points.count == 4, (points[3].count ?? 2) == 2 else {
            throw ModelError(
                .invalidModel,
                "resample needs images of rank 4 and points [B, h, w, 2], not \(x), \(points)"
            )
        }
        guard x.shape[0] == points[0] || !x.shape[0].isKnown || !points[0].isKnown else {
            throw ModelError(.invalidModel, "\(x.shape[0]) images but \(points[0]) sets of points")
        }
        return [x.with([x.shape[0], x.shape[1], points[1], points[2]])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let points = operands[1].values
        let count = operands[1].shape[1] * operands[1].shape[2]
        return [
            resampled(operands[0], as: operands.scalarType(), shape: operands.shape()) { image, index in
                (points[(image * count + index) * 2], points[(image * count + index) * 2 + 1])
            }
        ]
    }

    /// The images sampled at `point(image, index)`, where index counts h · w points.
    func resampled(
        _ x: Tensor,
        as scalarType: ScalarType,
        shape: [Int],
        at point: (_ image: Int, _ index: Int) -> (x: Double, y: Double)
    ) -> Tensor {
        let values = x.values
        let count = shape[2] * shape[3]
        var result = [Double](repeating: 0, count: shape.elementCount)
        for image in 0..<shape[0] {
            for index in 0..<count {
                let position = point(image, index)
                let taps = taps(
                    units.pixel(position.x, extent: x.shape[3], isAligned: alignsCorners),
                    units.pixel(position.y, extent: x.shape[2], isAligned: alignsCorners),
                    x.shape
                )
                for channel in 0..<shape[1] {
                    let start = (image * shape[1] + channel) * x.shape[2] * x.shape[3]
                    result[(image * shape[1] + channel) * count + index] = taps.reduce(0) { sum, tap in
                        sum + tap.weight * (tap.position.map { values[start + $0] } ?? outside)
                    }
                }
            }
        }
        return Tensor(values: result, scalarType: scalarType, shape: shape)
    }

    /// The value outside the images when they are not extended.
    var outside: Double { if case .constant(let value) = border { value } else { 0 } }

    /// The elements that contribute to a point, with their weights; `nil` is a position outside.
    private func taps(_ x: Double, _ y: Double, _ shape: [Int]) -> [(position: Int?, weight: Double)] {
        func element(_ row: Double, _ column: Double) -> Int? {
            guard let row = inside(row, shape[2]), let column = inside(column, shape[3]) else { return nil }
            return row * shape[3] + column
        }
        // Halves are rounded up, whatever their sign.
        if !isLinear { return [(element((y + 0.5).rounded(.down), (x + 0.5).rounded(.down)), 1)] }
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (across, down) = (x - left, y - top)
        let fractions = [(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across]
        let positions = [(top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)]
        return zip(positions, fractions).filter { $1 != 0 }.map { (element($0.0, $0.1), $1) }
    }

    /// The index that `border` maps `index` to; `nil` for a constant.
    func inside(_ index: Double, _ extent: Int) -> Int? {
        guard extent > 0 else { return nil }
        let last = Double(extent - 1)
        if index >= 0, index <= last { return Int(index) }
        switch border {
        case .constant: return nil
        case .edge: return index > 0 ? extent - 1 : 0
        case .reflection:
            guard extent > 1, index.isFinite else { return 0 }
            let period = 2 * last
            let position = Self.remainder(index, period)
            return Int(Swift.min(position, period - position))
        case .symmetric:
            guard index.isFinite else { return 0 }
            let period = 2 * Double(extent)
            let position = Self.remainder(index, period)
            return Int(Swift.min(position, period - 1 - position))
        }
    }

    /// `index` modulo `period`, 0 or more: exact however large it is.
    private static func remainder(_ index: Double, _ period: Double) -> Double {
        let remaining = index.truncatingRemainder(dividingBy: period)
        return remaining < 0 ? remaining + period : remaining
    }
}

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

    /// The kernels for points that are computed by a function.
    ///
    /// - Parameters:
    ///   - request: The types and layouts of the operation.
    ///   - points: Returns for an image the function from the index of a point to its position.
    /// - Returns: The kernels; empty when none applies.
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
                            let position = point(index)
                            sampling.sample(
                                sampling.units.pixel(position.x, extent: width, isAligned: sampling.alignsCorners),
                                sampling.units.pixel(position.y, extent: height, isAligned: sampling.alignsCorners),
                                height,
                                width,
                                into: sampled,
                                index
                            )
                        }
                    }
                    sampled.sample(
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
            return points.set(0, of: index, position: row * width + column, weight: 1)
        }
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (across, down) = (x - left, y - top)
        let rows = (inside(top, height), inside(top + 1, height))
        let columns = (inside(left, width), inside(left + 1, width))
        let fractions = ((1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across)
        var missing = 0.0
        func weight(_ row: Int?, _ column: Int?, _ weight: Double) {
            if weight != 0, row == nil || column == nil { missing += weight * outside }
        }
        weight(rows.0, columns.0, fractions.0)
        weight(rows.0, columns.1, fractions.1)
        weight(rows.1, columns.0, fractions.2)
        weight(rows.1, columns.1, fractions.3)
        points.start(index, missing)
        func set(_ tap: Int, _ row: Int?, _ column: Int?, _ weight: Double) {
            if let row, let column { points.set(tap, of: index, position: row * width + column, weight: weight) }
        }
        set(0, rows.0, columns.0, fractions.0)
        set(1, rows.0, columns.1, fractions.1)
        set(2, rows.1, columns.0, fractions.2)
        set(3, rows.1, columns.1, fractions.3)
    }
}

/// Transforms images by an affine map: output point (x, y) shows source point (a₀x + a₁y + a₂, b₀x + b₁y + b₂), both in
/// −1…1 from the first to the last element.
///
/// Operands: images [B, C, H, W], maps [B or 1, 6] as a₀, a₁, a₂, b₀, b₁, b₂. Result: [B, C, height, width].
package struct Affine: Operator {
    package static let names: [MILName] = ["affine"]

    package var height: Int
    package var width: Int
    package var sampling: Resample

    package init(height: Int, width: Int, sampling: Resample) {
        self.height = height
        self.width = width
        self.sampling = sampling
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("transform_matrix")
        height = try arguments.int("output_height")
        width = try arguments.int("output_width")
        sampling = try Resample(sampling: &arguments)
        guard sampling.units == .minusOneToOne else {
            throw ModelError(.unsupported, "affine supports only the coordinates_mode 'normalized_minus_one_to_one'")
        }
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let maps = try operands.shape(1)
        guard x.rank == 4, maps.count == 2, (maps[1].count ?? 6) == 6, height > 0, width > 0 else {
            throw ModelError(.invalidModel, "affine needs images of rank 4 and maps [B, 6], not \(x) and \(maps)")
        }
        _ = try broadcast([maps[0]], [x.shape[0]])
        return [x.with([x.shape[0], x.shape[1], Dimension(height), Dimension(width)])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let maps = operands[1].values
        let isShared = operands[1].shape[0] == 1
        func coordinate(_ index: Int, _ extent: Int) -> Double {
            let i = Double(index)
            let n = Double(extent)
            if !sampling.alignsCorners { return (2 * i + 1) / n - 1 }
            return extent == 1 ? 0 : 2 * i / (n - 1) - 1
        }
        return [
            sampling.resampled(operands[0], as: operands.scalarType(), shape: operands.shape()) { image, index in
                let m = maps[(isShared ? 0 : image) * 6..<(isShared ? 1 : image + 1) * 6]
                let x = coordinate(index % width, width)
                let y = coordinate(index / width, height)
                let s = m.startIndex
                return (m[s] * x + m[s + 1] * y + m[s + 2], m[s + 3] * x + m[s + 4] * y + m[s + 5])
            }
        ]
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

extension Resample {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self, along: [0, 1])
    }
}
