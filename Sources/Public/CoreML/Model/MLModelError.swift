import MLFiles
package import MLNumerics

public let MLModelErrorDomain = "com.apple.CoreML"

/// What can go wrong in this module.
public struct MLModelError: _BridgedStoredNSError, Sendable {
    public let _nsError: NSError

    public init(_nsError error: NSError) { _nsError = error }

    public static var _nsErrorDomain: String { MLModelErrorDomain }
    public static var errorDomain: String { MLModelErrorDomain }

    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError) }

    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = MLModelError

        case generic = 0
        case featureType = 1
        case io = 3
        case customLayer = 4
        case customModel = 5
        case update = 6
        case parameters = 7
        case modelDecryptionKeyFetch = 8
        case modelDecryption = 9
        case modelCollection = 10
        case predictionCancelled = 11
    }

    public static var generic: Code { .generic }
    public static var featureType: Code { .featureType }
    public static var io: Code { .io }
    public static var customLayer: Code { .customLayer }
    public static var customModel: Code { .customModel }
    public static var update: Code { .update }
    public static var parameters: Code { .parameters }
    public static var modelDecryptionKeyFetch: Code { .modelDecryptionKeyFetch }
    /// The name used for `modelDecryptionKeyFetch` when it was introduced.
    public static var modelKeyFetch: Code { .modelDecryptionKeyFetch }
    public static var modelDecryption: Code { .modelDecryption }
    public static var modelCollection: Code { .modelCollection }
    public static var predictionCancelled: Code { .predictionCancelled }
}

extension MLModelError {
    package init(_ code: Code, _ message: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: message])
    }

    /// The public form of an engine's error.
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

    /// The error of something that Core ML has and this module does not have yet.
    static func notBuilt(_ name: String, _ remedy: String) -> MLModelError {
        MLModelError(.generic, "\(name) is not built yet. \(remedy)")
    }
}

/// Runs `body`; an engine's error leaves it as `MLModelError`.
func translatingErrors<R>(_ body: () throws(ModelError) -> R) throws -> R {
    do { return try body() } catch { throw MLModelError(error) }
}

/// Gets the key of the model at `url`, if it is encrypted, to where opening it finds the key.
func fetchKey(for url: URL) async throws {
    do { try await ModelVaults.fetchKey(for: url.path) } catch { throw MLModelError(error) }
}
