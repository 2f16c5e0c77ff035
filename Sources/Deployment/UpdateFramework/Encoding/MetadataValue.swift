/// A JSON value as signed metadata contains it.
public enum MetadataValue: Sendable {
    /// The value `null`.
    case null
    /// A Boolean.
    case bool(Bool)
    /// A whole number of any size, by its digits as canonical JSON writes them.
    case integer(String)
    /// A number with a fraction or an exponent, as it was written.
    ///
    /// It has no canonical form, so nothing signed may contain one.
    case fraction(String)
    /// A text.
    case string(String)
    /// A list of values.
    case array([MetadataValue])
    /// An object, by the names of its members.
    case object([Name: MetadataValue])

    /// Reads JSON; throws `malformed`, naming `role`, for any other text.
    public init(parsing bytes: [UInt8], role: String) throws(UpdateError) {
        self = try MetadataReader.read(bytes, role: role)
    }

    /// A whole number.
    public static func integer(_ value: Int) -> MetadataValue { .integer(String(value)) }

    /// A member of an object; `nil` where there is none, and for other values.
    public subscript(_ name: Name) -> MetadataValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text; `nil` for other values.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The whole number; `nil` for other values and for numbers that an `Int` cannot hold.
    public var int: Int? {
        guard case .integer(let digits) = self else { return nil }
        return Int(digits)
    }
}

// MARK: Canonical form

extension MetadataValue {
    /// The value in OLPC canonical JSON, over which signatures and key ids are computed (specification, section 4.2.1).
    ///
    /// Members are sorted by the bytes of their names, nothing stands between the parts, and only `"` and `\` are
    /// escaped. Throws `malformed`, naming `role`, for a value that contains a fraction.
    public func canonicalBytes(of role: String) throws(UpdateError) -> [UInt8] {
        var bytes: [UInt8] = []
        try appendCanonical(to: &bytes, role: role)
        return bytes
    }

    private func appendCanonical(to bytes: inout [UInt8], role: String) throws(UpdateError) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let digits): bytes += digits.utf8
        case .fraction(let text):
            throw .malformed(role, "the number \(text.prefix(40)) is not whole and cannot be signed")
        case .string(let text): Self.appendCanonical(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try value.appendCanonical(to: &bytes, role: role)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.appendCanonical(member.key.text, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                try member.value.appendCanonical(to: &bytes, role: role)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func appendCanonical(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

// MARK: File form

extension MetadataValue {
    /// The value as a JSON file with sorted members, indented by one space for each level.
    ///
    /// Unlike the canonical form it escapes control characters, so every reader of JSON can read it.
    public var fileBytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, depth: 0)
        bytes.append(0x0A)
        return bytes
    }

    private func append(to bytes: inout [UInt8], depth: Int) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let digits), .fraction(let digits): bytes += digits.utf8
        case .string(let text): Self.append(text, to: &bytes)
        case .array(let values):
            Self.append("[", values, "]", to: &bytes, depth: depth) { value, bytes in
                value.append(to: &bytes, depth: depth + 1)
            }
        case .object(let members):
            let members = members.sorted { $0.key < $1.key }
            Self.append("{", members, "}", to: &bytes, depth: depth) { member, bytes in
                Self.append(member.key.text, to: &bytes)
                bytes += ": ".utf8
                member.value.append(to: &bytes, depth: depth + 1)
            }
        }
    }

    private static func append<Part>(
        _ opening: String,
        _ parts: [Part],
        _ closing: String,
        to bytes: inout [UInt8],
        depth: Int,
        part: (Part, inout [UInt8]) -> Void
    ) {
        bytes += opening.utf8
        for (index, value) in parts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(0x0A)
            bytes += [UInt8](repeating: 0x20, count: depth + 1)
            part(value, &bytes)
        }
        if !parts.isEmpty {
            bytes.append(0x0A)
            bytes += [UInt8](repeating: 0x20, count: depth)
        }
        bytes += closing.utf8
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += "\\n".utf8
            case 0..<0x20: bytes += "\\u00\(Hex.text([byte]))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
