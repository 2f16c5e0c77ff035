import Foundation

/// The dialect of a CSV file as bytes; rewrites files of other dialects for TabularData's reader.
struct TableDialect {
    private let delimiter: [UInt8]
    private let comment: [UInt8]
    let escape: [UInt8]
    private let quote: [UInt8]
    private let terminator: [UInt8]
    private let options: MLDataTable.ParsingOptions

    private static let newline = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")
    private static let plainQuote = UInt8(ascii: "\"")

    /// Checks the options and converts them to bytes.
    /// - Throws: `MLCreateError.io` naming an option that is out of range.
    init(_ options: MLDataTable.ParsingOptions) throws {
        func check(_ condition: Bool, _ reason: String) throws {
            if !condition { throw MLCreateError.io(reason: reason) }
        }
        try check(!options.delimiter.isEmpty, "the delimiter is empty; give the text between cells")
        try check(!options.lineTerminator.isEmpty, "the line terminator is empty; give the text that ends lines")
        try check(options.quote.count <= 1, "the quote '\(options.quote)' is longer than a character")
        try check(options.escape.count <= 1, "the escape '\(options.escape)' is longer than a character")
        try check(options.skipRows >= 0, "skipRows is \(options.skipRows); it must be 0 or more")
        delimiter = Array(options.delimiter.utf8)
        comment = Array(options.comment.utf8)
        escape = Array(options.escape.utf8)
        quote = Array(options.quote.utf8)
        terminator = Array(options.lineTerminator.utf8)
        self.options = options
    }

    /// The text without the lines to be skipped, rewritten if the reader does not understand the dialect.
    /// - Parameter data: The file's contents.
    /// - Returns: The text as it is, or, with `isPlain`, cells in double quotes separated by commas, without comments
    ///   and escapes.
    /// - Throws: `MLCreateError.io` naming the line with a quote that has no end or is not allowed.
    func plain(_ data: Data) throws -> (text: Data, isPlain: Bool) {
        var start = data.startIndex
        for _ in 0..<options.skipRows {
            guard let end = data.range(of: Data(terminator), in: start..<data.endIndex) else { return (Data(), false) }
            start = end.upperBound
        }
        let text = data[start...]
        let isKnown =
            options.delimiter.count == 1 && comment.isEmpty && options.doubleQuote
            && (quote.isEmpty || quote == [Self.plainQuote]) && terminator == [Self.newline]
        if isKnown, !options.skipInitialSpaces || !hasInitialSpaces(text) { return (text, false) }
        return (try rewritten(text), true)
    }

    private func hasInitialSpaces(_ text: Data) -> Bool {
        text.first == Self.space || text.range(of: Data(delimiter + [Self.space])) != nil
            || text.range(of: Data(terminator + [Self.space])) != nil
    }

    /// The text with every cell in quotes.
    private func rewritten(_ data: Data) throws -> Data {
        try data.withUnsafeBytes { bytes in
            var rewriter = Rewriter(dialect: self, bytes: bytes)
            return try rewriter.rewritten()
        }
    }

    /// Goes through a text byte by byte and rewrites it with every cell in quotes.
    private struct Rewriter {
        let dialect: TableDialect
        let bytes: UnsafeRawBufferPointer
        private var out: [UInt8] = []
        private var position = 0
        private var line: Int
        private var quoteLine = 0
        private var (isInQuotes, isInCell, lineIsEmpty) = (false, false, true)

        init(dialect: TableDialect, bytes: UnsafeRawBufferPointer) {
            self.dialect = dialect
            self.bytes = bytes
            line = 1 + dialect.options.skipRows
            out.reserveCapacity(bytes.count + bytes.count / 4)
        }

        private func matches(_ pattern: [UInt8], at position: Int) -> Bool {
            guard !pattern.isEmpty, position + pattern.count <= bytes.count else { return false }
            for (offset, byte) in pattern.enumerated() where bytes[position + offset] != byte { return false }
            return true
        }

        private mutating func append(_ byte: UInt8) {
            if byte == TableDialect.plainQuote { out.append(byte) }
            out.append(byte)
        }

        private mutating func begin() {
            guard !isInCell else { return }
            out.append(TableDialect.plainQuote)
            (isInCell, lineIsEmpty) = (true, false)
        }

        private mutating func end() {
            begin()
            out.append(TableDialect.plainQuote)
            isInCell = false
        }

        private mutating func endLine() {
            if !lineIsEmpty { end() }
            out.append(TableDialect.newline)
            (isInCell, lineIsEmpty) = (false, true)
            line += 1
        }

        mutating func rewritten() throws -> Data {
            while position < bytes.count {
                if matches(dialect.escape, at: position), position + dialect.escape.count < bytes.count {
                    begin()
                    position += dialect.escape.count
                    append(bytes[position])
                    position += 1
                } else if isInQuotes {
                    try quoted()
                } else {
                    plain()
                }
            }
            guard !isInQuotes else {
                throw MLCreateError.io(reason: "the quote in line \(quoteLine) has no end")
            }
            endLine()
            return Data(out)
        }

        /// The byte or quote at the place, inside a quoted cell.
        private mutating func quoted() throws {
            let quote = dialect.quote
            guard matches(quote, at: position) else {
                if matches(dialect.terminator, at: position) { line += 1 }
                append(bytes[position])
                position += 1
                return
            }
            position += quote.count
            guard matches(quote, at: position) else {
                isInQuotes = false
                return
            }
            guard dialect.options.doubleQuote else {
                throw MLCreateError.io(
                    reason: "line \(line) has two quotes in a quoted cell, and doubleQuote is false; write "
                        + "an escape before quotes, or set doubleQuote to true"
                )
            }
            for byte in quote { append(byte) }
            position += quote.count
        }

        /// The element at the position, outside quotes.
        private mutating func plain() {
            let (terminator, delimiter) = (dialect.terminator, dialect.delimiter)
            if matches(dialect.comment, at: position) {
                while position < bytes.count, !matches(terminator, at: position) { position += 1 }
            } else if matches(delimiter, at: position) {
                end()
                out.append(UInt8(ascii: ","))
                (isInCell, lineIsEmpty) = (false, false)
                position += delimiter.count
            } else if matches(terminator, at: position) {
                endLine()
                position += terminator.count
            } else if terminator == [TableDialect.newline], bytes[position] == UInt8(ascii: "\r"),
                matches(terminator, at: position + 1)
            {
                position += 1
            } else if !isInCell, dialect.options.skipInitialSpaces, delimiter.first != TableDialect.space,
                bytes[position] == TableDialect.space
            {
                position += 1
            } else if !isInCell, matches(dialect.quote, at: position) {
                begin()
                (isInQuotes, quoteLine) = (true, line)
                position += dialect.quote.count
            } else {
                begin()
                append(bytes[position])
                position += 1
            }
        }
    }
}
