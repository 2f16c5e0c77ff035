/// An error in a document, with the member that it concerns.
public struct PolicyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, stable for programs; new kinds are added, but none changes its meaning.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The bytes are not one JSON value in UTF-8.
        case malformed
        /// The document is longer than it may be.
        case tooLarge
        /// A required member is missing.
        case missingMember
        /// A member is present that this version does not know.
        case unknownMember
        /// A value has another type than its member.
        case wrongType
        /// A number lies outside its range, or a word is none of the allowed ones.
        case outOfRange
        /// A list has more elements, or a document more conditions, than it may.
        case tooMany
        /// Conditions are nested deeper than they may be.
        case tooDeep
        /// A text is empty, too long, or has characters that are not allowed.
        case badText
        /// A text is not a date such as `2026-11-23T14:00:00Z`.
        case badDate
        /// A text is not a version such as `17.4.1` or `2.0-beta3`.
        case badVersion
        /// A text is not a hash in lower-case hexadecimal digits.
        case badHash
        /// The document is of another type, or of a later major version.
        case unsupported
        /// This version does not know the attribute.
        case unknownAttribute
        /// This version does not know the operator.
        case unknownOperator
        /// The operator does not apply to the attribute.
        case unfitOperator
        /// A comparison has too few or too many values, or they are in the wrong order.
        case badValues
        /// Two things have one name, or one thing is listed twice.
        case duplicate
        /// A split names a release that the policy does not list.
        case unknownRelease
        /// A condition names a segment that the policy does not have.
        case unknownSegment
        /// Bounds of splits are not in order, or do not end at 100,000.
        case badSplit
        /// The policy needs a later evaluator and cannot be written by this one.
        case newerEvaluator
        /// Two documents that must agree do not.
        case mismatch
    }

    /// The kind of the error.
    public var code: Code
    /// The member's path from the document's root: `rules[2].when.all[0].values`; empty for the whole document.
    public var path: String
    /// The problem and its remedy, as text.
    public var message: String

    /// Creates an error.
    public init(_ code: Code, at path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// The path, where there is one, and the message.
    public var description: String { path.isEmpty ? message : "\(path): \(message)" }

    /// The same error for a document that is part of another one.
    func prefixed(_ outer: String) -> PolicyError {
        let joined = path.isEmpty ? outer : path.hasPrefix("[") ? outer + path : "\(outer).\(path)"
        return PolicyError(code, at: joined, message)
    }
}

/// Runs `body`; the path of an error that it throws is prefixed with `path`.
func withErrorPath<R>(_ path: @autoclosure () -> String, _ body: () throws(PolicyError) -> R) throws(PolicyError) -> R {
    do { return try body() } catch { throw error.prefixed(path()) }
}
