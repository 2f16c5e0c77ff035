/// A multi-dimensional array of numbers with value semantics.
///
/// Copies share memory until one of them is changed.
public struct MLShapedArray<Scalar>: MLShapedArrayProtocol, Sendable where Scalar: MLShapedArrayScalar {
    /// The type of parts of the array: a slice.
    public typealias SubSequence = MLShapedArraySlice<Scalar>

    @usableFromInline var view: ShapedView<Scalar>

    init(view: ShapedView<Scalar>) { self.view = view }

    /// Makes an array over memory of the caller, without copying it.
    ///
    /// The memory is only read: the first change of the array copies the elements. Strides that do not fit the shape
    /// trap.
    ///
    /// - Parameters:
    ///   - bytes: The first element; aligned for `Scalar`, and not written to by anyone else while the array uses it.
    ///   - shape: The extent of each axis, outermost first.
    ///   - strides: The distance between neighbours along each axis, in elements: one of 0 or more for each axis.
    ///   - deallocator: How to free the memory when nothing uses it any more.
    public init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], strides: [Int], deallocator: Data.Deallocator) {
        view = ShapedView(bytesNoCopy: bytes, shape: shape, strides: strides, deallocator: deallocator)
    }

    /// Makes a row-major array whose elements a closure writes.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - initializer: Receives the uninitialized memory and the strides in elements; it must initialize every
    ///     element.
    /// - Throws: Whatever `initializer` throws.
    public init(
        unsafeUninitializedShape shape: [Int],
        initializingWith initializer: (inout UnsafeMutableBufferPointer<Scalar>, [Int]) throws -> Void
    ) rethrows {
        view = try ShapedView(unsafeUninitializedShape: shape, initializingWith: initializer)
    }

    /// Copies a multi-array of the same element type.
    ///
    /// - Parameter multiArray: An array whose `dataType` is that of `Scalar`; any other type traps. `init(converting:)`
    ///   converts the elements.
    public init(_ multiArray: MLMultiArray) { view = ShapedView(sameType: multiArray) }

    /// Copies row-major elements out of `data`, which must hold at least as many bytes as the shape needs.
    public init(data: Data, shape: [Int]) { self.init(data: data, shape: shape, strides: contiguousStrides(of: shape)) }

    /// Copies elements out of `data`, where neighbours along each axis lie `strides` elements apart.
    ///
    /// The array keeps these strides. It traps when they do not fit the shape or `data` is too short.
    public init(data: Data, shape: [Int], strides: [Int]) {
        view = ShapedView(data: data, shape: shape, strides: strides)
    }

    /// Makes an array over the half-precision pixels of a pixel buffer, sharing its memory.
    ///
    /// Changing the array writes to the buffer as long as no other array shares the memory; otherwise the array copies
    /// the elements first and leaves the buffer.
    ///
    /// - Parameters:
    ///   - pixelBuffer: A buffer of the format `kCVPixelFormatType_OneComponent16Half`; `Scalar` must be `Float16`.
    ///   - shape: The last extent is the buffer's width, the product of the others its height.
    public init(mutating pixelBuffer: CVPixelBuffer, shape: [Int]) {
        view = ShapedView(mutating: pixelBuffer, shape: shape)
    }

    /// Makes an array of rank 0, which holds one element.
    public init(scalar: Scalar) { view = ShapedView(scalars: CollectionOfOne(scalar), shape: []) }

    /// Makes an array from its elements in row-major order; it traps unless they are as many as the shape has.
    public init<S>(scalars: S, shape: [Int]) where Scalar == S.Element, S: Sequence {
        view = ShapedView(scalars: scalars, shape: shape)
    }

    /// Joins arrays along an axis.
    ///
    /// - Parameters:
    ///   - shapedArrays: The arrays, whose extents along all other axes must agree; without any, the result has the
    ///     shape [0].
    ///   - alongAxis: The axis to join along; a negative one counts from the last axis.
    public init<S>(concatenating shapedArrays: S, alongAxis: Int)
    where Scalar == S.Element.Scalar, S: Sequence, S.Element: MLShapedArrayProtocol {
        view = ShapedView.concatenating(shapedArrays.map { $0.view }, axis: alongAxis)
    }

    /// The extent of each axis, outermost first; empty for a scalar.
    public var shape: [Int] { view.shape }
    /// The distance between neighbours along each axis, in elements.
    public var strides: [Int] { view.strides }

    /// The part at fixed indices of the leading axes; its rank is that of the remaining axes.
    public subscript<C>(indices: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Int {
        get { MLShapedArraySlice(view: view.part(at: indices)) }
        set { view.replace({ $0.part(at: indices) }, by: newValue.view) }
    }

    /// The element at one index per axis; an index outside the shape traps.
    @inlinable
    public subscript<C>(scalarAt indices: C) -> Scalar where C: Collection, C.Element == Int {
        get { view.scalar(at: indices) }
        set { view.setScalar(newValue, at: indices) }
    }

    /// The part within ranges of the leading axes; it has the rank of the whole.
    public subscript<C>(sliceRanges: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Range<Int> {
        get { MLShapedArraySlice(view: view.part(within: sliceRanges)) }
        set { view.replace({ $0.part(within: sliceRanges) }, by: newValue.view) }
    }

    /// Calls a closure with the array's memory for reading.
    ///
    /// - Parameter body: Receives the memory from the first to the last element, gaps included, the shape and the
    ///   strides in elements. The pointer is valid only during the call.
    /// - Returns: The result of `body`.
    /// - Throws: Whatever `body` throws.
    @inlinable
    public func withUnsafeShapedBufferPointer<R>(
        _ body: (UnsafeBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        try view.withMemory(body)
    }

    /// Calls a closure with the array's memory for writing.
    ///
    /// Memory that other arrays share is copied first, row-major.
    ///
    /// - Parameter body: Receives the memory from the first to the last element, gaps included, the shape and the
    ///   strides in elements. The pointer is valid only during the call.
    /// - Returns: The result of `body`.
    /// - Throws: Whatever `body` throws.
    @inlinable
    public mutating func withUnsafeMutableShapedBufferPointer<R>(
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        try view.withMutableMemory(body)
    }

    /// Calls a closure with the array's memory for writing, after moving the elements to the given layout.
    ///
    /// - Parameters:
    ///   - bufferLayout: The layout that the memory has during the call and keeps afterwards.
    ///   - body: Receives the memory from the first to the last element, gaps included, the shape and the strides in
    ///     elements.
    /// - Returns: The result of `body`.
    /// - Throws: Whatever `body` throws.
    public mutating func withUnsafeMutableShapedBufferPointer<R>(
        using bufferLayout: MLShapedArrayBufferLayout,
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R {
        try view.withMutableMemory(using: bufferLayout, body)
    }

    /// The same elements in the given memory layout; memory is copied only when the layout differs.
    public func changingLayout(to bufferLayout: MLShapedArrayBufferLayout) -> Self {
        Self(view: view.changingLayout(to: bufferLayout))
    }

    /// The same elements with an additional axis of extent 1.
    ///
    /// - Parameter axis: The position of the new axis; a negative one counts from the end, −1 appending the axis.
    /// - Returns: The array, whose rank is one higher.
    public func expandingShape(at axis: Int) -> Self { Self(view: view.expanded(at: axis)) }
    /// The same elements, in row-major order, in another shape with the same number of elements.
    public func reshaped(to newShape: [Int]) -> Self { Self(view: view.reshaped(newShape)) }
    /// The same elements without the axes of extent 1.
    public func squeezingShape() -> Self { Self(view: view.squeezed()) }
    /// The array with its axes in reverse order.
    public func transposed() -> Self { Self(view: view.transposed(shape.indices.reversed())) }
    /// The array with its axes permuted: axis `i` of the result is axis `axes[i]` of this array.
    public func transposed(permutation axes: [Int]) -> Self { Self(view: view.transposed(axes)) }

    /// Whether two arrays have the same shape and elements; their memory layouts may differ.
    public static func == (a: Self, b: Self) -> Bool { a.view == b.view }

    /// Encodes the element type, the shape and the row-major elements.
    public func encode(to encoder: any Encoder) throws { try view.encode(to: encoder) }

    /// Decodes an array that `encode(to:)` wrote.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError.dataCorrupted` when the element type is not `Scalar` or the data do not fit the shape.
    public init(from decoder: any Decoder) throws { view = try ShapedView(from: decoder) }

    /// Calls a closure with the pixel buffer whose memory the array shares; returns `nil` when it shares none.
    public func withPixelBufferIfAvailable<R>(_ body: (CVPixelBuffer) throws -> R) rethrows -> R? {
        try view.storage.pixelBuffer.map(body)
    }

    /// Calls a closure with the pixel buffer whose memory the array shares, for writing.
    ///
    /// - Parameter body: Receives the buffer; what it writes changes the array.
    /// - Returns: The result of `body`; `nil` when the array shares no buffer, or had to copy its elements because
    ///   another array shares the memory.
    /// - Throws: Whatever `body` throws.
    public mutating func withMutablePixelBufferIfAvailable<R>(_ body: (CVPixelBuffer) throws -> R) rethrows -> R? {
        view.makeUnique()
        return try view.storage.pixelBuffer.map(body)
    }
}

extension MLShapedArray: Equatable, Codable, CustomStringConvertible {
    /// The element type and shape, and the elements of arrays of rank 2 and less.
    public var description: String { (MLMultiArray(self) as NSObject).description }
}
