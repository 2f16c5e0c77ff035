/// A multi-dimensional array of numbers with value semantics: a shaped array or a slice of one.
///
/// As a collection it holds the slices along its first axis.
public protocol MLShapedArrayProtocol<Scalar>: ExpressibleByArrayLiteral, MutableCollection, RandomAccessCollection
where Index == Int, Element == MLShapedArraySlice<Scalar>, ArrayLiteralElement == Scalar {
    /// The element type.
    associatedtype Scalar: MLShapedArrayScalar

    /// The extent of each axis, outermost first; empty for a scalar.
    var shape: [Int] { get }
    /// The distance between neighbours along each axis, in elements.
    var strides: [Int] { get }

    /// Makes an array over memory of the caller, without copying it.
    ///
    /// - Parameters:
    ///   - bytes: The first element; nobody may write to the memory while the array uses it.
    ///   - shape: The extent of each axis, outermost first.
    ///   - strides: The distance between neighbours along each axis, in elements.
    ///   - deallocator: How to free the memory when nothing uses it any more.
    init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], strides: [Int], deallocator: Data.Deallocator)
    /// Makes an array whose elements a closure writes.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - initializer: Receives the uninitialized memory and the strides in elements; it must initialize every
    ///     element.
    /// - Throws: Whatever `initializer` throws.
    init(
        unsafeUninitializedShape shape: [Int],
        initializingWith initializer: (inout UnsafeMutableBufferPointer<Scalar>, [Int]) throws -> Void
    ) rethrows

    /// The part at fixed indices of the leading axes; its rank is that of the remaining axes.
    subscript<C>(indices: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Int { get set }
    /// The element at one index per axis.
    subscript<C>(scalarAt indices: C) -> Scalar where C: Collection, C.Element == Int { get set }
    /// The part within ranges of the leading axes; it has the rank of the whole.
    subscript<C>(sliceRanges: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Range<Int> {
        get set
    }

    /// Calls a closure with the memory from the first to the last element, the shape and the strides in elements, for
    /// reading.
    func withUnsafeShapedBufferPointer<R>(
        _ body: (UnsafeBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R
    /// Calls a closure with the memory from the first to the last element, the shape and the strides in elements, for
    /// writing.
    mutating func withUnsafeMutableShapedBufferPointer<R>(
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R
}

extension MLShapedArrayProtocol {
    /// The extent of the first axis; 0 for an array of rank 0.
    public var count: Int { shape.first ?? 0 }
    /// The index of the first slice along the first axis: always 0.
    public var startIndex: Int { 0 }
    /// The index after the last slice along the first axis; 0 for an array of rank 0.
    public var endIndex: Int { shape.first ?? 0 }
    /// Whether the array has rank 0, and so holds exactly one element.
    public var isScalar: Bool { shape.isEmpty }
    /// The number of elements: the product of the extents.
    public var scalarCount: Int { shape.reduce(1, *) }

    /// The only element of an array of rank 0; `nil` for other arrays.
    ///
    /// Setting it traps when the array has axes; setting `nil` has no effect.
    public var scalar: Scalar? {
        get { isScalar ? self[scalarAt: [Int]()] : nil }
        set {
            guard let newValue else { return }
            precondition(isScalar, "only an array without axes is a scalar; this one has the shape \(shape)")
            self[scalarAt: [Int]()] = newValue
        }
    }

    /// All elements in row-major order; setting them traps unless they are as many as before.
    public var scalars: [Scalar] {
        get { view.scalars }
        set { fill(with: newValue) }
    }

    /// The memory and layout of the elements; a copy for types other than the two of this module.
    var view: ShapedView<Scalar> {
        if let array = self as? MLShapedArray<Scalar> { return array.view }
        if let slice = self as? MLShapedArraySlice<Scalar> { return slice.view }
        let shape = shape
        return withUnsafeShapedBufferPointer { buffer, _, strides in
            let copy = ShapedView<Scalar>(uninitialized: shape)
            if let start = buffer.baseAddress {
                let source = StridedElements(
                    address: UnsafeMutableRawPointer(mutating: start),
                    dataType: Scalar.multiArrayDataType,
                    strides: strides
                )
                copy.elements.copy(source, shape: shape)
            }
            return copy
        }
    }

    /// Copies the elements of a view.
    init(copying view: ShapedView<Scalar>) {
        self.init(unsafeUninitializedShape: view.shape) { buffer, strides in
            guard let start = buffer.baseAddress else { return }
            let target = StridedElements(
                address: UnsafeMutableRawPointer(start),
                dataType: Scalar.multiArrayDataType,
                strides: strides
            )
            target.copy(view.elements, shape: view.shape)
        }
    }

    /// Copies a multi-array of the same element type; another type traps.
    public init(_ multiArray: MLMultiArray) {
        precondition(
            multiArray.dataType == Scalar.multiArrayDataType,
            "the elements are \(multiArray.dataType.name), not \(Scalar.self); use init(converting:)"
        )
        self.init(copying: ShapedView(multiArray))
    }

    /// Copies a multi-array and converts its elements.
    ///
    /// Floats are rounded to nearest even; conversions to integers truncate toward zero and saturate, and NaN becomes
    /// 0.
    public init(converting multiArray: MLMultiArray) { self.init(copying: ShapedView(multiArray)) }

    /// Copies another shaped array and converts its elements.
    ///
    /// Floats are rounded to nearest even; conversions to integers truncate toward zero and saturate, and NaN becomes
    /// 0.
    public init<T>(converting source: T) where T: MLShapedArrayProtocol {
        let view = ShapedView<Scalar>(uninitialized: source.shape)
        view.elements.copy(source.view.elements, shape: source.shape)
        self.init(copying: view)
    }

    /// Makes an array over row-major memory of the caller, without copying it.
    ///
    /// - Parameters:
    ///   - bytes: The first element; nobody may write to the memory while the array uses it.
    ///   - shape: The extent of each axis, outermost first.
    ///   - deallocator: How to free the memory when nothing uses it any more.
    public init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], deallocator: Data.Deallocator) {
        self.init(
            bytesNoCopy: bytes,
            shape: shape,
            strides: contiguousStrides(of: shape),
            deallocator: deallocator
        )
    }

    /// Makes an array from its elements in row-major order; it traps unless they are as many as the shape has.
    public init<S>(scalars: S, shape: [Int]) where S: Sequence, Scalar == S.Element {
        self.init(copying: ShapedView(scalars: scalars, shape: shape))
    }

    /// Makes an array whose elements all have the same value.
    public init(repeating value: Scalar, shape: [Int]) {
        self.init(unsafeUninitializedShape: shape) { buffer, _ in buffer.initialize(repeating: value) }
    }

    /// Makes an array of rank 1 from the elements of a literal.
    public init(arrayLiteral elements: Scalar...) { self.init(scalars: elements, shape: [elements.count]) }

    /// The element at one index per axis.
    public subscript(scalarAt indices: Int...) -> Scalar {
        get { self[scalarAt: indices] }
        set { self[scalarAt: indices] = newValue }
    }

    /// The slice at an index of the first axis; its rank is one lower.
    public subscript(index: Int) -> MLShapedArraySlice<Scalar> {
        get { self[CollectionOfOne(index)] }
        set { self[CollectionOfOne(index)] = newValue }
    }

    /// The part at fixed indices of the leading axes; its rank is that of the remaining axes.
    public subscript(indices: Int...) -> MLShapedArraySlice<Scalar> {
        get { self[indices] }
        set { self[indices] = newValue }
    }

    /// The part within a range of the first axis.
    public subscript(sliceRange: Range<Int>) -> MLShapedArraySlice<Scalar> {
        get { self[CollectionOfOne(sliceRange)] }
        set { self[CollectionOfOne(sliceRange)] = newValue }
    }

    /// The part within a range of the first axis, whose open ends extend to those of the axis.
    public subscript(sliceRange: any MLShapedArrayRangeExpression) -> MLShapedArraySlice<Scalar> {
        get { self[partialRanges([sliceRange])] }
        set { self[partialRanges([sliceRange])] = newValue }
    }

    /// The part within ranges of the leading axes, whose open ends extend to those of the axes.
    public subscript(sliceRanges: any MLShapedArrayRangeExpression...) -> MLShapedArraySlice<Scalar> {
        get { self[partialRanges(sliceRanges)] }
        set { self[partialRanges(sliceRanges)] = newValue }
    }

    /// The part within a collection of ranges of the leading axes, whose open ends extend to those of the axes.
    public subscript<C>(partialSliceRanges: C) -> MLShapedArraySlice<Scalar>
    where C: Collection, C.Element == any MLShapedArrayRangeExpression {
        get { self[partialRanges(partialSliceRanges)] }
        set { self[partialRanges(partialSliceRanges)] = newValue }
    }

    /// The whole array as a slice: `array[...]`.
    public subscript(_: (UnboundedRange_) -> Void) -> MLShapedArraySlice<Scalar> {
        get { self[[Range<Int>]()] }
        set { self[[Range<Int>]()] = newValue }
    }

    private func partialRanges(_ expressions: some Collection<any MLShapedArrayRangeExpression>) -> [Range<Int>] {
        precondition(expressions.count <= shape.count, "\(expressions.count) ranges for \(shape.count) axes")
        return zip(expressions, shape).map { $0.relative(toShapedArrayAxis: 0..<$1) }
    }

    /// Sets every element to `value`.
    public mutating func fill(with value: Scalar) { fill(with: repeatElement(value, count: scalarCount)) }

    /// Sets the elements, in row-major order, to those of `collection`, which must be as many.
    public mutating func fill<C>(with collection: C) where C: Collection, Scalar == C.Element {
        precondition(collection.count == scalarCount, "\(collection.count) scalars for shape \(shape)")
        let values = ShapedView<Scalar>(scalars: collection, shape: shape)
        withUnsafeMutableShapedBufferPointer { buffer, shape, strides in
            guard let start = buffer.baseAddress else { return }
            let target = StridedElements(
                address: UnsafeMutableRawPointer(start),
                dataType: Scalar.multiArrayDataType,
                strides: strides
            )
            target.copy(values.elements, shape: shape)
        }
    }
}

extension MLShapedArrayProtocol where Scalar: BinaryFloatingPoint, Scalar.RawSignificand: FixedWidthInteger {
    /// Makes a square matrix with ones on the diagonal and zeros elsewhere.
    public init(identityMatrixOfSize size: Int) {
        self.init(
            scalars: (0..<size * size).lazy.map { $0 / size == $0 % size ? 1 : 0 },
            shape: [size, size]
        )
    }

    /// Makes an array of elements drawn uniformly from `range`, by the system's random number generator.
    public init(randomScalarsIn range: Range<Scalar>, shape: [Int]) {
        self.init(scalars: (0..<shape.reduce(1, *)).lazy.map { _ in Scalar.random(in: range) }, shape: shape)
    }
}

extension MLShapedArrayProtocol where Scalar: FixedWidthInteger {
    /// Makes a square matrix of integers with ones on the diagonal and zeros elsewhere.
    public init(identityMatrixOfSize size: Int) {
        self.init(
            scalars: (0..<size * size).lazy.map { $0 / size == $0 % size ? 1 : 0 },
            shape: [size, size]
        )
    }

    /// Makes an array of integers drawn uniformly from `range`, by the system's random number generator.
    public init(randomScalarsIn range: Range<Scalar>, shape: [Int]) {
        self.init(scalars: (0..<shape.reduce(1, *)).lazy.map { _ in Scalar.random(in: range) }, shape: shape)
    }
}
