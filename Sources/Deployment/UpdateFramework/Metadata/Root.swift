/// Root metadata: the keys of the top-level roles (TUF specification, section 4.3).
public struct Root: RoleMetadata {
    /// The type `root`.
    public static let type = MetadataType.root

    /// The members that all roles have in common.
    public var header: Header
    /// Whether the names of published files contain their version or hash, so that readers never mix two states.
    public var hasConsistentSnapshots: Bool
    private var keys: [Name: PublicKey]
    private var roles: [MetadataType: RoleEntry]
    private var other: [Name: MetadataValue] = [:]
    private var saysConsistentSnapshots = true

    /// Creates a root without keys.
    public init(header: Header, hasConsistentSnapshots: Bool = true) {
        self.header = header
        self.hasConsistentSnapshots = hasConsistentSnapshots
        keys = [:]
        roles = [:]
    }

    /// Reads the `signed` part of a root; throws `malformed`, `wrongType` or `unsupportedKey`.
    public init(_ signed: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(signed, role: role, place: "signed")
        header = try Header(&fields, type: .root)
        saysConsistentSnapshots = fields.rest["consistent_snapshot"] != nil
        hasConsistentSnapshots = saysConsistentSnapshots ? try fields.bool("consistent_snapshot") : false
        keys = try Self.keys(try fields.object("keys"), role: role)
        let entries = try fields.object("roles")
        roles = [:]
        for type in MetadataType.allCases {
            guard let entry = entries[Name(type.rawValue)] else {
                throw .malformed(role, "it has no keys for \(type.rawValue)")
            }
            var rest = try Fields(entry, role: role, place: "the role \(type.rawValue)")
            roles[type] = try RoleEntry(&rest)
        }
        guard entries.count == roles.count else { throw .malformed(role, "it has keys for roles that do not exist") }
        other = fields.rest
    }

    static func keys(_ members: [Name: MetadataValue], role: String) throws(UpdateError) -> [Name: PublicKey] {
        var keys: [Name: PublicKey] = [:]
        for (id, value) in members { keys[id] = try PublicKey(value, role: role) }
        return keys
    }

    /// The `signed` part of the root.
    public var signed: MetadataValue {
        var members = other.merging(header.members(.root)) { $1 }
        if saysConsistentSnapshots || hasConsistentSnapshots {
            members["consistent_snapshot"] = .bool(hasConsistentSnapshots)
        }
        members["keys"] = .object(keys.mapValues(\.json))
        members["roles"] = .object(
            Dictionary(uniqueKeysWithValues: roles.map { (Name($0.key.rawValue), $0.value.json) })
        )
        return .object(members)
    }

    /// The keys that sign for a top-level role.
    public func keys(of type: MetadataType) -> RoleKeys {
        guard let entry = roles[type] else {
            return RoleKeys(role: type.rawValue, threshold: 1, keyIDs: [], keys: [:])
        }
        return entry.roleKeys(type.rawValue, keys)
    }

    /// Replaces the keys of a top-level role; keys that no role uses any more are removed.
    ///
    /// Throws `invalidEdit` when there are fewer keys than must sign.
    public mutating func setKeys(
        _ newKeys: [PublicKey],
        threshold: Int,
        of type: MetadataType
    ) throws(UpdateError) {
        roles[type] = try RoleEntry(newKeys, threshold: threshold, into: &keys, kept: roles[type], role: type.rawValue)
        let used = Set(roles.values.flatMap { $0.keyIDs.map { Name($0) } })
        keys = keys.filter { used.contains($0.key) }
    }
}

/// The `keyids` and `threshold` of a role.
struct RoleEntry: Sendable {
    let keyIDs: [String]
    let threshold: Int
    private let other: [Name: MetadataValue]

    init(_ fields: inout Fields) throws(UpdateError) {
        keyIDs = try fields.strings("keyids")
        threshold = try fields.int("threshold", atLeast: 1)
        guard Set(keyIDs.map { Name($0) }).count == keyIDs.count else {
            throw .malformed(fields.role, "a key of \(fields.place) occurs twice")
        }
        other = fields.rest
    }

    /// Creates an entry for new keys, which are added to `keys`.
    init(
        _ newKeys: [PublicKey],
        threshold: Int,
        into keys: inout [Name: PublicKey],
        kept: RoleEntry?,
        role: String
    ) throws(UpdateError) {
        let named = try RoleKeys(role: role, threshold: threshold, keys: newKeys)
        guard threshold >= 1, named.keyIDs.count >= threshold else {
            throw UpdateError(
                .invalidEdit,
                role,
                "\(threshold) of \(named.keyIDs.count) keys cannot sign",
                remedy: "Give at least as many different keys as must sign, and at least one"
            )
        }
        keys.merge(named.keys) { $1 }
        keyIDs = named.keyIDs
        self.threshold = threshold
        other = kept?.other ?? [:]
    }

    func roleKeys(_ role: String, _ keys: [Name: PublicKey]) -> RoleKeys {
        let ids = Set(keyIDs.map { Name($0) })
        return RoleKeys(role: role, threshold: threshold, keyIDs: keyIDs, keys: keys.filter { ids.contains($0.key) })
    }

    var members: [Name: MetadataValue] {
        other.merging(["keyids": .array(keyIDs.map { .string($0) }), "threshold": .integer(threshold)]) { $1 }
    }

    var json: MetadataValue { .object(members) }
}
