/// The tokens of a Swift source except comments and white space, as far as text of a model could change it.
enum SwiftToken: Hashable {
    /// An identifier, a word of the language or a number.
    case word(String)
    /// A string literal by its value.
    case text(String)
    case sign(Unicode.Scalar)

    /// The token without what names and texts of a model may be.
    var form: SwiftToken {
        switch self {
        case .word: .word("")
        case .text: .text("")
        case .sign: self
        }
    }
}

enum SwiftLexer {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static func tokens(_ source: String) throws -> [SwiftToken] {
        var result: [SwiftToken] = []
        var rest = source.unicodeScalars[...]
        func isWord(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value >= 0x80 || scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        }
        while let first = rest.first {
            if rest.starts(with: "//".unicodeScalars) {
                rest = rest.drop { $0 != "\n" && $0 != "\r" }
            } else if rest.starts(with: "/*".unicodeScalars) {
                throw Failure(description: "a comment between marks")
            } else if first == "\"" {
                if rest.starts(with: "\"\"\"".unicodeScalars) { throw Failure(description: "a text of several lines") }
                rest.removeFirst()
                result.append(.text(try literal(&rest)))
            } else if isWord(first) {
                result.append(.word(String(String.UnicodeScalarView(rest.prefix(while: isWord)))))
                rest = rest.drop(while: isWord)
            } else if first == " " || first == "\n" {
                rest.removeFirst()
            } else {
                guard (0x21..<0x7F).contains(first.value) else {
                    throw Failure(description: "the character U+\(String(first.value, radix: 16))")
                }
                result.append(.sign(first))
                rest.removeFirst()
            }
        }
        return result
    }

    /// The value of a literal, behind its first quotation mark.
    private static func literal(_ rest: inout Substring.UnicodeScalarView) throws -> String {
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(value)
            case "\n", "\r": throw Failure(description: "a text that does not end")
            case "\\":
                switch rest.popFirst() {
                case "n"?: value.append("\n")
                case "r"?: value.append("\r")
                case "t"?: value.append("\t")
                case "\\"?: value.append("\\")
                case "\""?: value.append("\"")
                case "u"?:
                    guard rest.popFirst() == "{" else { throw Failure(description: "an escape without a number") }
                    let digits = String(String.UnicodeScalarView(rest.prefix { $0 != "}" }))
                    rest = rest.drop { $0 != "}" }.dropFirst()
                    guard let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number) else {
                        throw Failure(description: "the escape \(digits)")
                    }
                    value.append(scalar)
                case let other: throw Failure(description: "the escape \(String(describing: other)), an interpolation?")
                }
            default: value.append(scalar)
            }
        }
        throw Failure(description: "a text that does not end")
    }
}
