/// What a key service remembers.  A server implements it with its database; `MemoryKeyServiceStore` is for tests and trials.
///
/// Whatever a method throws, the device is told that the service is unavailable and may try again later.
public protocol KeyServiceStore: Sendable {
    /// The keys of a team; `nil` when there is no such team.
    func keyRing(team: String) async throws -> TeamKeyRing?

    /// On what conditions devices may enrol for an app; `nil` when the team has no such app.
    func enrolmentPolicy(team: String, app: String) async throws -> EnrolmentPolicy?

    /// What is kept of an enrolment token; `nil` when the team has none of this name.
    func enrolmentToken(team: String, id: String) async throws -> EnrolmentTokenRecord?

    /// Enrols a device, or one that is known once more, in one transaction.
    ///
    /// Of a device that is known everything but its keys' owner changes by `DeviceRecord.renew`, and no limit is touched.
    /// For a new one, `limit` is the most devices that the app may have, and `token` loses one of its uses.
    func enrol(_ device: DeviceRecord, limit: Int?, token: String?) async throws -> EnrolmentOutcome

    /// What is known of a device; `nil` for one that is not known.
    func device(_ device: DeviceIdentifier, team: String) async throws -> DeviceRecord?

    /// Reads, changes and writes what is known of a device in one transaction; `nil` stands for a device that is not known,
    /// and what `body` makes of it is not written.
    ///
    /// When `body` throws, nothing is written, and the error is passed on.
    func updateDevice<R: Sendable>(
        team: String,
        _ device: DeviceIdentifier,
        _ body: @Sendable (inout DeviceRecord?) throws -> R
    ) async throws -> R

    /// Whether an app may have the content key of a model, and on what conditions; `nil` when it may not.
    func entitlement(_ query: EntitlementQuery) async throws -> KeyEntitlement?

    /// Counts a device among those that hold a content key, in one transaction.
    /// - Returns: false when it is none of them and there are `limit` already.
    func addHolder(
        _ device: DeviceIdentifier,
        team: String,
        keyID: KeyIdentifier,
        content: ContentIdentifier,
        limit: Int?
    ) async throws -> Bool

    /// Remembers a lease before it is given out.
    func record(_ lease: LeaseTerms) async throws

    /// What the team has taken back; `nil` when there is no such team.
    func revocations(team: String) async throws -> RevocationState?
}

/// On what conditions devices may enrol for an app.
public struct EnrolmentPolicy: Sendable, Hashable {
    /// False closes the door to devices that are not known yet.
    public var admitsNewDevices: Bool
    public var minimumAttestation: AttestationLevel
    /// The most devices; `nil` for any number.
    public var deviceLimit: Int?
    /// The countries (ISO 3166, two capital letters) from which devices may enrol; `nil` for all.
    public var countries: Set<String>?

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

/// What a service keeps of an enrolment token.
public struct EnrolmentTokenRecord: Sendable, Hashable {
    public let id: String
    public let publicKey: SigningPublicKey
    /// The app it is for; `nil` for all of the team.
    public var app: String?
    public var notAfter: ServiceTime
    /// How many devices may still enrol with it; `nil` for any number.
    public var remainingUses: Int?

    public init(_ token: EnrolmentToken, app: String?, notAfter: ServiceTime, remainingUses: Int?) {
        self.init(
            id: token.id,
            publicKey: token.publicKey,
            app: app,
            notAfter: notAfter,
            remainingUses: remainingUses
        )
    }

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

public enum EnrolmentOutcome: Sendable {
    case enrolled
    /// The device was revoked, or found cloned: its identity is of no use any more.
    case refused(DeviceRecord.Status)
    case deviceLimit
    case tokenUsedUp
}

/// What a device asks for.
public struct EntitlementQuery: Sendable, Hashable {
    public let team: String
    public let app: String
    public let keyID: KeyIdentifier
    public let content: ContentIdentifier
    /// The SHA-256 of the archive; `nil` for a folder that came with the app.
    public let archive: [UInt8]?
}

/// On what conditions an app's devices may have a content key.
public struct KeyEntitlement: Sendable, Hashable {
    /// The seconds after which a lease ends; `nil` for never.
    public var leaseDuration: Int?
    /// For how many seconds after its end a lease still serves devices that cannot reach the service.
    public var offlineGrace: Int
    public var minimumAttestation: AttestationLevel
    /// The most devices that may hold the key; `nil` for any number.
    public var deviceLimit: Int?
    /// The countries (ISO 3166, two capital letters) that may have it; `nil` for all.
    public var countries: Set<String>?

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
