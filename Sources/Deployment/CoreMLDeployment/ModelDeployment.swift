import CCollectionRegistration
public import CoreML
import CoreMLEncryption
import DeploymentClient
import DeploymentKeys
import DeploymentPolicy
import Synchronization

/// The client of a deployment server, which brings `MLModelCollection`s to this device.
///
/// An app that is linked with this product and has `ModelDeployment.json` among its resources need not call it. It is
/// for apps that choose the file, describe their devices, or decide when to check.
public enum ModelDeployment {
    /// The value of a signal of the app's, which rules of deployments can test as `custom.NAME`.
    public enum Signal: Sendable {
        /// A text.
        case text(String)
        /// A number.
        case number(Double)
        /// A Boolean.
        case flag(Bool)
    }

    /// The settings of the client.
    public struct Configuration: Sendable {
        /// The location of `ModelDeployment.json`.
        ///
        /// By default it is the file that the environment variable `COREML_DEPLOYMENT` names, or the one among the
        /// app's resources.
        public var url: URL?
        /// The folder that stores the models.
        ///
        /// By default it is in the user's data folder (`XDG_DATA_HOME`), under the names of the app and its
        /// environment.
        public var folder: URL?
        /// The line of releases that the device follows, such as `beta`; by default none.
        public var channel: String?
        /// The version of the app; by default that of its bundle.
        public var appVersion: String?
        /// Further values that rules can test, by name; by default none.
        public var signals: [String: Signal] = [:]
        /// The token (`mlk_enroll_…`) that the device enrols with to get keys, where the app's enrolment requires one.
        ///
        /// The app gets it from a place that knows the device as one of its own. By default it is the value of the
        /// environment variable `COREML_ENROLMENT_TOKEN`.
        public var enrolmentToken: String?
        /// Whether the server is told how releases work, in counts that identify no device; by default true.
        ///
        /// Rollouts stop by themselves on the basis of these reports.
        public var sendsReports = true
        /// The conditions that downloads of models wait for; by default none.
        ///
        /// Checks do not wait for them, and `checkNow` ignores them.
        public var downloadConditions: DownloadConditions = []

        /// Makes the default settings.
        public init() {}
    }

    /// The result of a check.
    public enum CheckResult: Sendable {
        /// The app has the models that it is to have, or a download of others is deferred.
        case current
        /// Other models have arrived, which the app gets at its next launch.
        case arrived
        /// Another process of the app is checking at present.
        case elsewhere
    }

    /// The clients of this process.
    struct Clients: Sendable {
        let collections: CollectionClient
        let leases: LeaseClient
    }

    private struct State {
        var configuration = Configuration()
        var clients: Clients?
    }

    private static let state = Mutex(State())

    /// Sets the client's settings; to be called before the first collection is accessed.
    ///
    /// - Parameter configuration: The settings.
    public static func configure(_ configuration: Configuration) {
        state.withLock { $0 = State(configuration: configuration) }
    }

    /// Asks the server now for a collection and downloads other models, whatever conditions downloads otherwise wait
    /// for.
    ///
    /// - Parameter identifier: The collection's name on the server.
    /// - Returns: The result of the check.
    /// - Throws: `MLModelError.modelCollection` when the server cannot be reached, refuses, or delivers models that do
    ///   not work; `modelDecryptionKeyFetch` when a key cannot be fetched.
    public static func checkNow(for identifier: String) async throws -> CheckResult {
        do throws(DeploymentError) {
            switch try await client().check(identifier, ignoresConditions: true).result {
            case .current, .deferred: return .current
            case .staged: return .arrived
            case .elsewhere: return .elsewhere
            }
        } catch { throw MLModelError(error, of: identifier) }
    }

    /// The collection client of this process.
    static func client() throws(DeploymentError) -> CollectionClient { try clients().collections }

    static func clients() throws(DeploymentError) -> Clients {
        let result = state.withLock { state -> Result<Clients, DeploymentError> in
            if let clients = state.clients { return .success(clients) }
            do throws(DeploymentError) {
                let clients = try makeClients(state.configuration)
                state.clients = clients
                return .success(clients)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func makeClients(_ wish: Configuration) throws(DeploymentError) -> Clients {
        guard let path = wish.url?.path ?? ConfigurationFile.path() else {
            throw DeploymentError(
                .configuration,
                DeploymentConfiguration.fileName,
                "The file is not among the resources of the app: write it with coreml deploy configuration and add it to the "
                    + "target, or name it in ModelDeployment.configure."
            )
        }
        let configuration = try DeploymentConfiguration(contentsOf: path)
        let folder = wish.folder?.path ?? ConfigurationFile.dataFolder(of: configuration)
        let store = try CollectionStore(folder: folder)
        let installID = try DeviceDescription.installID(in: folder)
        var updater = Updater(
            configuration: configuration,
            store: store,
            transport: PersistentTransport(URLSessionTransport()),
            attributes: { describe(wish, folder: folder, installID: installID) },
            reports: wish.sendsReports,
            prefetchKey: { (path) throws(DeploymentError) in
                do { try await ModelKeys.prefetch(for: URL(fileURLWithPath: path)) } catch {
                    throw DeploymentError(.key, path, error.localizedDescription)
                }
            }
        )
        let watch = ConditionWatch(wish.downloadConditions)
        updater.obstacles = { watch.obstacles }
        var events = CollectionClient.Events()
        events.staged = { CollectionProvider.shared.announce($0) }
        return Clients(
            collections: CollectionClient(store: store, updater: updater, test: ReleaseTest.run, events: events),
            leases: LeaseClient(updater: updater) { binding in try evidence(wish, binding) }
        )
    }

    /// The evidence that the device enrols with.
    private static func evidence(_ wish: Configuration, _ binding: [UInt8]) throws -> AttestationEvidence {
        guard let text = wish.enrolmentToken ?? ConfigurationFile.enrolmentToken else { return .none }
        return try EnrolmentToken(text).evidence(binding: binding)
    }

    private static func describe(_ wish: Configuration, folder: String, installID: String) -> DeviceAttributes {
        var device = DeviceDescription.detected(folder: folder, installID: installID)
        device.channel = wish.channel
        if let version = wish.appVersion { device.appVersion = VersionNumber(version) }
        device.custom = wish.signals.mapValues { signal in
            switch signal {
            case .text(let text): .text(text)
            case .number(let number): .number(number)
            case .flag(let flag): .flag(flag)
            }
        }
        return ConfigurationFile.simulated(device)
    }
}

extension MLModelError {
    /// Makes the public form of a client's error.
    init(_ error: DeploymentError, of collection: String) {
        self.init(
            error.code == .key ? .modelDecryptionKeyFetch : .modelCollection,
            "The collection \"\(collection)\" cannot be updated (\(error.code.rawValue)): \(error.description)"
        )
    }
}
