import NIOCore

extension Tensor {
    /// The most axes of a tensor.
    static let maximumRank = 32

    /// Reads an element of `inputs`, and its part of the binary data.
    ///
    /// - Parameters:
    ///   - reader: the reader, before the element.
    ///   - place: the element's place, for errors.
    ///   - binary: what has not been read of the binary part.
    /// - Throws: `ServingError` that names the tensor.
    init(_ reader: inout JSONReader, _ place: String, _ binary: inout ByteBuffer) throws {
        var head = Head(place: place)
        try reader.object(place) { reader, key in try head.read(&reader, key) }
        guard let name = head.name else { throw ServingError.invalid("\(place) has no \"name\".") }
        guard let type = head.type else { throw ServingError.invalid("The input \"\(name)\" has no \"datatype\".") }
        guard let shape = head.shape else { throw ServingError.invalid("The input \"\(name)\" has no \"shape\".") }
        let count = try Self.count(of: shape, name)
        let elements: Elements
        switch (head.data, head.binarySize) {
        case (let offset?, nil):
            var data = reader.at(offset)
            elements = try data.elements(type, count: count, of: name)
        case (nil, let size?):
            guard let bytes = binary.readSlice(length: size) else {
                throw ServingError.invalid(
                    "The input \"\(name)\" announces \(size) binary bytes, but only \(binary.readableBytes) are left "
                        + "in the body."
                )
            }
            elements = try Self.elements(bytes, type, count: count, of: name)
        case (nil, nil):
            throw ServingError.invalid("The input \"\(name)\" has neither \"data\" nor \"binary_data_size\".")
        default:
            throw ServingError.invalid("The input \"\(name)\" has both \"data\" and \"binary_data_size\".")
        }
        self.init(name, type, shape, elements)
    }

    /// The number of elements of the input `name`.
    ///
    /// - Throws: `ServingError` when no number of 64 bits can hold it.
    static func count(of shape: [Int], _ name: String) throws -> Int {
        guard let count = count(of: shape) else {
            throw ServingError.invalid("The input \"\(name)\" has the shape \(shapeText(shape)), which is too large.")
        }
        return count
    }

    /// Appends an extent to the shape that a request states at `place`.
    ///
    /// - Throws: `ServingError` for a negative extent, and when the shape has too many axes.
    static func append(_ extent: some BinaryInteger, to shape: inout [Int], _ place: String) throws {
        guard extent >= 0, let extent = Int(exactly: extent), shape.count < maximumRank else {
            throw ServingError.invalid("\"\(place)\" must hold at most \(maximumRank) extents of 0 or more.")
        }
        shape.append(extent)
    }

    /// The description of a tensor, which precedes its elements.
    private struct Head {
        let place: String
        var name: String?
        var type: TensorType?
        var shape: [Int]?
        /// The offset of the elements in the JSON.
        var data: Int?
        var binarySize: Int?

        mutating func read(_ reader: inout JSONReader, _ key: String) throws {
            let place = "\(place).\(key)"
            switch key {
            case "name": name = try reader.text(place)
            case "datatype": type = try TensorType(reader.text(place), place)
            case "shape":
                var extents: [Int] = []
                try reader.list(place) { reader, index in
                    try Tensor.append(try reader.integer("\(place)[\(index)]"), to: &extents, place)
                }
                shape = extents
            case "data":
                guard try reader.kind() == .array else {
                    throw ServingError.invalid("\"\(place)\" must be an array.")
                }
                data = reader.position
                try reader.skipValue()
            case "parameters":
                try reader.object(place) { reader, key in
                    switch key {
                    case "binary_data_size":
                        let size = try reader.integer("\(place).\(key)")
                        guard size >= 0 else { throw ServingError.invalid("\"\(place).\(key)\" must be 0 or more.") }
                        binarySize = size
                    case "shared_memory_region":
                        throw ServingError.invalid("\(place).\(key): this server has no shared memory extension.")
                    default: try reader.skipValue()
                    }
                }
            default: try reader.skipValue()
            }
        }
    }

    /// The elements of a tensor that came in binary.
    static func elements(_ bytes: ByteBuffer, _ type: TensorType, count: Int, of name: String) throws -> Elements {
        guard let size = type.byteCount else { return .strings(try strings(bytes, count: count, of: name)) }
        let (requested, overflows) = count.multipliedReportingOverflow(by: size)
        guard !overflows, bytes.readableBytes == requested else {
            throw ServingError.invalid(
                "The input \"\(name)\" has \(bytes.readableBytes) bytes, but its shape and type \(type.rawValue) take "
                    + "\(overflows ? "too many" : "\(requested)")."
            )
        }
        return .raw(bytes)
    }

    private static func strings(_ bytes: ByteBuffer, count: Int, of name: String) throws -> [ByteBuffer] {
        var bytes = bytes
        var result: [ByteBuffer] = []
        // Each takes four bytes at least, so that the shape alone reserves nothing.
        result.reserveCapacity(min(count, bytes.readableBytes / 4))
        while bytes.readableBytes > 0 {
            guard let length = bytes.readInteger(endianness: .little, as: UInt32.self),
                let string = bytes.readSlice(length: Int(length))
            else {
                throw ServingError.invalid(
                    "String \(result.count) of the input \"\(name)\" is longer than the rest of its bytes."
                )
            }
            result.append(string)
        }
        guard result.count == count else {
            throw ServingError.invalid(
                "The input \"\(name)\" has \(result.count) strings, but its shape takes \(count)."
            )
        }
        return result
    }
}

extension JSONReader {
    /// The numbers or strings of an array, which may be nested in any way.
    fileprivate mutating func elements(_ type: TensorType, count: Int, of name: String) throws -> Tensor.Elements {
        switch type {
        case .bytes:
            var strings: [ByteBuffer] = []
            try leaves(.string, count, name) { reader in
                strings.append(ByteBuffer(bytes: try reader.readStringBytes()))
            }
            return .strings(strings)
        case .bool: return .raw(try booleans(count, name))
        case .uint8: return .raw(try integers(UInt8.self, count, name))
        case .uint16: return .raw(try integers(UInt16.self, count, name))
        case .uint32: return .raw(try integers(UInt32.self, count, name))
        case .uint64: return .raw(try integers(UInt64.self, count, name))
        case .int8: return .raw(try integers(Int8.self, count, name))
        case .int16: return .raw(try integers(Int16.self, count, name))
        case .int32: return .raw(try integers(Int32.self, count, name))
        case .int64: return .raw(try integers(Int64.self, count, name))
        case .fp16: return .raw(try floats(UInt16.self, count, name, "FP16") { half($0.double) })
        case .fp32: return .raw(try floats(Float.self, count, name, "FP32") { finite($0.float) })
        case .fp64: return .raw(try floats(Double.self, count, name, "FP64") { finite($0.double) })
        }
    }

    /// Calls `body` at each element that is not an array, and checks their kind and number.
    private mutating func leaves(
        _ kind: Kind,
        _ count: Int,
        _ name: String,
        _ body: (inout JSONReader) throws -> Void
    ) throws {
        var found = 0
        func walk(_ reader: inout JSONReader) throws {
            try reader.readArray { reader, _ in
                let next = try reader.kind()
                if next == .array { return try walk(&reader) }
                guard next == kind else {
                    throw ServingError.invalid(
                        "Element \(found) of the input \"\(name)\" is \(next.rawValue), but must be \(kind.rawValue)."
                    )
                }
                found += 1
                guard found <= count else { return try reader.skipValue() }
                try body(&reader)
            }
        }
        try walk(&self)
        guard found == count else {
            throw ServingError.invalid(
                "The input \"\(name)\" has \(found) elements in \"data\", but its shape takes \(count)."
            )
        }
    }

    private mutating func booleans(_ count: Int, _ name: String) throws -> ByteBuffer {
        var bytes: [UInt8] = []
        try leaves(.bool, count, name) { reader in bytes.append(try reader.readBool() ? 1 : 0) }
        return ByteBuffer(bytes: bytes)
    }

    private mutating func integers<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type,
        _ count: Int,
        _ name: String
    ) throws -> ByteBuffer {
        try floats(type, count, name, "\(T.isSigned ? "INT" : "UINT")\(T.bitWidth)") { $0.integer(T.self) }
    }

    private mutating func floats<T: BitwiseCopyable>(
        _ type: T.Type,
        _ count: Int,
        _ name: String,
        _ typeName: String,
        _ convert: (JSONNumber) -> T?
    ) throws -> ByteBuffer {
        var values: ContiguousArray<T> = []
        // A number takes two bytes at least, so that the shape alone reserves nothing.
        values.reserveCapacity(min(count, (bytes.count - position) / 2))
        try leaves(.number, count, name) { reader in
            guard let value = convert(try reader.readNumber()) else {
                throw ServingError.invalid(
                    "Element \(values.count) of the input \"\(name)\" is not a number of the type \(typeName)."
                )
            }
            values.append(value)
        }
        return values.withUnsafeBytes { ByteBuffer(bytes: $0) }
    }
}

private func finite<T: BinaryFloatingPoint>(_ value: T) -> T? { value.isFinite ? value : nil }

private func half(_ value: Double) -> UInt16? {
    let half = Float16(value)
    return half.isFinite ? half.bitPattern : nil
}
