import Synchronization

/// A store in memory, for tests and trials.
public final class MemoryKeyServiceStore: KeyServiceStore {
    private struct Name: Hashable {
        let team: String
        let name: String
    }

    private struct RingName: Hashable {
        let team: String
        let keyID: KeyIdentifier
        let content: ContentIdentifier
    }

    private struct State {
        var rings: [String: TeamKeyRing] = [:]
        var apps: [Name: EnrolmentPolicy] = [:]
        var tokens: [Name: EnrolmentTokenRecord] = [:]
        var devices: [Name: DeviceRecord] = [:]
        var entitlements: [EntitlementQuery: KeyEntitlement] = [:]
        var holders: [RingName: Set<DeviceIdentifier>] = [:]
        var leases: [LeaseTerms] = []
        var revocations: [String: RevocationState] = [:]
    }

    private let state = Mutex(State())

    /// Creates an empty store.
    public init() {}

    // MARK: Setting up

    /// Sets the keys of a team.
    public func setKeyRing(_ ring: TeamKeyRing) { state.withLock { $0.rings[ring.team] = ring } }

    /// Sets the enrolment conditions of an app.
    public func setApp(_ app: String, team: String, _ policy: EnrolmentPolicy) {
        state.withLock { $0.apps[Name(team: team, name: app)] = policy }
    }

    /// Adds an enrolment token to a team.
    public func addToken(_ token: EnrolmentTokenRecord, team: String) {
        state.withLock { $0.tokens[Name(team: team, name: token.id)] = token }
    }

    /// Lets an app have the content key of a model; `nil` withdraws it.
    public func setEntitlement(_ entitlement: KeyEntitlement?, app: String, team: String, _ model: WrappedContentKey) {
        let query = EntitlementQuery(
            team: team,
            app: app,
            keyID: model.keyID,
            content: model.content,
            archive: model.archive
        )
        state.withLock { $0.entitlements[query] = entitlement }
    }

    /// Sets the status of a device, if it is known.
    public func setStatus(_ status: DeviceRecord.Status, team: String, _ device: DeviceIdentifier) {
        state.withLock { $0.devices[Name(team: team, name: device.description)]?.status = status }
    }

    /// Sets the revocations of a team.
    public func setRevocations(_ revocations: RevocationState) {
        state.withLock { $0.revocations[revocations.team] = revocations }
    }

    /// The recorded leases, the oldest first.
    public var leases: [LeaseTerms] { state.withLock { $0.leases } }

    // MARK: KeyServiceStore

    /// The keys of a team.
    public func keyRing(team: String) async throws -> TeamKeyRing? { state.withLock { $0.rings[team] } }

    /// The enrolment conditions of an app.
    public func enrolmentPolicy(team: String, app: String) async throws -> EnrolmentPolicy? {
        state.withLock { $0.apps[Name(team: team, name: app)] }
    }

    /// The record of an enrolment token.
    public func enrolmentToken(team: String, id: String) async throws -> EnrolmentTokenRecord? {
        state.withLock { $0.tokens[Name(team: team, name: id)] }
    }

    /// Enrols a device, new or known.
    public func enrol(_ device: DeviceRecord, limit: Int?, token: String?) async throws -> EnrolmentOutcome {
        state.withLock { state in
            let name = Name(team: device.team, name: device.device.description)
            if var known = state.devices[name] {
                guard known.status == .active else { return .refused(known.status) }
                known.renew(device)
                state.devices[name] = known
                return .enrolled
            }
            let count = state.devices.values.count { $0.team == device.team && $0.app == device.app }
            if let limit, count >= limit { return .deviceLimit }
            if let token, let uses = state.tokens[Name(team: device.team, name: token)]?.remainingUses {
                guard uses > 0 else { return .tokenUsedUp }
                state.tokens[Name(team: device.team, name: token)]?.remainingUses = uses - 1
            }
            state.devices[name] = device
            return .enrolled
        }
    }

    /// The record of a device.
    public func device(_ device: DeviceIdentifier, team: String) -> DeviceRecord? {
        state.withLock { $0.devices[Name(team: team, name: device.description)] }
    }

    /// Reads, changes and writes the record of a device, unless `body` throws.
    public func updateDevice<R: Sendable>(
        team: String,
        _ device: DeviceIdentifier,
        _ body: @Sendable (inout DeviceRecord?) throws -> R
    ) async throws -> R {
        try state.withLock { state in
            let name = Name(team: team, name: device.description)
            let known = state.devices[name]
            var record = known
            let result = try body(&record)
            if known != nil { state.devices[name] = record }
            return result
        }
    }

    /// The conditions on which an app may have a content key.
    public func entitlement(_ query: EntitlementQuery) async throws -> KeyEntitlement? {
        state.withLock { $0.entitlements[query] }
    }

    /// Adds a device to the holders of a content key, within the limit.
    public func addHolder(
        _ device: DeviceIdentifier,
        team: String,
        keyID: KeyIdentifier,
        content: ContentIdentifier,
        limit: Int?
    ) async throws -> Bool {
        state.withLock { state in
            let holding = RingName(team: team, keyID: keyID, content: content)
            var holders = state.holders[holding] ?? []
            guard holders.contains(device) || limit.map({ holders.count < $0 }) ?? true else { return false }
            holders.insert(device)
            state.holders[holding] = holders
            return true
        }
    }

    /// Records a lease.
    public func record(_ lease: LeaseTerms) async throws { state.withLock { $0.leases.append(lease) } }

    /// The revocations of a team; an empty list where none were set.
    public func revocations(team: String) async throws -> RevocationState? {
        state.withLock { state in
            state.revocations[team] ?? state.rings[team].map { RevocationState(team: $0.team, version: 0, time: .now) }
        }
    }
}
