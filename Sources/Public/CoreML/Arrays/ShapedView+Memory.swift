/// The bodies that shaped arrays and their slices share: memory of callers, pixel buffers, access to memory, coding.
extension ShapedView {
    /// A view of memory of the caller, which is only read.
    init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], strides: [Int], deallocator: Data.Deallocator) {
        let memory = UnsafeMutableRawPointer(mutating: bytes)
        let size = validSpan(shape: shape, strides: strides) * MemoryLayout<Scalar>.stride
        let release: () -> Void =
            switch deallocator {
            case .free: { free(memory) }
            case .unmap: { munmap(memory, size) }
            case .none: {}
            case .custom(let function): { function(memory, size) }
            @unknown default: {}
            }
        let storage = ShapedStorage(address: memory, isWritable: false, release: release)
        self.init(storage: storage, shape: shape, strides: strides)
    }

    /// New row-major memory whose elements a closure writes.
    init(
        unsafeUninitializedShape shape: [Int],
        initializingWith initializer: (inout UnsafeMutableBufferPointer<Scalar>, [Int]) throws -> Void
    ) rethrows {
        self.init(uninitialized: shape)
        var buffer = UnsafeMutableBufferPointer(start: start, count: scalarCount)
        try initializer(&buffer, strides)
    }

    /// A copy of a multi-array of the same element type; any other type traps.
    init(sameType multiArray: MLMultiArray) {
        precondition(
            multiArray.dataType == Scalar.multiArrayDataType,
            "the elements are \(multiArray.dataType.name), not \(Scalar.self); use init(converting:)"
        )
        self.init(multiArray)
    }

    /// A copy of the elements in `data`, which lie `strides` apart; too few bytes trap.
    init(data: Data, shape: [Int], strides: [Int]) {
        let size = validSpan(shape: shape, strides: strides) * MemoryLayout<Scalar>.stride
        guard data.count >= size else {
            fatalError("\(data.count) bytes are not enough for shape \(shape), strides \(strides): give \(size)")
        }
        let storage = ShapedStorage(byteCount: size)
        data.withUnsafeBytes { source in
            if let start = source.baseAddress { storage.address.copyMemory(from: start, byteCount: size) }
        }
        self.init(storage: storage, shape: shape, strides: strides)
    }

    /// A view of the half-precision pixels of a pixel buffer, whose memory it shares.
    init(mutating pixelBuffer: CVPixelBuffer, shape: [Int]) {
        let array = MLMultiArray(pixelBuffer: pixelBuffer, shape: shape.map { NSNumber(value: $0) })
        precondition(Scalar.multiArrayDataType == .float16, "a pixel buffer holds Float16, not \(Scalar.self)")
        let storage = ShapedStorage(address: array.address, pixelBuffer: pixelBuffer, release: {})
        self.init(storage: storage, shape: shape, strides: array.steps)
    }

    // MARK: Access

    @inlinable
    func scalar(at indices: some Collection<Int>) -> Scalar {
        withExtendedLifetime(storage) { start[position(indices)] }
    }

    @inlinable
    mutating func setScalar(_ scalar: Scalar, at indices: some Collection<Int>) {
        makeUnique()
        start[position(indices)] = scalar
    }

    /// The part in ranges of the leading axes.
    func part(within ranges: some Collection<Range<Int>>) -> ShapedView {
        part(in: ranges.map { $0 as any MLShapedArrayRangeExpression })
    }

    /// Calls a closure with the memory from the first to the last element, the shape and the strides, for reading.
    @inlinable
    func withMemory<R>(_ body: (UnsafeBufferPointer<Scalar>, [Int], [Int]) throws -> R) rethrows -> R {
        try withExtendedLifetime(storage) {
            let span = spanCount(shape: shape, strides: strides)
            return try body(UnsafeBufferPointer(start: start, count: span), shape, strides)
        }
    }

    /// Calls a closure with the memory from the first to the last element, the shape and the strides, for writing;
    /// memory that is shared is copied first.
    @inlinable
    mutating func withMutableMemory<R>(
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        makeUnique()
        let span = spanCount(shape: shape, strides: strides)
        var buffer = UnsafeMutableBufferPointer(start: start, count: span)
        return try body(&buffer, shape, strides)
    }

    /// The same in a layout, which the memory keeps afterwards.
    mutating func withMutableMemory<R>(
        using layout: MLShapedArrayBufferLayout,
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        if strides != layout.strides(of: shape) { self = copied(layout) }
        return try withMutableMemory(body)
    }

    /// The same elements in a layout; memory is copied only when the layout differs.
    func changingLayout(to layout: MLShapedArrayBufferLayout) -> ShapedView {
        strides == layout.strides(of: shape) ? self : copied(layout)
    }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey { case dataType, shape, scalars }

    /// Encodes the element type, the shape and the row-major elements.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Scalar.multiArrayDataType.rawValue, forKey: .dataType)
        try container.encode(shape, forKey: .shape)
        try container.encode(scalars.withUnsafeBytes { Data($0) }, forKey: .scalars)
    }

    /// Decodes what `encode(to:)` wrote.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let type = try container.decode(Int.self, forKey: .dataType)
        let shape = try container.decode([Int].self, forKey: .shape)
        let data = try container.decode(Data.self, forKey: .scalars)
        guard type == Scalar.multiArrayDataType.rawValue, let count = checkedCount(of: shape),
            data.count == count * MemoryLayout<Scalar>.stride
        else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "not a shaped array of \(Scalar.self)"
                )
            )
        }
        self.init(data: data, shape: shape, strides: contiguousStrides(of: shape))
    }
}
