/// The members that the `signed` parts of all roles have in common (TUF specification, section 4.2.1).
public struct Header: Sendable {
    /// The version of the specification that the metadata follows: `1.0.34`.
    public var specVersion = "1.0.34"
    /// The version of the metadata, from 1 on.
    public var version: Int
    /// The time from which the metadata is not trusted any more.
    public var expires: UTCTime

    /// Creates a header with this module's version of the specification.
    public init(version: Int, expires: UTCTime) {
        self.version = version
        self.expires = expires
    }

    /// Reads a header; throws `wrongType` when the metadata is another role's.
    init(_ fields: inout Fields, type: MetadataType) throws(UpdateError) {
        let role = fields.role
        let found = try fields.string("_type")
        guard let known = MetadataType.allCases.first(where: { Name($0.rawValue) == Name(found) }) else {
            throw .malformed(role, "\"\(found.prefix(40))\" is not a type of metadata")
        }
        guard known == type else {
            throw UpdateError(
                .wrongType,
                role,
                "it is \(known.rawValue) metadata in the place of \(type.rawValue) metadata",
                remedy: "Publish the right file under this name; someone may have swapped them"
            )
        }
        specVersion = try fields.string("spec_version")
        try Self.check(specVersion, role: role)
        version = try fields.int("version", atLeast: 1)
        let expires = try fields.string("expires")
        guard let time = UTCTime(expires) else {
            throw .malformed(role, "\"\(expires.prefix(40))\" is not a date like 2026-11-23T14:00:00Z")
        }
        self.expires = time
    }

    /// Checks for a version `1.N` or `1.N.N`; another first number may change the meaning of metadata.
    private static func check(_ text: String, role: String) throws(UpdateError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isVersion = 2...3 ~= parts.count && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { 0x30...0x39 ~= $0 } }
        guard isVersion, parts[0].elementsEqual("1".utf8) else {
            throw .malformed(role, "it follows version \(text.prefix(40)) of the specification, this client 1.0")
        }
    }

    func members(_ type: MetadataType) -> [Name: MetadataValue] {
        [
            "_type": .string(type.rawValue), "spec_version": .string(specVersion), "version": .integer(version),
            "expires": .string(expires.description),
        ]
    }
}

/// The types of metadata; delegated roles are of type `targets`.
public enum MetadataType: String, Sendable, CaseIterable { case root, timestamp, snapshot, targets }

/// The `signed` part of a role's metadata.
public protocol RoleMetadata: Sendable {
    /// The type that the member `_type` names.
    static var type: MetadataType { get }
    /// The members that all roles have in common.
    var header: Header { get set }
    /// Reads the `signed` part of metadata; throws an ``UpdateError`` that names `role`.
    init(_ signed: MetadataValue, role: String) throws(UpdateError)
    /// The `signed` part of metadata, including members that the specification does not know.
    var signed: MetadataValue { get }
}

extension RoleMetadata {
    /// The version of the metadata.
    public var version: Int { header.version }
    /// The time from which the metadata is not trusted any more.
    public var expires: UTCTime { header.expires }

    /// Reads a metadata file without verifying its signatures; errors name `role`.
    public init(parsing bytes: [UInt8], role: String) throws(UpdateError) {
        try self.init(try SignedDocument(parsing: bytes, role: role).signed, role: role)
    }
}
