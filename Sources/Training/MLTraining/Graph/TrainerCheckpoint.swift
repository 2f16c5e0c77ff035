package import MLNumerics

/// Everything that is needed to continue training: weights, optimiser state, number of steps.
package struct TrainerCheckpoint: Sendable, Hashable {
    /// The stored form: the letters "MLTC", a version (1), the number of steps, the number of tensors, then for each
    /// tensor its scalar type, rank, extents and elements.
    ///
    /// Integers have 8 bytes, little-endian.
    package let bytes: [UInt8]

    private static let magic: [UInt8] = Array("MLTC".utf8)
    private static let version = 1

    /// Wraps a stored checkpoint, which is validated when a trainer restores it.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(stepCount: Int, tensors: [Tensor]) {
        var bytes = Self.magic
        func append(_ number: Int) { withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 } }
        append(Self.version)
        append(stepCount)
        append(tensors.count)
        for tensor in tensors {
            append(Int(tensor.scalarType.rawValue))
            append(tensor.shape.count)
            for extent in tensor.shape { append(extent) }
            withExtendedLifetime(tensor) {
                bytes += UnsafeRawBufferPointer(start: tensor.address, count: tensor.byteCount)
            }
        }
        self.bytes = bytes
    }

    /// Decodes the number of steps, and tensors of the types and shapes of `expected`.
    package func contents(like expected: [Tensor]) throws(ModelError) -> (stepCount: Int, tensors: [Tensor]) {
        var place = 0
        func take(_ count: Int) throws(ModelError) -> ArraySlice<UInt8> {
            guard count >= 0, count <= bytes.count - place else {
                throw ModelError(.malformed, "the checkpoint ends too early; start the training again")
            }
            place += count
            return bytes[place - count..<place]
        }
        func number() throws(ModelError) -> Int {
            var value: UInt64 = 0
            for byte in try take(8).reversed() { value = value << 8 | UInt64(byte) }
            return Int(truncatingIfNeeded: value)
        }
        guard try take(4).elementsEqual(Self.magic), try number() == Self.version else {
            throw ModelError(.malformed, "these bytes are not a checkpoint of this version; start the training again")
        }
        let steps = try number()
        guard steps >= 0, try number() == expected.count else { throw mismatch }
        var tensors: [Tensor] = []
        for like in expected {
            guard try number() == Int(like.scalarType.rawValue), try number() == like.shape.count else {
                throw mismatch
            }
            for extent in like.shape {
                guard try number() == extent else { throw mismatch }
            }
            let elements = try take(like.byteCount)
            let tensor = Tensor(uninitialized: like.scalarType, shape: like.shape)
            elements.withUnsafeBytes { source in
                guard let start = source.baseAddress else { return }
                tensor.address.copyMemory(from: start, byteCount: source.count)
            }
            tensors.append(tensor)
        }
        guard place == bytes.count else { throw mismatch }
        return (steps, tensors)
    }

    private var mismatch: ModelError {
        ModelError(
            .invalidInput,
            "the checkpoint belongs to another network or optimiser; start the training again, or restore the original ones"
        )
    }
}
