/// Timestamp metadata: which snapshot is the newest (TUF specification, section 4.6).
public struct Timestamp: RoleMetadata {
    /// The type `timestamp`.
    public static let type = MetadataType.timestamp

    /// The members that all roles have in common.
    public var header: Header
    /// The entry for the newest snapshot.
    public var snapshot: MetadataFile
    private var other: [Name: MetadataValue] = [:]
    private var otherFiles: [Name: MetadataValue] = [:]

    /// Creates a timestamp.
    public init(header: Header, snapshot: MetadataFile) {
        self.header = header
        self.snapshot = snapshot
    }

    /// Reads the `signed` part of a timestamp; throws `malformed` or `wrongType`.
    public init(_ signed: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(signed, role: role, place: "signed")
        header = try Header(&fields, type: .timestamp)
        var files = try Fields(try fields.value("meta"), role: role, place: "meta")
        snapshot = try MetadataFile(try files.value("snapshot.json"), role: role)
        otherFiles = files.rest
        other = fields.rest
    }

    /// The `signed` part of the timestamp.
    public var signed: MetadataValue {
        var members = other.merging(header.members(.timestamp)) { $1 }
        members["meta"] = .object(otherFiles.merging(["snapshot.json": snapshot.json]) { $1 })
        return .object(members)
    }
}
