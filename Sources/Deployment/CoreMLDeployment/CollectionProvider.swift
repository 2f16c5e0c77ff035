import CCollectionRegistration
import CoreML
import DeploymentClient
import Synchronization

/// What `MLModelCollection` asks.
final class CollectionProvider: ModelCollectionProvider {
    static let shared = CollectionProvider()

    /// How long a first launch waits for the server to say that it can be reached.
    private static let patience = 10.0

    /// The collections that were given to the app, for the notifications about them.
    private let given = Mutex<[String: MLModelCollection]>([:])

    func beginAccessing(
        _ identifier: String,
        _ progress: Progress,
        _ completion: @escaping @Sendable (Result<ModelCollectionAccess, MLModelError>) -> Void
    ) throws {
        guard CollectionName.isRight(identifier) else {
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
                // What is on the device is given at once; else the server is to say first what there will be.
                if use.isDecided { answer.give(.success(access)) }
                let checks = client.keepUpToDate(identifier) { done, total in
                    meter.show(done, total)
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
                                "The server has not answered within \(Int(Self.patience)) seconds; it is still asked."
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

    /// Tells the app that other models have arrived.
    func announce(_ identifier: String) {
        let collection = given.withLock { $0[identifier] }
        NotificationCenter.default.post(
            name: MLModelCollection.didChangeNotification,
            object: collection,
            userInfo: ["identifier": identifier]
        )
    }
}

/// Gives the app one answer, whoever is first to know it.
private final class Answer: Sendable {
    private let given = Atomic<Bool>(false)
    private let body: @Sendable (Result<ModelCollectionAccess, MLModelError>) -> Void

    init(_ body: @escaping @Sendable (Result<ModelCollectionAccess, MLModelError>) -> Void) { self.body = body }

    func give(_ result: Result<ModelCollectionAccess, MLModelError>) {
        if !given.exchange(true, ordering: .acquiringAndReleasing) { body(result) }
    }
}

/// Shows on a `Progress` how far a download is.
private final class ProgressMeter: @unchecked Sendable {
    // `Progress` locks its counts itself.
    private let progress: Progress

    init(_ progress: Progress) { self.progress = progress }

    func show(_ done: Int, _ total: Int) {
        progress.totalUnitCount = Int64(max(total, 1))
        progress.completedUnitCount = Int64(total == 0 ? 1 : done)
    }

    func finish() {
        if progress.totalUnitCount <= 0 { progress.totalUnitCount = 1 }
        progress.completedUnitCount = progress.totalUnitCount
    }

    /// Nothing more will come; what has come stays.
    func stop() { if progress.totalUnitCount < 0 { progress.totalUnitCount = 0 } }

    func onCancel(_ body: @escaping @Sendable () -> Void) {
        progress.cancellationHandler = body
        if progress.isCancelled { body() }
    }
}

enum CollectionName {
    /// Letters, digits, hyphens, dots and underscores: as the server takes them.
    static func isRight(_ name: String) -> Bool {
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

/// Makes the provider known to `MLModelCollection`; called when the first collection is accessed.
@_cdecl("coreml_deployment_register")
func registerProvider() { ModelCollectionProviders.register(CollectionProvider.shared) }
