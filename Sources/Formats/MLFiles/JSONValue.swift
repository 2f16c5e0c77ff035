/// A JSON value.
///
/// Objects keep the order in which their members were written.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number written without point and exponent, other than -0.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member of an object with the given name; `nil` for other values and for unknown names.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The value as JSON text, indented by four spaces a level.
    package var text: String {
        var result = ""
        write(to: &result, indent: "")
        return result + "\n"
    }

    private func write(to text: inout String, indent: String) {
        let inner = indent + "    "
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += "\(value)"
        case .number(let value):
            text += value.isFinite ? JSONWriter.text(value) : "null"
        case .string(let value): text += Self.quoted(value)
        case .array(let values) where values.isEmpty: text += "[]"
        case .object(let members) where members.isEmpty: text += "{}"
        case .array(let values):
            text += "[\n"
            for (index, value) in values.enumerated() {
                text += inner
                value.write(to: &text, indent: inner)
                text += index + 1 < values.count ? ",\n" : "\n"
            }
            text += indent + "]"
        case .object(let members):
            text += "{\n"
            for (index, member) in members.enumerated() {
                text += inner
                text += Self.quoted(member.name)
                text += ": "
                member.value.write(to: &text, indent: inner)
                text += index + 1 < members.count ? ",\n" : "\n"
            }
            text += indent + "}"
        }
    }

    /// A string as a JSON literal, in quotes.
    package static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
