import CCollectionRegistration
import CoreML
import DeploymentClient
import Synchronization

/// The provider of model collections that `MLModelCollection` uses.
final class CollectionProvider: ModelCollectionProvider {
    static let shared = CollectionProvider()

    /// The seconds that a first launch waits for the server to answer.
    private static let patience = 10.0

    /// The collections that the app has received, for the notifications about them.
    private let given = Mutex<[String: MLModelCollection]>([:])

    func beginAccessing(
        _ identifier: String,
        _ progress: Progress,
        _ completion: @escaping @Sendable (Result<ModelCollectionAccess, MLModelError>) -> Void
    ) throws {
        guard CollectionName.isValid(identifier) else {
            throw MLModelError(.modelCollection, "\"\(identifier)\" cannot be the identifier of a collection.")
        }
        let client: CollectionClient
        do throws(DeploymentError) { client = try ModelDeployment.client() } catch {
            throw MLModelError(error, of: identifier)
        }
        let meter = ProgressMeter(progress)
        Task {
            do throws(DeploymentError) {
                let use = try await client.open(identifier)
                let access = ModelCollectionAccess(use, identifier)
                let answer = Answer { [self] result in
                    if case .success(let access) = result { remember(access) }
                    completion(result)
                }
                // Models on the device are returned at once; otherwise the server first has to say which there will
                // be.
                if use.isDecided { answer.give(.success(access)) }
                let checks = client.keepUpToDate(identifier) { done, total in
                    meter.report(done, total)
                    answer.give(.success(access))
                } first: { result in
                    switch result {
                    case .success:
                        meter.finish()
                        answer.give(.success(access))
                    case .failure(let error):
                        meter.stop()
                        answer.give(.failure(MLModelError(error, of: identifier)))
                    }
                }
                meter.onCancel { checks.cancel() }
                try? await Task.sleep(for: .seconds(Self.patience))
                answer.give(
                    .failure(
                        MLModelError(
                            DeploymentError(
                                .offline,
                                "",
                                "The server has not answered within \(Int(Self.patience)) seconds; the request continues."
                            ),
                            of: identifier
                        )
                    )
                )
            } catch {
                meter.stop()
                completion(.failure(MLModelError(error, of: identifier)))
            }
        }
    }

    func endAccessing(_ identifier: String) async throws -> Bool {
        given.withLock { $0[identifier] = nil }
        do throws(DeploymentError) { return try await ModelDeployment.client().end(identifier) } catch {
            throw MLModelError(error, of: identifier)
        }
    }

    private func remember(_ access: ModelCollectionAccess) {
        given.withLock { $0[access.identifier] = MLModelCollection(access) }
    }

    /// Notifies the app that other models have arrived.
    func announce(_ identifier: String) {
        let collection = given.withLock { $0[identifier] }
        NotificationCenter.default.post(
            name: MLModelCollection.didChangeNotification,
            object: collection,
            userInfo: ["identifier": identifier]
        )
    }
}

/// Calls a handler once, with the first result that is known.
private final class Answer: Sendable {
    private let given = Atomic<Bool>(false)
    private let body: @Sendable (Result<ModelCollectionAccess, MLModelError>) -> Void

    init(_ body: @escaping @Sendable (Result<ModelCollectionAccess, MLModelError>) -> Void) { self.body = body }

    func give(_ result: Result<ModelCollectionAccess, MLModelError>) {
        if !given.exchange(true, ordering: .acquiringAndReleasing) { body(result) }
    }
}

/// Shows the progress of a download in a `Progress`, whose cancelling stops the download.
///
/// Foundation declares `Progress` sendable, but reads and writes it without a lock: while the app looks at it only its
/// counts, which are numbers, are written.
private final class ProgressMeter: Sendable {
    private let progress: Progress
    private let cancellation: DownloadCancellation

    /// Takes a progress that the app does not have yet.
    init(_ progress: Progress) {
        let cancellation = DownloadCancellation()
        (self.progress, self.cancellation) = (progress, cancellation)
        progress.cancellationHandler = { cancellation.stop() }
    }

    func report(_ done: Int, _ total: Int) {
        progress.totalUnitCount = Int64(max(total, 1))
        progress.completedUnitCount = Int64(total == 0 ? 1 : done)
    }

    func finish() {
        if progress.totalUnitCount <= 0 { progress.totalUnitCount = 1 }
        progress.completedUnitCount = progress.totalUnitCount
    }

    /// Ends the progress at the present count; no more bytes will arrive.
    func stop() { if progress.totalUnitCount < 0 { progress.totalUnitCount = 0 } }

    /// Calls `body` when the progress is cancelled, at once when it has been.
    func onCancel(_ body: @escaping @Sendable () -> Void) { cancellation.onStop(body) }
}

/// Stops a download, even if called before it has begun.
private final class DownloadCancellation: Sendable {
    private struct State: Sendable {
        var isStopped = false
        var body: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func stop() {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            state.isStopped = true
            return state.body
        }
        body?()
    }

    func onStop(_ body: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state -> Bool in
            state.body = body
            return state.isStopped
        }
        if isStopped { body() }
    }
}

enum CollectionName {
    /// Whether a name has 1 to 128 letters, digits, hyphens, dots and underscores, as the server requires.
    static func isValid(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0)
                    || [0x2D, 0x2E, 0x5F].contains($0)
            }
    }
}

extension ModelCollectionAccess {
    init(_ use: CollectionStore.Use, _ identifier: String) {
        self.init(
            identifier: identifier,
            deploymentID: use.installed.release == nil ? "" : use.installed.deployment,
            models: use.models.mapValues { URL(fileURLWithPath: $0) }
        )
    }
}

/// Registers the provider with `MLModelCollection`; called when the first collection is accessed.
@_cdecl("coreml_deployment_register")
func registerProvider() { ModelCollectionProviders.register(CollectionProvider.shared) }
