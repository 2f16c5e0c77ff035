import CModelCollections
import Synchronization

/// A group of models that a deployment server delivers to the app's devices, all or none of them.
///
/// Collections come from a server of your own (`coreml-server`). The app's target depends on the product
/// `CoreMLDeployment`, and the file `ModelDeployment.json`, which `coreml deploy configuration` writes, is among its
/// resources. Models that arrive while the app runs are used at its next launch, so an app keeps models in its bundle
/// for the time until then:
///
/// ```swift
/// MLModelCollection.beginAccessing(identifier: "FlowerModels") { result in
///     var url = bundledModelURL
///     if case .success(let collection) = result, let entry = collection.entries["FlowerClassifier"] {
///         url = entry.modelURL
///     }
///     …
/// }
/// ```
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLModelCollection: NSObject, @unchecked Sendable {
    /// A model of a collection.
    ///
    /// `@unchecked Sendable`: everything that it holds is immutable.
    open class Entry: NSObject, @unchecked Sendable {
        /// The model's name, unique within its collection.
        public let modelIdentifier: String
        /// The location of the model, in a form that `MLModel` loads.
        public let modelURL: URL

        init(modelIdentifier: String, modelURL: URL) {
            self.modelIdentifier = modelIdentifier
            self.modelURL = modelURL
        }

        /// Whether both are the same model at the same location.
        public func isEqual(to entry: Entry) -> Bool {
            modelIdentifier == entry.modelIdentifier && modelURL == entry.modelURL
        }

        /// Whether the other object is the same model at the same location.
        override open func isEqual(_ object: Any?) -> Bool { (object as? Entry).map(isEqual(to:)) ?? false }
        /// A hash of identifier and location.
        override open var hash: Int { modelIdentifier.hashValue ^ modelURL.hashValue }
    }

    /// The name of the notification that other models of a collection have arrived; the app gets them at its next
    /// launch.
    ///
    /// The notification's object is the collection in use.
    public class var didChangeNotification: NSNotification.Name {
        NSNotification.Name("MLModelCollectionDidChangeNotification")
    }

    /// The collection's name on the server.
    public let identifier: String
    /// The models by name.
    ///
    /// Empty while nothing has been delivered, and where the server tells devices such as this one to use the models of
    /// the app's bundle.
    public let entries: [String: Entry]
    /// The identifier of the deployment that delivered the models; empty when `entries` is.
    public let deploymentID: String

    package init(_ access: ModelCollectionAccess) {
        identifier = access.identifier
        deploymentID = access.deploymentID
        entries = Dictionary(
            uniqueKeysWithValues: access.models.map { name, url in
                (name, Entry(modelIdentifier: name, modelURL: url))
            }
        )
    }

    /// Provides the models of a collection that are on the device, and keeps them up to date.
    ///
    /// Models that have arrived since the last launch become the collection's. Newer ones are fetched in the
    /// background, now and from time to time while the process runs, until `endAccessing`.
    ///
    /// - Parameters:
    ///   - identifier: The collection's name on the server: 1 to 128 letters, digits, hyphens, dots and underscores.
    ///   - handler: Called once, on a background thread: at once when models are on the device; otherwise with no
    ///     entries when the server has said which models the device is to have, or with `MLModelError.modelCollection`
    ///     when the server cannot be reached.
    /// - Returns: The progress of the download in bytes; cancelling it stops the download until the next check.
    @discardableResult
    public class func beginAccessing(
        identifier: String,
        completionHandler handler: @escaping (Result<MLModelCollection, any Error>) -> Void
    ) -> Progress {
        let handler = UncheckedHandler(handler)
        let progress = Progress(totalUnitCount: -1)
        do {
            try ModelCollectionProviders.current(for: identifier).beginAccessing(identifier, progress) { result in
                handler.call(result.map(MLModelCollection.init).mapError { $0 })
            }
        } catch {
            progress.cancel()
            DispatchQueue.global().async { handler.call(.failure(error)) }
        }
        return progress
    }

    /// Ends the fetching of a collection and releases its models, which are removed when no process uses them.
    ///
    /// - Parameter identifier: The collection's name on the server.
    /// - Returns: Whether the collection was being accessed.
    /// - Throws: `MLModelError.modelCollection` when the program has no client for deployments, or the client fails.
    @discardableResult
    public class func endAccessing(identifier: String) async throws -> Bool {
        try await ModelCollectionProviders.current(for: identifier).endAccessing(identifier)
    }

    /// Ends the fetching of a collection, releases its models, and calls a handler.
    ///
    /// - Parameters:
    ///   - identifier: The collection's name on the server.
    ///   - handler: Called once, on a background thread; its error is an `MLModelError`.
    public class func endAccessing(
        identifier: String,
        completionHandler handler: @escaping (Result<Void, any Error>) -> Void
    ) {
        let handler = UncheckedHandler(handler)
        Task {
            do {
                _ = try await endAccessing(identifier: identifier)
                handler.call(.success(()))
            } catch { handler.call(.failure(error)) }
        }
    }
}

/// A handler of the app's that is called once, from another thread; Apple's declarations do not mark it as sendable.
///
/// `@unchecked Sendable`: it is called once, by one thread, as the app expects.
private struct UncheckedHandler<Value>: @unchecked Sendable {
    private let handler: (Result<Value, any Error>) -> Void

    init(_ handler: @escaping (Result<Value, any Error>) -> Void) { self.handler = handler }

    func call(_ result: Result<Value, any Error>) { handler(result) }
}

/// The models of a collection that are on the device.
package struct ModelCollectionAccess: Sendable {
    package let identifier: String
    package let deploymentID: String
    /// The locations of the models by name.
    package let models: [String: URL]

    package init(identifier: String, deploymentID: String, models: [String: URL]) {
        self.identifier = identifier
        self.deploymentID = deploymentID
        self.models = models
    }
}

/// Brings model collections to the device; the product `CoreMLDeployment` implements it.
package protocol ModelCollectionProvider: Sendable {
    /// Provides the models of a collection; `completion` is called once, from any thread.
    func beginAccessing(
        _ identifier: String,
        _ progress: Progress,
        _ completion: @escaping @Sendable (Result<ModelCollectionAccess, MLModelError>) -> Void
    ) throws

    func endAccessing(_ identifier: String) async throws -> Bool
}

/// The registered provider of collections.
package enum ModelCollectionProviders {
    private static let registered = Mutex<(any ModelCollectionProvider)?>(nil)
    /// Lets a provider that was linked register itself, once.
    private static let linked: Void = coreml_collections_call_registrar()

    package static func register(_ provider: any ModelCollectionProvider) {
        registered.withLock { $0 = provider }
    }

    fileprivate static func current(for identifier: String) throws -> any ModelCollectionProvider {
        linked
        guard let provider = registered.withLock({ $0 }) else {
            throw MLModelError(
                .modelCollection,
                "The collection \"\(identifier)\" cannot be accessed: this program has no client for deployments; add the "
                    + "product CoreMLDeployment of swift-coreml to the dependencies of its target."
            )
        }
        return provider
    }
}
