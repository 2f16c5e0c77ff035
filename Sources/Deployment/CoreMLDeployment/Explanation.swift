public import CoreML
import CoreMLEncryption
import DeploymentClient
import DeploymentPolicy

extension ModelDeployment {
    /// The reason why a device has its models, from the device's records; the server is not asked.
    public struct Explanation: Sendable, CustomStringConvertible {
        /// The number of the release whose models the app uses; `nil` for the models of its bundle.
        public let release: Int?
        /// The identifier of the deployment that delivered the release; empty when none did.
        public let deployment: String
        /// The number of the release that the app gets at its next launch; 0 for the bundle, `nil` when nothing
        /// changes.
        public let nextRelease: Int?
        /// The decision of the newest policy for this device, with the rule and bucket; `nil` before the first check.
        ///
        /// It also says why no other rule applies.
        public let decision: String?
        /// The time when the server was last asked; `nil` before the first check.
        public let lastCheck: Date?
        /// The result of the last check: `current`, `arrived`, `deferred` or `failed`; `nil` before the first check.
        public let lastResult: String?
        /// The reason why the last check failed, or the condition that a download waits for; `nil` when there is none.
        public let failure: String?
        /// The time when the server is asked again; `nil` when none is set.
        public let nextCheck: Date?
        /// The number of releases that failed on this device and are not tried again.
        public let givenUp: Int

        /// The explanation as lines for a terminal.
        public let description: String
    }

    /// Explains why this device has its models of a collection.
    ///
    /// - Parameter identifier: The collection's name on the server.
    /// - Returns: The explanation, from the device's own records.
    /// - Throws: `MLModelError.modelCollection` when the store cannot be read or the app has no configuration.
    public static func explanation(for identifier: String) throws -> Explanation {
        do throws(DeploymentError) {
            let client = try client()
            let status = try CollectionStatus(of: identifier, in: client.store)
            return Explanation(status, nextCheck: client.nextCheck(of: identifier))
        } catch { throw MLModelError(error, of: identifier) }
    }

    /// The time when the server is asked for a collection again.
    ///
    /// - Parameter identifier: The collection's name on the server.
    /// - Returns: The exact time for a collection that is accessed in this process, otherwise the time that the server
    ///   asked for; `nil` before the first check and after one that failed.
    /// - Throws: `MLModelError.modelCollection` when the store cannot be read or the app has no configuration.
    public static func nextCheck(for identifier: String) throws -> Date? {
        try explanation(for: identifier).nextCheck
    }

    /// Fetches the keys of the encrypted models of a collection that are on the device, so that they open without a
    /// network.
    ///
    /// These are the models in use and those for the next launch.
    ///
    /// - Parameter identifier: The collection's name on the server.
    /// - Throws: `MLModelError`: `modelDecryptionKeyFetch` when a key cannot be fetched, `modelCollection` when the
    ///   store cannot be read or the app has no configuration.
    public static func prefetchKeys(for identifier: String) async throws {
        let paths: [String]
        do throws(DeploymentError) {
            let store = try client().store
            let state = try store.state(identifier)
            var found: [String] = []
            for release in [state.current, state.next].compactMap({ $0?.release }) {
                found += try (store.models(of: release) ?? [:]).values
            }
            paths = Set(found).sorted()
        } catch { throw MLModelError(error, of: identifier) }
        for path in paths {
            let url = URL(fileURLWithPath: path)
            guard try ModelKeys.info(for: url) != nil else { continue }
            try await ModelKeys.prefetch(for: url)
        }
    }
}

extension ModelDeployment.Explanation {
    init(_ status: CollectionStatus, nextCheck: Date?) {
        let (state, check) = (status.state, status.check)
        release = state.current?.release == nil ? nil : state.current?.number
        deployment = state.current?.deployment ?? ""
        nextRelease = state.next.map(\.number)
        decision = check?.explanation
        lastCheck = check.map { Date(timeIntervalSince1970: Double($0.date.secondsSince1970)) }
        lastResult = check?.result.rawValue
        failure = check?.code == nil ? nil : check?.message
        self.nextCheck = nextCheck ?? check?.next.map { Date(timeIntervalSince1970: Double($0.secondsSince1970)) }
        givenUp = state.failed.count
        description = status.description
    }
}
