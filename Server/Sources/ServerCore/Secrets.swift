import Crypto
import Foundation

/// Secrets that prove an identity; the server stores only their hashes.
enum Secrets {
    /// 256 random bits as 64 hexadecimal digits.
    static func make() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { bytes in
            bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        }
    }

    static func hash(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Data(secret.utf8))) }
}

/// The text of a token: `mlk_` kind `_` id `_` secret and checksum.
///
/// Secret scanners find leaked ones, and typing errors are noticed before the database is asked.
public struct TokenText: Sendable {
    /// The kind of token, such as `api` or `session`.
    public let kind: String
    /// The token's identifier.
    public let id: String
    let secret: String

    init(kind: String, id: String, secret: String) {
        self.kind = kind
        self.id = id
        self.secret = secret
    }

    /// The text of the token, which is secret.
    public var text: String {
        let start = "mlk_\(kind)_\(id)_\(secret)"
        return start + Self.check(start)
    }

    /// Reads the text of a token; `nil` when it is not one, or was mistyped.
    public init?(_ text: String) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "mlk", parts[3].utf8.count == 72 else { return nil }
        (kind, id, secret) = (String(parts[1]), String(parts[2]), String(parts[3].prefix(64)))
        guard Self.check(String(text.dropLast(8))) == parts[3].suffix(8) else { return nil }
    }

    /// The CRC-32 (ISO 3309) as eight hexadecimal digits.
    private static func check(_ text: String) -> String {
        var sum: UInt32 = ~0
        for byte in text.utf8 {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        let digits = String(~sum, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
