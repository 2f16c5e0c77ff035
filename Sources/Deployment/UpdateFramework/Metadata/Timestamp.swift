/// Timestamp metadata: which snapshot is the newest (TUF specification, section 4.6).
public struct Timestamp: RoleMetadata {
    public static let type = MetadataType.timestamp

    public var header: Header
    public var snapshot: MetadataFile
    private var other: [Name: MetadataValue] = [:]
    private var otherFiles: [Name: MetadataValue] = [:]

    public init(header: Header, snapshot: MetadataFile) {
        self.header = header
        self.snapshot = snapshot
    }

    public init(_ signed: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(signed, role: role, place: "signed")
        header = try Header(&fields, type: .timestamp)
        var files = try Fields(try fields.value("meta"), role: role, place: "meta")
        snapshot = try MetadataFile(try files.value("snapshot.json"), role: role)
        otherFiles = files.rest
        other = fields.rest
    }

    public var signed: MetadataValue {
        var members = other.merging(header.members(.timestamp)) { $1 }
        members["meta"] = .object(otherFiles.merging(["snapshot.json": snapshot.json]) { $1 })
        return .object(members)
    }
}
