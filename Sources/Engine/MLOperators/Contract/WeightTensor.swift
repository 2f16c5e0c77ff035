package import MLNumerics
package import MLSpecification

/// The values of a weight field as a tensor: float32 values share the message's storage, half-precision values stay
/// float16, quantised values become float32 (value · scale + bias, or an entry of a table).
///
/// - Parameters:
///   - parameters: The weight field.
///   - shape: The extents in the order in which the file stores the values.
///   - channelAxis: The axis that per-channel scales and biases belong to.
/// - Returns: The tensor.
/// - Throws: `.invalidModel` when the field does not hold the values of `shape`.
package func weightTensor(
    _ parameters: SpecWeightParams,
    shape: [Int],
    channelAxis: Int = 0
) throws(ModelError) -> Tensor {
    var product = 1
    for extent in shape {
        let (next, overflow) = product.multipliedReportingOverflow(by: max(extent, 1))
        guard extent >= 0, !overflow, next < 1 << 40 else {
            throw ModelError(.invalidModel, "\(shape) is no shape of weights")
        }
        product = next
    }
    let count = shape.contains(0) ? 0 : product
    func check(_ found: Int) throws(ModelError) {
        guard found == count else {
            throw ModelError(.invalidModel, "\(found) values are stored where shape \(shape) needs \(count)")
        }
    }
    let placed = parameters.placed
    if let placed, placed.field == .float || placed.field == .float16 {
        try check(placed.byteCount / placed.field.valueByteCount)
        return try Tensor(placed, shape: shape)
    }
    if !parameters.floatValue.isEmpty {
        try check(parameters.floatValue.count)
        return Tensor(sharing: parameters.floatValue, shape: shape)
    }
    if let bytes = parameters.float16Bytes {
        try check(bytes.count / 2)
        let storage = TensorStorage(
            reading: bytes.address,
            byteCount: bytes.count,
            release: { withExtendedLifetime(bytes) {} }
        )
        return Tensor(scalarType: .float16, shape: shape, storage: storage)
    }
    if let bytes = try placedBytes(placed, .int8, else: parameters.int8Bytes) {
        try check(bytes.count)
        let values = bytes.buffer.map { Float(Int8(bitPattern: $0)) }
        return Tensor(try dequantized(values, parameters.quantization, shape, channelAxis), shape: shape)
    }
    if let bytes = try placedBytes(placed, .raw, else: parameters.rawBytes) {
        let width = Int(clamping: parameters.quantization.numberOfBits)
        guard (1...8).contains(width) else {
            throw ModelError(.invalidModel, "quantised weights of \(width) bits; 1 to 8 are possible")
        }
        try check(bytes.count == (count * width + 7) / 8 ? count : bytes.count * 8 / width)
        let values = unpacked(bytes, width: width, count: count)
        return Tensor(try dequantized(values, parameters.quantization, shape, channelAxis), shape: shape)
    }
    try check(0)
    return Tensor([Float](), shape: shape)
}

/// The storage of weights that were left in their file, after checking their position.
private func placedStorage(of placed: PlacedWeights) throws(ModelError) -> TensorStorage {
    guard let storage = NumberedStorages.storage(placed.storage), placed.offset <= storage.byteCount,
        placed.byteCount <= storage.byteCount - placed.offset
    else { throw ModelError(.malformed, "weights were left in a file that is gone; open the model again") }
    return storage
}

/// The bytes of a field: those that were left in the file, or `bytes`.
private func placedBytes(
    _ placed: PlacedWeights?,
    _ field: PlacedWeights.Field,
    else bytes: WeightBytes?
) throws(ModelError) -> WeightBytes? {
    guard let placed, placed.field == field else { return bytes }
    let storage = try placedStorage(of: placed)
    defer { storage.letGo(from: placed.offset, count: placed.byteCount) }
    return WeightBytes(copying: storage.address + placed.offset, count: placed.byteCount)
}

/// Unsigned integers of `width` bits, stored most significant bit first without gaps.
private func unpacked(_ bytes: WeightBytes, width: Int, count: Int) -> [Float] {
    let source = bytes.buffer
    if width == 8 { return source.map { Float($0) } }
    return [Float](unsafeUninitializedCapacity: count) { result, initialized in
        var pending = 0
        var pendingBits = 0
        var next = 0
        for index in 0..<count {
            while pendingBits < width {
                pending = (pending << 8 | Int(source[next])) & 0xFFFF
                next += 1
                pendingBits += 8
            }
            pendingBits -= width
            result[index] = Float(pending >> pendingBits & (1 << width - 1))
        }
        initialized = count
    }
}

/// `values` decoded by the linear function or the table of `quantization`, either a single one or one for each index of
/// `channelAxis`.
private func dequantized(
    _ values: [Float],
    _ quantization: SpecQuantizationParams,
    _ shape: [Int],
    _ channelAxis: Int
) throws(ModelError) -> [Float] {
    switch quantization.quantizationType {
    case .linearQuantization(let line):
        let channels = shape.indices.contains(channelAxis) ? shape[channelAxis] : 1
        let inner = shape.dropFirst(channelAxis + 1).reduce(1, *)
        for (name, list) in [("scales", line.scale), ("biases", line.bias)] {
            guard list.count <= 1 || list.count == channels else {
                throw ModelError(.invalidModel, "\(list.count) \(name) for \(channels) channels")
            }
        }
        guard !line.scale.isEmpty else { throw ModelError(.invalidModel, "quantised weights have no scale") }
        var result = values
        for index in result.indices {
            let channel = index / inner % channels
            let scale = line.scale.count == 1 ? line.scale[0] : line.scale[channel]
            let bias = line.bias.isEmpty ? 0 : line.bias.count == 1 ? line.bias[0] : line.bias[channel]
            result[index] = values[index] * scale + bias
        }
        return result
    case .lookupTableQuantization(let table):
        let entries = table.floatValue
        var result = values
        for index in result.indices {
            guard Int(values[index]) >= 0, Int(values[index]) < entries.count else {
                throw ModelError(.invalidModel, "index \(Int(values[index])) in a table of \(entries.count) entries")
            }
            result[index] = entries[Int(values[index])]
        }
        return result
    case nil:
        throw ModelError(.invalidModel, "quantised weights do not say how they were quantised")
    }
}

extension Tensor {
    /// Floats of either size that were left in their file.
    fileprivate init(_ placed: PlacedWeights, shape: [Int]) throws(ModelError) {
        let storage = TensorStorage(
            regionOf: try placedStorage(of: placed),
            offset: placed.offset,
            byteCount: placed.byteCount
        )
        self.init(scalarType: placed.field == .float ? .float32 : .float16, shape: shape, storage: storage)
    }
}
