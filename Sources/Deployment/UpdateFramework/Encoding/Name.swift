/// A text that equals only texts of the same bytes.
///
/// Swift's strings are equal when they look the same: `K` equals the sign for kelvin.  Names in signed metadata are equal when
/// their bytes are, and are sorted by them (which is the order of code points).
public struct Name: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let text: String

    public init(_ text: String) { self.text = text }
    public init(stringLiteral text: String) { self.text = text }

    public var description: String { text }

    public static func == (first: Name, second: Name) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    public static func < (first: Name, second: Name) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
