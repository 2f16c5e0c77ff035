import DeploymentPolicy
import MLArchive
import MLDelta
import MLEncryption
import MLFiles
import MLNumerics

/// Downloads an archive as the difference from one whose model is on the device.
///
/// The result is the archive itself, byte for byte, and is verified like one that was fetched whole. Nothing of an
/// encrypted model is written in the clear.
struct DeltaDownload {
    let model: ReleaseDocument.Model
    let store: CollectionStore
    let source: BlobSource
    /// Throws when the rest of the download has to wait.
    let mayGoOn: @Sendable () throws(DeploymentError) -> Void
    /// Called with the number of bytes that have been added.
    let progress: @Sendable (Int) -> Void
    /// Gets the key of a model, given the model's path.
    let fetchKey: @Sendable (_ modelPath: String) async throws(DeploymentError) -> Void
    /// Provides the keys.
    let vault: Vault

    private var archive: String { model.archive.sha256 }

    /// The smallest delta from a model on the device; `nil` when there is none, or the archive itself has begun to
    /// arrive.
    private var delta: ReleaseDocument.Delta? {
        guard FileAccess.kind(of: store.partialPath(archive)) == nil else { return nil }
        return model.deltas.filter { store.modelPath($0.from) != nil && $0.delta.length < model.archive.length }
            .min { $0.delta.length < $1.delta.length }
    }

    /// Fetches a delta and makes the archive of it; afterwards the partial file has the signed bytes.
    ///
    /// Returns the delta that was used; `nil` when there is none for this device, and the archive itself is to be
    /// fetched.
    func run() async throws(DeploymentError) -> ReleaseDocument.Delta? {
        guard let delta else { return nil }
        let hash = delta.delta.sha256
        let (workFolder, result) = ("\(store.partialPath(hash)).work", "\(store.partialPath(hash)).work/result")
        do throws(DeploymentError) {
            try await fetch(hash, delta.delta.length)
            try Durable.remove(workFolder)
            try Durable.makeFolder(workFolder)
            try await apply(delta, workFolder, to: result)
            try Durable.rename(result, to: store.partialPath(archive))
        } catch {
            try Durable.remove(workFolder)
            // A delta that may succeed when it is fetched again is kept.
            let isPassing = [.offline, .busy, .cancelled, .deferred, .storage].contains(error.code)
            if !isPassing { try store.discardPartial(hash) }
            throw error
        }
        try Durable.remove(workFolder)
        try store.discardPartial(hash)
        progress(model.archive.length - delta.delta.length)
        return delta
    }

    private func fetch(_ hash: String, _ byteCount: Int) async throws(DeploymentError) {
        guard let bytes = Hashes.bytes(hash) else {
            throw DeploymentError(.releaseMalformed, hash, "This is not a hash.")
        }
        let file = try PartialFile(store.partialPath(hash), byteCount: byteCount)
        let whole = ArchivePiece(range: 0..<byteCount, hash: bytes)
        let arrived = try file.arrivedByteCount(of: whole)
        progress(arrived)
        guard arrived < byteCount else { return }
        let transfer = PieceTransfer(blob: hash, file: file, source: source, mayGoOn: mayGoOn, progress: progress)
        try await transfer.fetch([MissingPiece(piece: whole, arrived: arrived)])
        try file.synchronize()
    }

    // MARK: Applying

    private func apply(
        _ delta: ReleaseDocument.Delta,
        _ workFolder: String,
        to result: String
    ) async throws(DeploymentError) {
        let file = try reading { () throws(ModelError) in try DeltaFile(store.partialPath(delta.delta.sha256)) }
        guard Hexadecimal.text(file.header.old.hash) == delta.from, Hexadecimal.text(file.header.new.hash) == archive,
            file.header.new.byteCount == model.archive.length
        else { throw DeploymentError(.damaged, delta.delta.sha256, "The delta is for other archives.") }
        let old = try await oldModel(delta.from)
        let contentKey = try await newKey(file, workFolder)
        try reading { () throws(ModelError) in try file.apply(to: old, contentKey: contentKey, path: result) }
    }

    /// The model on the device: its archive's header, and its files in the clear.
    private func oldModel(
        _ hash: String
    ) async throws(DeploymentError) -> (header: ArchiveHeader, contents: any FolderContents) {
        guard let path = store.modelPath(hash) else {
            throw DeploymentError(.storage, hash, "The model was removed meanwhile.")
        }
        let header = try reading { () throws(ModelError) in
            try ArchiveHeader(readingText: FileAccess.read(store.modelFolder(hash) + "/header.json"))
        }
        let record = try reading { () throws(ModelError) in try vault.record(of: path) }
        guard let record else { return (header, PlainFolder(path)) }
        let contentKey = try await key(of: record, at: path)
        let contents = try reading { () throws(ModelError) in
            try EncryptedFolder(record, contentKey: contentKey, stored: StoredFolder(path))
        }
        return (header, contents)
    }

    /// The content key of the new model; `nil` when it is in the clear.
    private func newKey(_ file: DeltaFile, _ workFolder: String) async throws(DeploymentError) -> SecretBytes? {
        guard let record = file.record else { return nil }
        // A key is requested by a model's path: of this model only the record that names its key exists.
        let path = "\(workFolder)/\(file.newHeader.model.name).mlmodelc"
        try Durable.makeFolder(path)
        try Durable.files { () throws(ModelError) in
            try FileAccess.write(file.recordText, to: path + "/" + ModelVaults.encryptionName)
        }
        return try await key(of: record, at: path)
    }

    private func key(of record: EncryptionRecord, at path: String) async throws(DeploymentError) -> SecretBytes {
        if let key = try? vault.contentKey(of: record, at: path) { return key }
        try await fetchKey(path)
        do throws(ModelError) { return try vault.contentKey(of: record, at: path) } catch {
            throw DeploymentError(.key, path, error.description)
        }
    }

    /// Runs `body` and turns errors in the delta or the old model into the client's.
    private func reading<R>(_ body: () throws(ModelError) -> R) throws(DeploymentError) -> R {
        do throws(ModelError) { return try body() } catch {
            throw DeploymentError(error.code == .keyFetch ? .key : .damaged, archive, error.description)
        }
    }
}
