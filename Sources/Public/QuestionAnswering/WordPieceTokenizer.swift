public import Foundation

/// BERT's tokenizer: a text becomes pieces of words from a vocabulary.
///
/// Identifiers, offsets and word numbers are those of Hugging Face's `BertTokenizerFast`: control characters are
/// removed, ideographs separated, accents and capitals removed if the vocabulary is uncased, punctuation separated; of
/// each word the longest piece of the vocabulary is taken from the left. A word with a part that is in no piece, or of
/// more than 100 scalars, is `[UNK]`. Special tokens that a text contains are recognised, such as `[MASK]`.
///
/// Source: J. Devlin and others, "BERT: Pre-training of Deep Bidirectional Transformers" (2018).
public struct WordPieceTokenizer: Sendable {
    /// A piece of a text.
    public struct Token: Sendable, Equatable {
        /// The line of the vocabulary, from 0.
        public let id: Int
        /// The position in the text, counted in Unicode scalars.
        public let range: Range<Int>
        /// The number of the word or punctuation mark in the text, from 0.
        public let word: Int

        /// Creates a token.
        public init(id: Int, range: Range<Int>, word: Int) {
            self.id = id
            self.range = range
            self.word = word
        }
    }

    /// The pieces by identifier.
    public let vocabulary: [String]
    /// Whether text is converted to lower case.
    public var lowercases: Bool { normalizer.lowercases }
    /// Whether accents are removed.
    public var stripsAccents: Bool { normalizer.stripsAccents }
    /// The identifier of `[UNK]`.
    public let unknown: Int
    /// The identifier of `[CLS]`, which begins each input of a model.
    public let classifier: Int
    /// The identifier of `[SEP]`, which ends question and paragraph.
    public let separator: Int
    /// The identifier of `[PAD]`, which fills inputs.
    public let padding: Int

    private let normalizer: TextNormalizer
    private let trie: PieceTrie
    private let special: [(scalars: [Unicode.Scalar], id: Int)]
    private static let maximumWordLength = 100

    /// Reads a vocabulary: one piece a line, as in BERT's `vocab.txt`.
    ///
    /// - Parameters:
    ///   - url: The file, in UTF-8.
    ///   - lowercases: Whether text is converted to lower case; by default, unless a piece has a capital letter.
    ///   - stripsAccents: Whether accents are removed; by default, where text is converted to lower case.
    /// - Throws: When the file cannot be read, or a special token is missing.
    public init(contentsOf url: URL, lowercases: Bool? = nil, stripsAccents: Bool? = nil) throws {
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw QuestionAnsweringError("The vocabulary '\(url.path)' cannot be read: \(error.localizedDescription)")
        }
        try self.init(
            text: [UInt8](data),
            name: "The vocabulary '\(url.path)'",
            lowercases: lowercases,
            stripsAccents: stripsAccents
        )
    }

    /// Reads a vocabulary in memory, one piece a line; `name` is for errors.
    package init(text bytes: [UInt8], name: String, lowercases: Bool? = nil, stripsAccents: Bool? = nil) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw QuestionAnsweringError("\(name) is not UTF-8 text with one word piece per line.")
        }
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.last == "\r" ? line.dropLast() : line)
        }
        try self.init(
            vocabulary: lines.last == "" ? lines.dropLast() : lines,
            lowercases: lowercases,
            stripsAccents: stripsAccents
        )
    }

    /// Creates a tokenizer.
    ///
    /// - Parameters:
    ///   - vocabulary: The pieces by identifier; those that continue a word begin with `##`.
    ///   - lowercases: Whether text is converted to lower case; by default, unless a piece has a capital letter.
    ///   - stripsAccents: Whether accents are removed; by default, where text is converted to lower case.
    /// - Throws: When `[PAD]`, `[UNK]`, `[CLS]` or `[SEP]` is missing.
    public init(vocabulary: [String], lowercases: Bool? = nil, stripsAccents: Bool? = nil) throws {
        var special: [(scalars: [Unicode.Scalar], id: Int)] = []
        func find(_ name: String) -> Int? {
            guard let id = vocabulary.lastIndex(of: name) else { return nil }
            special.append((Array(name.unicodeScalars), id))
            return id
        }
        func require(_ name: String) throws -> Int {
            guard let id = find(name) else {
                throw QuestionAnsweringError(
                    "The vocabulary has no '\(name)'; one word piece per line is expected, as in BERT's vocab.txt."
                )
            }
            return id
        }
        (padding, unknown) = (try require("[PAD]"), try require("[UNK]"))
        (classifier, separator) = (try require("[CLS]"), try require("[SEP]"))
        _ = find("[MASK]")
        let lowers =
            lowercases
            ?? !vocabulary.contains { piece in
                !piece.hasPrefix("[") && piece.unicodeScalars.contains { $0.properties.changesWhenLowercased }
            }
        self.vocabulary = vocabulary
        self.special = special
        normalizer = TextNormalizer(lowercases: lowers, stripsAccents: stripsAccents ?? lowers)
        trie = PieceTrie(vocabulary.enumerated().map { (Array($1.utf8), Int32($0)) })
    }

    /// The pieces of a text in order.
    public func tokens(_ text: String) -> [Token] {
        let scalars = Array(text.unicodeScalars)
        var tokens: [Token] = []
        var word = 0
        var start = 0
        var position = 0
        while position < scalars.count {
            guard scalars[position] == "[",
                let found = special.first(where: { scalars[position...].starts(with: $0.scalars) })
            else {
                position += 1
                continue
            }
            append(scalars[start..<position], &word, &tokens)
            let end = position + found.scalars.count
            tokens.append(Token(id: found.id, range: position..<end, word: word))
            word += 1
            (start, position) = (end, end)
        }
        append(scalars[start...], &word, &tokens)
        return tokens
    }

    /// Appends the tokens of a part of a text without special tokens.
    private func append(_ part: ArraySlice<Unicode.Scalar>, _ word: inout Int, _ tokens: inout [Token]) {
        guard !part.isEmpty else { return }
        let text = normalizer.normalize(part, first: part.startIndex)
        var bytes: [UInt8] = []
        var origins: [Int] = []
        var count = 0
        func finish() {
            guard count > 0 else { return }
            appendWord(bytes, origins, count, word, &tokens)
            word += 1
            bytes.removeAll(keepingCapacity: true)
            origins.removeAll(keepingCapacity: true)
            count = 0
        }
        for (scalar, origin) in zip(text.scalars, text.origins) {
            let kinds = TextNormalizer.kinds(scalar)
            if kinds.contains(.space) {
                finish()
                continue
            }
            let isAlone = kinds.contains(.punctuation)
            if isAlone { finish() }
            for byte in UTF8.encode(scalar).unsafelyUnwrapped {
                bytes.append(byte)
                origins.append(origin)
            }
            count += 1
            if isAlone { finish() }
        }
        finish()
    }

    private func appendWord(
        _ bytes: [UInt8],
        _ origins: [Int],
        _ count: Int,
        _ word: Int,
        _ tokens: inout [Token]
    ) {
        let first = tokens.count
        var start = 0
        var root: UInt32? = 0
        while start < bytes.count, count <= Self.maximumWordLength, let from = root,
            let found = trie.longest(bytes, start, bytes.count, from: from)
        {
            let range = origins[start]..<origins[found.end - 1] + 1
            tokens.append(Token(id: Int(found.id), range: range, word: word))
            start = found.end
            root = trie.continuation
        }
        guard start < bytes.count else { return }
        tokens.removeSubrange(first...)
        tokens.append(Token(id: unknown, range: origins[0]..<origins[bytes.count - 1] + 1, word: word))
    }
}
