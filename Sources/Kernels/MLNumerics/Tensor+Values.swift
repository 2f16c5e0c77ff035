/// Element access by value, in `Double`, for reference implementations and constant folding.
///
/// Every scalar type is represented exactly, except `int64` and `uint64` beyond 2⁵³.
extension Tensor {
    /// All elements, widened.
    ///
    /// `bool` gives 0 and 1.
    package var values: [Double] {
        let count = count
        return [Double](unsafeUninitializedCapacity: count) { result, initialized in
            withExtendedLifetime(storage) {
                Tensor.widen(address, scalarType, count: count, into: result.baseAddress)
            }
            initialized = count
        }
    }

    /// All elements as integers, truncated toward zero; the form of axes, shapes and indices.
    package var integers: [Int] { values.map { Int(saturating: $0) } }

    /// A tensor of `scalarType` from `values`: floats are rounded to nearest even, integers truncated toward zero and
    /// clamped to the type's range (NaN becomes 0), `bool` is `value != 0`.
    package init(values: [Double], scalarType: ScalarType, shape: [Int]) {
        precondition(values.count == shape.elementCount, "\(values.count) values for shape \(shape)")
        self.init(uninitialized: scalarType, shape: shape, zeroed: scalarType.isSubByte)
        values.withUnsafeBufferPointer { Tensor.narrow($0, into: address, scalarType) }
    }

    /// A rank-0 tensor.
    package init(scalar: Double, _ scalarType: ScalarType) {
        self.init(values: [scalar], scalarType: scalarType, shape: [])
    }

    /// The elements converted to another scalar type, by the rules of `init(values:scalarType:shape:)`.
    package func converted(to target: ScalarType) -> Tensor {
        if target == scalarType { return self }
        if scalarType == .float16, target == .float32 {
            var result = Tensor(uninitialized: .float32, shape: shape)
            withElements(of: Float16.self) { source in
                result.withMutableElements(of: Float.self) {
                    for index in source.indices { $0[index] = Float(source[index]) }
                }
            }
            return result
        }
        return Tensor(values: values, scalarType: target, shape: shape)
    }

    private static func widen(
        _ source: UnsafeRawPointer,
        _ type: ScalarType,
        count: Int,
        into result: UnsafeMutablePointer<Double>?
    ) {
        guard let result else { return }
        func copy<T: BinaryInteger>(_: T.Type) {
            let typed = source.assumingMemoryBound(to: T.self)
            for index in 0..<count { result[index] = Double(typed[index]) }
        }
        switch type {
        case .float64: result.update(from: source.assumingMemoryBound(to: Double.self), count: count)
        case .float32:
            let typed = source.assumingMemoryBound(to: Float.self)
            for index in 0..<count { result[index] = Double(typed[index]) }
        case .float16:
            let typed = source.assumingMemoryBound(to: Float16.self)
            for index in 0..<count { result[index] = Double(typed[index]) }
        case .bool:
            let typed = source.assumingMemoryBound(to: UInt8.self)
            for index in 0..<count { result[index] = typed[index] == 0 ? 0 : 1 }
        case .int8: copy(Int8.self)
        case .int16: copy(Int16.self)
        case .int32: copy(Int32.self)
        case .int64: copy(Int64.self)
        case .uint8: copy(UInt8.self)
        case .uint16: copy(UInt16.self)
        case .uint32: copy(UInt32.self)
        case .uint64: copy(UInt64.self)
        case .uint1, .uint2, .uint3, .uint4, .uint6, .int4:
            let bytes = source.assumingMemoryBound(to: UInt8.self)
            let width = type.bitWidth
            for index in 0..<count {
                var value = 0
                for bit in 0..<width {
                    let bitOffset = index * width + bit
                    value |= Int(bytes[bitOffset >> 3] >> UInt8(bitOffset & 7) & 1) << bit
                }
                result[index] = Double(type == .int4 && value > 7 ? value - 16 : value)
            }
        case .string: preconditionFailure("strings have no numeric values")
        }
    }

    private static func narrow(
        _ values: UnsafeBufferPointer<Double>,
        into target: UnsafeMutableRawPointer,
        _ type: ScalarType
    ) {
        func copy<T: FixedWidthInteger>(_: T.Type) {
            let typed = target.assumingMemoryBound(to: T.self)
            for index in values.indices { typed[index] = T(saturating: values[index]) }
        }
        switch type {
        case .float64:
            let typed = target.assumingMemoryBound(to: Double.self)
            for index in values.indices { typed[index] = values[index] }
        case .float32:
            let typed = target.assumingMemoryBound(to: Float.self)
            for index in values.indices { typed[index] = Float(values[index]) }
        case .float16:
            let typed = target.assumingMemoryBound(to: Float16.self)
            for index in values.indices { typed[index] = Float16(values[index]) }
        case .bool:
            let typed = target.assumingMemoryBound(to: UInt8.self)
            for index in values.indices { typed[index] = values[index] != 0 ? 1 : 0 }
        case .int8: copy(Int8.self)
        case .int16: copy(Int16.self)
        case .int32: copy(Int32.self)
        case .int64: copy(Int64.self)
        case .uint8: copy(UInt8.self)
        case .uint16: copy(UInt16.self)
        case .uint32: copy(UInt32.self)
        case .uint64: copy(UInt64.self)
        case .uint1, .uint2, .uint3, .uint4, .uint6, .int4:
            let bytes = target.assumingMemoryBound(to: UInt8.self)
            let width = type.bitWidth
            let range = type.integerRange ?? 0...0
            for index in values.indices {
                let value = Int(saturating: Swift.min(Swift.max(values[index], range.lowerBound), range.upperBound))
                for bit in 0..<width where value >> bit & 1 == 1 {
                    let bitOffset = index * width + bit
                    bytes[bitOffset >> 3] |= 1 << UInt8(bitOffset & 7)
                }
            }
        case .string: preconditionFailure("strings have no numeric values")
        }
    }
}

extension FixedWidthInteger {
    /// `value` truncated toward zero and clamped to the type; NaN becomes 0.
    package init(saturating value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else if value.isNaN {
            self = 0
        } else {
            self = value < 0 ? .min : .max
        }
    }
}
