import MLFiles
package import MLNumerics

/// The domain of this module's errors.
public let MLModelErrorDomain = "com.apple.CoreML"

/// An error of loading, using, updating or fetching a model; its description says what is wrong.
public struct MLModelError: _BridgedStoredNSError, Sendable {
    /// The error as an `NSError`.
    public let _nsError: NSError

    /// Makes an error from an `NSError` of this module's domain.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain of these errors.
    public static var _nsErrorDomain: String { MLModelErrorDomain }
    /// The domain of these errors: `MLModelErrorDomain`.
    public static var errorDomain: String { MLModelErrorDomain }

    /// Hashes the underlying `NSError`.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError) }

    /// The kinds of errors.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type that the codes belong to.
        public typealias _ErrorType = MLModelError

        /// A failure for which there is no other code.
        case generic = 0
        /// A value does not fit the feature that it is for.
        case featureType = 1
        /// A file cannot be read or written.
        case io = 3
        /// The app's class of a custom layer is missing or failed.
        case customLayer = 4
        /// The app's class of a custom model is missing or failed.
        case customModel = 5
        /// An update of a model cannot be carried out or was cancelled.
        case update = 6
        /// A parameter is unknown, or its value is not allowed.
        case parameters = 7
        /// The key of an encrypted model cannot be fetched.
        case modelDecryptionKeyFetch = 8
        /// An encrypted model cannot be decrypted.
        case modelDecryption = 9
        /// A model collection cannot be accessed.
        case modelCollection = 10
        /// The task of a prediction was cancelled.
        case predictionCancelled = 11
    }

    /// The code of failures for which there is no other.
    public static var generic: Code { .generic }
    /// The code of values that do not fit the feature that they are for.
    public static var featureType: Code { .featureType }
    /// The code of files that cannot be read or written.
    public static var io: Code { .io }
    /// The code of custom layers whose class is missing or failed.
    public static var customLayer: Code { .customLayer }
    /// The code of custom models whose class is missing or failed.
    public static var customModel: Code { .customModel }
    /// The code of updates that cannot be carried out or were cancelled.
    public static var update: Code { .update }
    /// The code of unknown parameters and values that are not allowed.
    public static var parameters: Code { .parameters }
    /// The code of keys of encrypted models that cannot be fetched.
    public static var modelDecryptionKeyFetch: Code { .modelDecryptionKeyFetch }
    /// Another name of `modelDecryptionKeyFetch`.
    public static var modelKeyFetch: Code { .modelDecryptionKeyFetch }
    /// The code of encrypted models that cannot be decrypted.
    public static var modelDecryption: Code { .modelDecryption }
    /// The code of model collections that cannot be accessed.
    public static var modelCollection: Code { .modelCollection }
    /// The code of predictions whose task was cancelled.
    public static var predictionCancelled: Code { .predictionCancelled }
}

extension MLModelError {
    package init(_ code: Code, _ message: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: message])
    }

    /// Makes the public form of an engine's error.
    package init(_ error: ModelError) {
        let code: Code =
            switch error.code {
            case .io: .io
            case .invalidInput: .featureType
            case .cancelled: .predictionCancelled
            case .customLayer: .customLayer
            case .customModel: .customModel
            case .parameter: .parameters
            case .update: .update
            case .keyFetch: .modelDecryptionKeyFetch
            case .decryption: .modelDecryption
            default: .generic
            }
        self.init(code, error.description)
    }

    /// The error for a part of Core ML that this module does not have yet.
    static func notBuilt(_ name: String, _ remedy: String) -> MLModelError {
        MLModelError(.generic, "\(name) is not built yet. \(remedy)")
    }
}

/// Runs `body` and rethrows an engine's error as `MLModelError`.
func translatingErrors<R>(_ body: () throws(ModelError) -> R) throws -> R {
    do { return try body() } catch { throw MLModelError(error) }
}

/// Fetches the key of the model at `url`, if it is encrypted, to the place where opening the model finds it.
func fetchKey(for url: URL) async throws {
    do { try await ModelVaults.fetchKey(for: url.path) } catch { throw MLModelError(error) }
}
