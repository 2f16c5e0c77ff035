import CNumberText
package import MLNumerics

/// Writes JSON without spaces as UTF-8, in chunks, so that texts of any length need little memory.
///
/// Every number has the shortest digits that read back as the same double. JSON has neither NaN nor infinity: they
/// become the strings `"nan"`, `"inf"` and `"-inf"`.
package final class JSONWriter {
    private let out: (([UInt8]) throws(ModelError) -> Void)?
    private var buffer: [UInt8] = []
    /// The digits of the number being written.
    private var digits = [UInt8](repeating: 0, count: Int(CNUM_MOST_BYTES))
    /// The number of bytes that are passed on at once.
    private static let chunkSize = 1 << 16

    /// Makes a writer into memory; `text` has the result.
    package init() { out = nil }

    /// Makes a writer that passes the bytes to `out`, in order.
    package init(_ out: @escaping ([UInt8]) throws(ModelError) -> Void) { self.out = out }

    /// Passes on the bytes that are still buffered.
    package func finish() throws(ModelError) {
        guard let out, !buffer.isEmpty else { return }
        try out(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// The bytes written and not passed on.
    package var text: String { String(decoding: buffer, as: UTF8.self) }

    /// The shortest digits that read back as the same finite number.
    package static func text(_ value: Double) -> String {
        String(unsafeUninitializedCapacity: Int(CNUM_MOST_BYTES)) { bytes in
            bytes.baseAddress.map { cnum_write_json(value, $0) } ?? 0
        }
    }

    private func byte(_ scalar: Unicode.Scalar) throws(ModelError) {
        buffer.append(UInt8(ascii: scalar))
        if buffer.count >= Self.chunkSize { try finish() }
    }

    private func bytes(_ text: some Sequence<UInt8>) throws(ModelError) {
        buffer.append(contentsOf: text)
        if buffer.count >= Self.chunkSize { try finish() }
    }

    package func newline() throws(ModelError) { try byte("\n") }

    package func null() throws(ModelError) { try bytes("null".utf8) }

    package func bool(_ value: Bool) throws(ModelError) { try bytes((value ? "true" : "false").utf8) }

    package func integer(_ value: some BinaryInteger) throws(ModelError) { try bytes(String(value).utf8) }

    package func number(_ value: Double) throws(ModelError) {
        guard value.isFinite else {
            return try bytes((value.isNaN ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"").utf8)
        }
        let count = cnum_write_json(value, &digits)
        try bytes(digits[..<count])
    }

    package func string(_ text: String) throws(ModelError) {
        try byte("\"")
        for scalar in text.utf8 {
            switch scalar {
            case UInt8(ascii: "\""): try bytes("\\\"".utf8)
            case UInt8(ascii: "\\"): try bytes("\\\\".utf8)
            case UInt8(ascii: "\n"): try bytes("\\n".utf8)
            case UInt8(ascii: "\t"): try bytes("\\t".utf8)
            case UInt8(ascii: "\r"): try bytes("\\r".utf8)
            case 0..<0x20: try bytes("\\u00\(scalar < 16 ? "0" : "")\(String(scalar, radix: 16))".utf8)
            default: try bytes(CollectionOfOne(scalar))
            }
        }
        try byte("\"")
    }

    /// Writes a list; `element` writes each element.
    package func list<E: Error, Elements: Sequence>(
        _ elements: Elements,
        _ element: (Elements.Element) throws(E) -> Void
    ) throws {
        try byte("[")
        for (index, value) in elements.enumerated() {
            if index > 0 { try byte(",") }
            try element(value)
        }
        try byte("]")
    }

    /// Writes an object; `value` writes the value for each name.
    package func object<E: Error, Value>(
        _ members: some Sequence<(key: String, value: Value)>,
        _ value: (Value) throws(E) -> Void
    ) throws {
        try byte("{")
        for (index, member) in members.enumerated() {
            if index > 0 { try byte(",") }
            try string(member.key)
            try byte(":")
            try value(member.value)
        }
        try byte("}")
    }

    /// Writes a tensor as nested lists, one level per axis; a tensor of rank 0 is its element.
    ///
    /// Booleans are written as 0 and 1.
    package func tensor(_ tensor: Tensor) throws(ModelError) {
        func typed<T: BitwiseCopyable>(
            _: T.Type,
            _ write: (T) throws(ModelError) -> Void
        ) throws(ModelError) {
            try tensor.withBytes { (bytes) throws(ModelError) in
                let elements = bytes.assumingMemoryBound(to: T.self)
                var next = 0
                try nest(tensor.shape[...]) { () throws(ModelError) in
                    try write(elements[next])
                    next += 1
                }
            }
        }
        switch tensor.scalarType {
        case .float64: try typed(Double.self) { (value) throws(ModelError) in try number(value) }
        case .float32: try typed(Float.self) { (value) throws(ModelError) in try number(Double(value)) }
        case .float16: try typed(Float16.self) { (value) throws(ModelError) in try number(Double(value)) }
        case .int64: try typed(Int64.self) { (value) throws(ModelError) in try integer(value) }
        case .uint64: try typed(UInt64.self) { (value) throws(ModelError) in try integer(value) }
        case .string:
            let strings = tensor.strings
            var next = 0
            try nest(tensor.shape[...]) { () throws(ModelError) in
                try string(strings[next])
                next += 1
            }
        default:
            let values = tensor.values
            var next = 0
            try nest(tensor.shape[...]) { () throws(ModelError) in
                try number(values[next])
                next += 1
            }
        }
    }

    private func nest(_ shape: ArraySlice<Int>, _ element: () throws(ModelError) -> Void) throws(ModelError) {
        guard let extent = shape.first else { return try element() }
        try byte("[")
        if shape.count == 1 {
            for index in 0..<extent {
                if index > 0 { try byte(",") }
                try element()
            }
            return try byte("]")
        }
        for index in 0..<extent {
            if index > 0 { try byte(",") }
            try nest(shape.dropFirst(), element)
        }
        try byte("]")
    }
}
