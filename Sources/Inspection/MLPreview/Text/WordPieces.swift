import MLFiles
package import MLNumerics

/// A WordPiece vocabulary like BERT's, and its tokenizer.
///
/// Source: Devlin and others, "BERT" (2018), and the format of `vocab.txt`: one piece per line, whose id is the line's
/// index; pieces that continue a word begin with `##`.
package struct WordPieces: Sendable {
    /// A piece of a text.
    package struct Piece: Sendable, Equatable {
        package let number: Int32
        /// The position in the text, counted in characters.
        package let range: Range<Int>
    }

    private let numbers: [String: Int32]
    private let isLowerCase: Bool
    package let classToken: Int32
    package let separator: Int32
    package let padding: Int32
    private let unknown: Int32
    /// Longer words are unknown as a whole.
    private static let longestWord = 100

    package init(contentsOf path: String) throws {
        let bytes = try FileAccess.read(path)
        do { try self.init(String(decoding: bytes, as: UTF8.self)) } catch { throw error.at(path) }
    }

    package init(_ text: String) throws(ModelError) {
        var numbers: [String: Int32] = [:]
        for (line, piece) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let piece = piece.last == "\r" ? piece.dropLast() : piece
            if !piece.isEmpty, let number = Int32(exactly: line) { numbers[String(piece)] = number }
        }
        func special(_ name: String) throws(ModelError) -> Int32 {
            guard let number = numbers[name] else {
                throw ModelError(
                    .malformed,
                    "The vocabulary lacks \(name); one piece a line is expected, as in BERT's vocab.txt."
                )
            }
            return number
        }
        (classToken, separator) = (try special("[CLS]"), try special("[SEP]"))
        (padding, unknown) = (numbers["[PAD]"] ?? 0, try special("[UNK]"))
        isLowerCase = !numbers.keys.contains { piece in piece.first != "[" && piece.contains(where: \.isUppercase) }
        self.numbers = numbers
    }

    /// The pieces of a text in order.
    package func pieces(_ text: String) -> [Piece] {
        var pieces: [Piece] = []
        let characters = Array(text)
        var start: Int?
        for (place, character) in characters.enumerated() {
            let isPart = character.isLetter || character.isNumber && !Self.isIdeograph(character)
            if isPart, !Self.isIdeograph(character) {
                if start == nil { start = place }
                continue
            }
            if let first = start { pieces += word(characters, first..<place) }
            start = nil
            if !character.isWhitespace { pieces += word(characters, place..<place + 1) }
        }
        if let first = start { pieces += word(characters, first..<characters.count) }
        return pieces
    }

    private static func isIdeograph(_ character: Character) -> Bool {
        character.unicodeScalars.contains { $0.properties.isIdeographic }
    }

    /// The longest pieces from the left; one unknown piece when some part has none.
    private func word(_ characters: [Character], _ range: Range<Int>) -> [Piece] {
        guard range.count <= Self.longestWord else { return [Piece(number: unknown, range: range)] }
        let letters = range.map { plain(characters[$0]) }
        var pieces: [Piece] = []
        var start = 0
        while start < letters.count {
            var found: (end: Int, number: Int32)?
            for end in stride(from: letters.count, to: start, by: -1) {
                let text = (start > 0 ? "##" : "") + letters[start..<end].joined()
                if let number = numbers[text] {
                    found = (end, number)
                    break
                }
            }
            guard let found else { return [Piece(number: unknown, range: range)] }
            pieces.append(Piece(number: found.number, range: range.lowerBound + start..<range.lowerBound + found.end))
            start = found.end
        }
        return pieces
    }

    /// A character in the vocabulary's normalisation: in lower case and without accents, if the vocabulary is uncased.
    private func plain(_ character: Character) -> String {
        guard isLowerCase else { return String(character) }
        let kept = String(character).lowercased().decomposedScalars.filter {
            $0.properties.generalCategory != .nonspacingMark
        }
        return String(String.UnicodeScalarView(kept))
    }
}

extension String {
    /// The scalars with accents separated from Latin letters.
    fileprivate var decomposedScalars: [Unicode.Scalar] {
        unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
            guard !scalar.isASCII, let name = scalar.properties.name, let place = name.firstRange(of: " WITH ") else {
                return [scalar]
            }
            // "LATIN SMALL LETTER E WITH ACUTE" is an "e"; letters of other scripts keep their marks.
            guard name.hasPrefix("LATIN SMALL LETTER ") else { return [scalar] }
            let letter = name[name.index(name.startIndex, offsetBy: 19)..<place.lowerBound]
            guard letter.count == 1, let base = letter.lowercased().unicodeScalars.first else { return [scalar] }
            return [base]
        }
    }
}
