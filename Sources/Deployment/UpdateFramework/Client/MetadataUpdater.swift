/// Updates a client's trusted metadata and finds targets in it (TUF specification, section 5).
///
/// Each update yields a ``TrustedMetadata`` of its own, so an app may keep the last good one while it asks for the
/// next. Whatever fails, the next update begins with what was trusted before. Only one update at a time may use a
/// store.
public struct MetadataUpdater: Sendable {
    private let metadata: any MetadataFetcher
    private let targets: any MetadataFetcher
    private let store: any MetadataStore
    private let bundledRoot: [UInt8]?
    private let limits: UpdateLimits

    /// Creates an updater.
    ///
    /// - Parameters:
    ///   - metadata: fetches files below the repository's folder of metadata.
    ///   - targets: fetches files below its folder of targets.
    ///   - store: keeps trusted metadata.
    ///   - bundledRoot: the root that came with the app. The stored one is used when it is newer; without either there
    ///     is nothing to trust.
    ///   - limits: the limits of an update, by default those of ``UpdateLimits``.
    public init(
        metadata: any MetadataFetcher,
        targets: any MetadataFetcher,
        store: any MetadataStore,
        bundledRoot: [UInt8]?,
        limits: UpdateLimits = UpdateLimits()
    ) {
        self.metadata = metadata
        self.targets = targets
        self.store = store
        self.bundledRoot = bundledRoot
        self.limits = limits
    }

    // MARK: Updating

    /// Fetches and verifies all metadata that is newer than the stored one.
    ///
    /// - Parameter start: the time that expiry is compared with: the clock's, or the latest time that is known to have
    ///   passed if the clock is behind it.
    /// - Returns: the trusted metadata, with the top-level targets.
    /// - Throws: an ``UpdateError`` that says what is wrong, missing or unreachable.
    public func refresh(at start: UTCTime) async throws(UpdateError) -> TrustedMetadata {
        try checkClock(start)
        var trusted = try loadRoot(start, .refuse)
        try await updateRoot(&trusted)
        try await updateTimestamp(&trusted)
        try await updateSnapshot(&trusted)
        _ = try await loadTargets(trusted.root.keys(of: .targets), &trusted)
        return trusted
    }

    /// The stored metadata, verified without asking the network.
    ///
    /// Expired metadata is noted in ``TrustedMetadata/expired``, and nothing may be installed by it. Throws when
    /// nothing is stored, or the stored files do not belong together.
    public func cached(at start: UTCTime) throws(UpdateError) -> TrustedMetadata {
        try checkClock(start)
        var trusted = try loadRoot(start, .note)
        try trusted.finishRoot()
        try trusted.restoreTimestamp(try requireStored("timestamp"))
        try trusted.finishTimestamp()
        guard try trusted.restoreSnapshot(try requireStored("snapshot")) else {
            throw UpdateError(
                .wrongVersion,
                "snapshot",
                "the stored one is older than the stored timestamp",
                remedy: "Update from the repository; the last update was not finished"
            )
        }
        try trusted.updateTargets(try requireStored("targets"))
        return trusted
    }

    private func checkClock(_ start: UTCTime) throws(UpdateError) {
        guard start < limits.earliestStart else { return }
        throw UpdateError(
            .clock,
            "clock",
            "it says \(start), before \(limits.earliestStart)",
            remedy: "Set the clock, or pass the time when the app was built"
        )
    }

    /// The newer one of the stored and the bundled root; a stored one that cannot be used is ignored when there is
    /// another.
    private func loadRoot(_ start: UTCTime, _ rule: TrustedMetadata.ExpiryRule) throws(UpdateError) -> TrustedMetadata {
        let stored = try load("root")
        guard let bundledRoot else {
            guard let stored else {
                throw UpdateError(
                    .noRoot,
                    "root",
                    "none is stored, and none came with the app",
                    remedy: "Bundle the repository's root with the app"
                )
            }
            return try TrustedMetadata(trustedRoot: stored, start: start, expiryRule: rule)
        }
        var bundled = try TrustedMetadata(trustedRoot: bundledRoot, start: start, expiryRule: rule)
        guard let stored else { return bundled }
        do throws(UpdateError) {
            let own = try TrustedMetadata(trustedRoot: stored, start: start, expiryRule: rule)
            return own.root.version > bundled.root.version ? own : bundled
        } catch {
            bundled.setAside.append(error)
            return bundled
        }
    }

    private func updateRoot(_ trusted: inout TrustedMetadata) async throws(UpdateError) {
        let first = trusted.root
        for _ in 0..<limits.roots {
            let (version, isTooLarge) = trusted.root.version.addingReportingOverflow(1)
            if isTooLarge { break }
            let name = "\(version).root.json"
            guard let bytes = try await fetch(name, from: metadata, role: "root", limit: limits.rootLength) else {
                break
            }
            try trusted.updateRoot(bytes)
            try write("root", bytes)
        }
        try trusted.finishRoot()
        for type in [MetadataType.timestamp, .snapshot] {
            try removeIfRotated(type, from: first, &trusted)
        }
    }

    /// Removes stored metadata that the role's new keys did not sign (section 5.3.11).
    ///
    /// So a publisher whose keys were stolen can go back to lower versions. Metadata that the new keys signed, too,
    /// keeps protecting from rollback.
    private func removeIfRotated(
        _ type: MetadataType,
        from old: Root,
        _ trusted: inout TrustedMetadata
    ) throws(UpdateError) {
        let (before, after) = (old.keys(of: type), trusted.root.keys(of: type))
        guard !before.hasSameKeys(as: after), let bytes = try load(type.rawValue) else { return }
        do throws(UpdateError) {
            try SignedDocument(parsing: bytes, role: type.rawValue).verify(after)
            return
        } catch {
            trusted.setAside.append(error)
        }
        do { try store.remove(type.rawValue) } catch { throw Self.storage(type.rawValue, error) }
    }

    private func updateTimestamp(_ trusted: inout TrustedMetadata) async throws(UpdateError) {
        if let stored = try load("timestamp") {
            Self.attempt(&trusted) { (next) throws(UpdateError) in try next.restoreTimestamp(stored) }
        }
        let bytes = try await require("timestamp.json", role: "timestamp", limit: limits.timestampLength)
        if try trusted.updateTimestamp(bytes) { try write("timestamp", bytes) }
    }

    private func updateSnapshot(_ trusted: inout TrustedMetadata) async throws(UpdateError) {
        if let stored = try load("snapshot") {
            var isNewest = false
            Self.attempt(&trusted) { (next) throws(UpdateError) in isNewest = try next.restoreSnapshot(stored) }
            if isNewest { return }
        }
        let promised = try trusted.promisedSnapshot
        let name = fileName("snapshot", promised.version, trusted)
        let bytes = try await require(name, role: "snapshot", limit: promised.length ?? limits.snapshotLength)
        try trusted.updateSnapshot(bytes)
        try write("snapshot", bytes)
    }

    /// The targets metadata that its delegator's keys verify: the loaded, the stored, or the repository's.
    private func loadTargets(
        _ keys: RoleKeys,
        _ trusted: inout TrustedMetadata
    ) async throws(UpdateError) -> Targets {
        if let loaded = trusted.loaded(keys) { return loaded }
        let promised = try trusted.file(of: keys.role)
        if let stored = try load(keys.role) {
            Self.attempt(&trusted) { (next) throws(UpdateError) in try next.updateTargets(stored, keys) }
            if let loaded = trusted.loaded(keys) { return loaded }
        }
        let name = fileName(keys.role, promised.version, trusted)
        let bytes = try await require(name, role: keys.role, limit: promised.length ?? limits.targetsLength)
        var next = trusted
        let targets = try next.updateTargets(bytes, keys)
        try write(keys.role, bytes)
        trusted = next
        return targets
    }

    // MARK: Targets

    /// Looks for a target in the top-level role first, then depth first in the roles that it delegates to (section
    /// 5.6.7).
    ///
    /// Metadata of delegated roles is fetched when it is needed and added to `trusted`.
    ///
    /// - Parameters:
    ///   - path: the target's path below the repository's folder of targets.
    ///   - trusted: the metadata of an update.
    /// - Returns: the target; `nil` when no role that is trusted for the path has it.
    /// - Throws: an ``UpdateError`` when metadata has expired, or a role's metadata cannot be fetched or verified.
    public func target(_ path: String, in trusted: inout TrustedMetadata) async throws(UpdateError) -> Target? {
        try trusted.requireCurrent()
        var search = TargetSearch(path, trusted.root.keys(of: .targets))
        while let keys = search.next(limit: limits.delegations) {
            let targets = try await loadTargets(keys, &trusted)
            if let target = targets.target(path) { return target }
            search.descend(targets)
        }
        return nil
    }

    /// Looks for a target in stored metadata.
    ///
    /// - Parameters:
    ///   - path: the target's path below the repository's folder of targets.
    ///   - trusted: the metadata of an update.
    /// - Returns: the target; `nil` when no role that is trusted for the path has it.
    /// - Throws: `expired` when metadata that vouches for it has expired; `missing` when a role would have to be
    ///   fetched.
    public func cachedTarget(_ path: String, in trusted: inout TrustedMetadata) throws(UpdateError) -> Target? {
        var search = TargetSearch(path, trusted.root.keys(of: .targets))
        while let keys = search.next(limit: limits.delegations) {
            let targets =
                if let loaded = trusted.loaded(keys) { loaded } else {
                    try trusted.updateTargets(try requireStored(keys.role), keys)
                }
            try trusted.requireCurrent()
            if let target = targets.target(path) { return target }
            search.descend(targets)
        }
        return nil
    }

    /// Downloads a target and verifies its length and hashes.
    ///
    /// - Parameters:
    ///   - target: the target, as ``target(_:in:)`` found it.
    ///   - trusted: the metadata of the update that it was found in.
    /// - Returns: the target's bytes.
    /// - Throws: an ``UpdateError`` when metadata has expired, or the file is missing or not the one that was signed.
    public func download(_ target: Target, in trusted: TrustedMetadata) async throws(UpdateError) -> [UInt8] {
        try trusted.requireCurrent()
        let location = location(of: target, in: trusted)
        guard let bytes = try await fetch(location, from: targets, role: target.path, limit: target.length) else {
            throw Self.missing(target.path, location)
        }
        try target.verify(bytes)
        return bytes
    }

    /// The percent-encoded path of a target below the repository's folder of targets, for callers that fetch it
    /// themselves.
    public func location(of target: Target, in trusted: TrustedMetadata) -> String {
        PercentEncoding.encode(path: target.location(hasConsistentSnapshots: trusted.root.hasConsistentSnapshots))
    }

    // MARK: Files

    private func fileName(_ role: String, _ version: Int, _ trusted: TrustedMetadata) -> String {
        let name = PercentEncoding.encode(role) + ".json"
        return trusted.root.hasConsistentSnapshots ? "\(version).\(name)" : name
    }

    private func require(_ name: String, role: String, limit: Int) async throws(UpdateError) -> [UInt8] {
        guard let bytes = try await fetch(name, from: metadata, role: role, limit: limit) else {
            throw Self.missing(role, name)
        }
        return bytes
    }

    private func fetch(
        _ path: String,
        from fetcher: any MetadataFetcher,
        role: String,
        limit: Int
    ) async throws(UpdateError) -> [UInt8]? {
        let bytes: [UInt8]?
        do { bytes = try await fetcher.fetch(path, limit: limit) } catch let error as UpdateError { throw error } catch
        {
            throw UpdateError(
                .network,
                role,
                "\(path) cannot be fetched",
                remedy: "Try again later; the trusted metadata is unchanged",
                cause: error
            )
        }
        guard let bytes, bytes.count > limit else { return bytes }
        throw UpdateError(
            .tooLarge,
            role,
            "\(path) has more than \(limit) bytes",
            remedy: "Publish a smaller file; this may be an attack"
        )
    }

    private func load(_ role: String) throws(UpdateError) -> [UInt8]? {
        do { return try store.load(role) } catch { throw Self.storage(role, error) }
    }

    private func requireStored(_ role: String) throws(UpdateError) -> [UInt8] {
        guard let bytes = try load(role) else {
            throw UpdateError(.missing, role, "none is stored", remedy: "Update from the repository first")
        }
        return bytes
    }

    private func write(_ role: String, _ bytes: [UInt8]) throws(UpdateError) {
        do { try store.store(role, bytes) } catch { throw Self.storage(role, error) }
    }

    private static func storage(_ role: String, _ error: any Error) -> UpdateError {
        if let error = error as? UpdateError { return error }
        return UpdateError(.storage, role, "the store failed", remedy: "Check the disk and try again", cause: error)
    }

    private static func missing(_ role: String, _ path: String) -> UpdateError {
        UpdateError(.missing, role, "the repository has no \(path)", remedy: "Publish the file, or try again later")
    }

    /// Applies stored metadata, which is set aside when it cannot be used any more.
    ///
    /// Damaged metadata, or metadata that other keys signed, protects from nothing, and an update that failed because
    /// of it would always fail.
    private static func attempt(
        _ trusted: inout TrustedMetadata,
        _ step: (inout TrustedMetadata) throws(UpdateError) -> Void
    ) {
        var next = trusted
        do throws(UpdateError) {
            try step(&next)
            trusted = next
        } catch {
            trusted.setAside.append(error)
        }
    }
}

/// The order in which roles are searched for a target: preorder, depth first, each role once (section 5.6.7).
struct TargetSearch {
    private let path: String
    private var open: [RoleKeys]
    private var visited: Set<Name> = []

    init(_ path: String, _ keys: RoleKeys) {
        self.path = path
        open = [keys]
    }

    /// The next role, with the keys that its delegator trusts.
    mutating func next(limit: Int) -> RoleKeys? {
        while visited.count <= limit, let next = open.popLast() {
            if visited.insert(Name(next.role)).inserted { return next }
        }
        return nil
    }

    /// Adds the roles that a role delegates the path to; after a terminating one no others are asked.
    mutating func descend(_ targets: Targets) {
        guard let (roles, isTerminated) = targets.delegations?.roles(for: path) else { return }
        if isTerminated { open = [] }
        open += roles.reversed().compactMap { targets.keys(ofDelegated: $0.name) }
    }
}
