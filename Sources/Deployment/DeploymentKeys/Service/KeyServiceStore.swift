/// The records of a key service; a server implements it with its database.
///
/// ``MemoryKeyServiceStore`` is for tests and trials. Whatever a method throws, the device is told that the service is
/// unavailable and may try again later.
public protocol KeyServiceStore: Sendable {
    /// The keys of a team; `nil` when there is no such team.
    func keyRing(team: String) async throws -> TeamKeyRing?

    /// The conditions on which devices may enrol for an app; `nil` when the team has no such app.
    func enrolmentPolicy(team: String, app: String) async throws -> EnrolmentPolicy?

    /// The record of an enrolment token; `nil` when the team has none with this identifier.
    func enrolmentToken(team: String, id: String) async throws -> EnrolmentTokenRecord?

    /// Enrols a device, new or known, in one transaction.
    ///
    /// A known device only takes over the newer certificate by ``DeviceRecord/renew(_:)``, and no limit applies. For a
    /// new one, `limit` is the largest number of devices that the app may have, and `token` loses one of its uses.
    func enrol(_ device: DeviceRecord, limit: Int?, token: String?) async throws -> EnrolmentOutcome

    /// The record of a device; `nil` for an unknown one.
    func device(_ device: DeviceIdentifier, team: String) async throws -> DeviceRecord?

    /// Reads, changes and writes the record of a device in one transaction.
    ///
    /// `body` gets `nil` for an unknown device, and what it then assigns is not stored. When `body` throws, nothing is
    /// stored, and the error is passed on.
    func updateDevice<R: Sendable>(
        team: String,
        _ device: DeviceIdentifier,
        _ body: @Sendable (inout DeviceRecord?) throws -> R
    ) async throws -> R

    /// The conditions on which an app may have the content key of a model; `nil` when it may not.
    func entitlement(_ query: EntitlementQuery) async throws -> KeyEntitlement?

    /// Adds a device to the holders of a content key, in one transaction.
    ///
    /// Returns false when it is not one of them and there are `limit` already.
    func addHolder(
        _ device: DeviceIdentifier,
        team: String,
        keyID: KeyIdentifier,
        content: ContentIdentifier,
        limit: Int?
    ) async throws -> Bool

    /// Records a lease before it is given out.
    func record(_ lease: LeaseTerms) async throws

    /// Everything that the team has revoked; `nil` when there is no such team.
    func revocations(team: String) async throws -> RevocationState?
}

/// The conditions on which devices may enrol for an app.
public struct EnrolmentPolicy: Sendable, Hashable {
    /// Whether devices may enrol that are not known yet.
    public var admitsNewDevices: Bool
    /// The least level that a device must prove.
    public var minimumAttestation: AttestationLevel
    /// The largest number of devices; `nil` for any number.
    public var deviceLimit: Int?
    /// The countries (ISO 3166, two capital letters) from which devices may enrol; `nil` for all.
    public var countries: Set<String>?

    /// Creates conditions, by default that a new device needs an enrolment token and nothing else.
    public init(
        admitsNewDevices: Bool = true,
        minimumAttestation: AttestationLevel = .token,
        deviceLimit: Int? = nil,
        countries: Set<String>? = nil
    ) {
        self.admitsNewDevices = admitsNewDevices
        self.minimumAttestation = minimumAttestation
        self.deviceLimit = deviceLimit
        self.countries = countries
    }
}

/// A service's record of an enrolment token.
public struct EnrolmentTokenRecord: Sendable, Hashable {
    /// The token's identifier.
    public let id: String
    /// The public key that verifies evidence made with the token.
    public let publicKey: SigningPublicKey
    /// The app that it is for; `nil` for all of the team.
    public var app: String?
    /// The time after which it is not accepted.
    public var notAfter: ServiceTime
    /// The number of devices that may still enrol with it; `nil` for any number.
    public var remainingUses: Int?

    /// Creates the record of a new token.
    public init(_ token: EnrolmentToken, app: String?, notAfter: ServiceTime, remainingUses: Int?) {
        self.init(
            id: token.id,
            publicKey: token.publicKey,
            app: app,
            notAfter: notAfter,
            remainingUses: remainingUses
        )
    }

    /// Creates a record from its stored parts.
    public init(
        id: String,
        publicKey: SigningPublicKey,
        app: String?,
        notAfter: ServiceTime,
        remainingUses: Int?
    ) {
        self.id = id
        self.publicKey = publicKey
        self.app = app
        self.notAfter = notAfter
        self.remainingUses = remainingUses
    }
}

/// The result of enrolling a device in a store.
public enum EnrolmentOutcome: Sendable {
    /// The device is enrolled.
    case enrolled
    /// The device was revoked, or found cloned: its identity cannot be used any more.
    case refused(DeviceRecord.Status)
    /// The app has as many devices as it may have.
    case deviceLimit
    /// The enrolment token has no uses left.
    case tokenUsedUp
}

/// The question whether an app may have the content key of a model.
public struct EntitlementQuery: Sendable, Hashable {
    /// The team whose key it is.
    public let team: String
    /// The app that asks.
    public let app: String
    /// The key that the content key is wrapped for.
    public let keyID: KeyIdentifier
    /// The model's content identifier.
    public let content: ContentIdentifier
    /// The SHA-256 of the archive; `nil` for a model in the app bundle.
    public let archive: [UInt8]?
}

/// The conditions on which an app's devices may have a content key.
public struct KeyEntitlement: Sendable, Hashable {
    /// The length of a lease in seconds; `nil` for ever.
    public var leaseDuration: Int?
    /// The seconds after its end for which a lease still serves devices that are offline.
    public var offlineGrace: Int
    /// The least level that a device must have proved.
    public var minimumAttestation: AttestationLevel
    /// The largest number of devices that may hold the key; `nil` for any number.
    public var deviceLimit: Int?
    /// The countries (ISO 3166, two capital letters) from which it may be requested; `nil` for all.
    public var countries: Set<String>?

    /// Creates conditions, by default leases of 30 days with a week of grace for all devices.
    public init(
        leaseDuration: Int? = 30 * 86_400,
        offlineGrace: Int = 7 * 86_400,
        minimumAttestation: AttestationLevel = .none,
        deviceLimit: Int? = nil,
        countries: Set<String>? = nil
    ) {
        self.leaseDuration = leaseDuration
        self.offlineGrace = offlineGrace
        self.minimumAttestation = minimumAttestation
        self.deviceLimit = deviceLimit
        self.countries = countries
    }
}
