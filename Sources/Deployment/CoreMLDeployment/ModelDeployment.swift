import CCollectionRegistration
public import CoreML
import CoreMLEncryption
import DeploymentClient
import DeploymentKeys
import DeploymentPolicy
import Synchronization

/// The client of a deployment server: what brings `MLModelCollection`s to this device.
///
/// An app that is linked with this product and has `ModelDeployment.json` among its resources needs nothing of this; it is for
/// apps that choose the file, describe their devices, or want to decide when to ask.
public enum ModelDeployment {
    /// A signal of the app's own that rules of deployments can ask for, as `custom.NAME`.
    public enum Signal: Sendable {
        case text(String)
        case number(Double)
        case flag(Bool)
    }

    /// How the app wants to be served.
    public struct Configuration: Sendable {
        /// Where `ModelDeployment.json` lies; by default among the resources of the app, or where the variable
        /// `COREML_DEPLOYMENT` says.
        public var url: URL?
        /// Where models are kept; by default in the user's data folder (`XDG_DATA_HOME`), by the names of the app and its
        /// environment.
        public var folder: URL?
        /// Which of several lines of releases the device follows, such as `beta`.
        public var channel: String?
        /// The version of the app; that of its bundle by default.
        public var appVersion: String?
        /// What else rules can ask for.
        public var signals: [String: Signal] = [:]
        /// What the device proves with that it may have keys of models, where the app's enrolment asks for a token:
        /// `mlk_enroll_…`, which the app gets from wherever it knows that the device is one of its own.  By default what the
        /// variable `COREML_ENROLMENT_TOKEN` says.
        public var enrolmentToken: String?
        /// Whether the server is told, in counts that name no device, how releases fare: by which a rollout stops by itself.
        public var sendsReports = true
        /// What downloads of models wait for; checks themselves do not wait, and `checkNow` overrides it.
        public var downloadConditions: DownloadConditions = []

        public init() {}
    }

    /// How a check went.
    public enum CheckResult: Sendable {
        /// The app has what it is to have.
        case current
        /// Other models have arrived, which the app gets at its next launch.
        case arrived
        /// Another process of the app asks just now.
        case elsewhere
    }

    /// What serves this process.
    struct Clients: Sendable {
        let collections: CollectionClient
        let leases: LeaseClient
    }

    private struct State {
        var configuration = Configuration()
        var clients: Clients?
    }

    private static let state = Mutex(State())

    /// Sets how the app wants to be served; to be called before the first collection is accessed.
    public static func configure(_ configuration: Configuration) {
        state.withLock { $0 = State(configuration: configuration) }
    }

    /// Asks the server now what the device is to have of a collection, and fetches it, whatever downloads wait for otherwise.
    /// - Throws: `MLModelError.modelCollection`.
    public static func checkNow(for identifier: String) async throws -> CheckResult {
        do throws(DeploymentError) {
            switch try await client().check(identifier, ignoresConditions: true).result {
            case .current, .deferred: return .current
            case .staged: return .arrived
            case .elsewhere: return .elsewhere
            }
        } catch { throw MLModelError(error, of: identifier) }
    }

    /// The client of this process.
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

    /// What the device proves of itself when it enrols.
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
    /// The public form of a client's error.
    init(_ error: DeploymentError, of collection: String) {
        self.init(
            error.code == .key ? .modelDecryptionKeyFetch : .modelCollection,
            "The collection \"\(collection)\" cannot be brought up to date (\(error.code.rawValue)): \(error.description)"
        )
    }
}
