import CModelCollections
import Synchronization

/// A group of models that a deployment server delivers to the app's devices, all of them or none.
///
/// Collections come from a server of your own (`coreml-server`).  The app's target depends on the product
/// `CoreMLDeployment`, and the file `ModelDeployment.json`, which `coreml deploy configuration` writes, lies among its
/// resources.  What arrives while the app runs is used at its next launch, so an app keeps models in its bundle for the
/// time until then:
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
open class MLModelCollection: NSObject, @unchecked Sendable {
    /// A model of a collection.
    open class Entry: NSObject, @unchecked Sendable {
        /// The name of the model in its collection.
        public let modelIdentifier: String
        /// Where the model lies, in a form that `MLModel` loads.
        public let modelURL: URL

        init(modelIdentifier: String, modelURL: URL) {
            self.modelIdentifier = modelIdentifier
            self.modelURL = modelURL
        }

        /// Whether both are the same model at the same place.
        public func isEqual(to entry: Entry) -> Bool {
            modelIdentifier == entry.modelIdentifier && modelURL == entry.modelURL
        }

        override open func isEqual(_ object: Any?) -> Bool { (object as? Entry).map(isEqual(to:)) ?? false }
        override open var hash: Int { modelIdentifier.hashValue ^ modelURL.hashValue }
    }

    /// Posted when other models of a collection have arrived, which the app gets at its next launch.  The object is the
    /// collection that the app has.
    public class var didChangeNotification: NSNotification.Name {
        NSNotification.Name("MLModelCollectionDidChangeNotification")
    }

    /// The name of the collection, as the server knows it.
    public let identifier: String
    /// The models by their names: empty while nothing has been delivered, and where the server says that devices such as
    /// this one use the models of the app's bundle.
    public let entries: [String: Entry]
    /// The deployment that the models came by; empty when `entries` is.
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

    /// Gives the models of a collection as they are on the device, and sees to their being brought up to date.
    ///
    /// Models that have arrived since the last launch become the collection's; those that are found to be newer are fetched
    /// in the background, now and from time to time while the process runs, until `endAccessing`.
    ///
    /// - Parameter handler: Called once, on a thread of the system's: with what is on the device when something is; else
    ///   when the server has said what the device is to have, with no entries, or could not be asked
    ///   (`MLModelError.modelCollection`).
    /// - Returns: How far the fetching is, in bytes; cancelling it stops the fetching until the next check.
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

    /// Ends the fetching of a collection and lets go of its models, which are removed when no process uses them.
    /// - Returns: Whether the collection was being accessed.
    @discardableResult
    public class func endAccessing(identifier: String) async throws -> Bool {
        try await ModelCollectionProviders.current(for: identifier).endAccessing(identifier)
    }

    /// Ends the fetching of a collection and lets go of its models, which are removed when no process uses them.
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

/// A handler of the app's, which is called once, from another thread: Apple's declarations do not mark it so.
private struct UncheckedHandler<Value>: @unchecked Sendable {
    private let handler: (Result<Value, any Error>) -> Void

    init(_ handler: @escaping (Result<Value, any Error>) -> Void) { self.handler = handler }

    func call(_ result: Result<Value, any Error>) { handler(result) }
}

/// What is on the device of a collection.
package struct ModelCollectionAccess: Sendable {
    package let identifier: String
    package let deploymentID: String
    /// Where the models lie, by their names.
    package let models: [String: URL]

    package init(identifier: String, deploymentID: String, models: [String: URL]) {
        self.identifier = identifier
        self.deploymentID = deploymentID
        self.models = models
    }
}

/// Brings model collections to the device: what the product `CoreMLDeployment` implements.
package protocol ModelCollectionProvider: Sendable {
    /// - Parameter completion: called once, from any thread.
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
