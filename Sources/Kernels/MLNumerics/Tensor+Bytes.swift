extension TensorStorage {
    /// Calls a closure with the bytes for reading.
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(start: address, count: byteCount))
    }

    /// Makes a storage with a copy of `bytes`.
    package convenience init(copying bytes: some Collection<UInt8>) {
        self.init(byteCount: bytes.count)
        UnsafeMutableRawBufferPointer(start: address, count: bytes.count).copyBytes(from: bytes)
    }
}

extension Tensor {
    /// Calls a closure with the bytes of the elements for reading; a tensor of strings has none.
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(start: address, count: byteCount))
    }

    /// A tensor with a copy of its elements' bytes.
    package init(copying bytes: some Collection<UInt8>, scalarType: ScalarType, shape: [Int]) {
        precondition(bytes.count == scalarType.byteCount(of: shape.elementCount))
        self.init(scalarType: scalarType, shape: shape, storage: TensorStorage(copying: bytes))
    }

    /// The elements in single precision, copied or converted.
    package var floatValues: [Float] {
        scalarType == .float32 ? withElements(of: Float.self) { Array($0) } : values.map { Float($0) }
    }
}
