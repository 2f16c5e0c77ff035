import Crypto

/// The hashes of a file, by the names of their algorithms.
public struct FileHashes: Sendable {
    /// The hashes in lower-case hexadecimal digits, by algorithm.
    public let values: [Name: String]

    /// Reads hashes; throws `malformed` when there is none, or one is not a text.
    init(_ members: [Name: MetadataValue], role: String) throws(UpdateError) {
        guard !members.isEmpty else { throw .malformed(role, "a file has no hashes") }
        var values: [Name: String] = [:]
        for (name, value) in members {
            guard let text = value.string else { throw .malformed(role, "a hash is not a text") }
            values[name] = text
        }
        self.values = values
    }

    /// Computes the SHA-256 of `bytes`.
    public init(of bytes: [UInt8]) { values = ["sha256": Hex.text(SHA256.hash(data: bytes))] }

    /// Creates hashes from a known SHA-256 of 64 lower-case hexadecimal digits.
    public init(sha256: String) { values = ["sha256": sha256] }

    /// The SHA-256; `nil` when there are only hashes by other algorithms.
    public var sha256: String? { values["sha256"] }

    /// The hash that prefixes the names of targets: that of the algorithm whose name comes first.
    var first: String { values.min { $0.key < $1.key }?.value ?? "" }

    var json: MetadataValue { .object(values.mapValues { .string($0) }) }
}

/// The timestamp's entry for the snapshot, or the snapshot's for targets metadata (specification, sections 4.4 and
/// 4.6).
public struct MetadataFile: Sendable {
    /// The version of the metadata.
    public var version: Int
    /// The file's length in bytes; `nil` where it is not stated.
    public var length: Int?
    /// The file's hashes; `nil` where they are not stated.
    public var hashes: FileHashes?
    private var other: [Name: MetadataValue] = [:]

    /// Creates an entry, by default without length and hashes.
    public init(version: Int, length: Int? = nil, hashes: FileHashes? = nil) {
        self.version = version
        self.length = length
        self.hashes = hashes
    }

    /// Creates an entry with the length and SHA-256 of a file's bytes.
    public init(version: Int, bytes: [UInt8]) {
        self.init(version: version, length: bytes.count, hashes: FileHashes(of: bytes))
    }

    init(_ value: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(value, role: role, place: "a file of meta")
        version = try fields.int("version", atLeast: 1)
        length = fields.rest["length"] == nil ? nil : try fields.int("length", atLeast: 0)
        hashes = fields.rest["hashes"] == nil ? nil : try FileHashes(try fields.object("hashes"), role: role)
        other = fields.rest
    }

    var json: MetadataValue {
        var members = other
        members["version"] = .integer(version)
        if let length { members["length"] = .integer(length) }
        if let hashes { members["hashes"] = hashes.json }
        return .object(members)
    }

    func verify(_ bytes: [UInt8], role: String) throws(UpdateError) {
        var verifier = try FileVerifier(name: role, length: length, hashes: hashes)
        try verifier.update(bytes)
        try verifier.finish()
    }
}

/// A file that targets metadata vouches for (specification, section 4.5).
public struct Target: Sendable {
    /// The path below the repository's folder of targets.
    public let path: String
    /// The file's length in bytes.
    public let length: Int
    /// The file's hashes.
    public let hashes: FileHashes
    /// The publisher's own data about the file, whose form the specification leaves open.
    public let custom: MetadataValue?
    /// The role that vouches for the file; empty for a target that was not read from metadata.
    public internal(set) var role = ""
    private let other: [Name: MetadataValue]

    /// Creates a target from its length and hashes.
    public init(path: String, length: Int, hashes: FileHashes, custom: MetadataValue? = nil) {
        self.path = path
        self.length = length
        self.hashes = hashes
        self.custom = custom
        other = [:]
    }

    /// Creates a target from the bytes of its file.
    public init(path: String, bytes: [UInt8], custom: MetadataValue? = nil) {
        self.init(path: path, length: bytes.count, hashes: FileHashes(of: bytes), custom: custom)
    }

    init(path: String, _ value: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(value, role: role, place: "the target \(path.prefix(80))")
        self.path = path
        length = try fields.int("length", atLeast: 0)
        hashes = try FileHashes(try fields.object("hashes"), role: role)
        custom = fields.take("custom")
        other = fields.rest
        self.role = role
    }

    var json: MetadataValue {
        var members = other
        members["length"] = .integer(length)
        members["hashes"] = hashes.json
        members["custom"] = custom
        return .object(members)
    }

    /// The path of the file below the folder of targets.
    ///
    /// With consistent snapshots the file's name is prefixed with its hash.
    public func location(hasConsistentSnapshots: Bool) -> String {
        guard hasConsistentSnapshots else { return path }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "\(hashes.first).\(path)" }
        return "\(path[...slash])\(hashes.first).\(path[path.utf8.index(after: slash)...])"
    }

    /// Checks the file's bytes; throws `wrongLength`, `wrongHash` or `unsupportedHash`.
    public func verify(_ bytes: [UInt8]) throws(UpdateError) {
        var verifier = try verifier()
        try verifier.update(bytes)
        try verifier.finish()
    }

    /// A verifier for checking the file while it arrives; throws `unsupportedHash`.
    public func verifier() throws(UpdateError) -> FileVerifier {
        try FileVerifier(name: path, length: length, hashes: hashes)
    }
}

/// A comparison of a file that arrives in pieces with the length and hashes that signed metadata states.
public struct FileVerifier: Sendable {
    private let name: String
    private let length: Int?
    private var count = 0
    private var sums: [(algorithm: Name, expected: String, state: any HashFunction & Sendable)] = []

    init(name: String, length: Int?, hashes: FileHashes?) throws(UpdateError) {
        self.name = name
        self.length = length
        for (algorithm, expected) in hashes?.values ?? [:] {
            guard let state = Self.function(algorithm) else {
                throw UpdateError(
                    .unsupportedHash,
                    name,
                    "the hash algorithm \(algorithm.text.prefix(40)) is not known here",
                    remedy: "Publish it with sha256, sha384 or sha512"
                )
            }
            sums.append((algorithm, expected, state))
        }
    }

    private static func function(_ name: Name) -> (any HashFunction & Sendable)? {
        switch name {
        case "sha256": SHA256()
        case "sha384": SHA384()
        case "sha512": SHA512()
        default: nil
        }
    }

    /// Adds bytes of the file; throws `wrongLength` as soon as there are too many.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) throws(UpdateError) {
        count += bytes.count
        if let length, count > length { throw wrongLength("more than \(length)") }
        for index in sums.indices { sums[index].state.update(bufferPointer: bytes) }
    }

    /// Adds bytes of the file from an array; throws `wrongLength` as soon as there are too many.
    public mutating func update(_ bytes: [UInt8]) throws(UpdateError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(UpdateError) in
            try update(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Checks the complete file; throws `wrongLength` or `wrongHash`.
    public func finish() throws(UpdateError) {
        if let length, count != length { throw wrongLength("\(count) instead of \(length)") }
        for (algorithm, expected, state) in sums {
            guard Name(Hex.text(Self.digest(state))) == Name(expected) else {
                throw UpdateError(
                    .wrongHash,
                    name,
                    "its \(algorithm) is not the one that was signed",
                    remedy: "Fetch it again; if it stays so, the server's copy was changed or damaged"
                )
            }
        }
    }

    private static func digest(_ state: some HashFunction) -> [UInt8] { Array(state.finalize()) }

    private func wrongLength(_ detail: String) -> UpdateError {
        UpdateError(
            .wrongLength,
            name,
            "it has \(detail) bytes",
            remedy: "Fetch it again; if it stays so, the server's copy was changed or damaged"
        )
    }
}
