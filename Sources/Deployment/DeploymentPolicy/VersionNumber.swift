/// A version such as `17.4.1` or `2.0-beta3+build7`, compared by its components.
///
/// It has 1 to 16 numbers of 1 to 18 digits with points between them; missing ones are 0, so `17.4` equals `17.4.0`.
/// The part from the first hyphen or letter on is a pre-release mark: `2.0-beta3` and `2.0b3` precede `2.0`. Marks are
/// compared run by run, a run being of digits or of letters: digits precede letters, numbers are compared as such,
/// letters without case, and a mark that is a prefix of another precedes it. The part after a plus sign is not
/// compared.
public struct VersionNumber: Sendable, CustomStringConvertible {
    /// The text as it was written.
    public let description: String
    /// The first three numbers, 21 bits each; from the first number that is too large on, all bits are set.
    ///
    /// A version with a smaller head is earlier, so that few comparisons go further.
    let head: UInt64
    /// The numbers, without zeros at the end.
    let numbers: [UInt64]
    /// The runs of the pre-release mark; `nil` without one.
    let mark: [Piece]?

    enum Piece: Hashable, Sendable, Comparable {
        case number(UInt64)
        case letters(String)

        static func < (a: Piece, b: Piece) -> Bool {
            switch (a, b) {
            case (.number(let a), .number(let b)): a < b
            case (.number, .letters): true
            case (.letters, .number): false
            case (.letters(let a), .letters(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
            }
        }
    }

    /// Creates the version that a text of at most 128 bytes spells; `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count <= 128 else { return nil }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "+"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let main = parts.first, parts.dropFirst().allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isOfMark) })
        else { return nil }
        let end = main.firstIndex { !Self.isDigit($0) && $0 != UInt8(ascii: ".") } ?? main.endIndex
        var numbers: [UInt64] = []
        for digits in main[..<end].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard let number = Self.number(digits), numbers.count < 16 else { return nil }
            numbers.append(number)
        }
        while numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
        head = Self.head(numbers)
        if end == main.endIndex {
            mark = nil
        } else {
            guard let pieces = Self.pieces(main[end...]) else { return nil }
            mark = pieces
        }
        description = text
    }

    private static func head(_ numbers: [UInt64]) -> UInt64 {
        var head: UInt64 = 0
        for index in 0..<3 {
            let number = index < numbers.count ? numbers[index] : 0
            let shift = UInt64(21 * (2 - index))
            guard number < 1 << 21 - 1 else { return head | (1 << (shift + 21) - 1) }
            head |= number << shift
        }
        return head
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard (1...18).contains(digits.count) else { return nil }
        return digits.reduce(0) { $0 * 10 + UInt64($1 - 0x30) }
    }

    private static func pieces(_ text: ArraySlice<UInt8>) -> [Piece]? {
        guard text.allSatisfy(isOfMark) else { return nil }
        var pieces: [Piece] = []
        var remaining = text
        while let first = remaining.first {
            if !isDigit(first), !isLetter(first) {
                remaining = remaining.dropFirst()
                continue
            }
            let run = remaining.prefix { isDigit(first) ? isDigit($0) : isLetter($0) }
            remaining = remaining[run.endIndex...]
            if isDigit(first) {
                guard let number = number(run) else { return nil }
                pieces.append(.number(number))
            } else {
                pieces.append(.letters(String(decoding: run.map { $0 | 0x20 }, as: UTF8.self)))
            }
        }
        return pieces.isEmpty ? nil : pieces
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isOfMark(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }
}

extension VersionNumber: Comparable, Hashable {
    /// Whether two versions are equal: `17.4` equals `17.4.0`, and the part after a plus sign does not count.
    public static func == (a: VersionNumber, b: VersionNumber) -> Bool {
        a.head == b.head && a.numbers == b.numbers && a.mark == b.mark
    }

    /// Whether the first version precedes the second.
    public static func < (a: VersionNumber, b: VersionNumber) -> Bool {
        if a.head != b.head { return a.head < b.head }
        if a.numbers != b.numbers { return a.numbers.lexicographicallyPrecedes(b.numbers) }
        switch (a.mark, b.mark) {
        case (nil, _): return false
        case (_?, nil): return true
        case (let a?, let b?): return a.lexicographicallyPrecedes(b)
        }
    }

    /// Hashes the numbers and the mark, in agreement with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(numbers)
        hasher.combine(mark)
    }
}
