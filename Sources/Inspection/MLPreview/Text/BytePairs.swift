import MLFiles
package import MLNumerics

/// A byte-level BPE vocabulary like GPT-2's: encodes texts to token ids and decodes them.
///
/// Source: Radford and others, "Language Models are Unsupervised Multitask Learners" (2019), and the format of its
/// files: `vocab.json` maps tokens to ids, `merges.txt` lists the pairs in the order in which they are merged; each
/// byte is written as a printable character.
package struct BytePairs: Sendable {
    private let numbers: [String: Int32]
    private let tokens: [Int32: [UInt8]]
    private let ranks: [Pair: Int]

    private struct Pair: Hashable {
        let first: String
        let second: String
    }

    /// Reads a vocabulary in the form of GPT-2.
    ///
    /// - Parameter path: The path of `vocab.json`; `merges.txt` is in the same folder.
    /// - Throws: An error when a file cannot be read or has another form.
    package init(contentsOf path: String) throws {
        let folder = FileAccess.folder(of: path)
        try self.init(
            vocabulary: try FileAccess.read(path),
            merges: try FileAccess.read(folder + "/merges.txt"),
            path
        )
    }

    package init(vocabulary: [UInt8], merges: [UInt8], _ name: String = "vocab.json") throws(ModelError) {
        guard
            case .object(let members) = try withErrorContext(
                name,
                { () throws(ModelError) in try JSONReader.read(vocabulary) }
            )
        else { throw ModelError(.malformed, "A JSON object with a number for each token is expected.", at: name) }
        var numbers: [String: Int32] = [:]
        var tokens: [Int32: [UInt8]] = [:]
        for member in members {
            guard case .integer(let value) = member.value, let number = Int32(exactly: value), number >= 0 else {
                throw ModelError(.malformed, "The token \(JSONValue.quoted(member.name)) has no number.", at: name)
            }
            numbers[member.name] = number
            tokens[number] = Self.bytes(member.name)
        }
        var ranks: [Pair: Int] = [:]
        for line in String(decoding: merges, as: UTF8.self).split(whereSeparator: \.isNewline)
        where !line.hasPrefix("#version") {
            let parts = line.split(separator: " ")
            guard parts.count == 2 else {
                throw ModelError(
                    .malformed,
                    "The line \(JSONValue.quoted(String(line))) is not a pair.",
                    at: "merges.txt"
                )
            }
            ranks[Pair(first: String(parts[0]), second: String(parts[1]))] = ranks.count
        }
        (self.numbers, self.tokens, self.ranks) = (numbers, tokens, ranks)
    }

    /// The token ids of a text.
    ///
    /// Bytes that the vocabulary lacks are dropped.
    package func numbers(of text: String) -> [Int32] {
        Self.words(text).flatMap { word in
            joined(word.utf8.map { String(Self.seen[Int($0)]) }).compactMap { numbers[$0] }
        }
    }

    /// The text of tokens; invalid ids are ignored.
    package func text(of numbers: some Sequence<Int32>) -> String {
        String(decoding: numbers.flatMap { tokens[$0] ?? [] }, as: UTF8.self)
    }

    /// Merges neighbouring tokens, the pair that comes first in the list first, until no listed pair is left.
    private func joined(_ characters: [String]) -> [String] {
        var parts = characters
        while parts.count > 1 {
            var best: (place: Int, rank: Int)?
            for place in 0..<parts.count - 1 {
                guard let rank = ranks[Pair(first: parts[place], second: parts[place + 1])] else { continue }
                if rank < best?.rank ?? .max { best = (place, rank) }
            }
            guard let best else { break }
            parts[best.place] += parts.remove(at: best.place + 1)
        }
        return parts
    }

    /// Splits a text into words with the space before them, numbers, other characters, and spaces.
    static func words(_ text: String) -> [String] {
        enum Kind { case letters, digits, spaces, signs }
        func kind(_ scalar: Unicode.Scalar) -> Kind {
            let properties = scalar.properties
            if properties.isWhitespace { return .spaces }
            switch properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return .letters
            case .decimalNumber, .letterNumber, .otherNumber: return .digits
            default: return .signs
            }
        }
        let scalars = Array(text.unicodeScalars)
        var words: [String] = []
        var place = 0
        func take(_ end: Int) {
            words.append(String(String.UnicodeScalarView(scalars[place..<end])))
            place = end
        }
        while place < scalars.count {
            if scalars[place] == "'",
                let ending = ["re", "ve", "ll", "s", "t", "m", "d"].first(where: { ending in
                    scalars[(place + 1)...].starts(with: ending.unicodeScalars)
                })
            {
                take(place + 1 + ending.unicodeScalars.count)
                continue
            }
            let hasSpace = scalars[place] == " " && place + 1 < scalars.count && kind(scalars[place + 1]) != .spaces
            let first = hasSpace ? place + 1 : place
            let present = kind(scalars[first])
            var end = first
            while end < scalars.count, kind(scalars[end]) == present { end += 1 }
            // The last of several spaces belongs to the following word.
            if present == .spaces, end < scalars.count, end - place > 1 { end -= 1 }
            take(end)
        }
        return words
    }

    /// A printable character for each byte: itself, or one from U+0100 on.
    private static let seen: [Unicode.Scalar] = {
        var next: UInt32 = 0x100
        return (0...255).map { (byte: UInt32) in
            if (0x21...0x7E).contains(byte) || (0xA1...0xAC).contains(byte) || (0xAE...0xFF).contains(byte) {
                return Unicode.Scalar(UInt8(byte))
            }
            defer { next += 1 }
            return Unicode.Scalar(next) ?? "?"
        }
    }()

    private static let bytesOfSeen = [Unicode.Scalar: UInt8](
        uniqueKeysWithValues: seen.enumerated().map { ($0.element, UInt8($0.offset)) }
    )

    private static func bytes(_ token: String) -> [UInt8] { token.unicodeScalars.compactMap { bytesOfSeen[$0] } }
}
