import MLEncryption

/// Hashes in documents.
enum Hash {
    /// The `count` bytes that a text spells in lower-case hexadecimal digits; `nil` for any other text.
    static func bytes(_ text: String, count: Int) -> [UInt8]? {
        guard text.utf8.count == 2 * count else { return nil }
        return Hexadecimal.bytes(text.utf8)
    }

    static func text(_ bytes: [UInt8]) -> String { Hexadecimal.text(bytes) }
}
