/// The keys that may sign for a role, and how many of them must (TUF specification, sections 4.3 and 4.5).
public struct RoleKeys: Sendable {
    /// The role's name, for errors.
    public let role: String
    /// The number of keys that must sign.
    public let threshold: Int
    /// The ids of the keys that may sign, each once.
    public let keyIDs: [String]
    /// The keys by id; an id without a key never counts.
    public let keys: [Name: PublicKey]

    /// Creates the keys of a role from their ids.
    public init(role: String, threshold: Int, keyIDs: [String], keys: [Name: PublicKey]) {
        self.role = role
        self.threshold = threshold
        self.keyIDs = keyIDs
        self.keys = keys
    }

    /// Creates the keys of a role under the ids that publishers give them; duplicates count once.
    public init(role: String, threshold: Int, keys: [PublicKey]) throws(UpdateError) {
        var (ids, named) = ([String](), [Name: PublicKey]())
        for key in keys {
            let id = try key.id
            if named.updateValue(key, forKey: Name(id)) == nil { ids.append(id) }
        }
        self.init(role: role, threshold: threshold, keyIDs: ids, keys: named)
    }

    /// An identity that is equal for the same role, keys, ids and threshold.
    struct Identity: Hashable, Sendable {
        fileprivate let role: Name
        fileprivate let threshold: Int
        fileprivate let keys: [Name: Name]
    }

    var identity: Identity {
        Identity(
            role: Name(role),
            threshold: threshold,
            keys: keys.mapValues { Name("\($0.keyType) \($0.scheme.rawValue) \($0.value)") }
        )
    }

    /// Whether the ids of the keys and the threshold are the same.
    func hasSameKeys(as other: RoleKeys) -> Bool {
        threshold == other.threshold && Set(keyIDs.map { Name($0) }) == Set(other.keyIDs.map { Name($0) })
    }
}
