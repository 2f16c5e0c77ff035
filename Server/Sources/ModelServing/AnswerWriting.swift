package import NIOCore

/// JSON, written from front to back.
struct JSONWriter {
    private(set) var buffer = ByteBuffer()
    /// Whether the next value follows another one.
    private var follows = false

    private mutating func separate() {
        if follows { buffer.writeInteger(UInt8(ascii: ",")) }
        follows = true
    }

    /// Writes a key; its value must follow.
    mutating func key(_ key: String) {
        separate()
        quote(key.utf8)
        buffer.writeInteger(UInt8(ascii: ":"))
        follows = false
    }

    /// Writes a value that is JSON.
    mutating func raw(_ text: String) {
        separate()
        buffer.writeString(text)
    }

    mutating func string(_ text: String) {
        separate()
        quote(text.utf8)
    }

    /// Writes a string of UTF-8.
    mutating func string(_ bytes: some Sequence<UInt8>) {
        separate()
        quote(bytes)
    }

    mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        try nested("{", "}", body)
    }

    mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        try nested("[", "]", body)
    }

    /// Writes an array of strings.
    mutating func strings(_ texts: [String]) { array { writer in for text in texts { writer.string(text) } } }

    /// Writes an array of integers.
    mutating func integers(_ values: [Int]) { array { writer in for value in values { writer.raw(String(value)) } } }

    private mutating func nested(
        _ open: String,
        _ close: String,
        _ body: (inout JSONWriter) throws -> Void
    ) rethrows {
        separate()
        buffer.writeString(open)
        follows = false
        try body(&self)
        buffer.writeString(close)
        follows = true
    }

    private mutating func quote(_ bytes: some Sequence<UInt8>) {
        buffer.writeInteger(UInt8(ascii: "\""))
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                buffer.writeInteger(UInt8(ascii: "\\"))
                buffer.writeInteger(byte)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                buffer.writeString("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            default: buffer.writeInteger(byte)
            }
        }
        buffer.writeInteger(UInt8(ascii: "\""))
    }
}

/// An answer's body, whose first part is JSON.
package struct AnswerBody: Sendable {
    package let bytes: ByteBuffer
    /// The length of the JSON when binary tensors follow it; `nil` when everything is JSON.
    package let headerLength: Int?
}

extension AnswerBody {
    /// The answer to a request for a prediction.
    ///
    /// - Throws: `ServingError` when JSON cannot hold a value.
    init(model: String, version: String, id: String?, outputs: [(Tensor, isBinary: Bool)]) throws {
        var writer = JSONWriter()
        var binary: [ByteBuffer] = []
        try writer.object { writer in
            writer.key("model_name")
            writer.string(model)
            writer.key("model_version")
            writer.string(version)
            if let id {
                writer.key("id")
                writer.string(id)
            }
            writer.key("outputs")
            try writer.array { writer in
                for (tensor, isBinary) in outputs {
                    try writer.object { writer in
                        writer.head(tensor)
                        if isBinary {
                            let bytes = tensor.binary
                            writer.key("parameters")
                            writer.object { writer in
                                writer.key("binary_data_size")
                                writer.raw(String(bytes.readableBytes))
                            }
                            binary.append(bytes)
                        } else {
                            writer.key("data")
                            try writer.elements(tensor)
                        }
                    }
                }
            }
        }
        guard outputs.contains(where: \.isBinary) else {
            self.init(bytes: writer.buffer, headerLength: nil)
            return
        }
        var bytes = writer.buffer
        let length = bytes.readableBytes
        bytes.reserveCapacity(length + binary.reduce(0) { $0 + $1.readableBytes })
        for part in binary { bytes.writeImmutableBuffer(part) }
        self.init(bytes: bytes, headerLength: length)
    }
}

extension JSONWriter {
    fileprivate mutating func head(_ tensor: Tensor) {
        key("name")
        string(tensor.name)
        key("datatype")
        string(tensor.type.rawValue)
        key("shape")
        integers(tensor.shape)
    }

    fileprivate mutating func elements(_ tensor: Tensor) throws {
        switch tensor.elements {
        case .strings(let strings):
            try array { writer in
                for string in strings {
                    guard String(validating: string.readableBytesView, as: UTF8.self) != nil else {
                        throw ServingError.invalid(
                            "The output \"\(tensor.name)\" is not UTF-8, which JSON must be: ask for it in binary, with "
                                + "the parameter \"binary_data\": true."
                        )
                    }
                    writer.string(string.readableBytesView)
                }
            }
        case .raw(let bytes):
            switch tensor.type {
            case .bool: try numbers(bytes, UInt8.self, tensor.name) { $0 == 0 ? "false" : "true" }
            case .uint8: try numbers(bytes, UInt8.self, tensor.name) { String($0) }
            case .uint16: try numbers(bytes, UInt16.self, tensor.name) { String($0) }
            case .uint32: try numbers(bytes, UInt32.self, tensor.name) { String($0) }
            case .uint64: try numbers(bytes, UInt64.self, tensor.name) { String($0) }
            case .int8: try numbers(bytes, Int8.self, tensor.name) { String($0) }
            case .int16: try numbers(bytes, Int16.self, tensor.name) { String($0) }
            case .int32: try numbers(bytes, Int32.self, tensor.name) { String($0) }
            case .int64: try numbers(bytes, Int64.self, tensor.name) { String($0) }
            case .fp16:
                try numbers(bytes, UInt16.self, tensor.name) { bits in
                    let value = Float(Float16(bitPattern: bits))
                    return value.isFinite ? value.description : nil
                }
            case .fp32: try numbers(bytes, Float.self, tensor.name) { $0.isFinite ? $0.description : nil }
            case .fp64: try numbers(bytes, Double.self, tensor.name) { $0.isFinite ? $0.description : nil }
            case .bytes: array { _ in }
            }
        }
    }

    private mutating func numbers<T: BitwiseCopyable>(
        _ bytes: ByteBuffer,
        _ type: T.Type,
        _ name: String,
        _ text: (T) -> String?
    ) throws {
        let size = MemoryLayout<T>.size
        try array { writer in
            try bytes.withUnsafeReadableBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: size) {
                    guard let text = text(bytes.loadUnaligned(fromByteOffset: offset, as: T.self)) else {
                        throw ServingError.invalid(
                            "The output \"\(name)\" has a value that is infinite or not a number, which JSON cannot "
                                + "hold: ask for it in binary, with the parameter \"binary_data\": true."
                        )
                    }
                    writer.raw(text)
                }
            }
        }
    }
}
