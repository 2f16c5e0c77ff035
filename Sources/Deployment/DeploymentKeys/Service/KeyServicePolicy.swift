/// Limits and lifetimes of a key service, for all teams.
public struct KeyServicePolicy: Sendable, Hashable {
    /// The largest difference in seconds between the device's clock and the service's, by default 300.
    public var clockTolerance = 300
    /// The lifetime of a challenge in seconds, by default five minutes.
    public var challengeLifetime = 300
    /// The lifetime of a certificate in seconds, by default 90 days.
    public var certificateLifetime = 90 * 86_400
    /// The seconds after its end for which a certificate can still be renewed, by default 90 days.
    public var renewalGrace = 90 * 86_400
    /// The limit of enrolments from one address, by default 10 an hour.
    public var enrolmentsPerAddress = RateLimit(10, per: 3600)
    /// The limit of releases to one device, by default 30 an hour.
    public var releasesPerDevice = RateLimit(30, per: 3600)
    /// The limit of releases of one key to one device, by default 5 a minute.
    public var releasesPerKey = RateLimit(5, per: 60)

    /// Creates the default policy.
    public init() {}
}

/// A server's information about a request besides its body.
public struct KeyServiceContext: Sendable, Hashable {
    /// The address it came from, which enrolments are limited by; `nil` where the server limits them itself.
    public var address: String?
    /// The country it came from (ISO 3166, two capital letters).
    ///
    /// `nil` when it is not known, which no list of countries admits.
    public var country: String?

    /// Creates a context, by default without address and country.
    public init(address: String? = nil, country: String? = nil) { (self.address, self.country) = (address, country) }
}

/// A service's answer to a request.
public struct KeyServiceReply: Sendable {
    /// The status of the HTTP response.
    public let status: Int
    /// The body of the response: canonical JSON.
    public let body: [UInt8]
    /// The value of the header `Retry-After` in seconds; `nil` for none.
    public let retryAfter: Int?
    /// The event, for audit and metrics.
    public let event: KeyServiceEvent
}

/// A handled request, for audit and metrics, without secrets.
public struct KeyServiceEvent: Sendable {
    /// The kind of request; one for each route.
    public enum Kind: String, Sendable { case challenge, enrolment, renewal, release, revocations }

    /// The kind of request.
    public let kind: Kind
    /// The team that the request names, if it is known.
    public internal(set) var team: String?
    /// The app that the request names, if it is known.
    public internal(set) var app: String?
    /// The device that made the request, if it is known.
    public internal(set) var device: DeviceIdentifier?
    /// The key that a release request names.
    public internal(set) var keyID: KeyIdentifier?
    /// The content that a release request names.
    public internal(set) var content: ContentIdentifier?
    /// The serial number of the certificate or lease that was given.
    public internal(set) var serial: SerialNumber?
    /// The reason of a refusal; `nil` for success.
    public internal(set) var failure: DeploymentKeyError?
    /// The error that the store or a verifier threw, where that is the reason.
    public internal(set) var cause: (any Error)?

    init(_ kind: Kind) { self.kind = kind }
}
