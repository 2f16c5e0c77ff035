/// Targets metadata: which files are to be trusted, and who else may vouch for some (TUF specification, section 4.5).
public struct Targets: RoleMetadata {
    public static let type = MetadataType.targets

    public var header: Header
    public private(set) var targets: [Name: Target]
    public private(set) var delegations: Delegations?
    private var other: [Name: MetadataValue] = [:]

    /// Targets metadata without any files.
    public init(header: Header) {
        self.header = header
        targets = [:]
    }

    public init(_ signed: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(signed, role: role, place: "signed")
        header = try Header(&fields, type: .targets)
        targets = [:]
        for (path, value) in try fields.object("targets") {
            targets[path] = try Target(path: path.text, value, role: role)
        }
        if let value = fields.take("delegations") { delegations = try Delegations(value, role: role) }
        other = fields.rest
    }

    public var signed: MetadataValue {
        var members = other.merging(header.members(.targets)) { $1 }
        members["targets"] = .object(targets.mapValues(\.json))
        members["delegations"] = delegations?.json
        return .object(members)
    }

    public func target(_ path: String) -> Target? { targets[Name(path)] }

    /// The keys and threshold of a role that this one delegates to.
    public func keys(ofDelegated name: String) -> RoleKeys? { delegations?.keys(of: name) }

    // MARK: Editing

    /// Vouches for a file, in place of an older one of the same path.
    public mutating func set(_ target: Target) { targets[Name(target.path)] = target }

    public mutating func removeTarget(_ path: String) { targets[Name(path)] = nil }

    /// Delegates to a role, in place of an older delegation of the same name, else behind all others.
    /// - Throws: `invalidEdit`.
    public mutating func delegate(
        to name: String,
        keys: [PublicKey],
        threshold: Int,
        paths: DelegatedPaths,
        isTerminating: Bool
    ) throws(UpdateError) {
        var delegations = self.delegations ?? Delegations()
        try delegations.set(name, keys: keys, threshold: threshold, paths: paths, isTerminating: isTerminating)
        self.delegations = delegations
    }

    public mutating func removeDelegation(to name: String) { delegations?.remove(name) }
}

/// Which targets a role is trusted for.
public enum DelegatedPaths: Sendable {
    /// Patterns whose `*`, `?` and `[…]` match within one part of a path.
    case patterns([String])
    /// The first hexadecimal digits of the SHA-256 of a path.
    case hashPrefixes([String])

    public func contain(_ path: String) -> Bool {
        switch self {
        case .patterns(let patterns): return patterns.contains { PathPattern.matches(path, $0) }
        case .hashPrefixes(let prefixes):
            let digits = FileHashes(of: Array(path.utf8)).first.utf8
            return prefixes.contains { digits.starts(with: $0.utf8) }
        }
    }
}

/// The roles that targets metadata delegates to, in the order in which they are asked.
public struct Delegations: Sendable {
    public struct Role: Sendable {
        public let name: String
        public let paths: DelegatedPaths
        /// Whether nobody behind this role is asked about its paths.
        public let isTerminating: Bool
        fileprivate let entry: RoleEntry

        fileprivate init(name: String, paths: DelegatedPaths, isTerminating: Bool, entry: RoleEntry) {
            self.name = name
            self.paths = paths
            self.isTerminating = isTerminating
            self.entry = entry
        }

        fileprivate init(_ value: MetadataValue, role: String) throws(UpdateError) {
            var fields = try Fields(value, role: role, place: "a delegation")
            name = try fields.string("name")
            isTerminating = try fields.bool("terminating")
            switch (fields.rest["paths"] != nil, fields.rest["path_hash_prefixes"] != nil) {
            case (true, false): paths = .patterns(try fields.strings("paths"))
            case (false, true): paths = .hashPrefixes(try fields.strings("path_hash_prefixes"))
            default: throw .malformed(role, "a delegation needs either paths or path_hash_prefixes")
            }
            entry = try RoleEntry(&fields)
        }

        fileprivate var json: MetadataValue {
            var members = entry.members
            members["name"] = .string(name)
            members["terminating"] = .bool(isTerminating)
            switch paths {
            case .patterns(let patterns): members["paths"] = .array(patterns.map { .string($0) })
            case .hashPrefixes(let prefixes): members["path_hash_prefixes"] = .array(prefixes.map { .string($0) })
            }
            return .object(members)
        }
    }

    public private(set) var roles: [Role] = []
    private var keys: [Name: PublicKey] = [:]
    private var other: [Name: MetadataValue] = [:]

    init() {}

    init(_ value: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(value, role: role, place: "delegations")
        guard fields.rest["succinct_roles"] == nil else {
            throw .malformed(role, "hash bins by name (succinct_roles, TAP 15) are not part of the specification")
        }
        keys = try Root.keys(try fields.object("keys"), role: role)
        var names: Set<Name> = []
        for value in try fields.array("roles") {
            let delegated = try Role(value, role: role)
            guard Self.isName(delegated.name), names.insert(Name(delegated.name)).inserted else {
                throw .malformed(role, "\"\(delegated.name.prefix(80))\" cannot be delegated to, or is so twice")
            }
            roles.append(delegated)
        }
        other = fields.rest
    }

    /// Whether a role may be called so: top-level roles are root's to appoint.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !MetadataType.allCases.contains { Name($0.rawValue) == Name(name) }
    }

    var json: MetadataValue {
        .object(
            other.merging([
                "keys": .object(keys.mapValues(\.json)), "roles": .array(roles.map(\.json)),
            ]) { $1 }
        )
    }

    public func keys(of name: String) -> RoleKeys? {
        roles.first { Name($0.name) == Name(name) }.map { $0.entry.roleKeys($0.name, keys) }
    }

    /// The roles that are trusted for a path, in order, up to the first that terminates.
    func roles(for path: String) -> (roles: [Role], isTerminated: Bool) {
        var found: [Role] = []
        for role in roles where role.paths.contain(path) {
            found.append(role)
            if role.isTerminating { return (found, true) }
        }
        return (found, false)
    }

    mutating func set(
        _ name: String,
        keys newKeys: [PublicKey],
        threshold: Int,
        paths: DelegatedPaths,
        isTerminating: Bool
    ) throws(UpdateError) {
        guard Self.isName(name) else {
            throw UpdateError(.invalidEdit, name, "no role can be called so", remedy: "Choose another name")
        }
        let place = roles.firstIndex { Name($0.name) == Name(name) }
        let kept = place.map { roles[$0].entry }
        let entry = try RoleEntry(newKeys, threshold: threshold, into: &keys, kept: kept, role: name)
        let role = Role(name: name, paths: paths, isTerminating: isTerminating, entry: entry)
        if let place { roles[place] = role } else { roles.append(role) }
        dropUnusedKeys()
    }

    mutating func remove(_ name: String) {
        roles.removeAll { Name($0.name) == Name(name) }
        dropUnusedKeys()
    }

    private mutating func dropUnusedKeys() {
        let used = Set(roles.flatMap { $0.entry.keyIDs.map { Name($0) } })
        keys = keys.filter { used.contains($0.key) }
    }
}
