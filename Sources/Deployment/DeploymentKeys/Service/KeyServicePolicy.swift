/// What a key service allows and how long things last, for all teams.
public struct KeyServicePolicy: Sendable, Hashable {
    /// The most seconds between the device's clock and the service's.
    public var clockTolerance = 300
    /// For how many seconds a challenge is good.
    public var challengeLifetime = 300
    /// The seconds after which a certificate ends.
    public var certificateLifetime = 90 * 86_400
    /// For how many seconds after its end a certificate can still be renewed.
    public var renewalGrace = 90 * 86_400
    /// Enrolments of one address.
    public var enrolmentsPerAddress = RateLimit(10, per: 3600)
    /// Releases of one device.
    public var releasesPerDevice = RateLimit(30, per: 3600)
    /// Releases of one key to one device.
    public var releasesPerKey = RateLimit(5, per: 60)

    public init() {}
}

/// What a server knows of a request beside its body.
public struct KeyServiceContext: Sendable, Hashable {
    /// The address it came from, by which enrolments are limited; `nil` where the server limits them itself.
    public var address: String?
    /// The country it came from (ISO 3166, two capital letters); `nil` when that is not known, which no list of countries
    /// admits.
    public var country: String?

    public init(address: String? = nil, country: String? = nil) { (self.address, self.country) = (address, country) }
}

/// What a server answers.
public struct KeyServiceReply: Sendable {
    /// The status of the HTTP response.
    public let status: Int
    /// The body: canonical JSON.
    public let body: [UInt8]
    /// For the header `Retry-After`, in seconds.
    public let retryAfter: Int?
    /// For audit and metrics.
    public let event: KeyServiceEvent
}

/// What happened, for audit and metrics; nothing in it is secret.
public struct KeyServiceEvent: Sendable {
    public enum Kind: String, Sendable { case challenge, enrolment, renewal, release, revocations }

    public let kind: Kind
    public internal(set) var team: String?
    public internal(set) var app: String?
    public internal(set) var device: DeviceIdentifier?
    public internal(set) var keyID: KeyIdentifier?
    public internal(set) var content: ContentIdentifier?
    /// The number of the certificate or the lease that was given.
    public internal(set) var serial: SerialNumber?
    /// Why nothing was given; `nil` when something was.
    public internal(set) var failure: DeploymentKeyError?
    /// What the store or a verifier has thrown, when that is why.
    public internal(set) var cause: (any Error)?

    init(_ kind: Kind) { self.kind = kind }
}
