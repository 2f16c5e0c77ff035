/// Numbers in any number of axes, with value semantics; copies share memory until one is changed.
public struct MLShapedArray<Scalar>: MLShapedArrayProtocol, Sendable where Scalar: MLShapedArrayScalar {
    public typealias SubSequence = MLShapedArraySlice<Scalar>

    @usableFromInline var view: ShapedView<Scalar>

    init(view: ShapedView<Scalar>) { self.view = view }

    public init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], strides: [Int], deallocator: Data.Deallocator) {
        let memory = UnsafeMutableRawPointer(mutating: bytes)
        let size = spanCount(shape: shape, strides: strides) * MemoryLayout<Scalar>.stride
        let release: () -> Void =
            switch deallocator {
            case .free: { free(memory) }
            case .unmap: { munmap(memory, size) }
            case .none: {}
            case .custom(let function): { function(memory, size) }
            @unknown default: {}
            }
        let storage = ShapedStorage(address: memory, isWritable: false, release: release)
        view = ShapedView(storage: storage, shape: shape, strides: strides)
    }

    public init(
        unsafeUninitializedShape shape: [Int],
        initializingWith initializer: (inout UnsafeMutableBufferPointer<Scalar>, [Int]) throws -> Void
    ) rethrows {
        view = ShapedView(uninitialized: shape)
        var buffer = UnsafeMutableBufferPointer(start: view.start, count: view.scalarCount)
        try initializer(&buffer, view.strides)
    }

    public init(_ multiArray: MLMultiArray) {
        precondition(
            multiArray.dataType == Scalar.multiArrayDataType,
            "the elements are \(multiArray.dataType.name), not \(Scalar.self); use init(converting:)"
        )
        view = ShapedView(multiArray)
    }

    /// Copies the elements out of `data`, which holds them row-major.
    public init(data: Data, shape: [Int]) { self.init(data: data, shape: shape, strides: contiguousStrides(of: shape)) }

    /// Copies the elements out of `data`, where they lie `strides` apart.
    public init(data: Data, shape: [Int], strides: [Int]) {
        precondition(strides.allSatisfy { $0 >= 0 }, "strides are 0 or more")
        let size = spanCount(shape: shape, strides: strides) * MemoryLayout<Scalar>.stride
        precondition(data.count >= size, "\(data.count) bytes are not enough for shape \(shape), strides \(strides)")
        let storage = ShapedStorage(byteCount: size)
        data.withUnsafeBytes { source in
            if let start = source.baseAddress { storage.address.copyMemory(from: start, byteCount: size) }
        }
        view = ShapedView(storage: storage, shape: shape, strides: strides)
    }

    /// The half-precision numbers of a pixel buffer of format OneComponent16Half, sharing its memory.
    public init(mutating pixelBuffer: CVPixelBuffer, shape: [Int]) {
        let array = MLMultiArray(pixelBuffer: pixelBuffer, shape: shape.map { NSNumber(value: $0) })
        precondition(Scalar.multiArrayDataType == .float16, "a pixel buffer holds Float16, not \(Scalar.self)")
        let storage = ShapedStorage(address: array.address, pixelBuffer: pixelBuffer, release: {})
        view = ShapedView(storage: storage, shape: shape, strides: array.steps)
    }

    /// An array without axes.
    public init(scalar: Scalar) { view = ShapedView(scalars: CollectionOfOne(scalar), shape: []) }

    public init<S>(scalars: S, shape: [Int]) where Scalar == S.Element, S: Sequence {
        view = ShapedView(scalars: scalars, shape: shape)
    }

    /// The arrays one after another along an axis; all other extents must agree.
    public init<S>(concatenating shapedArrays: S, alongAxis: Int)
    where Scalar == S.Element.Scalar, S: Sequence, S.Element: MLShapedArrayProtocol {
        view = ShapedView.concatenating(shapedArrays.map { $0.view }, axis: alongAxis)
    }

    public var shape: [Int] { view.shape }
    public var strides: [Int] { view.strides }

    public subscript<C>(indices: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Int {
        get { MLShapedArraySlice(view: view.part(at: indices)) }
        set { view.replace({ $0.part(at: indices) }, by: newValue.view) }
    }

    @inlinable
    public subscript<C>(scalarAt indices: C) -> Scalar where C: Collection, C.Element == Int {
        get { withExtendedLifetime(view.storage) { view.start[view.position(indices)] } }
        set {
            view.makeUnique()
            view.start[view.position(indices)] = newValue
        }
    }

    public subscript<C>(sliceRanges: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Range<Int> {
        get { MLShapedArraySlice(view: view.part(in: sliceRanges.map { $0 as any MLShapedArrayRangeExpression })) }
        set {
            let ranges = sliceRanges.map { $0 as any MLShapedArrayRangeExpression }
            view.replace({ $0.part(in: ranges) }, by: newValue.view)
        }
    }

    @inlinable
    public func withUnsafeShapedBufferPointer<R>(
        _ body: (UnsafeBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        try withExtendedLifetime(view.storage) {
            let span = spanCount(shape: view.shape, strides: view.strides)
            return try body(UnsafeBufferPointer(start: view.start, count: span), view.shape, view.strides)
        }
    }

    @inlinable
    public mutating func withUnsafeMutableShapedBufferPointer<R>(
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        view.makeUnique()
        let span = spanCount(shape: view.shape, strides: view.strides)
        var buffer = UnsafeMutableBufferPointer(start: view.start, count: span)
        return try body(&buffer, view.shape, view.strides)
    }

    /// As above, after moving the elements to the given layout.
    public mutating func withUnsafeMutableShapedBufferPointer<R>(
        using bufferLayout: MLShapedArrayBufferLayout,
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        if view.strides != bufferLayout.strides(of: view.shape) { view = view.copied(bufferLayout) }
        return try withUnsafeMutableShapedBufferPointer(body)
    }

    public func changingLayout(to bufferLayout: MLShapedArrayBufferLayout) -> Self {
        Self(view: view.strides == bufferLayout.strides(of: view.shape) ? view : view.copied(bufferLayout))
    }

    /// The same elements with an axis of extent 1 more.
    public func expandingShape(at axis: Int) -> Self { Self(view: view.expanded(at: axis)) }
    /// The same elements, in row-major order, in another shape.
    public func reshaped(to newShape: [Int]) -> Self { Self(view: view.reshaped(newShape)) }
    /// The same elements without axes of extent 1.
    public func squeezingShape() -> Self { Self(view: view.squeezed()) }
    /// The axes in reverse order.
    public func transposed() -> Self { Self(view: view.transposed(shape.indices.reversed())) }
    /// The axes in the order of `axes`.
    public func transposed(permutation axes: [Int]) -> Self { Self(view: view.transposed(axes)) }

    public static func == (a: Self, b: Self) -> Bool { a.view == b.view }

    private enum CodingKeys: String, CodingKey { case dataType, shape, scalars }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Scalar.multiArrayDataType.rawValue, forKey: .dataType)
        try container.encode(shape, forKey: .shape)
        try container.encode(view.scalars.withUnsafeBytes { Data($0) }, forKey: .scalars)
    }

    public init(from decoder: any Decoder) throws {
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
        self.init(data: data, shape: shape)
    }

    /// The pixel buffer whose memory the array shares, if it does.
    public func withPixelBufferIfAvailable<R>(_ body: (CVPixelBuffer) throws -> R) rethrows -> R? {
        try view.storage.pixelBuffer.map(body)
    }

    /// The pixel buffer whose memory the array shares, for writing, if it does.
    public mutating func withMutablePixelBufferIfAvailable<R>(_ body: (CVPixelBuffer) throws -> R) rethrows -> R? {
        view.makeUnique()
        return try view.storage.pixelBuffer.map(body)
    }
}

extension MLShapedArray: Equatable, Codable, CustomStringConvertible {
    public var description: String { (MLMultiArray(self) as NSObject).description }
}
