import MLEncryption
import MLFiles
import MLNumerics

/// `GET /v1/revocations/{team}`: what a key service has taken back.
///
/// Devices get it with other news, and leases that it names open nothing any more.
public struct RevocationState: SignedMessage {
    static let type: StaticString = "mlk-revocations"
    static let largestText = 8 << 20
    static let mostEntries = 65_536

    public let team: String
    /// Grows with every change.
    public let version: Int
    public let time: ServiceTime
    public let devices: Set<DeviceIdentifier>
    public let keys: Set<KeyIdentifier>
    public let leases: Set<SerialNumber>
    var signature = WireSignature.none

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

    /// Whether a lease was taken back.
    public func revokes(_ lease: LeaseTerms) -> Bool {
        lease.team == team
            && (devices.contains(lease.device) || keys.contains(lease.keyID) || leases.contains(lease.serial))
    }

    /// Reads an answer; whether it is genuine is asked by `isSigned(byOneOf:)`.
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
    /// A list of names in their order, none of them twice.
    fileprivate mutating func identifiers<Kind>(_ name: StaticString) throws(ModelError) -> Set<Identifier<Kind>> {
        let list: [Identifier<Kind>] = try member(name) { (value) throws(ModelError) in
            try value.list(limit: RevocationState.mostEntries) { (item) throws(ModelError) in try item.identifier() }
        }
        guard zip(list, list.dropFirst()).allSatisfy({ $0 < $1 }) else { throw error("the list is not in order") }
        return Set(list)
    }
}
