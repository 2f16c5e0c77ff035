/// Names of a model as identifiers of Swift.
///
/// A character that no identifier can have becomes `_`, `_` goes before a leading digit, and `_` goes behind a name that
/// means something else already.
package enum SwiftIdentifier {
    /// A name for the class that stands for a model called `name`.
    package static func className(_ name: String) -> String { spelled(name, avoiding: reservedTypes) }

    package static func spelled(_ name: String, avoiding others: Set<String>) -> String {
        var text = String(String.UnicodeScalarView(name.unicodeScalars.map { isPart($0) ? $0 : "_" }))
        if let first = text.unicodeScalars.first, first != "_", !isStart(first) { text = "_" + text }
        if text.isEmpty { text = "_" }
        while text == "_" || others.contains(text) { text += "_" }
        return text
    }

    /// Letters of all scripts, digits, marks and emoji; characters that change the direction of text, and invisible ones, are
    /// not included.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isXIDContinue || isEmoji(scalar)
    }

    private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isXIDStart || isEmoji(scalar)
    }

    /// The emoji that Swift allows in identifiers; others of them are operators.
    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation && scalar.value >= 0x1F000
    }

    /// Identifiers for the features of one interface, in their order, each different from the others and from
    /// `reserved` and `taken`.
    ///
    /// Names that need no change keep their spelling; of names that would become the same, later ones get further `_`.
    package static func unique(_ names: [String], taken: Set<String> = []) -> [String] {
        var used = reserved.union(taken)
        var result = names.map { spelled($0, avoiding: used) == $0 ? $0 : nil as String? }
        used.formUnion(names)
        for (index, name) in names.enumerated() where result[index] == nil {
            let identifier = spelled(name, avoiding: used)
            used.insert(identifier)
            result[index] = identifier
        }
        return result.map { $0 ?? "_" }
    }

    /// The first of `name`, `name_`, `name__`, … that is not in `used`, which it joins.
    package static func unused(_ name: String, in used: inout Set<String>) -> String {
        var result = name
        while used.contains(result) { result += "_" }
        used.insert(result)
        return result
    }

    /// With a capital letter in front, as names of types and the rest of `setImage` have.
    package static func capitalized(_ identifier: String) -> String {
        guard let first = identifier.first else { return identifier }
        return first.uppercased() + identifier.dropFirst()
    }

    /// Keywords, which cannot be names, and two words that have a meaning in every type.
    private static let keywords: Set<String> = [
        "Any", "Class", "Protocol", "Self", "Type", "as", "associatedtype", "await", "break", "case", "catch", "class",
        "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self",
        "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
        "where",
        "while",
    ]

    /// Types, functions and constants that generated source calls: a feature of that name would stand before them.
    private static let called: Set<String> = [
        "MLArrayBatchProvider", "MLDictionaryFeatureProvider", "MLFeatureValue", "MLModel", "MLModelConfiguration",
        "MLMultiArray", "MLPredictionOptions", "MLSequence", "MLShapedArray", "NSNumber", "kCVPixelFormatType_32ARGB",
        "kCVPixelFormatType_OneComponent16Half", "kCVPixelFormatType_OneComponent8",
    ]

    /// Modules and types that generated source names: a class of that name would stand before them.
    private static let named: Set<String> = [
        "AnyHashable", "Bundle", "CGImage", "CVPixelBuffer", "CaseIterable", "CoreML", "Double", "Error", "Float",
        "Float16", "Foundation", "Int32", "Int64", "Int8", "MLFeatureProvider", "MLState", "Result", "Sendable", "Set",
        "String", "Swift", "URL", "Void",
    ]

    /// Names that no feature can have.
    package static let reserved = keywords.union(called)
    /// Names that no class can have.
    package static let reservedTypes = reserved.union(named)
}
