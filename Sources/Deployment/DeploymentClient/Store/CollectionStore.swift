package import DeploymentPolicy
import Foundation
import Glibc
import MLArchive
import MLFiles
import MLNumerics

/// The models of an app's collections on a device.
///
/// ```
/// trust/…                         signed metadata
/// partial/HASH                    archives and deltas that are being fetched, in pieces verified by their hashes
/// partial/HASH.work/…             the result of applying a delta
/// models/HASH/NAME.mlmodelc/…     models, by the hashes of their archives
/// models/HASH/header.json         the header of the archive, for later versions that share pieces with it
/// vectors/HASH.npz                test vectors of models
/// releases/HASH.json              releases whose models are all installed
/// collections/ID/state.json       the current and the next models of the app
/// collections/ID/policy.json      the newest policy
/// collections/ID/check.json       the result of the last check
/// collections/ID/uses/HASH        locked by processes that use a release
/// lock, update.lock, trial.lock
/// ```
///
/// Every change is one rename, so that an interruption at any point leaves a consistent state.
package final class CollectionStore: Sendable {
    package let folder: String

    /// Opens a store, whose folder is created when it does not exist.
    package init(folder: String) throws(DeploymentError) {
        self.folder = folder
        for name in ["partial", "models", "vectors", "releases", "collections"] {
            try Durable.makeFolder(folder + "/" + name)
        }
    }

    // MARK: Places

    func modelFolder(_ archive: String) -> String { "\(folder)/models/\(archive)" }
    func partialPath(_ archive: String) -> String { "\(folder)/partial/\(archive)" }
    package func vectorsPath(_ hash: String) -> String { "\(folder)/vectors/\(hash).npz" }
    func releasePath(_ hash: String) -> String { "\(folder)/releases/\(hash).json" }
    func collectionFolder(_ identifier: String) -> String { "\(folder)/collections/\(identifier)" }
    private func statePath(_ identifier: String) -> String { collectionFolder(identifier) + "/state.json" }
    private func usePath(_ identifier: String, _ release: String) -> String {
        collectionFolder(identifier) + "/uses/" + release
    }
    private var lockPath: String { folder + "/lock" }
    private var updateLockPath: String { folder + "/update.lock" }

    /// The path of a model of a release; `nil` when it is not there.
    func modelPath(_ archive: String) -> String? {
        let place = modelFolder(archive)
        guard let names = try? FileAccess.names(in: place) else { return nil }
        return names.first { $0.hasSuffix(".mlmodelc") }.map { place + "/" + $0 }
    }

    // MARK: State

    package func state(_ identifier: String) throws(DeploymentError) -> CollectionState {
        guard let text = try Durable.read(statePath(identifier)) else { return CollectionState() }
        do throws(ModelError) { return try CollectionState(text: text) } catch {
            throw DeploymentError(
                .storage,
                statePath(identifier),
                "The state of the collection was damaged by another program; remove the file."
            )
        }
    }

    /// Changes the state of a collection, alone among threads and processes.
    package func change<R>(
        _ identifier: String,
        _ body: (inout CollectionState) throws(DeploymentError) -> R
    ) throws(DeploymentError) -> R {
        try Durable.makeFolder(collectionFolder(identifier) + "/uses")
        return try FileLock.with(lockPath) { () throws(DeploymentError) in
            let old = try state(identifier)
            var new = old
            let result = try body(&new)
            if new != old || FileAccess.kind(of: statePath(identifier)) == nil {
                try Durable.write(new.text, to: statePath(identifier))
            }
            return result
        }
    }

    /// The collections that the app has requested.
    package func collections() throws(DeploymentError) -> [String] {
        try Durable.files { () throws(ModelError) in try FileAccess.names(in: folder + "/collections") }
    }

    // MARK: Using

    /// A release that a process uses, and that therefore stays on the disk.
    package struct Use: Sendable {
        package let installed: CollectionState.Installed
        /// The paths of the models by their names; empty for the models of the app bundle.
        package let models: [String: String]
        /// Whether the release has not passed its test on this device yet.
        package let isOnTrial: Bool
        /// The release that the app falls back to; `nil` for the models of the app bundle.
        package let previousRelease: String?
        /// Whether the server has ever decided what the device gets.
        package let isDecided: Bool
        let lock: FileLock?
    }

    /// The number of attempts after which a release counts as one that crashes.
    static let maximumAttemptCount = 2

    /// Begins to use a collection: a release that has arrived becomes current, if no process uses the old one.
    ///
    /// `failure` is called for a release that is given up because its test never ended.
    package func use(
        _ identifier: String,
        failure: (CollectionState.Installed) -> Void
    ) throws(DeploymentError) -> Use {
        do throws(DeploymentError) { return try advance(identifier, failure) } catch {
            // A full disk does not keep the app from the models that are on it.
            guard error.code == .storage, let use = try? useUnchanged(identifier) else { throw error }
            return use
        }
    }

    /// The current release, without changing anything: one that is or should be on trial waits.
    private func useUnchanged(_ identifier: String) throws(DeploymentError) -> Use? {
        var state = try state(identifier)
        if state.trial != nil {
            state.current = state.previous
            state.trial = nil
        }
        guard let current = state.current, let release = current.release, let models = try models(of: release) else {
            return nil
        }
        // Without the lock the release stays, as the current one is never removed.
        let lock = try? FileLock.take(usePath(identifier, release), .shared, waits: true)
        return Use(
            installed: current,
            models: models,
            isOnTrial: false,
            previousRelease: nil,
            isDecided: true,
            lock: lock
        )
    }

    private func advance(
        _ identifier: String,
        _ failure: (CollectionState.Installed) -> Void
    ) throws(DeploymentError) -> Use {
        try change(identifier) { (state) throws(DeploymentError) in
            state.isAccessed = true
            if state.next != nil, try isFree(identifier, state.current) { state.flip() }
            if let trial = state.trial, let current = state.current {
                if trial.attempts >= Self.maximumAttemptCount {
                    failure(current)
                    state.fallBack()
                } else {
                    state.trial?.attempts += 1
                }
            }
            return try pin(identifier, &state)
        }
    }

    /// Locks the current release; one that has vanished from the disk is given up.
    private func pin(_ identifier: String, _ state: inout CollectionState) throws(DeploymentError) -> Use {
        while let current = state.current, let release = current.release {
            if let models = try models(of: release) {
                let lock = try FileLock.take(usePath(identifier, release), .shared, waits: true)
                return Use(
                    installed: current,
                    models: models,
                    isOnTrial: state.trial != nil,
                    previousRelease: state.previous?.release,
                    isDecided: true,
                    lock: lock
                )
            }
            state.current = state.previous
            state.previous = nil
            state.trial = nil
        }
        return Use(
            installed: state.current ?? .bundled(""),
            models: [:],
            isOnTrial: false,
            previousRelease: nil,
            isDecided: state.current != nil,
            lock: nil
        )
    }

    /// Whether no process uses a release.
    private func isFree(_ identifier: String, _ installed: CollectionState.Installed?) throws(DeploymentError) -> Bool {
        guard let release = installed?.release else { return true }
        return try FileLock.take(usePath(identifier, release), .exclusive, waits: false) != nil
    }

    /// The models of a release; `nil` when not all of them are on the disk.
    package func models(of release: String) throws(DeploymentError) -> [String: String]? {
        guard let document = try self.release(release) else { return nil }
        var models: [String: String] = [:]
        for model in document.models {
            guard let path = modelPath(model.archive.sha256) else { return nil }
            models[model.name] = path
        }
        return models
    }

    /// An installed release.
    package func release(_ hash: String) throws(DeploymentError) -> ReleaseDocument? {
        guard let bytes = try Durable.read(releasePath(hash)) else { return nil }
        do throws(PolicyError) { return try ReleaseDocument(bytes) } catch {
            throw DeploymentError(.storage, releasePath(hash), "The release was damaged on the disk: \(error)")
        }
    }

    /// Records the result of a release's test, and returns what to use from now on.
    package func endTrial(_ identifier: String, of use: Use, succeeded: Bool) throws(DeploymentError) -> Use {
        try change(identifier) { (state) throws(DeploymentError) in
            guard state.current == use.installed, state.trial != nil else { return try pin(identifier, &state) }
            guard !succeeded else {
                state.trial = nil
                return Use(
                    installed: use.installed,
                    models: use.models,
                    isOnTrial: false,
                    previousRelease: state.previous?.release,
                    isDecided: true,
                    lock: use.lock
                )
            }
            state.fallBack()
            return try pin(identifier, &state)
        }
    }

    /// Ends the use of a collection, and returns whether it was used.
    ///
    /// Its models may then be removed when no process uses them.
    package func end(_ identifier: String) throws(DeploymentError) -> Bool {
        guard FileAccess.kind(of: statePath(identifier)) != nil else { return false }
        let wasAccessed = try change(identifier) { (state) throws(DeploymentError) in
            defer { state.isAccessed = false }
            return state.isAccessed
        }
        try collectGarbage()
        return wasAccessed
    }

    // MARK: Garbage

    /// Removes everything that no collection needs and no process uses, unless another process is updating.
    package func collectGarbage() throws(DeploymentError) {
        guard let update = try FileLock.take(updateLockPath, .exclusive, waits: false) else { return }
        defer { withExtendedLifetime(update) {} }
        try sweepAll()
    }

    /// Removes everything that no collection needs and no process uses; the caller has the update lock.
    func sweepAll() throws(DeploymentError) {
        try FileLock.with(lockPath) { () throws(DeploymentError) in
            var needed: Set<String> = []
            for identifier in try collections() {
                let state = try state(identifier)
                if state.isAccessed { needed.formUnion(state.needed) }
                let uses = collectionFolder(identifier) + "/uses"
                for release in try names(uses) where !(state.isAccessed && state.needed.contains(release)) {
                    if try FileLock.take(uses + "/" + release, .exclusive, waits: false) == nil {
                        needed.insert(release)
                    } else {
                        try Durable.remove(uses + "/" + release)
                    }
                }
            }
            var files: Set<String> = []
            for release in needed {
                for model in try self.release(release)?.models ?? [] {
                    files.insert(model.archive.sha256)
                    if let test = model.selfTest { files.insert(test.vectors.sha256 + ".npz") }
                }
            }
            try sweep("releases") { needed.contains(String($0.dropLast(5))) }
            try sweep("models") { files.contains($0) }
            try sweep("vectors") { files.contains($0) }
            // Downloads of releases that were replaced meanwhile: nobody continues them.
            let oldest = time(nil) - Self.partialSeconds
            try sweep("partial") { name in
                var status = stat()
                return stat(folder + "/partial/" + name, &status) == 0 && status.st_mtim.tv_sec >= oldest
            }
        }
    }

    /// The time for which a download without progress is kept: two weeks.
    private static let partialSeconds = 14 * 24 * 3600

    private func names(_ folder: String) throws(DeploymentError) -> [String] {
        guard FileAccess.kind(of: folder) == .folder else { return [] }
        return try Durable.files { () throws(ModelError) in try FileAccess.names(in: folder) }
    }

    private func sweep(_ name: String, isNeeded: (String) -> Bool) throws(DeploymentError) {
        let place = folder + "/" + name
        for file in try names(place) where !isNeeded(file) { try Durable.remove(place + "/" + file) }
    }

    // MARK: Installing

    /// Runs `body` as the only process that updates this store; returns `nil` when another does.
    func updating<R>(_ body: () async throws(DeploymentError) -> R) async throws(DeploymentError) -> R? {
        guard let lock = try FileLock.take(updateLockPath, .exclusive, waits: false) else { return nil }
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    /// Unpacks a complete and verified archive.
    func install(archive hash: String) throws(DeploymentError) {
        let (partial, place) = (partialPath(hash), modelFolder(hash))
        guard FileAccess.kind(of: place) == nil else { return try discardPartial(hash) }
        let temporary = folder + "/partial/" + hash + ".unpacked"
        try Durable.remove(temporary)
        try Durable.makeFolder(temporary)
        let archive = try Durable.files { () throws(ModelError) in try ModelArchive(partial) }
        do throws(ModelError) {
            try archive.extract(to: "\(temporary)/\(archive.header.model.name).mlmodelc")
            try FileAccess.write(archive.header.text, to: temporary + "/header.json")
        } catch { throw DeploymentError(.storage, hash, error.description) }
        try Durable.synchronizeTree(temporary)
        try Durable.rename(temporary, to: place)
        try discardPartial(hash)
    }

    func discardPartial(_ hash: String) throws(DeploymentError) {
        try Durable.remove(partialPath(hash))
    }

    /// Makes a complete release the next one of its collection, and returns whether that is a change.
    func stage(
        _ installed: CollectionState.Installed,
        document: [UInt8],
        of identifier: String
    ) throws(DeploymentError) -> Bool {
        if let release = installed.release { try Durable.write(document, to: releasePath(release)) }
        return try change(identifier) { (state) throws(DeploymentError) in
            if state.current?.release == installed.release, state.current != nil {
                let hadNext = state.next != nil
                state.next = nil
                state.current?.deployment = installed.deployment
                return hadNext
            }
            guard state.next != installed else { return false }
            state.next = installed
            return true
        }
    }
}
