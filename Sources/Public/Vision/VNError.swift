public import CoreML

/// The domain of this module's errors.
public let VNErrorDomain = "com.apple.Vision"

/// An error of this module.
public struct VNError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation's type.
    public let _nsError: NSError
    /// Wraps an error whose domain is `VNErrorDomain`.
    public init(_nsError error: NSError) { _nsError = error }
    /// The domain of this module's errors.
    public static var _nsErrorDomain: String { VNErrorDomain }
    /// The domain of this module's errors.
    public static var errorDomain: String { VNErrorDomain }
    /// Hashes the error's domain and code.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError) }

    /// The kind of error; codes without a condition are not thrown here.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type that the codes belong to.
        public typealias _ErrorType = VNError

        /// The request was cancelled before it was performed.
        case requestCancelled = 1
        /// The model's image input has a pixel format that is not supported.
        case invalidFormat = 2
        /// The operation failed.
        case operationFailed = 3
        /// An index or region is out of bounds.
        case outOfBoundsError = 4
        /// An option has an impossible value.
        case invalidOption = 5
        /// The image file cannot be read.
        case ioError = 6
        /// A required option is missing.
        case missingOption = 7
        /// The operation is not implemented.
        case notImplemented = 8
        /// An internal error.
        case internalError = 9
        /// There is not enough memory.
        case outOfMemory = 10
        /// An error without a more specific code.
        case unknownError = 11
        /// The operation is not possible in this state.
        case invalidOperation = 12
        /// The image is damaged, or its file format or pixel format is not supported.
        case invalidImage = 13
        /// The region of interest is empty or not inside the unit square.
        case invalidArgument = 14
        /// The model has no image input, or none of the name `inputImageFeatureName`.
        case invalidModel = 15
        /// The request's revision is not supported.
        case unsupportedRevision = 16
        /// The request is not a `VNCoreMLRequest`.
        case unsupportedRequest = 19
    }

    init(_ code: Code, _ message: String) { self.init(code, userInfo: [NSLocalizedDescriptionKey: message]) }
}
