import MLNumerics

/// Splits MIL text into words, names and punctuation.
struct MILLexer {
    enum Token: Equatable {
        case name(String)
        case text(String)
        case number(String)
        /// One of `( ) [ ] { } < > , ; = ?`.
        case punctuation(Character)
        case arrow
        case ellipsis
        case end

        var description: String {
            switch self {
            case .name(let name): name
            case .text(let text): MILPrinter.quoted(text)
            case .number(let number): number
            case .punctuation(let character): String(character)
            case .arrow: "->"
            case .ellipsis: "..."
            case .end: "the end of the text"
            }
        }
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The offset of the last token.
    private(set) var start = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Line and column, from 1, of a position.
    func location(_ position: Int) -> String {
        let before = bytes[..<position]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = position - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1
        return "line \(line), column \(column)"
    }

    mutating func next() throws(ModelError) -> Token {
        skipSpace()
        start = position
        guard let byte = peek() else { return .end }
        switch byte {
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">"):
            position += 2
            return .arrow
        case UInt8(ascii: ".") where peek(1) == byte && peek(2) == byte:
            position += 3
            return .ellipsis
        case UInt8(ascii: "-"), UInt8(ascii: "+"): return number()
        case _ where MILPrinter.isDigit(byte): return number()
        case _ where MILPrinter.isPart(byte):
            while let part = peek(), MILPrinter.isPart(part) { position += 1 }
            return .name(String(decoding: bytes[start..<position], as: UTF8.self))
        default:
            let character = Character(Unicode.Scalar(byte))
            guard "()[]{}<>,;=?".contains(character) else {
                throw error("the character \(character) has no meaning here")
            }
            position += 1
            return .punctuation(character)
        }
    }

    private mutating func number() -> Token {
        position += 1
        while let byte = peek() {
            let isExponentSign =
                (byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
                && [UInt8(ascii: "e"), UInt8(ascii: "p")].contains(bytes[position - 1] | 0x20)
            guard MILPrinter.isPart(byte) || byte == UInt8(ascii: ".") || isExponentSign else { break }
            position += 1
        }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func text() throws(ModelError) -> String {
        position += 1
        var result: [UInt8] = []
        while let byte = peek() {
            position += 1
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: result, as: UTF8.self) else { throw error("the text is not UTF-8") }
                return text
            }
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            switch peek() {
            case UInt8(ascii: "n"): result.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r"): result.append(UInt8(ascii: "\r"))
            case UInt8(ascii: "t"): result.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "0"): result.append(0)
            case let escaped?: result.append(escaped)
            case nil: break
            }
            position += 1
        }
        throw error("quotes are opened but not closed")
    }

    private mutating func skipSpace() {
        while let byte = peek() {
            if byte == UInt8(ascii: "/"), peek(1) == byte {
                while let remaining = peek(), remaining != UInt8(ascii: "\n") { position += 1 }
            } else if [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
                position += 1
            } else {
                return
            }
        }
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private func error(_ detail: String) -> ModelError {
        ModelError(.malformed, "The MIL text is broken: \(detail).", at: location(start))
    }
}
