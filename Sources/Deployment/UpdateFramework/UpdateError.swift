/// The reason why metadata, a target, a key or a store was refused.
///
/// The code is stable: programs may depend on it. The texts are for people.
public struct UpdateError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, which does not change between versions.
    public enum Code: String, Sendable, CaseIterable {
        /// A version is lower than one that was trusted before, or a role that the snapshot listed is gone.
        case rollback
        /// A version is not the one that the file's name, the timestamp or the snapshot promises.
        case wrongVersion
        /// The metadata had expired at the update's start time.
        case expired
        /// Too few of the role's keys signed.
        case threshold
        /// A hash differs from the one in signed metadata.
        case wrongHash
        /// A length differs from the one in signed metadata.
        case wrongLength
        /// More bytes than the limit were offered.
        case tooLarge
        /// The repository does not have a file that its metadata promises, or nothing is stored.
        case missing
        /// A role is delegated to, but the snapshot does not list it.
        case notListed
        /// The bytes are not metadata of the specification's form.
        case malformed
        /// The metadata is well formed, but of another role's type.
        case wrongType
        /// This client does not know the key's type or scheme.
        case unsupportedKey
        /// This client does not know the hash algorithm.
        case unsupportedHash
        /// The start time cannot be right, so nothing can be said about expiry.
        case clock
        /// The fetcher failed; nothing is known about the repository.
        case network
        /// The store of trusted metadata failed.
        case storage
        /// There is no root to start from.
        case noRoot
        /// A private key cannot sign, or its file is not safe.
        case invalidKey
        /// The publisher requested a change that no repository can have.
        case invalidEdit
    }

    /// The kind of error.
    public let code: Code
    /// The role, or the path of the target or file, that is the cause.
    public let role: String
    /// The problem that was found.
    public let message: String
    /// The remedy.
    public let remedy: String
    /// The error of the fetcher or the store that led here.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ role: String, _ message: String, remedy: String, cause: (any Error)? = nil) {
        self.code = code
        self.role = role
        self.message = message
        self.remedy = remedy
        self.cause = cause
    }

    /// Role, message, cause and remedy.
    public var description: String {
        let reason = cause.map { " (\($0))" } ?? ""
        return "\(role): \(message)\(reason).  \(remedy)."
    }
}

extension UpdateError {
    static func malformed(_ role: String, _ message: String) -> UpdateError {
        UpdateError(.malformed, role, message, remedy: "Publish the file again; it is not TUF metadata")
    }
}
