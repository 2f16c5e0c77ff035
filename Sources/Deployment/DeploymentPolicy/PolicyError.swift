/// What is wrong with a document, and where.
public struct PolicyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error, stable for programs; new kinds are added, none changes its meaning.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The bytes are not one JSON value in UTF-8.
        case malformed
        /// The document is longer than it may be.
        case tooLarge
        /// A member that must be there is missing.
        case missingMember
        /// A member stands where this version knows none.
        case unknownMember
        /// A value has another type than its member.
        case wrongType
        /// A number lies outside its range, or a word is none of those that are allowed.
        case outOfRange
        /// A list has more elements, or a document more conditions, than it may.
        case tooMany
        /// Conditions are nested deeper than they may be.
        case tooDeep
        /// A text is empty, too long, or has characters that do not belong there.
        case badText
        /// A text is no date such as `2026-11-23T14:00:00Z`.
        case badDate
        /// A text is no version such as `17.4.1` or `2.0-beta3`.
        case badVersion
        /// A text is no hash in lower-case hexadecimal digits.
        case badHash
        /// The document is of another type, or of a later major version.
        case unsupported
        /// An attribute that this version does not know.
        case unknownAttribute
        /// An operator that this version does not know.
        case unknownOperator
        /// An operator that does not fit the attribute.
        case unfitOperator
        /// A comparison has too few or too many values, or their order is wrong.
        case badValues
        /// Two things have one name, or one thing stands twice.
        case duplicate
        /// A split names a release that the policy does not list.
        case unknownRelease
        /// A condition names a segment that the policy does not have.
        case unknownSegment
        /// Bounds of a split are not in order, or do not end at 100,000.
        case badSplit
        /// The policy needs a later evaluator and cannot be written by this one.
        case newerEvaluator
        /// Two documents that must agree do not.
        case mismatch
    }

    public var code: Code
    /// The member, from the document's root: `rules[2].when.all[0].values`; empty for the document as a whole.
    public var path: String
    /// What is wrong and what to do about it.
    public var message: String

    public init(_ code: Code, at path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    public var description: String { path.isEmpty ? message : "\(path): \(message)" }

    /// The same error of a document that lies inside another one.
    func inside(_ outer: String) -> PolicyError {
        let joined = path.isEmpty ? outer : path.hasPrefix("[") ? outer + path : "\(outer).\(path)"
        return PolicyError(code, at: joined, message)
    }
}

/// Runs `body`; the path of an error that leaves it begins with `path`.
func within<R>(_ path: @autoclosure () -> String, _ body: () throws(PolicyError) -> R) throws(PolicyError) -> R {
    do { return try body() } catch { throw error.inside(path()) }
}
