extension MLMultiArray {
    /// The element at a position in row-major order; a position outside the array traps.
    ///
    /// An assigned number is rounded to the element type: floats to nearest even; integers truncate toward zero and
    /// saturate.
    public subscript(idx: Int) -> NSNumber {
        get { number(at: offset(ofLinear: idx)) }
        set { setNumber(newValue, at: offset(ofLinear: idx)) }
    }

    /// The element at one index per axis, outermost first; an index outside the shape traps.
    ///
    /// An assigned number is rounded to the element type: floats to nearest even; integers truncate toward zero and
    /// saturate.
    public subscript(key: [NSNumber]) -> NSNumber {
        get { number(at: offset(of: key)) }
        set { setNumber(newValue, at: offset(of: key)) }
    }

    private func offset(ofLinear index: Int) -> Int {
        precondition(index >= 0 && index < count, "index \(index) is outside the \(count) elements")
        var remaining = index
        var offset = 0
        for axis in extents.indices.reversed() {
            offset += remaining % extents[axis] * steps[axis]
            remaining /= extents[axis]
        }
        return offset
    }

    private func offset(of key: [NSNumber]) -> Int {
        precondition(key.count == extents.count, "\(key.count) indices for an array of \(extents.count) axes")
        var offset = 0
        for axis in extents.indices {
            let index = key[axis].intValue
            precondition(index >= 0 && index < extents[axis], "index \(index) is outside axis \(axis) of \(extents)")
            offset += index * steps[axis]
        }
        return offset
    }

    private func number(at offset: Int) -> NSNumber {
        let element = address + offset * dataType.byteCount
        return switch dataType {
        case .float16: NSNumber(value: Float(element.load(as: Float16.self)))
        case .float32: NSNumber(value: element.load(as: Float.self))
        case .double: NSNumber(value: element.load(as: Double.self))
        case .int8: NSNumber(value: element.load(as: Int8.self))
        case .int32: NSNumber(value: element.load(as: Int32.self))
        }
    }

    private func setNumber(_ number: NSNumber, at offset: Int) {
        let element = address + offset * dataType.byteCount
        switch dataType {
        case .float16: element.storeBytes(of: Float16(number.doubleValue), as: Float16.self)
        case .float32: element.storeBytes(of: number.floatValue, as: Float.self)
        case .double: element.storeBytes(of: number.doubleValue, as: Double.self)
        case .int8: element.storeBytes(of: Int8.narrow(number.doubleValue), as: Int8.self)
        case .int32: element.storeBytes(of: Int32.narrow(number.doubleValue), as: Int32.self)
        }
    }

    private var span: Int { spanCount(shape: extents, strides: steps) }

    /// Calls a closure with the array's memory for reading, from the first to the last element, gaps included.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: address, count: span * dataType.byteCount))
    }

    /// Calls a closure with the array's memory for writing.
    ///
    /// - Parameter body: Receives the memory from the first to the last element, gaps included, and the strides in
    ///   elements.
    /// - Returns: The result of `body`.
    /// - Throws: Whatever `body` throws.
    public func withUnsafeMutableBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer, [Int]) throws -> R
    ) rethrows -> R {
        try body(UnsafeMutableRawBufferPointer(start: address, count: span * dataType.byteCount), steps)
    }

    /// Calls a closure with the array's memory as elements of a type, for reading.
    ///
    /// - Parameters:
    ///   - type: The array's own element type; another one traps.
    ///   - body: Receives the memory from the first to the last element, gaps included.
    /// - Returns: The result of `body`.
    /// - Throws: Whatever `body` throws.
    public func withUnsafeBufferPointer<S, R>(
        ofType type: S.Type,
        _ body: (UnsafeBufferPointer<S>) throws -> R
    ) rethrows -> R where S: MLShapedArrayScalar {
        precondition(S.multiArrayDataType == dataType, "the elements are \(dataType.name), not \(S.self)")
        return try body(UnsafeBufferPointer(start: address.assumingMemoryBound(to: S.self), count: span))
    }

    /// Calls a closure with the array's memory as elements of a type, for writing.
    ///
    /// - Parameters:
    ///   - type: The array's own element type; another one traps.
    ///   - body: Receives the memory from the first to the last element, gaps included, and the strides in elements.
    /// - Returns: The result of `body`.
    /// - Throws: Whatever `body` throws.
    public func withUnsafeMutableBufferPointer<S, R>(
        ofType type: S.Type,
        _ body: (UnsafeMutableBufferPointer<S>, [Int]) throws -> R
    ) rethrows -> R where S: MLShapedArrayScalar {
        precondition(S.multiArrayDataType == dataType, "the elements are \(dataType.name), not \(S.self)")
        return try body(UnsafeMutableBufferPointer(start: address.assumingMemoryBound(to: S.self), count: span), steps)
    }

    /// All elements in row-major order, as doubles.
    var values: [Double] {
        let copy = MLMultiArray(zeros: extents, dataType: .double)
        transfer(to: copy)
        return [Double](UnsafeBufferPointer(start: copy.address.assumingMemoryBound(to: Double.self), count: count))
    }
}

extension UnsafeBufferPointer {
    /// Makes a buffer over the memory of a multi-array, from the first to the last element, gaps included.
    ///
    /// - Parameter multiArray: The array, which must outlive the buffer.
    /// - Throws: `MLModelError.featureType` when `Element` has another size than the array's elements.
    public init(_ multiArray: MLMultiArray) throws {
        try self.init(UnsafeMutableBufferPointer(multiArray))
    }
}

extension UnsafeMutableBufferPointer {
    /// Makes a mutable buffer over the memory of a multi-array, from the first to the last element, gaps included.
    ///
    /// - Parameter multiArray: The array, which must outlive the buffer.
    /// - Throws: `MLModelError.featureType` when `Element` has another size than the array's elements.
    public init(_ multiArray: MLMultiArray) throws {
        guard MemoryLayout<Element>.stride == multiArray.dataType.byteCount else {
            throw MLModelError(
                .featureType,
                "The elements of the multi-array are \(multiArray.dataType.name), which \(Element.self) cannot hold."
            )
        }
        let span = spanCount(shape: multiArray.extents, strides: multiArray.steps)
        self.init(start: multiArray.address.assumingMemoryBound(to: Element.self), count: span)
    }
}
