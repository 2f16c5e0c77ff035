/// Numbers in any number of axes, with value semantics.
public protocol MLShapedArrayProtocol<Scalar>: ExpressibleByArrayLiteral, MutableCollection, RandomAccessCollection
where Index == Int, Element == MLShapedArraySlice<Scalar>, ArrayLiteralElement == Scalar {
    associatedtype Scalar: MLShapedArrayScalar

    /// The extents, outermost first.
    var shape: [Int] { get }
    /// How many elements lie between neighbours along each axis.
    var strides: [Int] { get }

    /// An array over memory that nobody writes while it lives.
    init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], strides: [Int], deallocator: Data.Deallocator)
    /// An array whose memory `initializer` fills; it is told the buffer and the strides.
    init(
        unsafeUninitializedShape shape: [Int],
        initializingWith initializer: (inout UnsafeMutableBufferPointer<Scalar>, [Int]) throws -> Void
    ) rethrows

    /// The part at fixed indices of the leading axes.
    subscript<C>(indices: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Int { get set }
    /// The element at one index for each axis.
    subscript<C>(scalarAt indices: C) -> Scalar where C: Collection, C.Element == Int { get set }
    /// The part inside ranges of the leading axes.
    subscript<C>(sliceRanges: C) -> MLShapedArraySlice<Scalar> where C: Collection, C.Element == Range<Int> {
        get set
    }

    /// The memory from the first to the last element, the shape and the strides.
    func withUnsafeShapedBufferPointer<R>(
        _ body: (UnsafeBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R
    /// The memory from the first to the last element, the shape and the strides.
    mutating func withUnsafeMutableShapedBufferPointer<R>(
        _ body: (inout UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> R
    ) rethrows -> R
}

extension MLShapedArrayProtocol {
    /// The extent of the first axis; 0 for a scalar.
    public var count: Int { shape.first ?? 0 }
    public var startIndex: Int { 0 }
    public var endIndex: Int { shape.first ?? 0 }
    public var isScalar: Bool { shape.isEmpty }
    public var scalarCount: Int { shape.reduce(1, *) }

    /// The only element of an array without axes; `nil` for others.
    public var scalar: Scalar? {
        get { isScalar ? self[scalarAt: [Int]()] : nil }
        set {
            guard let newValue else { return }
            precondition(isScalar, "only an array without axes is a scalar; this one has the shape \(shape)")
            self[scalarAt: [Int]()] = newValue
        }
    }

    /// All elements in row-major order.
    public var scalars: [Scalar] {
        get { view.scalars }
        set { fill(with: newValue) }
    }

    /// The place of the elements, for whatever type conforms.
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

    /// A copy of a multi-array of the same element type.
    public init(_ multiArray: MLMultiArray) {
        precondition(
            multiArray.dataType == Scalar.multiArrayDataType,
            "the elements are \(multiArray.dataType.name), not \(Scalar.self); use init(converting:)"
        )
        self.init(copying: ShapedView(multiArray))
    }

    /// A copy of a multi-array with its elements converted.
    public init(converting multiArray: MLMultiArray) { self.init(copying: ShapedView(multiArray)) }

    /// A copy of another shaped array with its elements converted.
    public init<T>(converting source: T) where T: MLShapedArrayProtocol {
        let view = ShapedView<Scalar>(uninitialized: source.shape)
        view.elements.copy(source.view.elements, shape: source.shape)
        self.init(copying: view)
    }

    public init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], deallocator: Data.Deallocator) {
        self.init(
            bytesNoCopy: bytes,
            shape: shape,
            strides: contiguousStrides(of: shape),
            deallocator: deallocator
        )
    }

    public init<S>(scalars: S, shape: [Int]) where S: Sequence, Scalar == S.Element {
        self.init(copying: ShapedView(scalars: scalars, shape: shape))
    }

    public init(repeating value: Scalar, shape: [Int]) {
        self.init(unsafeUninitializedShape: shape) { buffer, _ in buffer.initialize(repeating: value) }
    }

    public init(arrayLiteral elements: Scalar...) { self.init(scalars: elements, shape: [elements.count]) }

    /// The element at one index for each axis.
    public subscript(scalarAt indices: Int...) -> Scalar {
        get { self[scalarAt: indices] }
        set { self[scalarAt: indices] = newValue }
    }

    public subscript(index: Int) -> MLShapedArraySlice<Scalar> {
        get { self[CollectionOfOne(index)] }
        set { self[CollectionOfOne(index)] = newValue }
    }

    public subscript(indices: Int...) -> MLShapedArraySlice<Scalar> {
        get { self[indices] }
        set { self[indices] = newValue }
    }

    public subscript(sliceRange: Range<Int>) -> MLShapedArraySlice<Scalar> {
        get { self[CollectionOfOne(sliceRange)] }
        set { self[CollectionOfOne(sliceRange)] = newValue }
    }

    public subscript(sliceRange: any MLShapedArrayRangeExpression) -> MLShapedArraySlice<Scalar> {
        get { self[partialRanges([sliceRange])] }
        set { self[partialRanges([sliceRange])] = newValue }
    }

    public subscript(sliceRanges: any MLShapedArrayRangeExpression...) -> MLShapedArraySlice<Scalar> {
        get { self[partialRanges(sliceRanges)] }
        set { self[partialRanges(sliceRanges)] = newValue }
    }

    public subscript<C>(partialSliceRanges: C) -> MLShapedArraySlice<Scalar>
    where C: Collection, C.Element == any MLShapedArrayRangeExpression {
        get { self[partialRanges(partialSliceRanges)] }
        set { self[partialRanges(partialSliceRanges)] = newValue }
    }

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
    /// Ones on the diagonal of a square matrix.
    public init(identityMatrixOfSize size: Int) {
        self.init(
            scalars: (0..<size * size).lazy.map { $0 / size == $0 % size ? 1 : 0 },
            shape: [size, size]
        )
    }

    /// Elements drawn evenly from `range`.
    public init(randomScalarsIn range: Range<Scalar>, shape: [Int]) {
        self.init(scalars: (0..<shape.reduce(1, *)).lazy.map { _ in Scalar.random(in: range) }, shape: shape)
    }
}

extension MLShapedArrayProtocol where Scalar: FixedWidthInteger {
    /// Ones on the diagonal of a square matrix.
    public init(identityMatrixOfSize size: Int) {
        self.init(
            scalars: (0..<size * size).lazy.map { $0 / size == $0 % size ? 1 : 0 },
            shape: [size, size]
        )
    }

    /// Elements drawn evenly from `range`.
    public init(randomScalarsIn range: Range<Scalar>, shape: [Int]) {
        self.init(scalars: (0..<shape.reduce(1, *)).lazy.map { _ in Scalar.random(in: range) }, shape: shape)
    }
}
