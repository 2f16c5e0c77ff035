/// Snapshot metadata: which versions of targets metadata belong together (TUF specification, section 4.4).
public struct Snapshot: RoleMetadata {
    public static let type = MetadataType.snapshot

    public var header: Header
    /// The files by name, `targets.json` among them.
    public var files: [Name: MetadataFile]
    private var other: [Name: MetadataValue] = [:]

    public init(header: Header, files: [Name: MetadataFile]) {
        self.header = header
        self.files = files
    }

    public init(_ signed: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(signed, role: role, place: "signed")
        header = try Header(&fields, type: .snapshot)
        files = [:]
        for (name, value) in try fields.object("meta") { files[name] = try MetadataFile(value, role: role) }
        other = fields.rest
    }

    public var signed: MetadataValue {
        var members = other.merging(header.members(.snapshot)) { $1 }
        members["meta"] = .object(files.mapValues(\.json))
        return .object(members)
    }

    /// What the snapshot says of a role's metadata.
    public func file(of role: String) -> MetadataFile? { files[Name(role + ".json")] }
}
