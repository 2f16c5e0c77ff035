import MLGraph
import MLNumerics
import MLSpecification

/// The quantised weights of a layer, one in each byte, and the linear functions or the table that they stand for.
struct LayerCodes {
    private var codes: [UInt8]
    private let width: Int
    private let isSigned: Bool
    private var shape: [Int]
    private var channelAxis: Int
    private let quantization: SpecQuantizationParams

    /// Codes of `width` bits in row-major order, with one linear function for all or for each index of `channelAxis`.
    init(
        _ codes: [UInt8],
        width: Int,
        isSigned: Bool,
        _ shape: [Int],
        _ channelAxis: Int,
        _ quantization: SpecQuantizationParams
    ) {
        self.codes = codes
        self.width = width
        self.isSigned = isSigned
        self.shape = shape
        self.channelAxis = channelAxis
        self.quantization = quantization
    }

    /// Exchanges the two axes of a matrix.
    mutating func transpose() {
        let (rows, columns) = (shape[0], shape[1])
        let source = codes
        for row in 0..<rows {
            for column in 0..<columns { codes[column * rows + row] = source[row * columns + column] }
        }
        shape = [columns, rows]
        channelAxis = 1 - channelAxis
    }

    /// The weights in single precision; large ones are decoded only when their elements are needed.
    ///
    /// - Returns: The weights.
    /// - Throws: `.invalidModel` for scales and biases that do not fit the channels, indices behind their table, and
    ///   weights that do not say how they were quantised.
    func tensor() throws(ModelError) -> Tensor {
        switch quantization.quantizationType {
        case .linearQuantization(let line): return try lines(line)
        case .lookupTableQuantization(let table): return try entries(table.floatValue)
        case nil: throw ModelError(.invalidModel, "the quantised weights have neither a scale nor a lookup table")
        }
    }

    private func value(_ code: UInt8) -> Int { isSigned ? Int(Int8(bitPattern: code)) : Int(code) }

    private func lines(_ line: SpecLinearQuantizationParams) throws(ModelError) -> Tensor {
        let axis = shape.indices.contains(channelAxis) ? channelAxis : nil
        let channels = axis.map { shape[$0] } ?? 1
        for (name, list) in [("scales", line.scale), ("biases", line.bias)] {
            guard list.count <= 1 || list.count == channels else {
                throw ModelError(.invalidModel, "\(list.count) \(name) for \(channels) channels")
            }
        }
        guard !line.scale.isEmpty else { throw ModelError(.invalidModel, "quantised weights have no scale") }
        if let deferred = deferred(line, axis) { return deferred }
        let inner = shape.dropFirst(channelAxis + 1).reduce(1, *)
        let result = codes.enumerated().map { index, code in
            let channel = index / inner % channels
            let scale = line.scale[line.scale.count == 1 ? 0 : channel]
            let bias = line.bias.isEmpty ? 0 : line.bias[line.bias.count == 1 ? 0 : channel]
            return Float(value(code)) * scale + bias
        }
        return Tensor(result, shape: shape)
    }

    /// Lines as scale · (code − offset), with whole offsets where they are; `nil` for small weights and for scales of
    /// 0, where biases have no offsets.
    private func deferred(_ line: SpecLinearQuantizationParams, _ axis: Int?) -> Tensor? {
        let count = max(line.scale.count, line.bias.count)
        guard shape.count >= 2, line.scale.allSatisfy({ $0.isNormal && abs($0) > 1e-30 }) else { return nil }
        let scales = count == 1 || line.scale.count > 1 ? line.scale : [Float](repeating: line.scale[0], count: count)
        var extents = shape.map { _ in 1 }
        if count > 1 {
            guard let axis else { return nil }
            extents[axis] = count
        }
        let bits = width <= 4 && !isSigned ? 4 : 8
        let type: ScalarType = isSigned ? .int8 : bits == 4 ? .uint4 : .uint8
        var offsets: Tensor?
        if line.bias.contains(where: { $0 != 0 }) {
            let exact = scales.indices.map { channel in
                -Double(line.bias[line.bias.count == 1 ? 0 : channel]) / Double(scales[channel])
            }
            let range = isSigned ? -128.0...127 : 0.0...Double(1 << bits - 1)
            // A whole offset whose product with the scale is the bias but for its rounding.
            let isWhole = exact.allSatisfy { range.contains($0.rounded()) && abs($0 - $0.rounded()) <= 2e-7 * abs($0) }
            guard exact.allSatisfy({ abs($0) < 1e6 }) else { return nil }
            offsets = Tensor(
                values: isWhole ? exact.map { $0.rounded() } : exact,
                scalarType: isWhole ? type : .float32,
                shape: extents
            )
        }
        return DeferredResult.results(
            of: ConstexprBlockwiseShiftScale(),
            [packed(bits, as: type, shape), Tensor(scales, shape: extents), offsets],
            [ValueType(.float32, Shape(shape))]
        )?.first
    }

    private func entries(_ table: [Float]) throws(ModelError) -> Tensor {
        for code in codes where !table.indices.contains(value(code)) {
            throw ModelError(
                .invalidModel,
                "index \(value(code)) is outside the lookup table of \(table.count) entries"
            )
        }
        if !isSigned, shape.count >= 2, table.count <= 256 {
            let bits = [1, 2, 4, 6, 8].first { 1 << $0 >= table.count && $0 >= width } ?? 8
            let padding = [Float](repeating: 0, count: 1 << bits - table.count)
            let deferred = DeferredResult.results(
                of: ConstexprPackedLutToDense(shape: shape),
                [
                    packed(bits, as: .uint8, [(codes.count * bits + 7) / 8]),
                    Tensor(table + padding, shape: [1 << bits]),
                ],
                [ValueType(.float32, Shape(shape))]
            )
            if let deferred { return deferred[0] }
        }
        return Tensor(codes.map { table[value($0)] }, shape: shape)
    }

    /// The codes with `bits` bits each, low bits first without gaps.
    private func packed(_ bits: Int, as type: ScalarType, _ shape: [Int]) -> Tensor {
        let result = Tensor(uninitialized: type, shape: shape, zeroed: true)
        let bytes = result.address.assumingMemoryBound(to: UInt8.self)
        for (index, code) in codes.enumerated() {
            let position = index * bits
            let word = UInt16(code) << UInt16(position & 7)
            bytes[position >> 3] |= UInt8(truncatingIfNeeded: word)
            if position & 7 + bits > 8 { bytes[position >> 3 + 1] |= UInt8(truncatingIfNeeded: word >> 8) }
        }
        return result
    }
}
