public import CoreML
import MLEncryption
import MLFiles
import MLNumerics

/// Gives out the keys of encrypted models: what the client of a key service implements.
///
/// `MLModel.load` asks the registered service for the key of a model when none lies on the machine.
public protocol ModelKeyService: Sendable {
    /// The key that decrypts the model.
    ///
    /// - Throws: `ModelKeyError`, which says whether trying again can help; other errors pass as such that it may.
    func lease(for model: EncryptedModelInfo) async throws -> ModelKeyLease
}

/// What an encrypted model says of itself to whoever may open it.
public struct EncryptedModelInfo: Sendable {
    /// The name of the key that the model was encrypted for: 32 hexadecimal digits.
    public let keyID: String
    /// Whose key it is.
    public let team: String
    /// Where the team's key service is, if it has one.
    public let server: URL?
    /// The name of what was encrypted: 32 hexadecimal digits.  Every encryption has another.
    public let contentID: String
    /// How the content key is wrapped.
    public let suite: String
    /// The content key, wrapped for the holder of the private half of the key.
    public let wrappedKey: Data
    /// Where the model lies.
    public let url: URL
}

/// A key that a service has given out.
public struct ModelKeyLease: Sendable {
    /// The 32 bytes of the content key.
    public var contentKey: Data
    /// For how long models may be opened with it; `nil` for ever.  A model that is open stays open.
    public var duration: Duration?
    /// Whether it is kept for the user's other programs, in the kernel's keyring, for the same time.
    public var isShared: Bool

    public init(contentKey: Data, duration: Duration? = nil, isShared: Bool = false) {
        self.contentKey = contentKey
        self.duration = duration
        self.isShared = isShared
    }
}

/// Why a key service gives out no key.
public enum ModelKeyError: Error, Sendable {
    /// The service cannot be reached, or has too much to do: try again later.
    case unreachable(String)
    /// The service refuses, now and later: the key was revoked, or this machine may not have it.
    case refused(String)
}

/// The keys of encrypted models on this machine.
public enum ModelKeys {
    /// Makes `service` the one that is asked for keys; `nil` for none, or for the deployment server's where the app has one.
    public static func register(_ service: (any ModelKeyService)?) {
        guard let service else { return Vault.shared.setService(nil) }
        Vault.shared.setService { (request) async throws(ModelError) in
            try await lease(service, EncryptedModelInfo(request))
        }
    }

    /// Makes `service` the one that is asked where the app registers none.
    package static func registerUsual(_ service: any ModelKeyService) {
        Vault.shared.setUsualService { (request) async throws(ModelError) in
            try await lease(service, EncryptedModelInfo(request))
        }
    }

    /// Gets the key of the model at `url` from the registered service, so that loading it needs no network.
    ///
    /// Renews the lease of a key that was given out before.  A model that is not encrypted needs no key.
    public static func prefetch(for url: URL) async throws {
        do { try await Vault.shared.renewKey(for: url.path) } catch { throw MLModelError(error) }
    }

    /// What the model at `url` says of its encryption; `nil` when it is not encrypted.
    public static func info(for url: URL) throws -> EncryptedModelInfo? {
        do throws(ModelError) {
            return try Vault.shared.record(of: url.path).map {
                EncryptedModelInfo(KeyRequest(record: $0, path: url.path))
            }
        } catch { throw MLModelError(error) }
    }

    /// Forgets the keys that services gave out for the model at `url`.
    public static func forget(for url: URL) throws {
        do throws(ModelError) {
            if let record = try Vault.shared.record(of: url.path) { Vault.shared.forgetLease(record) }
        } catch { throw MLModelError(error) }
    }

    /// Lets this process be dumped and debugged although it has decrypted models.
    ///
    /// When the first encrypted model is opened, a process loses that ability (`PR_SET_DUMPABLE`), so that neither a crash
    /// nor another process of the same user brings the model to light.  Call this before, where crash reports matter more.
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
            throw ModelError(.keyFetch, "The lease of the key \(model.keyID) has ended already; look at the clocks.")
        }
        return KeyLease(contentKey: SecretBytes(lease.contentKey), seconds: seconds, isShared: lease.isShared)
    }

    private static func message(of error: any Error, _ model: EncryptedModelInfo) -> String {
        switch error {
        case ModelKeyError.unreachable(let reason):
            "The key \(model.keyID) of \"\(model.team)\" cannot be fetched now: \(reason).  Try again later."
        case ModelKeyError.refused(let reason):
            "The key service of \"\(model.team)\" gives this machine no key \(model.keyID): \(reason)."
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
