import CModelVault
import CSecrets
package import MLFiles
package import MLNumerics
import Synchronization

/// A model whose key is requested.
package struct KeyRequest: Sendable {
    package let record: EncryptionRecord
    /// The path of the model.
    package let path: String

    package init(record: EncryptionRecord, path: String) {
        self.record = record
        self.path = path
    }
}

/// A content key that a service has released.
package struct KeyLease: Sendable {
    package let contentKey: SecretBytes
    /// The number of seconds for which it may open the model; `nil` for ever.
    package let seconds: Int?
    /// Whether other programs of the user may use it for the same time without asking the service.
    package let isShared: Bool

    package init(contentKey: SecretBytes, seconds: Int?, isShared: Bool) {
        self.contentKey = contentKey
        self.seconds = seconds
        self.isShared = isShared
    }
}

/// Opens encrypted models: finds their keys beside the model, in the key store, or among those that a service released.
package final class Vault: ModelVault {
    package static let shared = Vault()

    /// Requests the content key of a model from a key service.
    package typealias Service = @Sendable (KeyRequest) async throws(ModelError) -> KeyLease
    /// Opens an archive as stored files.
    package typealias ArchiveOpener = @Sendable (_ path: String) throws(ModelError) -> any OpenedArchive

    private struct Lease {
        let contentKey: SecretBytes
        let end: ContinuousClock.Instant?
    }

    private struct State {
        /// The service that the app has registered.
        var service: Service?
        /// The service that is used when the app has registered none.
        var usualService: Service?
        var asked: Service? { service ?? usualService }
        var archives: ArchiveOpener?
        var leases: [[UInt8]: Lease] = [:]
        var permitsDumps = false
        var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    }

    private let state = Mutex(State())
    /// Lets linked modules register themselves, once: a key may be requested before the first model is opened.
    private static let linked: Void = coreml_vault_call_registrar()

    package init() {}

    package func setService(_ service: Service?) { state.withLock { $0.service = service } }

    /// Sets the service that is used when the app has registered none.
    package func setUsualService(_ service: @escaping Service) { state.withLock { $0.usualService = service } }

    package func setArchives(_ opener: @escaping ArchiveOpener) { state.withLock { $0.archives = opener } }

    /// The clock that leases end by; `nil` for the system's clock.
    package func setClock(_ now: (@Sendable () -> ContinuousClock.Instant)?) {
        state.withLock { $0.now = now ?? { ContinuousClock.now } }
    }

    /// Permits core dumps and debuggers even after models have been decrypted.
    package func permitDumps() { state.withLock { $0.permitsDumps = true } }

    // MARK: Opening

    package func encryptedFolder(_ path: String) throws(ModelError) -> any FolderContents {
        let folder = StoredFolder(path)
        let record = try Self.record(in: folder, at: path)
        return try open(record, contentKey(of: record, at: path), folder, at: path)
    }

    package func archive(_ path: String) throws(ModelError) -> any FolderContents {
        let archive = try opened(path)
        guard let record = try archive.record else { return archive.contents }
        // Once: a sealed key is opened by another program.
        let contentKey = try contentKey(of: record, at: path)
        let folder = try open(record, contentKey, archive.files, at: path)
        try withErrorContext(path) { () throws(ModelError) in try archive.check(contentKey) }
        return folder
    }

    private func opened(_ path: String) throws(ModelError) -> any OpenedArchive {
        Self.linked
        guard let opener = state.withLock({ $0.archives }) else {
            throw ModelError(.unsupported, "This program has no reader of archives.", at: path)
        }
        return try opener(path)
    }

    private func open(
        _ record: EncryptionRecord,
        _ contentKey: SecretBytes,
        _ files: any StoredFiles,
        at path: String
    ) throws(ModelError) -> EncryptedFolder {
        if !state.withLock({ $0.permitsDumps }) { csecrets_forbid_dumps() }
        return try withErrorContext(path) { () throws(ModelError) in
            try EncryptedFolder(record, contentKey: contentKey, stored: files)
        }
    }

    package static func record(in files: any StoredFiles, at path: String) throws(ModelError) -> EncryptionRecord {
        try withErrorContext(path) { () throws(ModelError) in
            try withErrorContext(ModelVaults.encryptionName) { () throws(ModelError) in
                guard let file = try files.stored(ModelVaults.encryptionName) else {
                    throw ModelError(.malformed, "This is not a file; copy the model again.")
                }
                guard file.byteCount <= EncryptionRecord.maximumTextByteCount else {
                    throw ModelError(.malformed, "The file is too large; copy the model again.")
                }
                return try EncryptionRecord(text: file.bytes())
            }
        }
    }

    /// The encryption record of the model at `path`; `nil` when the model is not encrypted.
    package func record(of path: String) throws(ModelError) -> EncryptionRecord? {
        switch FileAccess.kind(of: path) {
        case .folder?:
            let folder = FileAccess.withoutTrailingSlash(path)
            guard FileAccess.kind(of: folder + "/" + ModelVaults.encryptionName) != nil else { return nil }
            return try Self.record(in: StoredFolder(folder), at: path)
        case .file?:
            let file = try OpenFile(path)
            let magic = ModelVaults.archiveMagic
            guard file.byteCount >= magic.count, try file.bytes(at: 0, count: magic.count) == magic else { return nil }
            return try opened(path).record
        case .other?, nil: return nil
        }
    }

    // MARK: Keys

    /// The content key of a model, by a key that is on this machine.
    package func contentKey(of record: EncryptionRecord, at path: String) throws(ModelError) -> SecretBytes {
        if let key = try localKey(of: record, at: path) { return key }
        let server = record.server.map { ", which \($0) gives out" } ?? ""
        throw ModelError(
            .keyFetch,
            "The model is encrypted with the key \(record.keyID) of \"\(record.team)\"\(server), which is not on this "
                + "machine: it is neither beside the model (\(FileAccess.name(of: path))'s .mlmodelkey) nor in the key store "
                + "(\(KeyStore.user.folder)).  Get it with coreml key import, or register a ModelKeyService and load the "
                + "model with MLModel.load.",
            at: path
        )
    }

    private func localKey(of record: EncryptionRecord, at path: String) throws(ModelError) -> SecretBytes? {
        if let lease = lease(record) { return lease }
        if let location = KeyFiles.path(beside: path) {
            let key = try KeyFiles.read(location)
            if key.keyID == record.keyID, let contentKey = try opened(record, with: key) { return contentKey }
        }
        if let key = try KeyStore.user.key(record.keyID) {
            return try withErrorContext(path) { () throws(ModelError) in try record.contentKey(key) }
        }
        return nil
    }

    /// The content key, unwrapped with a key that lies beside the model; `nil` when that key is not enough.
    private func opened(_ record: EncryptionRecord, with key: ModelKey) throws(ModelError) -> SecretBytes? {
        if key.secret != nil { return try record.contentKey(key) }
        guard case .protected(.recipients(let list)) = key.material else { return nil }
        for recipient in list {
            guard let own = try KeyStore.user.key(recipient.keyID) else { continue }
            return try record.contentKey(KeyProtection.unlock(key, with: own))
        }
        return nil
    }

    // MARK: Leases

    package func fetchKey(for path: String) async throws(ModelError) {
        guard let service = state.withLock({ $0.asked }), let record = try record(of: path),
            try localKey(of: record, at: path) == nil
        else { return }
        try await lease(record, at: path, from: service)
    }

    /// Gets the key of a model from the service even when there is one: before the lease ends, or at installation.
    package func renewKey(for path: String) async throws(ModelError) {
        guard let record = try record(of: path) else { return }
        Self.linked
        guard let service = state.withLock({ $0.asked }) else {
            throw ModelError(.keyFetch, "No key service is registered; register a ModelKeyService.", at: path)
        }
        try await lease(record, at: path, from: service)
    }

    private func lease(
        _ record: EncryptionRecord,
        at path: String,
        from service: Service
    ) async throws(ModelError) {
        let lease: KeyLease
        do { lease = try await service(KeyRequest(record: record, path: path)) } catch { throw error.at(path) }
        try withErrorContext(path) { () throws(ModelError) in try record.check(lease.contentKey) }
        state.withLock { state in
            let end = lease.seconds.map { state.now() + .seconds($0) }
            state.leases[record.contentID] = Lease(contentKey: lease.contentKey, end: end)
        }
        guard lease.isShared else { return }
        // On a machine without a keyring the lease is kept only in this process.
        _ = lease.contentKey.withBytes { bytes in
            bytes.baseAddress.map {
                csecrets_keyring_store(Self.name(record), $0, bytes.count, UInt32(clamping: lease.seconds ?? 0))
            }
        }
    }

    private func lease(_ record: EncryptionRecord) -> SecretBytes? {
        let own = state.withLock { state -> SecretBytes? in
            guard let lease = state.leases[record.contentID] else { return nil }
            if let end = lease.end, end <= state.now() {
                state.leases[record.contentID] = nil
                return nil
            }
            return lease.contentKey
        }
        return own ?? keyringLease(record)
    }

    private func keyringLease(_ record: EncryptionRecord) -> SecretBytes? {
        var count = 0
        let secret = SecretBytes { bytes in
            if let address = bytes.baseAddress {
                count = csecrets_keyring_read(Self.name(record), address, bytes.count)
            }
        }
        // Anything else that is stored under this name is not the key.
        guard count == secret.count, (try? record.check(secret)) != nil else { return nil }
        return secret
    }

    /// Removes the leases of a model.
    package func forgetLease(_ record: EncryptionRecord) {
        state.withLock { $0.leases[record.contentID] = nil }
        csecrets_keyring_remove(Self.name(record))
    }

    private static func name(_ record: EncryptionRecord) -> String {
        "coreml:lease:" + Hexadecimal.text(record.contentID)
    }
}

/// An archive whose header has been verified.
package protocol OpenedArchive: Sendable {
    /// The encryption record; `nil` when the model in it is in the clear.
    var record: EncryptionRecord? { get throws(ModelError) }
    /// The stored files.
    var files: any StoredFiles { get }
    /// The files of a model in the clear.
    var contents: any FolderContents { get }
    /// Throws when the header was written without the content key.
    func check(_ contentKey: SecretBytes) throws(ModelError)
}
