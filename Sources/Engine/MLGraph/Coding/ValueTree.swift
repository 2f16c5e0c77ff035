package import MLNumerics

/// The attributes of an operator as a tree of plain values, which `Encodable` types are encoded to and `Decodable` ones
/// are decoded from.
///
/// Fields are identified by name, so that a renamed or retyped attribute is an error, never another attribute's value.
package enum ValueTree: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([ValueTree])
    case record([String: ValueTree])

    private static let maximumNesting = 64

    package func write(to writer: inout BinaryWriter) {
        switch self {
        case .null: writer.byte(0)
        case .boolean(let value): writer.byte(value ? 2 : 1)
        case .integer(let value):
            writer.byte(3)
            writer.integer(value)
        case .number(let value):
            writer.byte(4)
            writer.double(value)
        case .text(let value):
            writer.byte(5)
            writer.text(value)
        case .list(let items):
            writer.byte(6)
            writer.unsigned(items.count)
            for item in items { item.write(to: &writer) }
        case .record(let fields):
            writer.byte(7)
            writer.unsigned(fields.count)
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                writer.text(name)
                value.write(to: &writer)
            }
        }
    }

    package init(from reader: inout BinaryReader, depth: Int = 0) throws(ModelError) {
        guard depth < Self.maximumNesting else { throw BinaryReader.malformed("values are nested too deeply") }
        switch try reader.byte() {
        case 0: self = .null
        case 1: self = .boolean(false)
        case 2: self = .boolean(true)
        case 3: self = .integer(try reader.integer())
        case 4: self = .number(try reader.double())
        case 5: self = .text(try reader.text())
        case 6:
            var items: [ValueTree] = []
            for _ in 0..<(try reader.count()) { items.append(try ValueTree(from: &reader, depth: depth + 1)) }
            self = .list(items)
        case 7:
            var fields: [String: ValueTree] = [:]
            for _ in 0..<(try reader.count()) {
                let name = try reader.text()
                fields[name] = try ValueTree(from: &reader, depth: depth + 1)
            }
            self = .record(fields)
        case let kind: throw BinaryReader.malformed("\(kind) is not a kind of value")
        }
    }
}
