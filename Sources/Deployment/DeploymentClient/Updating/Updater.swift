import Crypto
package import DeploymentPolicy
package import Foundation
import Glibc
package import MLEncryption
import MLFiles
import MLNumerics
import Synchronization
import UpdateFramework

/// Hashes as texts.
enum Hashes {
    static func text(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }

    /// The bytes that hexadecimal digits spell.
    static func bytes(_ text: String) -> [UInt8]? { Hexadecimal.bytes(text.utf8) }
}

/// The result of a check.
package struct Check: Sendable {
    package enum Result: Sendable, Equatable {
        /// The app has what the policy gives it.
        case current
        /// New models have arrived, which the app uses from its next launch on.
        case staged
        /// Another process is updating the collection.
        case elsewhere
        /// There is something to fetch, which waits for conditions that the app set: power, an unmetered network,
        /// idleness.
        case deferred
    }

    package let result: Result
    /// Seconds until the server wants to be asked again.
    package let pollInterval: Int
}

/// Updates collections: fetches and evaluates the policy, and installs what both director and publisher vouch for.
package struct Updater: Sendable {
    let configuration: DeploymentConfiguration
    let store: CollectionStore
    let transport: any Transport
    /// The properties of the device.
    let attributes: @Sendable () -> DeviceAttributes
    /// The clock.
    let now: @Sendable () -> Date
    /// Whether the server may be told how releases perform.
    let reports: Bool
    /// Gets the keys of an installed model, so that it can be loaded offline.
    let prefetchKey: @Sendable (_ modelPath: String) async throws(DeploymentError) -> Void
    /// The unmet conditions of model downloads, as messages; empty when they may proceed.
    package var obstacles: @Sendable () -> [String] = { [] }
    /// Opens encrypted models, from which deltas make new ones.
    package var vault: Vault = .shared

    package init(
        configuration: DeploymentConfiguration,
        store: CollectionStore,
        transport: any Transport,
        attributes: @escaping @Sendable () -> DeviceAttributes,
        now: @escaping @Sendable () -> Date = { Date() },
        reports: Bool = true,
        prefetchKey: @escaping @Sendable (String) async throws(DeploymentError) -> Void = {
            (_) throws(DeploymentError) in
        }
    ) {
        self.configuration = configuration
        self.store = store
        self.transport = transport
        self.attributes = attributes
        self.now = now
        self.reports = reports
        self.prefetchKey = prefetchKey
    }

    var addresses: Addresses { Addresses(configuration: configuration) }
    static let maximumPolicyByteCount = 2 << 20

    /// Records how releases perform here; `nil` when the app does not want that.
    package var reporter: Reporter? {
        guard reports else { return nil }
        return Reporter(
            configuration: configuration,
            store: store,
            transport: transport,
            attributes: attributes,
            now: now
        )
    }

    // MARK: Checking

    /// Asks what the device is to have of a collection, and fetches it.
    ///
    /// `progress` gets the number of bytes that are there, and the total.
    package func check(
        _ collection: String,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(DeploymentError) -> Check {
        let result = try await store.updating { () async throws(DeploymentError) in
            let journal = CheckJournal()
            do throws(DeploymentError) {
                let check = try await update(collection, progress, journal)
                keep(journal, collection, check.result == .staged ? .arrived : .current, check.pollInterval)
                return check
            } catch {
                keep(journal, collection, error.code == .deferred ? .deferred : .failed, nil, error)
                guard error.code == .deferred else { throw error }
                return Check(result: .deferred, pollInterval: Poll().interval)
            }
        }
        return result ?? Check(result: .elsewhere, pollInterval: Poll().interval)
    }

    /// Stores the result of a check.
    private func keep(
        _ journal: CheckJournal,
        _ collection: String,
        _ result: CheckRecord.Result,
        _ pollInterval: Int?,
        _ error: DeploymentError? = nil
    ) {
        let date = PolicyDate(secondsSince1970: Int(now().timeIntervalSince1970))
        let last = try? store.lastCheck(collection)
        var record = journal.record(result, at: date, after: last)
        record.code = error?.code.rawValue
        record.message = error?.description ?? journal.remark
        record.next = pollInterval.map { PolicyDate(secondsSince1970: date.secondsSince1970 + $0) }
        store.keep(record, of: collection)
    }

    private func update(
        _ collection: String,
        _ progress: @escaping @Sendable (Int, Int) -> Void,
        _ journal: CheckJournal
    ) async throws(DeploymentError) -> Check {
        let updater = try makeUpdater()
        var (trusted, start) = try await refresh(updater)
        let policy = try await policy(collection, trusted, start)
        journal.note(policy, try explain(policy))
        let isNews: Bool
        do throws(DeploymentError) {
            isNews = try await apply(policy, updater, &trusted, progress, journal)
        } catch {
            await report(policy)
            throw error
        }
        await report(policy)
        try store.sweepAll()
        return Check(result: isNews ? .staged : .current, pollInterval: policy.poll.interval(at: start))
    }

    private func report(_ policy: Policy) async {
        guard let reporter, let reporting = policy.reporting else { return }
        await reporter.send(policy.collection, to: reporting)
    }

    /// Installs what the policy gives the device, and returns whether that is a change.
    private func apply(
        _ policy: Policy,
        _ updater: MetadataUpdater,
        _ trusted: inout TrustedMetadata,
        _ progress: @escaping @Sendable (Int, Int) -> Void,
        _ journal: CheckJournal
    ) async throws(DeploymentError) -> Bool {
        let decision = try decide(policy)
        switch decision.outcome {
        case .keep: return try keep(policy.collection, policy)
        case .bundled, .holdout:
            return try store.stage(.bundled(policy.deployment), document: [], of: policy.collection)
        case .release:
            guard let reference = decision.release else {
                throw DeploymentError(
                    .policyMalformed,
                    policy.collection,
                    "The policy names a release without its location."
                )
            }
            do throws(DeploymentError) {
                return try await install(reference, policy, updater, &trusted, progress, journal)
            } catch {
                reporter?.note(error, release: reference.number, of: policy.collection)
                throw error
            }
        }
    }

    /// Keeps what the device has, unless the policy's emergency floor forbids it.
    private func keep(_ collection: String, _ policy: Policy) throws(DeploymentError) -> Bool {
        let state = try store.state(collection)
        guard let current = state.current, current.release != nil, current.counter < policy.minimumCounter else {
            return false
        }
        return try store.stage(.bundled(policy.deployment), document: [], of: collection)
    }

    /// Updates the metadata, and returns it with the time of the update.
    private func refresh(_ updater: MetadataUpdater) async throws(DeploymentError) -> (TrustedMetadata, PolicyDate) {
        let start = try clock.time()
        let time = UTCTime(secondsSince1970: Int64(start.secondsSince1970))
        do throws(UpdateError) { return (try await updater.refresh(at: time), start) } catch {
            guard error.code == .expired, let root = try storedRootVersion(), try clock.forget(before: root) else {
                throw Self.failure(error)
            }
        }
        let again = try clock.time()
        let trusted = try await metadata { () async throws(UpdateError) in
            try await updater.refresh(at: UTCTime(secondsSince1970: Int64(again.secondsSince1970)))
        }
        return (trusted, again)
    }

    /// The version of the newest verified root.
    private func storedRootVersion() throws(DeploymentError) -> Int? {
        guard let bytes = try Durable.read(store.folder + "/trust/root.json") else { return nil }
        let start = UTCTime(secondsSince1970: 0)
        do throws(UpdateError) { return try TrustedMetadata(trustedRoot: bytes, start: start).root.version } catch {
            throw DeploymentError(.metadata, "\(error.role): \(error.code.rawValue)", error.description)
        }
    }

    func metadata<R>(_ body: () async throws(UpdateError) -> R) async throws(DeploymentError) -> R {
        do throws(UpdateError) { return try await body() } catch { throw Self.failure(error) }
    }

    /// The client's error for one of metadata: that of the network where the network failed.
    private static func failure(_ error: UpdateError) -> DeploymentError {
        error.cause as? DeploymentError
            ?? DeploymentError(.metadata, "\(error.role): \(error.code.rawValue)", error.description)
    }

    private func makeUpdater() throws(DeploymentError) -> MetadataUpdater {
        do throws(UpdateError) {
            return MetadataUpdater(
                metadata: MetadataSource(base: addresses.metadata, transport: transport),
                targets: MetadataSource(base: addresses.targets, transport: transport),
                store: try FileMetadataStore(folder: store.folder + "/trust"),
                bundledRoot: configuration.root
            )
        } catch { throw DeploymentError(.storage, "trust", error.description) }
    }

    /// The keys of a role that the team's targets delegate to, by the last verified metadata.
    func storedKeys(of role: String) throws(DeploymentError) -> [PublicKey] {
        let start = UTCTime(secondsSince1970: Int64(try clock.time().secondsSince1970))
        let updater = try makeUpdater()
        do throws(UpdateError) {
            guard let keys = try updater.cached(at: start).keys(ofDelegated: role) else { return [] }
            guard keys.threshold == 1 else {
                throw UpdateError(
                    .threshold,
                    role,
                    "answers of the key service would need \(keys.threshold) signatures",
                    remedy: "Let one key sign for the role"
                )
            }
            return Array(keys.keys.values)
        } catch { throw DeploymentError(.metadata, "\(error.role): \(error.code.rawValue)", error.description) }
    }

    // MARK: Time

    var clock: TrustedClock {
        TrustedClock(path: store.folder + "/clock", now: now, built: configuration.created)
    }
}

/// Counts the bytes that have arrived.
final class Meter: Sendable {
    private let done = Atomic<Int>(0)
    private let total: Int
    private let report: @Sendable (Int, Int) -> Void

    init(total: Int, report: @escaping @Sendable (Int, Int) -> Void) {
        self.total = total
        self.report = report
    }

    func add(_ count: Int) {
        let (_, now) = done.wrappingAdd(count, ordering: .relaxed)
        report(min(now, total), total)
    }
}
