/// A multi-dimensional array of numbers, as models take and return it.
///
/// It has reference semantics: a change made through one reference is seen through all others.
open class MLMultiArray: NSObject, NSSecureCoding {
    /// The first element.
    let address: UnsafeMutableRawPointer
    /// The extent of each axis, outermost first.
    let extents: [Int]
    /// The distance between neighbours along each axis, in elements.
    let steps: [Int]
    /// The type of the elements.
    public let dataType: MLMultiArrayDataType
    /// The pixel buffer whose memory the array shares; `nil` for arrays with other memory.
    public let pixelBuffer: CVPixelBuffer?
    private let release: () -> Void

    init(
        address: UnsafeMutableRawPointer,
        shape: [Int],
        strides: [Int],
        dataType: MLMultiArrayDataType,
        pixelBuffer: CVPixelBuffer? = nil,
        release: @escaping () -> Void
    ) {
        self.address = address
        extents = shape
        steps = strides
        self.dataType = dataType
        self.pixelBuffer = pixelBuffer
        self.release = release
    }

    deinit { release() }

    /// Allocates zeroed memory for `span` elements, aligned to 64 bytes; `nil` when there is not enough memory.
    private static func allocate(_ span: Int, _ dataType: MLMultiArrayDataType) -> UnsafeMutableRawPointer? {
        var memory: UnsafeMutableRawPointer?
        let bytes = max(span * dataType.byteCount, 1)
        guard posix_memalign(&memory, 64, bytes) == 0 else { return nil }
        memory?.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        return memory
    }

    private static func numbers(_ values: [NSNumber]) -> [Int] { values.map { $0.intValue } }

    /// Makes a row-major array of zeros.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - dataType: The type of the elements.
    /// - Throws: `MLModelError.generic` when an extent is negative or the array does not fit in memory.
    public init(shape: [NSNumber], dataType: MLMultiArrayDataType) throws {
        extents = Self.numbers(shape)
        guard let count = checkedCount(of: extents), let memory = Self.allocate(count, dataType) else {
            throw MLModelError(
                .generic,
                "A multi-array of shape \(Self.numbers(shape)) cannot be made: extents must be 0 or more and their "
                    + "product must fit in memory."
            )
        }
        steps = contiguousStrides(of: extents)
        address = memory
        self.dataType = dataType
        pixelBuffer = nil
        release = { free(memory) }
    }

    /// Makes an array over memory of the caller, without copying it.
    ///
    /// - Parameters:
    ///   - dataPointer: The first element; the memory must stay valid until `deallocator` is called.
    ///   - shape: The extent of each axis, outermost first.
    ///   - dataType: The type of the elements.
    ///   - strides: The distance between neighbours along each axis, in elements: one of 0 or more for each axis.
    ///   - deallocator: Called with `dataPointer` when the array is released; `nil` when the caller frees the memory.
    /// - Throws: `MLModelError.generic` when the strides do not fit the shape.
    public init(
        dataPointer: UnsafeMutableRawPointer,
        shape: [NSNumber],
        dataType: MLMultiArrayDataType,
        strides: [NSNumber],
        deallocator: ((UnsafeMutableRawPointer) -> Void)? = nil
    ) throws {
        extents = Self.numbers(shape)
        steps = Self.numbers(strides)
        guard checkedSpan(shape: extents, strides: steps) != nil else {
            throw MLModelError(
                .generic,
                "Strides \(Self.numbers(strides)) do not fit shape \(Self.numbers(shape)): give one stride of 0 or "
                    + "more for each axis, such that all elements fit in memory."
            )
        }
        address = dataPointer
        self.dataType = dataType
        pixelBuffer = nil
        release = { deallocator?(dataPointer) }
    }

    /// Makes an array over the pixels of a half-precision pixel buffer, sharing its memory.
    ///
    /// Another pixel format, or a shape that does not fit, traps.
    ///
    /// - Parameters:
    ///   - pixelBuffer: A buffer of the format `kCVPixelFormatType_OneComponent16Half`.
    ///   - shape: The last extent is the buffer's width; the product of the others is its height.
    public init(pixelBuffer: CVPixelBuffer, shape: [NSNumber]) {
        extents = Self.numbers(shape)
        precondition(
            pixelBuffer.pixelFormatType == kCVPixelFormatType_OneComponent16Half,
            "a multi-array over a pixel buffer needs the format OneComponent16Half, not \(pixelBuffer)"
        )
        precondition(
            extents.allSatisfy { $0 >= 0 } && extents.last == pixelBuffer.width
                && extents.dropLast().reduce(1, *) == pixelBuffer.height,
            "shape \(extents) does not fit \(pixelBuffer)"
        )
        let row = pixelBuffer.planes[0].bytesPerRow / 2
        var steps = [Int](repeating: 1, count: extents.count)
        var step = row
        for axis in stride(from: extents.count - 2, through: 0, by: -1) {
            steps[axis] = step
            step *= extents[axis]
        }
        self.steps = steps
        address = pixelBuffer.planes[0].address
        dataType = .float16
        self.pixelBuffer = pixelBuffer
        release = {}
    }

    /// Makes an array of zeros with the given memory layout; invalid shapes or strides trap.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - dataType: The type of the elements.
    ///   - strides: The distance between neighbours along each axis, in elements: one of 0 or more for each axis.
    public convenience init(shape: [Int], dataType: MLMultiArrayDataType, strides: [Int]) {
        guard let memory = Self.allocate(validSpan(shape: shape, strides: strides), dataType) else {
            fatalError("no memory for a multi-array of shape \(shape)")
        }
        self.init(address: memory, shape: shape, strides: strides, dataType: dataType, release: { free(memory) })
    }

    /// Makes a row-major array of zeros; `shape` must be valid.
    convenience init(zeros shape: [Int], dataType: MLMultiArrayDataType) {
        self.init(shape: shape, dataType: dataType, strides: contiguousStrides(of: shape))
    }

    /// Makes a vector of `Int32` from integers; those that do not fit are clamped.
    public convenience init<C>(_ data: C) throws where C: Collection, C.Element: FixedWidthInteger {
        self.init(zeros: [data.count], dataType: .int32)
        let elements = address.assumingMemoryBound(to: Int32.self)
        for (index, value) in data.enumerated() { elements[index] = Int32(clamping: value) }
    }

    /// Makes a vector of `Float`.
    public convenience init<C>(_ data: C) throws where C: Collection, C.Element == Float {
        self.init(zeros: [data.count], dataType: .float32)
        let elements = address.assumingMemoryBound(to: Float.self)
        for (index, value) in data.enumerated() { elements[index] = value }
    }

    /// Makes a vector of `Double`.
    public convenience init<C>(_ data: C) throws where C: Collection, C.Element == Double {
        self.init(zeros: [data.count], dataType: .double)
        let elements = address.assumingMemoryBound(to: Double.self)
        for (index, value) in data.enumerated() { elements[index] = value }
    }

    /// Copies a shaped array into row-major memory.
    public convenience init<ShapedArray>(_ shapedArray: ShapedArray) where ShapedArray: MLShapedArrayProtocol {
        self.init(zeros: shapedArray.shape, dataType: ShapedArray.Scalar.multiArrayDataType)
        let target = elements
        let shape = extents
        shapedArray.withUnsafeShapedBufferPointer { buffer, _, strides in
            guard let start = buffer.baseAddress else { return }
            let source = StridedElements(
                address: UnsafeMutableRawPointer(mutating: start),
                dataType: ShapedArray.Scalar.multiArrayDataType,
                strides: strides
            )
            target.copy(source, shape: shape)
        }
    }

    /// Joins arrays along an axis.
    ///
    /// Shapes that do not fit, or an empty list, trap.
    ///
    /// - Parameters:
    ///   - multiArrays: One or more arrays, whose extents along all other axes must agree.
    ///   - axis: The axis to join along; a negative one counts from the last axis.
    ///   - dataType: The element type of the result, to which the elements are converted.
    public convenience init(concatenating multiArrays: [MLMultiArray], axis: Int, dataType: MLMultiArrayDataType) {
        guard let first = multiArrays.first else { preconditionFailure("nothing to concatenate") }
        let rank = first.extents.count
        let axis = axis < 0 ? axis + rank : axis
        precondition(first.extents.indices.contains(axis), "axis \(axis) is not one of the \(rank) axes")
        var shape = first.extents
        shape[axis] = 0
        for array in multiArrays {
            precondition(
                array.extents.count == rank
                    && array.extents.indices.allSatisfy { $0 == axis || array.extents[$0] == first.extents[$0] },
                "shapes \(array.extents) and \(first.extents) cannot be concatenated along axis \(axis)"
            )
            shape[axis] += array.extents[axis]
        }
        self.init(zeros: shape, dataType: dataType)
        var offset = 0
        for array in multiArrays {
            var target = elements
            target.address += offset * steps[axis] * dataType.byteCount
            target.copy(array.elements, shape: array.extents)
            offset += array.extents[axis]
        }
    }

    /// The extent of each axis, outermost first.
    public var shape: [NSNumber] { extents.map { NSNumber(value: $0) } }
    /// The distance between neighbours along each axis, in elements.
    public var strides: [NSNumber] { steps.map { NSNumber(value: $0) } }
    /// The number of elements: the product of the extents.
    public var count: Int { extents.reduce(1, *) }
    /// The address of the first element; valid as long as the array.
    public var dataPointer: UnsafeMutableRawPointer { address }

    /// The array's memory and layout.
    var elements: StridedElements { StridedElements(address: address, dataType: dataType, strides: steps) }
    /// Whether the elements lie row-major without gaps.
    var isContiguous: Bool {
        var expected = 1
        for axis in extents.indices.reversed() where extents[axis] != 1 {
            if steps[axis] != expected { return false }
            expected *= extents[axis]
        }
        return true
    }

    /// Copies the elements into another array, converting them to its element type and layout.
    ///
    /// - Parameter destinationMultiArray: The array to overwrite; another shape than this array's traps.
    public func transfer(to destinationMultiArray: MLMultiArray) {
        precondition(extents == destinationMultiArray.extents, "transfer needs equal shapes")
        destinationMultiArray.elements.copy(elements, shape: extents)
    }

    /// The element type and shape, and the elements of arrays of rank 2 and less with up to 10,000 elements.
    open override var description: String {
        let kind =
            switch extents.count {
            case 0: "scalar"
            case 1: "vector"
            case 2: "matrix"
            default: "array"
            }
        let head = "\(dataType.name) \(extents.map(String.init).joined(separator: " × ")) \(kind)"
        guard extents.count <= 2, count <= 10_000 else { return head }
        let texts = values.map {
            $0 == $0.rounded() && abs($0) < 1e15 ? String(Int($0)) : dataType == .double ? "\($0)" : "\(Float($0))"
        }
        let width = max(extents.last ?? 1, 1)
        let rows = stride(from: 0, to: texts.count, by: width).map {
            texts[$0..<min($0 + width, texts.count)].joined(separator: ",")
        }
        return head + "\n[" + rows.joined(separator: ";\n ") + "]"
    }

    /// Whether the other object is an array of the same type, shape and elements; layouts may differ.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? MLMultiArray else { return false }
        return self === other || dataType == other.dataType && extents == other.extents && values == other.values
    }

    /// A hash of the element type and the shape.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(dataType)
        hasher.combine(extents)
        return hasher.finalize()
    }

    /// Whether the class can be decoded securely: always true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the element type, the shape and the row-major elements.
    public func encode(with coder: NSCoder) {
        let copy = MLMultiArray(zeros: extents, dataType: dataType)
        transfer(to: copy)
        coder.encode(NSNumber(value: dataType.rawValue), forKey: "dataType")
        coder.encode(extents.map { NSNumber(value: $0) } as NSArray, forKey: "shape")
        coder.encode(NSData(bytes: copy.address, length: copy.count * dataType.byteCount), forKey: "bytes")
    }

    /// Decodes an array that `encode(with:)` wrote; `nil` when the data are damaged.
    public required init?(coder: NSCoder) {
        guard let type = coder.decodeObject(of: NSNumber.self, forKey: "dataType"),
            let dataType = MLMultiArrayDataType(rawValue: type.intValue),
            let shape = coder.decodeObject(of: [NSArray.self, NSNumber.self], forKey: "shape") as? [NSNumber],
            let bytes = coder.decodeObject(of: NSData.self, forKey: "bytes"),
            let count = checkedCount(of: Self.numbers(shape)), bytes.length == count * dataType.byteCount,
            let memory = Self.allocate(count, dataType)
        else { return nil }
        bytes.getBytes(memory, length: bytes.length)
        extents = Self.numbers(shape)
        steps = contiguousStrides(of: extents)
        address = memory
        self.dataType = dataType
        pixelBuffer = nil
        release = { free(memory) }
    }
}
