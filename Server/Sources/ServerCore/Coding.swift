import Foundation
import ServerDatabase

/// JSON in columns.
enum JSON {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(text.utf8))
    }
}

extension Date {
    /// Milliseconds since 1970.
    var milliseconds: Int { Int((timeIntervalSince1970 * 1000).rounded()) }

    init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Row {
    func date(_ name: String) throws -> Date { Date(milliseconds: try integer(name)) }
    func optionalDate(_ name: String) throws -> Date? { try optionalInteger(name).map(Date.init(milliseconds:)) }
}

extension Sequence where Element == UInt8 {
    var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
