import MLEncryption
import MLFiles

/// A value of a document, with the path that leads to it.
struct DocumentValue {
    let json: JSONValue
    let path: String

    /// Reads one JSON value of at most ``Limits/documentBytes``.
    init(document bytes: some Collection<UInt8>) throws(PolicyError) {
        guard bytes.count <= Limits.documentBytes else {
            let message = "The document has \(bytes.count) bytes; it may have \(Limits.documentBytes)."
            throw PolicyError(.tooLarge, at: "", message)
        }
        guard bytes.first != 0xEF else {
            throw PolicyError(.malformed, at: "", "The document begins with a byte order mark; remove it.")
        }
        do { json = try JSONReader.read(Array(bytes)) } catch {
            throw PolicyError(.malformed, at: "", "\(error)")
        }
        path = ""
    }

    init(_ json: JSONValue) { self.init(json, "") }

    private init(_ json: JSONValue, _ path: String) {
        self.json = json
        self.path = path
    }

    func error(_ code: PolicyError.Code, _ message: String) -> PolicyError { PolicyError(code, at: path, message) }

    // MARK: Objects

    /// The path of a member of this object.
    private func path(of member: String) -> String { path.isEmpty ? member : "\(path).\(member)" }

    /// The members' names and values.
    func members() throws(PolicyError) -> [(name: String, value: DocumentValue)] {
        guard case .object(let members) = json else { throw wrongType("an object") }
        return members.map { ($0.name, DocumentValue($0.value, path(of: $0.name))) }
    }

    /// Throws `unknownMember` for a member whose name is not among `names`.
    func expectMembers(_ names: Set<String>) throws(PolicyError) {
        guard case .object(let members) = json else { throw wrongType("an object") }
        guard let unknown = members.first(where: { !names.contains($0.name) }) else { return }
        let message = "The member is not known. Remove it, or use a newer version of swift-coreml."
        throw PolicyError(.unknownMember, at: path(of: unknown.name), message)
    }

    func optional(_ name: String) throws(PolicyError) -> DocumentValue? {
        guard case .object = json else { throw wrongType("an object") }
        return json[name].map { DocumentValue($0, path(of: name)) }
    }

    func member(_ name: String) throws(PolicyError) -> DocumentValue {
        if let value = try optional(name) { return value }
        throw PolicyError(.missingMember, at: path(of: name), "The member is missing.")
    }

    // MARK: Values

    func list(atMost limit: Int) throws(PolicyError) -> [DocumentValue] {
        guard case .array(let values) = json else { throw wrongType("a list") }
        guard values.count <= limit else {
            throw error(.tooMany, "The list has \(values.count) elements; it may have \(limit).")
        }
        return values.enumerated().map { DocumentValue($1, "\(path)[\($0)]") }
    }

    func text() throws(PolicyError) -> String {
        guard case .string(let text) = json else { throw wrongType("a text") }
        return text
    }

    /// The value as a whole number; it must be written without a point and an exponent.
    func integer() throws(PolicyError) -> Int {
        guard case .integer(let value) = json else { throw wrongType("a whole number") }
        return Int(value)
    }

    func bool() throws(PolicyError) -> Bool {
        guard case .bool(let value) = json else { throw wrongType("true or false") }
        return value
    }

    func date() throws(PolicyError) -> PolicyDate {
        let text = try text()
        if let date = PolicyDate(text) { return date }
        throw error(.badDate, "\"\(text)\" is not a date such as 2026-11-23T14:00:00Z.")
    }

    func version() throws(PolicyError) -> VersionNumber {
        let text = try text()
        if let version = VersionNumber(text) { return version }
        throw error(.badVersion, "\"\(text)\" is not a version such as 17.4.1 or 2.0-beta3.")
    }

    /// The value as one of the raw values of an enumeration; `outOfRange` for any other text.
    func enumeration<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) throws(PolicyError) -> Word {
        let text = try text()
        if let word = Word(rawValue: text) { return word }
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw error(.outOfRange, "\"\(text)\" is not one of \(known).")
    }

    /// The value as a number, which documents write as a whole number or, with a fraction, as text.
    func decimal() throws(PolicyError) -> Double {
        switch json {
        case .integer(let value) where value.magnitude <= UInt64(Limits.integer): return Double(value)
        case .integer: throw error(.outOfRange, "The number lies outside -(2^53-1) to 2^53-1.")
        case .string(let text):
            if let value = Decimals.value(text) { return value }
            throw error(.badText, "\"\(text)\" is not a number such as 0.25.")
        default: throw wrongType("a whole number, or a number in quotes")
        }
    }

    func wrongType(_ expected: String) -> PolicyError {
        let found =
            switch json {
            case .null: "null"
            case .bool: "a truth value"
            case .integer: "a whole number"
            case .number: "a number with a fraction, or too large"
            case .string: "a text"
            case .array: "a list"
            case .object: "an object"
            }
        return error(.wrongType, "\(expected) is needed here, not \(found).")
    }

    /// The value as canonical JSON; numbers with fractions as text.
    var canonicalText: String { String(decoding: CanonicalWriter.bytes(json.withoutFractions), as: UTF8.self) }
}

extension JSONValue {
    /// The same value with fractional numbers replaced by texts, since canonical JSON has no fractions.
    fileprivate var withoutFractions: JSONValue {
        switch self {
        case .number(let value): .string("\(value)")
        case .array(let values): .array(values.map(\.withoutFractions))
        case .object(let members): .object(members.map { Member($0.name, $0.value.withoutFractions) })
        default: self
        }
    }
}
