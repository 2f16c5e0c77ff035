public import CoreML
import CoreMLEncryption
import DeploymentClient
import DeploymentPolicy

extension ModelDeployment {
    /// Why a device has the models that it has, as far as the device knows: nothing is asked of the server.
    public struct Explanation: Sendable, CustomStringConvertible {
        /// The number of the release whose models the app uses; `nil` for the models of its bundle.
        public let release: Int?
        /// The deployment that brought it; empty when none did.
        public let deployment: String
        /// The number of the release that the app gets at its next launch; 0 for the bundle, `nil` when nothing changes.
        public let nextRelease: Int?
        /// What the newest policy gives this device, by which rule and bucket, and why no other rule; `nil` before the first check.
        public let decision: String?
        /// When the server was asked last, and how that went: `current`, `arrived`, `deferred` or `failed`.
        public let lastCheck: Date?
        public let lastResult: String?
        /// What failed, or what a download waits for.
        public let failure: String?
        /// When the server is asked again.
        public let nextCheck: Date?
        /// How many releases did not work on this device and are not tried again.
        public let givenUp: Int

        /// Lines for a terminal.
        public let description: String
    }

    /// Why this device has the models of a collection that it has.
    /// - Throws: `MLModelError.modelCollection` when the store cannot be read.
    public static func explanation(for identifier: String) throws -> Explanation {
        do throws(DeploymentError) {
            let client = try client()
            let status = try CollectionStatus(of: identifier, in: client.store)
            return Explanation(status, nextCheck: client.nextCheck(of: identifier))
        } catch { throw MLModelError(error, of: identifier) }
    }

    /// When the server is asked for a collection next: of one that is accessed in this process exactly, else when the server wanted to
    /// be asked again; `nil` before the first check and after one that failed.
    public static func nextCheck(for identifier: String) throws -> Date? {
        try explanation(for: identifier).nextCheck
    }

    /// Fetches the keys of the encrypted models of a collection that are on the device, used now or from the next launch on, so that
    /// they open without a network.
    /// - Throws: `MLModelError.modelDecryptionKeyFetch`.
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
