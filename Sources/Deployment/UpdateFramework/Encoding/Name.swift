/// A text that is equal only to texts of the same bytes.
///
/// Swift's strings are equal when they are canonically equivalent: `K` equals the sign for kelvin. Names in signed
/// metadata are equal when their bytes are, and are sorted by them (which is the order of code points).
public struct Name: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text.
    public let text: String

    /// Creates a name.
    public init(_ text: String) { self.text = text }
    /// Creates a name from a literal.
    public init(stringLiteral text: String) { self.text = text }

    /// The text.
    public var description: String { text }

    /// Whether the texts have the same bytes.
    public static func == (first: Name, second: Name) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    /// Whether the first text's bytes precede the second's.
    public static func < (first: Name, second: Name) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }

    /// Hashes the bytes of the text.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
