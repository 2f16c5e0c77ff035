import MLEncryption

/// Hashes in documents.
enum Hash {
    /// So many bytes as lower-case hexadecimal digits spell them; `nil` for all else.
    static func bytes(_ text: String, count: Int) -> [UInt8]? {
        guard text.utf8.count == 2 * count else { return nil }
        return Hexadecimal.bytes(text.utf8)
    }

    static func text(_ bytes: [UInt8]) -> String { Hexadecimal.text(bytes) }
}
