public import CoreML

public let VNErrorDomain = "com.apple.Vision"

/// What can go wrong in this module.
public struct VNError: _BridgedStoredNSError, Sendable {
    public let _nsError: NSError
    public init(_nsError error: NSError) { _nsError = error }
    public static var _nsErrorDomain: String { VNErrorDomain }
    public static var errorDomain: String { VNErrorDomain }
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError) }

    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = VNError

        case requestCancelled = 1
        case invalidFormat = 2
        case operationFailed = 3
        case outOfBoundsError = 4
        case invalidOption = 5
        case ioError = 6
        case missingOption = 7
        case notImplemented = 8
        case internalError = 9
        case outOfMemory = 10
        case unknownError = 11
        case invalidOperation = 12
        case invalidImage = 13
        case invalidArgument = 14
        case invalidModel = 15
        case unsupportedRevision = 16
        case unsupportedRequest = 19
    }

    init(_ code: Code, _ message: String) { self.init(code, userInfo: [NSLocalizedDescriptionKey: message]) }
}
