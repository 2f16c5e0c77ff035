/// A value: scalar type, shape and shared storage, row-major without gaps.
///
/// Copies share storage. Shared storage is never written; `withMutableBytes` copies it first.
package struct Tensor: Sendable {
    package let scalarType: ScalarType
    package private(set) var shape: [Int]
    package private(set) var storage: TensorStorage
    /// The position of the first element in `storage`.
    package private(set) var byteOffset: Int

    package init(scalarType: ScalarType, shape: [Int], storage: TensorStorage, byteOffset: Int = 0) {
        precondition(
            byteOffset >= 0 && byteOffset + scalarType.byteCount(of: shape.elementCount) <= storage.byteCount
                || scalarType == .string
        )
        self.scalarType = scalarType
        self.shape = shape
        self.storage = storage
        self.byteOffset = byteOffset
    }

    /// A new tensor, zeroed when `zeroed`, otherwise with arbitrary contents to be overwritten.
    package init(uninitialized scalarType: ScalarType, shape: [Int], zeroed: Bool = false) {
        let storage = TensorStorage(byteCount: scalarType.byteCount(of: shape.elementCount), zeroed: zeroed)
        self.init(scalarType: scalarType, shape: shape, storage: storage)
    }

    package init(strings: [String], shape: [Int]) {
        precondition(strings.count == shape.elementCount)
        self.init(scalarType: .string, shape: shape, storage: TensorStorage(strings: strings))
    }

    package var count: Int { shape.elementCount }
    package var byteCount: Int { scalarType.byteCount(of: count) }

    /// The first element.
    ///
    /// Valid as long as the tensor is.
    package var address: UnsafeMutableRawPointer { storage.address + byteOffset }

    /// The elements of a float32 tensor.
    ///
    /// Valid as long as the tensor is.
    package var floats: UnsafePointer<Float> {
        precondition(scalarType == .float32, "a \(scalarType) tensor has no float32 elements")
        return UnsafePointer(address.assumingMemoryBound(to: Float.self))
    }

    /// Tells the system that the elements will not be accessed soon; see `TensorStorage.releasePages`.
    package func releasePages() { storage.releasePages(from: byteOffset, count: byteCount) }

    /// The same for some of the elements' bytes.
    package func releasePages(_ bytes: Range<Int>) {
        storage.releasePages(from: byteOffset + bytes.lowerBound, count: bytes.count)
    }

    /// The same elements with another shape of equal count.
    package func reshaped(_ shape: [Int]) -> Tensor {
        precondition(shape.elementCount == count, "reshape from \(self.shape) to \(shape)")
        var copy = self
        copy.shape = shape
        return copy
    }

    package var strings: [String] { storage.strings }
}

extension Tensor {
    /// The elements as `T`, which must be the storage form of `scalarType`.
    package func withElements<T: BitwiseCopyable, R>(of type: T.Type, _ body: (UnsafeBufferPointer<T>) -> R) -> R {
        precondition(MemoryLayout<T>.size * 8 == scalarType.bitWidth)
        return withExtendedLifetime(storage) {
            body(UnsafeBufferPointer(start: UnsafePointer(address.assumingMemoryBound(to: T.self)), count: count))
        }
    }

    /// Calls `single` or `half` with the elements of a float32 or float16 tensor.
    package func withFloatStorage<R>(
        single: (UnsafePointer<Float>) -> R,
        half: (UnsafePointer<UInt16>) -> R
    ) -> R {
        storage.withTransientBytes(from: byteOffset, count: byteCount) { bytes in
            scalarType == .float16
                ? half(bytes.assumingMemoryBound(to: UInt16.self)) : single(bytes.assumingMemoryBound(to: Float.self))
        }
    }

    /// The elements as `T` for writing; copies first when the storage is shared.
    package mutating func withMutableElements<T: BitwiseCopyable, R>(
        of type: T.Type,
        _ body: (UnsafeMutableBufferPointer<T>) -> R
    ) -> R {
        precondition(MemoryLayout<T>.size * 8 == scalarType.bitWidth)
        if !isKnownUniquelyReferenced(&storage) {
            let copy = TensorStorage(byteCount: byteCount)
            copy.address.copyMemory(from: address, byteCount: byteCount)
            storage = copy
            byteOffset = 0
        }
        return body(UnsafeMutableBufferPointer(start: address.assumingMemoryBound(to: T.self), count: count))
    }

    /// A tensor of `values`, stored unchanged.
    package init<T: BitwiseCopyable>(elements values: [T], scalarType: ScalarType, shape: [Int]) {
        precondition(values.count == shape.elementCount && MemoryLayout<T>.size * 8 == scalarType.bitWidth)
        self.init(uninitialized: scalarType, shape: shape)
        values.withUnsafeBytes {
            address.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(address), byteCount: $0.count)
        }
    }

    /// A tensor that shares the storage of an array and retains it.
    package init(sharing values: [Float], shape: [Int]) {
        guard let address = values.withUnsafeBufferPointer({ $0.baseAddress }), values.count > 16 else {
            self.init(values, shape: shape)
            return
        }
        // The elements of a native array of trivial values do not move while the array is retained and not written;
        // `release` holds the reference.
        let storage = TensorStorage(
            reading: address,
            byteCount: values.count * 4,
            release: { withExtendedLifetime(values) {} }
        )
        self.init(scalarType: .float32, shape: shape, storage: storage)
    }

    package init(_ values: [Float], shape: [Int]) { self.init(elements: values, scalarType: .float32, shape: shape) }
    package init(_ values: [Int32], shape: [Int]) { self.init(elements: values, scalarType: .int32, shape: shape) }
}
