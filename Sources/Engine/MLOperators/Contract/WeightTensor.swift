package import MLNumerics
package import MLSpecification

/// The values of a weight field as a tensor: float32 values share the message's storage, half-precision values stay
/// float16, quantised values become float32 (value · scale + bias, or an entry of a table) when they are needed;
/// large ones stay quantised until then.
///
/// - Parameters:
///   - parameters: The weight field.
///   - shape: The extents in the order in which the file stores the values.
///   - channelAxis: The axis that per-channel scales and biases belong to.
///   - isTransposed: Whether the two axes of the tensor are swapped.
/// - Returns: The tensor.
/// - Throws: `.invalidModel` when the field does not hold the values of `shape`.
package func weightTensor(
    _ parameters: SpecWeightParams,
    shape: [Int],
    channelAxis: Int = 0,
    isTransposed: Bool = false
) throws(ModelError) -> Tensor {
    precondition(!isTransposed || shape.count == 2)
    func rotated(_ tensor: Tensor) -> Tensor { isTransposed ? tensor.permuted([1, 0]) : tensor }
    var product = 1
    for extent in shape {
        let (next, overflow) = product.multipliedReportingOverflow(by: max(extent, 1))
        guard extent >= 0, !overflow, next < 1 << 40 else {
            throw ModelError(.invalidModel, "weights cannot have the shape \(shape)")
        }
        product = next
    }
    let count = shape.contains(0) ? 0 : product
    func check(_ found: Int) throws(ModelError) {
        guard found == count else {
            throw ModelError(.invalidModel, "\(found) values are stored, but shape \(shape) needs \(count)")
        }
    }
    let placed = parameters.placed
    if let placed, placed.field == .float || placed.field == .float16 {
        try check(placed.byteCount / placed.field.valueByteCount)
        return rotated(try Tensor(placed, shape: shape))
    }
    if !parameters.floatValue.isEmpty {
        try check(parameters.floatValue.count)
        return rotated(Tensor(sharing: parameters.floatValue, shape: shape))
    }
    if let bytes = parameters.float16Bytes {
        try check(bytes.count / 2)
        let storage = TensorStorage(
            reading: bytes.address,
            byteCount: bytes.count,
            release: { withExtendedLifetime(bytes) {} }
        )
        return rotated(Tensor(scalarType: .float16, shape: shape, storage: storage))
    }
    if let bytes = try placedBytes(placed, .int8, else: parameters.int8Bytes) {
        try check(bytes.count)
        var codes = LayerCodes(
            Array(bytes.buffer),
            width: 8,
            isSigned: true,
            shape,
            channelAxis,
            parameters.quantization
        )
        if isTransposed { codes.transpose() }
        return try codes.tensor()
    }
    if let bytes = try placedBytes(placed, .raw, else: parameters.rawBytes) {
        let width = Int(clamping: parameters.quantization.numberOfBits)
        guard (1...8).contains(width) else {
            throw ModelError(.invalidModel, "quantised weights of \(width) bits; 1 to 8 are possible")
        }
        try check(bytes.count == (count * width + 7) / 8 ? count : bytes.count * 8 / width)
        let values = unpacked(bytes, width: width, count: count)
        var codes = LayerCodes(values, width: width, isSigned: false, shape, channelAxis, parameters.quantization)
        if isTransposed { codes.transpose() }
        return try codes.tensor()
    }
    try check(0)
    return Tensor([Float](), shape: shape)
}

/// The storage of weights that were left in their file, after checking their position.
private func placedStorage(of placed: PlacedWeights) throws(ModelError) -> TensorStorage {
    guard let storage = StorageRegistry.storage(placed.storage), placed.offset <= storage.byteCount,
        placed.byteCount <= storage.byteCount - placed.offset
    else { throw ModelError(.malformed, "the file with the weights no longer exists; open the model again") }
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
    defer { storage.releasePages(from: placed.offset, count: placed.byteCount) }
    return WeightBytes(copying: storage.address + placed.offset, count: placed.byteCount)
}

/// Unsigned integers of `width` bits, stored most significant bit first without gaps.
private func unpacked(_ bytes: WeightBytes, width: Int, count: Int) -> [UInt8] {
    let source = bytes.buffer
    if width == 8 { return Array(source) }
    return [UInt8](unsafeUninitializedCapacity: count) { result, initialized in
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
            result[index] = UInt8(truncatingIfNeeded: pending >> pendingBits & (1 << width - 1))
        }
        initialized = count
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
