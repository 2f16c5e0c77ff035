public import Foundation

/// The domain of this module's errors.
public let SNErrorDomain = "com.apple.SoundAnalysis"

/// An error of this module.
public struct SNError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation's type.
    public let _nsError: NSError
    /// Wraps an error whose domain is `SNErrorDomain`.
    public init(_nsError error: NSError) { _nsError = error }
    /// The domain of this module's errors.
    public static var _nsErrorDomain: String { SNErrorDomain }
    /// The domain of this module's errors.
    public static var errorDomain: String { SNErrorDomain }
    /// Hashes the error's domain and code.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError) }

    /// The kind of error.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type that the codes belong to.
        public typealias _ErrorType = SNError

        /// An error without a more specific code; not thrown here.
        case unknownError = 1
        /// A prediction failed, or the operation does not exist here.
        case operationFailed = 2
        /// The sound has a form that cannot be analysed.
        case invalidFormat = 3
        /// The model is no classifier of sounds.
        case invalidModel = 4
        /// The file cannot be read as sound.
        case invalidFile = 5
    }

    init(_ code: Code, _ message: String) { self.init(code, userInfo: [NSLocalizedDescriptionKey: message]) }
}
