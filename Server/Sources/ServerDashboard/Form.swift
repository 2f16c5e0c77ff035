import Foundation
import Hummingbird
import ServerCore

/// The fields of a form that a browser sent (`application/x-www-form-urlencoded`).
struct Form: Sendable {
    private let fields: [(name: String, value: String)]

    /// The largest length of a form in bytes; the longest forms contain a deployment's definition.
    static let maximumByteCount = 1 << 20

    init(_ text: String) throws {
        fields = try text.split(separator: "&").map { part in
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (try Self.decode(halves[0]), halves.count == 2 ? try Self.decode(halves[1]) : "")
        }
    }

    init(_ request: Request) async throws {
        let type = request.headers[.contentType] ?? ""
        guard type.hasPrefix("application/x-www-form-urlencoded") else {
            throw ServiceError(.invalid, "A form is sent as application/x-www-form-urlencoded.")
        }
        let buffer = try await request.body.collect(upTo: Self.maximumByteCount)
        guard let text = buffer.getString(at: buffer.readerIndex, length: buffer.readableBytes) else {
            throw ServiceError(.invalid, "The form cannot be read.")
        }
        try self.init(text)
    }

    private static func decode(_ text: Substring) throws -> String {
        guard let decoded = text.replacing("+", with: " ").removingPercentEncoding else {
            throw ServiceError(.invalid, "The form is not text in UTF-8.")
        }
        return decoded.replacing("\r\n", with: "\n")
    }

    /// The first value of a field, trimmed; empty when there is none.
    subscript(_ name: String) -> String {
        fields.first { $0.name == name }?.value.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }

    /// The first value of a field as it was typed, for passwords.
    func exact(_ name: String) -> String { fields.first { $0.name == name }?.value ?? "" }

    /// All values of a field.
    func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// A value that may be missing.
    func optional(_ name: String) -> String? {
        let value = self[name]
        return value.isEmpty ? nil : value
    }

    /// The lines, or comma-separated words, of a field.
    func words(_ name: String) -> [String] {
        self[name].split { $0 == "\n" || $0 == "," }.map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty
        }
    }
}
