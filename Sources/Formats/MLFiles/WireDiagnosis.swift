/// Finds the first position at which the bytes of a message violate the wire format, for error messages.
///
/// It runs only after decoding has failed, so it may be slow and must be thorough.
struct WireDiagnosis {
    struct Finding {
        /// The names from the root to the field, with the index of a repeated one: `neuralNetwork`, `layers[3]`, ….
        var path: [String]
        /// The offset of the field in bytes from the start of the message.
        var offset: Int
        var reason: String
    }

    private let bytes: UnsafeRawBufferPointer
    private static let maximumDepth = 100

    /// The first violation in the encoding of `message`; `nil` when none is found.
    static func find(in bytes: UnsafeRawBufferPointer, message: String) -> Finding? {
        WireDiagnosis(bytes: bytes).walk(0..<bytes.count, message, depth: 0)
    }

    private func walk(_ range: Range<Int>, _ message: String?, depth: Int) -> Finding? {
        guard depth < Self.maximumDepth else {
            return Finding(
                path: [],
                offset: range.lowerBound,
                reason: "messages are nested deeper than \(Self.maximumDepth) levels"
            )
        }
        var position = range.lowerBound
        var counts: [UInt64: Int] = [:]
        while position < range.upperBound {
            let start = position
            guard let tag = varint(&position, range.upperBound) else {
                return Finding(path: [], offset: start, reason: "the bytes end within a field's number")
            }
            let number = tag >> 3
            let field = message.flatMap { WireSchema.shared.field(number, of: $0) }
            var name = field?.name ?? "field \(number)"
            if field?.isRepeated == true {
                let index = counts[number, default: 0]
                counts[number] = index + 1
                name += "[\(index)]"
            }
            func finding(_ reason: String) -> Finding { Finding(path: [name], offset: start, reason: reason) }
            guard number > 0, number < 1 << 29 else { return finding("\(number) is not a number of a field") }
            switch tag & 7 {
            case 0:
                guard varint(&position, range.upperBound) != nil else {
                    return finding("the bytes end within its number")
                }
            case 1:
                guard range.upperBound - position >= 8 else {
                    return finding("8 bytes were expected, \(range.upperBound - position) are left")
                }
                position += 8
            case 5:
                guard range.upperBound - position >= 4 else {
                    return finding("4 bytes were expected, \(range.upperBound - position) are left")
                }
                position += 4
            case 2:
                guard let length = varint(&position, range.upperBound) else {
                    return finding("the bytes end within its length")
                }
                let left = range.upperBound - position
                guard length <= UInt64(left) else {
                    return finding("it claims \(length) bytes, but \(left) are left")
                }
                let body = position..<position + Int(length)
                position = body.upperBound
                if let inner = inspect(body, field?.kind, isRepeated: field?.isRepeated ?? false, depth: depth) {
                    return Finding(path: [name] + inner.path, offset: inner.offset, reason: inner.reason)
                }
            case 3:
                guard skipGroup(number, &position, range.upperBound, depth: depth) else {
                    return finding("a group starts that does not end")
                }
            default: return finding("\(tag & 7) is not a wire type")
            }
        }
        return nil
    }

    /// Inspects the body of a length-delimited field.
    private func inspect(_ body: Range<Int>, _ kind: WireSchema.Kind?, isRepeated: Bool, depth: Int) -> Finding? {
        func finding(_ reason: String) -> Finding { Finding(path: [], offset: body.lowerBound, reason: reason) }
        switch kind {
        case .message(let name): return walk(body, name, depth: depth + 1)
        case .text:
            let text = UnsafeRawBufferPointer(rebasing: bytes[body])
            return String(validating: text, as: UTF8.self) == nil ? finding("the text is not UTF-8") : nil
        case .fixed32 where isRepeated && body.count % 4 != 0:
            return finding("\(body.count) bytes are not a whole number of 4-byte values")
        case .fixed64 where isRepeated && body.count % 8 != 0:
            return finding("\(body.count) bytes are not a whole number of 8-byte values")
        case .varint where isRepeated:
            var position = body.lowerBound
            while position < body.upperBound {
                guard varint(&position, body.upperBound) != nil else { return finding("the bytes end within a number") }
            }
            return nil
        default: return nil
        }
    }

    private func skipGroup(_ number: UInt64, _ position: inout Int, _ end: Int, depth: Int) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        while position < end {
            guard let tag = varint(&position, end) else { return false }
            switch tag & 7 {
            case 0: guard varint(&position, end) != nil else { return false }
            case 1: position += 8
            case 2:
                guard let length = varint(&position, end), length <= UInt64(end - position) else { return false }
                position += Int(length)
            case 3: guard skipGroup(tag >> 3, &position, end, depth: depth + 1) else { return false }
            case 4: return tag >> 3 == number
            case 5: position += 4
            default: return false
            }
            if position > end { return false }
        }
        return false
    }

    private func varint(_ position: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
