import DeploymentPolicy
package import Foundation
import Synchronization

/// The collections of an app on a device: their current models and updates.
package final class CollectionClient: Sendable {
    /// Tests a release: throws `DeploymentError` when a model of it cannot be loaded or answers wrongly.
    package typealias Test = @Sendable (CollectionStore.Use, CollectionStore) async throws(DeploymentError) -> Void

    package struct Events: Sendable {
        /// New models of a collection have arrived.
        package var staged: @Sendable (_ collection: String) -> Void = { _ in }
        /// A release did not pass its trial, or a check failed.
        package var failed: @Sendable (_ collection: String, _ release: Int, DeploymentError) -> Void = { _, _, _ in }

        package init() {}
    }

    /// A collection that is being accessed in this process.
    private struct Access {
        let opening: Task<CollectionStore.Use, any Error>
        var checks: Task<Void, Never>?
        var nextCheck: Date?
    }

    package let store: CollectionStore
    package let updater: Updater
    private let test: Test
    private let events: Events
    private let active = Mutex<[String: Access]>([:])
    private let checking = CheckQueue()
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a client; `sleep` waits between checks, and throws when its task is cancelled.
    package init(
        store: CollectionStore,
        updater: Updater,
        test: @escaping Test,
        events: Events = Events(),
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.store = store
        self.updater = updater
        self.test = test
        self.events = events
        self.sleep = sleep
    }

    // MARK: Accessing

    /// The models of a collection that the app uses for as long as this process accesses it.
    package func open(_ collection: String) async throws(DeploymentError) -> CollectionStore.Use {
        let opening = active.withLock { active in
            if let access = active[collection] { return access.opening }
            let task = Task { [self] () async throws -> CollectionStore.Use in try await use(collection) }
            active[collection] = Access(opening: task)
            return task
        }
        do { return try await opening.value } catch {
            active.withLock { active in
                if active[collection]?.opening == opening { active[collection] = nil }
            }
            throw error as? DeploymentError ?? DeploymentError(.cancelled, collection, "\(error)")
        }
    }

    /// Pins the current release; one that is on trial is tested first.
    private func use(_ collection: String) async throws(DeploymentError) -> CollectionStore.Use {
        let reporter = updater.reporter
        var crashed: CollectionState.Installed?
        let use = try store.use(collection) { crashed = $0 }
        if let crashed {
            let message =
                "The process ended during the test of the release, \(CollectionStore.maximumAttemptCount) times."
            events.failed(collection, crashed.number, DeploymentError(.crash, collection, message))
            reporter?.note(.failed(.crash), release: crashed.number, of: collection)
        }
        let number = use.installed.number
        guard use.isOnTrial else {
            reporter?.note(.used, release: number, of: collection)
            return use
        }
        reporter?.note(.reached(.activated), release: number, of: collection)
        do throws(DeploymentError) {
            try await test(use, store)
            let use = try store.endTrial(collection, of: use, succeeded: true)
            reporter?.note(.reached(.loaded), release: number, of: collection)
            return use
        } catch {
            events.failed(collection, number, error)
            reporter?.note(error, release: number, of: collection)
            return try store.endTrial(collection, of: use, succeeded: false)
        }
    }

    /// Ends the access: checks stop, and the models are removed when no process uses them.
    package func end(_ collection: String) async throws(DeploymentError) -> Bool {
        let access = active.withLock { $0.removeValue(forKey: collection) }
        access?.checks?.cancel()
        return try store.end(collection)
    }

    // MARK: Checking

    /// Asks the server and fetches updates; checks of one process run one after the other.
    ///
    /// If `ignoresConditions` is true, downloads do not wait for the conditions that the app set.
    package func check(
        _ collection: String,
        ignoresConditions: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(DeploymentError) -> Check {
        var updater = updater
        if ignoresConditions { updater.obstacles = { [] } }
        do throws(DeploymentError) {
            let check = try await checking.run(updater, collection, progress)
            if check.result == .staged { events.staged(collection) }
            return check
        } catch {
            events.failed(collection, 0, error)
            throw error
        }
    }

    /// Checks now and repeatedly until the access ends; `first` gets the result of the first check.
    package func keepUpToDate(
        _ collection: String,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void,
        first: @escaping @Sendable (Result<Check, DeploymentError>) -> Void
    ) -> Task<Void, Never> {
        let task = Task { [self] in await checkRepeatedly(collection, progress, first) }
        active.withLock { active in
            active[collection]?.checks?.cancel()
            active[collection]?.checks = task
        }
        return task
    }

    private func checkRepeatedly(
        _ collection: String,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void,
        _ first: @Sendable (Result<Check, DeploymentError>) -> Void
    ) async {
        var result = await outcome(of: collection, progress)
        first(result)
        var failures = 0
        while !Task.isCancelled {
            if case .failure = result { failures += 1 } else { failures = 0 }
            let delay = Schedule.delay(after: result, failures: failures)
            setNextCheck(of: collection, Date(timeIntervalSinceNow: delay))
            guard await wait(delay, after: result) else { return }
            result = await outcome(of: collection) { _, _ in }
        }
    }

    /// The date of the next check of a collection that is accessed in this process.
    package func nextCheck(of collection: String) -> Date? { active.withLock { $0[collection]?.nextCheck } }

    private func setNextCheck(of collection: String, _ date: Date) {
        active.withLock { $0[collection]?.nextCheck = date }
    }

    /// Waits until the next check, and returns false when the wait is cancelled.
    ///
    /// A download that waits for conditions begins as soon as they hold, without asking the server.
    private func wait(_ delay: Double, after result: Result<Check, DeploymentError>) async -> Bool {
        guard case .success(let check) = result, check.result == .deferred else {
            return (try? await sleep(.seconds(delay))) != nil
        }
        let end = ContinuousClock.now + .seconds(delay)
        while ContinuousClock.now < end, !updater.obstacles().isEmpty {
            let remaining = end - ContinuousClock.now
            guard (try? await sleep(min(remaining, .seconds(Schedule.look)))) != nil else { return false }
        }
        return true
    }

    private func outcome(
        of collection: String,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async -> Result<Check, DeploymentError> {
        do throws(DeploymentError) { return .success(try await check(collection, progress: progress)) } catch {
            return .failure(error)
        }
    }
}

/// The times of checks.
package enum Schedule {
    static let minimumInterval = 60.0
    static let maximumBackoff = 6 * 3600.0
    /// Seconds between two checks of the conditions that a download waits for.
    static let look = 10.0

    /// Seconds until the next check: the policy's interval, or a delay that doubles with every failure.
    ///
    /// It is randomised, so that devices that started at one time do not stay together.
    package static func delay(
        after result: Result<Check, DeploymentError>,
        failures: Int,
        random: Double = .random(in: 0..<1)
    ) -> Double {
        switch result {
        case .success(let check): return Double(check.pollInterval) * (1 + 0.2 * random)
        case .failure(let error):
            let backOff = min(maximumBackoff, minimumInterval * Double(1 << min(failures, 20)))
            return max(Double(error.retryAfter ?? 0), backOff / 2) * (1 + random)
        }
    }
}

/// Runs checks one after the other.
private actor CheckQueue {
    private var last: Task<Void, Never>?

    func run(
        _ updater: Updater,
        _ collection: String,
        _ progress: @escaping @Sendable (Int, Int) -> Void
    ) async throws(DeploymentError) -> Check {
        let before = last
        let task = Task { () async -> Result<Check, DeploymentError> in
            await before?.value
            do throws(DeploymentError) {
                return .success(try await updater.check(collection, progress: progress))
            } catch {
                return .failure(error)
            }
        }
        last = Task { _ = await task.value }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }
}
