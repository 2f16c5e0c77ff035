import MLEngine
import MLNumerics
import MLOperators

/// Tensors of given elements.
extension MLTensor {
    /// A tensor of one axis with the given elements.
    ///
    /// - Parameters:
    ///   - scalars: The elements.
    ///   - scalarType: Their type.
    public init<Scalar>(_ scalars: some Collection<Scalar>, scalarType: Scalar.Type = Scalar.self)
    where Scalar: MLTensorScalar {
        self.init(shape: [scalars.count], scalars: scalars, scalarType: scalarType)
    }

    /// A tensor of one axis with the given numbers.
    @_disfavoredOverload  // `[1, 2]` are integers.
    public init(_ scalars: some Collection<Float>) { self.init(scalars, scalarType: Float.self) }

    /// A tensor of one axis with the given integers.
    public init(_ scalars: some Collection<Int32>) { self.init(scalars, scalarType: Int32.self) }

    /// A scalar: a tensor without axes.
    ///
    /// - Parameters:
    ///   - value: Its element.
    ///   - scalarType: The element's type.
    public init<Scalar>(_ value: Scalar, scalarType: Scalar.Type = Scalar.self) where Scalar: MLTensorScalar {
        self.init(shape: [], scalars: CollectionOfOne(value), scalarType: scalarType)
    }

    /// A tensor of the given shape and numbers.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalars: The elements in row-major order; another number than the shape has traps.
    public init(shape: [Int], scalars: some Collection<Float>) {
        self.init(shape: shape, scalars: scalars, scalarType: Float.self)
    }

    /// A tensor of the given shape and elements.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalars: The elements in row-major order; another number than the shape has traps.
    ///   - scalarType: Their type.
    public init<Scalar>(shape: [Int], scalars: some Collection<Scalar>, scalarType: Scalar.Type = Scalar.self)
    where Scalar: MLTensorScalar {
        let call = TensorCall("init(shape:scalars:scalarType:)")
        call.require(
            checkedCount(of: shape) == scalars.count,
            "\(scalars.count) scalars were given for shape \(shape); give as many as the product of its extents"
        )
        if let floats = scalars as? [Float] {
            self.init(LazyTensor(Tensor(sharing: floats, shape: shape)))
            return
        }
        func tensor<Element: TensorElement>(_: Element.Type) -> Tensor {
            let elements = scalars.map { scalar -> Element in
                guard let element = scalar as? Element else { preconditionFailure("\(scalar) is no \(Element.self)") }
                return element
            }
            return Tensor(elements: elements, scalarType: Element.scalarType, shape: shape)
        }
        self.init(LazyTensor(tensor(tensorElement(scalarType))))
    }

    /// A tensor of the elements of a shaped array.
    ///
    /// A row-major array without gaps shares its memory with the tensor until the array is changed; others are copied.
    ///
    /// - Parameter shapedArray: The elements.
    public init<ShapedArray>(_ shapedArray: ShapedArray)
    where ShapedArray: MLShapedArrayProtocol, ShapedArray.Scalar: MLTensorScalar {
        let source = shapedArray.view
        let view = source.isContiguous ? source : source.copied()
        let scalarType = tensorElement(ShapedArray.Scalar.self).scalarType
        let memory = view.storage
        let storage = TensorStorage(
            borrowing: memory.address + view.offset * scalarType.bitWidth / 8,
            byteCount: scalarType.byteCount(of: view.scalarCount),
            release: { withExtendedLifetime(memory) {} }
        )
        self.init(LazyTensor(Tensor(scalarType: scalarType, shape: view.shape, storage: storage)))
    }

    // MARK: Bytes

    /// A tensor of the elements in `data`, which are copied.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - data: The elements in row-major order without gaps; another number of bytes than the shape needs traps.
    ///   - scalarType: Their type; Booleans are bytes that are 0 or 1.
    public init(shape: [Int], data: Data, scalarType: any MLTensorScalar.Type) {
        let type = tensorElement(scalarType).scalarType
        MLTensor.requireBytes(data.count, shape, type, "init(shape:data:scalarType:)")
        self.init(LazyTensor(Tensor(copying: data, scalarType: type, shape: shape)))
    }

    /// A tensor over memory of the caller, without copying it.
    ///
    /// - Parameters:
    ///   - bytes: The elements in row-major order without gaps, aligned for their type. Nobody may write to them as long as
    ///     the tensor, or another one computed from it, lives.
    ///   - shape: The extent of each axis, outermost first; another number of bytes than it needs traps.
    ///   - scalarType: The type of the elements; Booleans are bytes that are 0 or 1.
    ///   - deallocator: How to free the memory when nothing uses it any more.
    public init(
        bytesNoCopy bytes: UnsafeRawBufferPointer,
        shape: [Int],
        scalarType: any MLTensorScalar.Type,
        deallocator: Data.Deallocator
    ) {
        let type = tensorElement(scalarType).scalarType
        MLTensor.requireBytes(bytes.count, shape, type, "init(bytesNoCopy:shape:scalarType:deallocator:)")
        guard let start = bytes.baseAddress else {
            self.init(LazyTensor(Tensor(uninitialized: type, shape: shape)))
            return
        }
        let view = ShapedView<Int8>(bytesNoCopy: start, shape: [bytes.count], strides: [1], deallocator: deallocator)
        let memory = view.storage
        let storage = TensorStorage(
            reading: start,
            byteCount: bytes.count,
            release: { withExtendedLifetime(memory) {} }
        )
        self.init(LazyTensor(Tensor(scalarType: type, shape: shape, storage: storage)))
    }

    /// A tensor whose elements a closure writes.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalarType: The type of the elements; Booleans are bytes that are 0 or 1.
    ///   - initializer: Receives the uninitialized memory of all elements in row-major order, and must initialize all of it.
    ///     The memory is valid only during the call.
    /// - Throws: Whatever `initializer` throws.
    public init(
        unsafeUninitializedShape shape: [Int],
        scalarType: any MLTensorScalar.Type,
        initializingWith initializer: (UnsafeMutableRawBufferPointer) throws -> Void
    ) rethrows {
        let call = TensorCall("init(unsafeUninitializedShape:scalarType:initializingWith:)")
        call.require(checkedCount(of: shape) != nil, "\(shape) is not a shape; extents are 0 or more")
        let tensor = Tensor(uninitialized: tensorElement(scalarType).scalarType, shape: shape)
        try initializer(.init(start: tensor.address, count: tensor.byteCount))
        self.init(LazyTensor(tensor))
    }

    private static func requireBytes(_ count: Int, _ shape: [Int], _ type: ScalarType, _ name: String) {
        let needed = checkedCount(of: shape).map { type.byteCount(of: $0) }
        TensorCall(name).require(
            count == needed,
            "\(count) bytes were given for shape \(shape) of \(type.tensorScalar) elements"
                + (needed.map { "; give \($0)" } ?? ", which is not a shape")
        )
    }

    // MARK: Tensors of tensors

    /// Tensors of one shape, stacked along a new axis.
    ///
    /// - Parameters:
    ///   - elements: One tensor or more.
    ///   - axis: The position of the new axis in the result.
    @_disfavoredOverload  // `[1, 2]` are integers, not scalar tensors.
    public init(_ elements: some Collection<MLTensor>, alongAxis axis: Int = 0) {
        self.init(stacking: elements, alongAxis: axis)
    }

    /// Tensors of one shape, stacked along a new axis.
    ///
    /// - Parameters:
    ///   - tensors: One tensor or more.
    ///   - axis: The position of the new axis in the result.
    public init(stacking tensors: some Collection<MLTensor>, alongAxis axis: Int = 0) {
        let call = TensorCall("init(stacking:alongAxis:)")
        let parts = call.parts(tensors)
        self = call.results(Stack(axis: call.axis(axis, rank: parts[0].rank + 1)), parts)[0]
    }

    /// Tensors, joined along an axis.
    ///
    /// - Parameters:
    ///   - tensors: One tensor or more; their shapes differ at most in the extent of `axis`.
    ///   - axis: The axis along which they follow each other.
    public init(concatenating tensors: some Collection<MLTensor>, alongAxis axis: Int = 0) {
        let call = TensorCall("init(concatenating:alongAxis:)")
        let parts = call.parts(tensors)
        self = call.results(Concat(axis: call.axis(axis, rank: parts[0].rank)), parts)[0]
    }

    /// The tensor followed by another one along an axis.
    ///
    /// - Parameters:
    ///   - other: A tensor whose shape differs at most in the extent of `axis`.
    ///   - axis: The axis along which they follow each other.
    /// - Returns: The joined tensor.
    public func concatenated(with other: MLTensor, alongAxis axis: Int = 0) -> MLTensor {
        MLTensor(concatenating: [self, other], alongAxis: axis)
    }
}

extension TensorCall {
    /// Tensors to be joined, in their common scalar type; an empty collection ends the program.
    fileprivate func parts(_ tensors: some Collection<MLTensor>) -> [MLTensor] {
        require(!tensors.isEmpty, "there is nothing to join; give at least one tensor")
        return common(Array(tensors))
    }
}
