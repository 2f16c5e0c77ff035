import MLNumerics

/// Memory that shaped arrays share.
///
/// `@unchecked Sendable`: memory that is shared is never written; a writer copies first unless it holds the only
/// reference.
@usableFromInline
final class ShapedStorage: @unchecked Sendable {
    @usableFromInline let address: UnsafeMutableRawPointer
    /// False for memory that was lent for reading: a change copies it first.
    let isWritable: Bool
    let pixelBuffer: CVPixelBuffer?
    private let release: () -> Void

    init(
        address: UnsafeMutableRawPointer,
        isWritable: Bool = true,
        pixelBuffer: CVPixelBuffer? = nil,
        release: @escaping () -> Void
    ) {
        self.address = address
        self.isWritable = isWritable
        self.pixelBuffer = pixelBuffer
        self.release = release
    }

    /// Uninitialised memory.
    convenience init(byteCount: Int) {
        let memory = TensorMemory.allocate(byteCount)
        self.init(address: memory, release: { memory.deallocate() })
    }

    deinit { release() }
}

/// The location and layout of the elements of a shaped array or slice; the whole content of both types.
@usableFromInline
struct ShapedView<Scalar: MLShapedArrayScalar>: Sendable {
    @usableFromInline var storage: ShapedStorage
    /// The position of the first element, in elements.
    @usableFromInline var offset: Int
    @usableFromInline var shape: [Int]
    @usableFromInline var strides: [Int]

    /// A view of memory that holds the span of the shape and the strides, which must be valid.
    init(storage: ShapedStorage, offset: Int = 0, shape: [Int], strides: [Int]) {
        self.storage = storage
        self.offset = offset
        self.shape = shape
        self.strides = strides
    }

    /// New memory with arbitrary contents; a shape or a layout that is not valid traps.
    init(uninitialized shape: [Int], layout: MLShapedArrayBufferLayout = .firstMajorContiguous) {
        let strides = layout.strides(of: shape)
        let span = validSpan(shape: shape, strides: strides)
        self.init(
            storage: ShapedStorage(byteCount: span * MemoryLayout<Scalar>.stride),
            shape: shape,
            strides: strides
        )
    }

    init(scalars: some Sequence<Scalar>, shape: [Int]) {
        self.init(uninitialized: shape)
        let target = start
        var written = 0
        let count = scalarCount
        for value in scalars {
            precondition(written < count, "more scalars than the \(count) of shape \(shape)")
            target[written] = value
            written += 1
        }
        precondition(written == count, "\(written) scalars for shape \(shape)")
    }

    init(_ multiArray: MLMultiArray) {
        self.init(uninitialized: multiArray.extents)
        elements.copy(multiArray.elements, shape: shape)
    }

    @inlinable
    var start: UnsafeMutablePointer<Scalar> { storage.address.assumingMemoryBound(to: Scalar.self) + offset }

    @inlinable
    var scalarCount: Int { shape.reduce(1, *) }

    var elements: StridedElements {
        StridedElements(
            address: UnsafeMutableRawPointer(start),
            dataType: Scalar.multiArrayDataType,
            strides: strides
        )
    }

    var isContiguous: Bool { strides == contiguousStrides(of: shape) }

    /// The same elements in memory of their own, in the given layout.
    func copied(_ layout: MLShapedArrayBufferLayout = .firstMajorContiguous) -> ShapedView {
        let copy = ShapedView(uninitialized: shape, layout: layout)
        copy.elements.copy(elements, shape: shape)
        return copy
    }

    /// Prepares the memory for writing: copies it when it is shared or read-only.
    @usableFromInline
    mutating func makeUnique() {
        if !storage.isWritable || !isKnownUniquelyReferenced(&storage) { self = copied() }
    }

    var scalars: [Scalar] {
        let view = isContiguous ? self : copied()
        return withExtendedLifetime(view.storage) {
            [Scalar](UnsafeBufferPointer(start: view.start, count: scalarCount))
        }
    }

    /// The position, from `start`, of the element at `indices`.
    @inlinable
    func position(_ indices: some Collection<Int>) -> Int {
        precondition(indices.count == shape.count, "\(indices.count) indices for \(shape.count) axes")
        var position = 0
        var axis = 0
        for index in indices {
            precondition(index >= 0 && index < shape[axis], "index \(index) is outside axis \(axis) of \(shape)")
            position += index * strides[axis]
            axis += 1
        }
        return position
    }

    /// The part at fixed indices of the leading axes.
    func part(at indices: some Collection<Int>) -> ShapedView {
        precondition(indices.count <= shape.count, "\(indices.count) indices for \(shape.count) axes")
        var part = self
        for (axis, index) in indices.enumerated() {
            precondition(index >= 0 && index < shape[axis], "index \(index) is outside axis \(axis) of \(shape)")
            part.offset += index * strides[axis]
        }
        part.shape.removeFirst(indices.count)
        part.strides.removeFirst(indices.count)
        return part
    }

    /// The part inside ranges of the leading axes.
    func part(in ranges: some Collection<any MLShapedArrayRangeExpression>) -> ShapedView {
        precondition(ranges.count <= shape.count, "\(ranges.count) ranges for \(shape.count) axes")
        var part = self
        for (axis, expression) in ranges.enumerated() {
            let range = expression.relative(toShapedArrayAxis: 0..<shape[axis])
            precondition(
                range.lowerBound >= 0 && range.upperBound <= shape[axis],
                "range \(range) is outside axis \(axis) of \(shape)"
            )
            part.offset += range.lowerBound * strides[axis]
            part.shape[axis] = range.count
        }
        return part
    }

    /// Overwrites a part of the elements.
    mutating func replace(_ axisIndex: (ShapedView) -> ShapedView, by other: ShapedView) {
        // Held until after the copy: `other` may be a part of this very memory.
        let source = other
        makeUnique()
        let target = axisIndex(self)
        precondition(target.shape == source.shape, "shape \(source.shape) does not fit \(target.shape)")
        target.elements.copy(source.elements, shape: target.shape)
    }

    mutating func fill(_ next: () -> Scalar) {
        makeUnique()
        if !isContiguous { self = copied() }
        let target = start
        for index in 0..<scalarCount { target[index] = next() }
    }

    func reshaped(_ newShape: [Int]) -> ShapedView {
        precondition(
            checkedCount(of: newShape) == scalarCount,
            "shape \(shape) cannot become \(newShape): the numbers of elements differ"
        )
        var view = isContiguous ? self : copied()
        view.shape = newShape
        view.strides = contiguousStrides(of: newShape)
        return view
    }

    func expanded(at axis: Int) -> ShapedView {
        let axisIndex = axis < 0 ? axis + shape.count + 1 : axis
        precondition(axisIndex >= 0 && axisIndex <= shape.count, "axis \(axis) is outside \(shape)")
        var view = self
        view.strides.insert(axisIndex < shape.count ? shape[axisIndex] * strides[axisIndex] : 1, at: axisIndex)
        view.shape.insert(1, at: axisIndex)
        return view
    }

    func squeezed() -> ShapedView {
        var view = self
        let kept = shape.indices.filter { shape[$0] != 1 }
        view.shape = kept.map { shape[$0] }
        view.strides = kept.map { strides[$0] }
        return view
    }

    func transposed(_ axes: [Int]) -> ShapedView {
        precondition(axes.sorted() == Array(shape.indices), "\(axes) is not a permutation of the axes of \(shape)")
        var view = self
        view.shape = axes.map { shape[$0] }
        view.strides = axes.map { strides[$0] }
        return view
    }

    static func concatenating(_ views: [ShapedView], axis: Int) -> ShapedView {
        guard let first = views.first else { return ShapedView(uninitialized: [0]) }
        let axisIndex = axis < 0 ? axis + first.shape.count : axis
        precondition(first.shape.indices.contains(axisIndex), "axis \(axis) is outside \(first.shape)")
        var shape = first.shape
        shape[axisIndex] = views.reduce(0) { $0 + $1.shape[axisIndex] }
        let result = ShapedView(uninitialized: shape)
        var position = 0
        for view in views {
            var target = result
            target.offset += position * result.strides[axisIndex]
            target.shape[axisIndex] = view.shape[axisIndex]
            precondition(target.shape == view.shape, "shapes \(first.shape) and \(view.shape) cannot be concatenated")
            target.elements.copy(view.elements, shape: view.shape)
            position += view.shape[axisIndex]
        }
        return result
    }

    static func == (a: ShapedView, b: ShapedView) -> Bool { a.shape == b.shape && a.scalars == b.scalars }
}
