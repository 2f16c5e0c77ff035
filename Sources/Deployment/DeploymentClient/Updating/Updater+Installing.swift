import Crypto
import DeploymentPolicy
import Foundation
import Glibc
import MLEncryption
import MLFiles
import MLNumerics
import Synchronization
import UpdateFramework

/// Installing: deltas, archives and their documents.
extension Updater {
    func install(
        _ reference: ReleaseReference,
        _ policy: Policy,
        _ updater: MetadataUpdater,
        _ trusted: inout TrustedMetadata,
        _ progress: @escaping @Sendable (Int, Int) -> Void,
        _ journal: CheckJournal
    ) async throws(DeploymentError) -> Bool {
        let state = try store.state(policy.collection)
        guard !state.failed.contains(reference.sha256) else { return false }
        let installed = CollectionState.Installed(
            release: reference.sha256,
            number: reference.number,
            counter: reference.counter,
            deployment: policy.deployment
        )
        let isNew = state.current?.release != reference.sha256
        if isNew { reporter?.note(.reached(.offered), release: reference.number, of: policy.collection) }
        let bytes = try await document(reference, policy, updater, &trusted)
        let document: ReleaseDocument
        do throws(PolicyError) {
            document = try ReleaseDocument(bytes)
            try document.check(against: reference, of: policy)
        } catch {
            throw DeploymentError(
                error.code == .mismatch ? .releaseMismatch : .releaseMalformed,
                reference.target,
                error.description
            )
        }
        try await fetch(document, progress, journal)
        if isNew { reporter?.note(.reached(.downloaded), release: reference.number, of: policy.collection) }
        for model in document.models where model.encryption != nil {
            guard let path = store.modelPath(model.archive.sha256) else { continue }
            try await prefetchKey(path)
        }
        if isNew { reporter?.note(.reached(.verified), release: reference.number, of: policy.collection) }
        return try store.stage(installed, document: bytes, of: policy.collection)
    }

    /// The release that both the director's policy and the publisher's metadata name.
    func document(
        _ reference: ReleaseReference,
        _ policy: Policy,
        _ updater: MetadataUpdater,
        _ trusted: inout TrustedMetadata
    ) async throws(DeploymentError) -> [UInt8] {
        let target: Target?
        do throws(UpdateError) { target = try await updater.target(reference.target, in: &trusted) } catch {
            if let cause = error.cause as? DeploymentError { throw cause }
            throw DeploymentError(.metadata, "\(error.role): \(error.code.rawValue)", error.description)
        }
        guard let target else {
            throw DeploymentError(
                .releaseMissing,
                reference.target,
                "The policy names a release that its publisher has not signed: policies and models have different signers."
            )
        }
        guard target.hashes.sha256 == reference.sha256, target.length == reference.length else {
            throw DeploymentError(
                .releaseMismatch,
                reference.target,
                "The policy and the publisher name different releases of the same number."
            )
        }
        let (found, current) = (target, trusted)
        return try await metadata { () async throws(UpdateError) in try await updater.download(found, in: current) }
    }

    /// Installs all models of a release on the device.
    func fetch(
        _ document: ReleaseDocument,
        _ progress: @escaping @Sendable (Int, Int) -> Void,
        _ journal: CheckJournal
    ) async throws(DeploymentError) {
        let source = BlobSource(addresses: addresses, transport: transport)
        let missing = document.models.filter { store.modelPath($0.archive.sha256) == nil }
        let total = missing.reduce(0) { $0 + $1.archive.length }
        let meter = Meter(total: total, report: progress)
        progress(0, total)
        for model in missing {
            try checkConditions()
            if try await fetchDelta(model, source, meter, journal) == nil {
                let download = ArchiveDownload(
                    hash: model.archive.sha256,
                    byteCount: model.archive.length,
                    store: store,
                    source: source,
                    mayGoOn: { () throws(DeploymentError) in try checkConditions() },
                    progress: { meter.add($0) }
                )
                try await download.run()
            }
            try store.install(archive: model.archive.sha256)
        }
        for test in document.models.compactMap(\.selfTest) {
            let path = store.vectorsPath(test.vectors.sha256)
            guard FileAccess.kind(of: path) == nil else { continue }
            guard test.vectors.length <= Self.maximumVectorsByteCount else {
                throw DeploymentError(.releaseMalformed, test.vectors.sha256, "The test vectors are too large.")
            }
            try Durable.write(
                try await source.file(test.vectors.sha256, byteCount: test.vectors.length),
                to: path
            )
        }
    }

    static let maximumVectorsByteCount = 64 << 20

    /// Fetches an archive as a delta from one on the device.
    ///
    /// Returns `nil` when the archive itself is to be fetched: no delta fits, or the one that does cannot be used,
    /// which is recorded.
    func fetchDelta(
        _ model: ReleaseDocument.Model,
        _ source: BlobSource,
        _ meter: Meter,
        _ journal: CheckJournal
    ) async throws(DeploymentError) -> ReleaseDocument.Delta? {
        let download = DeltaDownload(
            model: model,
            store: store,
            source: source,
            mayGoOn: { () throws(DeploymentError) in try checkConditions() },
            progress: { meter.add($0) },
            fetchKey: prefetchKey,
            vault: vault
        )
        do throws(DeploymentError) { return try await download.run() } catch {
            guard [.damaged, .releaseMissing, .server, .key].contains(error.code) else { throw error }
            journal.noteDelta(error)
            return nil
        }
    }
}
