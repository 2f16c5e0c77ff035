/// The fields of the specification's messages by number, to name the location of an encoding error.
struct WireSchema: Sendable {
    enum Kind: Sendable {
        case varint, fixed32, fixed64, text, bytes
        case message(String)
    }

    struct Field: Sendable {
        let name: String
        let kind: Kind
        let isRepeated: Bool
    }

    private let messages: [String: [UInt64: Field]]

    static let shared = WireSchema(wireSchemaText)

    init(_ text: String) {
        var messages: [String: [UInt64: Field]] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            var fields: [UInt64: Field] = [:]
            for part in parts.dropFirst() {
                let columns = part.split(separator: ":", maxSplits: 2)
                guard columns.count == 3, let number = UInt64(columns[0]) else { continue }
                let isRepeated = columns[1].hasPrefix("+")
                let code = isRepeated ? columns[1].dropFirst() : columns[1]
                let kind: Kind? =
                    switch code.first {
                    case "v": .varint
                    case "f": .fixed32
                    case "d": .fixed64
                    case "s": .text
                    case "b": .bytes
                    case "m": .message(String(code.dropFirst()))
                    default: nil
                    }
                fields[number] = kind.map { Field(name: String(columns[2]), kind: $0, isRepeated: isRepeated) }
            }
            messages[String(parts[0])] = fields
        }
        self.messages = messages
    }

    func field(_ number: UInt64, of message: String) -> Field? { messages[message]?[number] }
}
