import MLEncryption
import MLFiles
import MLNumerics

/// The answer to `GET /v1/revocations/{team}`: everything that a key service has revoked.
///
/// The leases that it names open nothing any more.
public struct RevocationState: SignedMessage {
    static let type: StaticString = "mlk-revocations"
    static let maximumTextByteCount = 8 << 20
    static let maximumEntryCount = 65_536

    /// The name of the team.
    public let team: String
    /// The version, which grows with every change.
    public let version: Int
    /// The time at which the list was made.
    public let time: ServiceTime
    /// The revoked devices, all of whose leases are void.
    public let devices: Set<DeviceIdentifier>
    /// The revoked keys, all leases of which are void.
    public let keys: Set<KeyIdentifier>
    /// The serial numbers of revoked leases.
    public let leases: Set<SerialNumber>
    var signature = WireSignature.none

    /// Creates a list, by default without entries.
    public init(
        team: String,
        version: Int,
        time: ServiceTime,
        devices: Set<DeviceIdentifier> = [],
        keys: Set<KeyIdentifier> = [],
        leases: Set<SerialNumber> = []
    ) {
        self.team = team
        self.version = version
        self.time = time
        self.devices = devices
        self.keys = keys
        self.leases = leases
    }

    /// Whether a lease is revoked, by its device, its key or its serial number.
    public func revokes(_ lease: LeaseTerms) -> Bool {
        lease.team == team
            && (devices.contains(lease.device) || keys.contains(lease.keyID) || leases.contains(lease.serial))
    }

    /// Reads an answer; `isSigned(byOneOf:)` tells whether it is genuine.
    ///
    /// Throws `responseMalformed` for any other text.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text, else: .responseMalformed) }

    var members: [JSONValue.Member] {
        func list<Kind>(_ names: Set<Identifier<Kind>>) -> JSONValue {
            .array(names.sorted().map { .string($0.description) })
        }
        return [
            .init("devices", list(devices)), .init("keys", list(keys)), .init("leases", list(leases)),
            .text("team", team), .text("time", time), .integer("version", version),
        ]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        devices = try reader.identifiers("devices")
        try reader.format()
        keys = try reader.identifiers("keys")
        leases = try reader.identifiers("leases")
        signature = try reader.signature()
        team = try reader.name("team")
        time = try reader.time("time")
        try reader.type(Self.type)
        version = try reader.integer("version")
    }
}

extension CanonicalReader {
    /// A list of identifiers in ascending order without duplicates.
    fileprivate mutating func identifiers<Kind>(_ name: StaticString) throws(ModelError) -> Set<Identifier<Kind>> {
        let list: [Identifier<Kind>] = try member(name) { (value) throws(ModelError) in
            try value.list(limit: RevocationState.maximumEntryCount) { (item) throws(ModelError) in
                try item.identifier()
            }
        }
        guard zip(list, list.dropFirst()).allSatisfy({ $0 < $1 }) else { throw error("the list is not in order") }
        return Set(list)
    }
}
