public import CoreML
import MLEncryption
import MLFiles
import MLNumerics

/// A service that provides the keys of encrypted models; the client of a key service implements it.
///
/// `MLModel.load` asks the registered service for the key of a model when the machine does not have it.
public protocol ModelKeyService: Sendable {
    /// Provides the key that decrypts a model.
    ///
    /// - Parameter model: The model and its wrapped key.
    /// - Returns: The unwrapped key, with the time for which it may be used.
    /// - Throws: `ModelKeyError`, which tells whether trying again can help; other errors count as temporary.
    func lease(for model: EncryptedModelInfo) async throws -> ModelKeyLease
}

/// The information that an encrypted model carries in the clear, about the recipients that can open it.
public struct EncryptedModelInfo: Sendable {
    /// The identifier of the key that the model was encrypted for: 32 hexadecimal digits.
    public let keyID: String
    /// The team that owns the key.
    public let team: String
    /// The address of the team's key service; `nil` when it has none.
    public let server: URL?
    /// The identifier of the encrypted content: 32 hexadecimal digits.
    ///
    /// Every encryption has its own, even of the same model.
    public let contentID: String
    /// The name of the cipher suite that wraps the content key.
    public let suite: String
    /// The content key, wrapped for the holder of the private key.
    public let wrappedKey: Data
    /// The location of the model.
    public let url: URL
}

/// A content key that a service has provided, for a time.
public struct ModelKeyLease: Sendable {
    /// The content key: 32 bytes.
    public var contentKey: Data
    /// The time for which models may be opened with the key; `nil` for an unlimited time.
    ///
    /// A model that is open stays open.
    public var duration: Duration?
    /// Whether the key is kept in the kernel's keyring for the user's other programs, for the same time.
    public var isShared: Bool

    /// Makes a lease.
    ///
    /// - Parameters:
    ///   - contentKey: The content key: 32 bytes.
    ///   - duration: The time for which models may be opened with it; by default unlimited.
    ///   - isShared: Whether it is kept for the user's other programs; by default it is not.
    public init(contentKey: Data, duration: Duration? = nil, isShared: Bool = false) {
        self.contentKey = contentKey
        self.duration = duration
        self.isShared = isShared
    }
}

/// The reason why a key service provides no key.
public enum ModelKeyError: Error, Sendable {
    /// The service cannot be reached or is overloaded; trying again later can help.
    case unreachable(String)
    /// The service refuses permanently: the key was revoked, or this machine may not have it.
    case refused(String)
}

/// The keys of encrypted models on this machine.
public enum ModelKeys {
    /// Sets the service that provides keys.
    ///
    /// - Parameter service: The service; `nil` for none, or for the deployment server's where the app has one.
    public static func register(_ service: (any ModelKeyService)?) {
        guard let service else { return Vault.shared.setService(nil) }
        Vault.shared.setService { (request) async throws(ModelError) in
            try await lease(service, EncryptedModelInfo(request))
        }
    }

    /// Sets the service that is asked when the app has registered none.
    package static func registerUsual(_ service: any ModelKeyService) {
        Vault.shared.setUsualService { (request) async throws(ModelError) in
            try await lease(service, EncryptedModelInfo(request))
        }
    }

    /// Fetches the key of a model from the registered service, so that loading the model needs no network.
    ///
    /// A key that was fetched before is renewed. A model that is not encrypted needs no key.
    ///
    /// - Parameter url: The model.
    /// - Throws: `MLModelError.modelDecryptionKeyFetch` when the key cannot be fetched; `io` when the model cannot be
    ///   read.
    public static func prefetch(for url: URL) async throws {
        do { try await Vault.shared.renewKey(for: url.path) } catch { throw MLModelError(error) }
    }

    /// The information that a model carries about its encryption.
    ///
    /// - Parameter url: The model.
    /// - Returns: The information; `nil` when the model is not encrypted.
    /// - Throws: `MLModelError` when the model cannot be read.
    public static func info(for url: URL) throws -> EncryptedModelInfo? {
        do throws(ModelError) {
            return try Vault.shared.record(of: url.path).map {
                EncryptedModelInfo(KeyRequest(record: $0, path: url.path))
            }
        } catch { throw MLModelError(error) }
    }

    /// Deletes the keys that services have provided for a model from this machine.
    ///
    /// - Parameter url: The model.
    /// - Throws: `MLModelError` when the model cannot be read.
    public static func forget(for url: URL) throws {
        do throws(ModelError) {
            if let record = try Vault.shared.record(of: url.path) { Vault.shared.forgetLease(record) }
        } catch { throw MLModelError(error) }
    }

    /// Permits core dumps and debugging of this process although it has decrypted models.
    ///
    /// When the first encrypted model is opened, a process loses that ability (`PR_SET_DUMPABLE`), so that neither a
    /// crash nor another process of the same user reveals the model. Call this before, where crash reports matter more.
    public static func permitCoreDumps() { Vault.shared.permitDumps() }

    private static func lease(
        _ service: any ModelKeyService,
        _ model: EncryptedModelInfo
    ) async throws(ModelError) -> KeyLease {
        let lease: ModelKeyLease
        do { lease = try await service.lease(for: model) } catch {
            throw ModelError(.keyFetch, message(of: error, model))
        }
        guard lease.contentKey.count == SecretBytes.keyByteCount else {
            throw ModelError(.keyFetch, "The key service gave \(lease.contentKey.count) bytes instead of a key of 32.")
        }
        let seconds = lease.duration.map { Int(clamping: $0.components.seconds) }
        if let seconds, seconds <= 0 {
            throw ModelError(.keyFetch, "The lease of the key \(model.keyID) has ended already; check the clocks.")
        }
        return KeyLease(contentKey: SecretBytes(lease.contentKey), seconds: seconds, isShared: lease.isShared)
    }

    private static func message(of error: any Error, _ model: EncryptedModelInfo) -> String {
        switch error {
        case ModelKeyError.unreachable(let reason):
            "The key \(model.keyID) of \"\(model.team)\" cannot be fetched now: \(reason).  Try again later."
        case ModelKeyError.refused(let reason):
            "The key service of \"\(model.team)\" refuses this machine the key \(model.keyID): \(reason)."
        default: "The key \(model.keyID) of \"\(model.team)\" could not be fetched: \(error).  Try again later."
        }
    }
}

extension EncryptedModelInfo {
    init(_ request: KeyRequest) {
        let record = request.record
        self.init(
            keyID: record.keyID.description,
            team: record.team,
            server: record.server.flatMap { URL(string: $0) },
            contentID: Hexadecimal.text(record.contentID),
            suite: record.suite.rawValue,
            wrappedKey: Data(record.wrapped),
            url: URL(fileURLWithPath: request.path)
        )
    }
}
