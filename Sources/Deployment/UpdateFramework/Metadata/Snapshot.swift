/// Snapshot metadata: the versions of targets metadata that belong together (TUF specification, section 4.4).
public struct Snapshot: RoleMetadata {
    /// The type `snapshot`.
    public static let type = MetadataType.snapshot

    /// The members that all roles have in common.
    public var header: Header
    /// The entries by file name, `targets.json` among them.
    public var files: [Name: MetadataFile]
    private var other: [Name: MetadataValue] = [:]

    /// Creates a snapshot.
    public init(header: Header, files: [Name: MetadataFile]) {
        self.header = header
        self.files = files
    }

    /// Reads the `signed` part of a snapshot; throws `malformed` or `wrongType`.
    public init(_ signed: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(signed, role: role, place: "signed")
        header = try Header(&fields, type: .snapshot)
        files = [:]
        for (name, value) in try fields.object("meta") { files[name] = try MetadataFile(value, role: role) }
        other = fields.rest
    }

    /// The `signed` part of the snapshot.
    public var signed: MetadataValue {
        var members = other.merging(header.members(.snapshot)) { $1 }
        members["meta"] = .object(files.mapValues(\.json))
        return .object(members)
    }

    /// The snapshot's entry for a role's metadata; `nil` when it does not list the role.
    public func file(of role: String) -> MetadataFile? { files[Name(role + ".json")] }
}
