extension MLMultiArray {
    /// The element at a position in row-major order.
    public subscript(idx: Int) -> NSNumber {
        get { number(at: offset(ofLinear: idx)) }
        set { setNumber(newValue, at: offset(ofLinear: idx)) }
    }

    /// The element at one index for each axis.
    public subscript(key: [NSNumber]) -> NSNumber {
        get { number(at: offset(of: key)) }
        set { setNumber(newValue, at: offset(of: key)) }
    }

    private func offset(ofLinear index: Int) -> Int {
        precondition(index >= 0 && index < count, "index \(index) is outside the \(count) elements")
        var rest = index
        var offset = 0
        for axis in extents.indices.reversed() {
            offset += rest % extents[axis] * steps[axis]
            rest /= extents[axis]
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

    /// The memory from the first to the last element, which has gaps when the strides have.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: address, count: span * dataType.byteCount))
    }

    /// The memory and the strides in elements.
    public func withUnsafeMutableBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer, [Int]) throws -> R
    ) rethrows -> R {
        try body(UnsafeMutableRawBufferPointer(start: address, count: span * dataType.byteCount), steps)
    }

    /// The memory as elements of `type`, which must be the array's own.
    public func withUnsafeBufferPointer<S, R>(
        ofType type: S.Type,
        _ body: (UnsafeBufferPointer<S>) throws -> R
    ) rethrows -> R where S: MLShapedArrayScalar {
        precondition(S.multiArrayDataType == dataType, "the elements are \(dataType.name), not \(S.self)")
        return try body(UnsafeBufferPointer(start: address.assumingMemoryBound(to: S.self), count: span))
    }

    /// The memory as elements of `type`, which must be the array's own, and the strides.
    public func withUnsafeMutableBufferPointer<S, R>(
        ofType type: S.Type,
        _ body: (UnsafeMutableBufferPointer<S>, [Int]) throws -> R
    ) rethrows -> R where S: MLShapedArrayScalar {
        precondition(S.multiArrayDataType == dataType, "the elements are \(dataType.name), not \(S.self)")
        return try body(UnsafeMutableBufferPointer(start: address.assumingMemoryBound(to: S.self), count: span), steps)
    }

    /// All elements in row-major order.
    var values: [Double] {
        let copy = MLMultiArray(zeros: extents, dataType: .double)
        transfer(to: copy)
        return [Double](UnsafeBufferPointer(start: copy.address.assumingMemoryBound(to: Double.self), count: count))
    }
}

extension UnsafeBufferPointer {
    /// The memory of a multi-array, whose element type must have the size of `Element`.
    public init(_ multiArray: MLMultiArray) throws {
        try self.init(UnsafeMutableBufferPointer(multiArray))
    }
}

extension UnsafeMutableBufferPointer {
    /// The memory of a multi-array, whose element type must have the size of `Element`.
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
