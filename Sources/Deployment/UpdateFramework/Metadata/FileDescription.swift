import Crypto

/// The hashes of a file, by the names of their algorithms.
public struct FileHashes: Sendable {
    /// Lower-case hexadecimal digits by algorithm.
    public let values: [Name: String]

    /// - Throws: `malformed` when there is none, or one is no text.
    init(_ members: [Name: MetadataValue], role: String) throws(UpdateError) {
        guard !members.isEmpty else { throw .malformed(role, "a file has no hashes") }
        var values: [Name: String] = [:]
        for (name, value) in members {
            guard let text = value.string else { throw .malformed(role, "a hash is no text") }
            values[name] = text
        }
        self.values = values
    }

    /// SHA-256 of `bytes`.
    public init(of bytes: [UInt8]) { values = ["sha256": Hex.text(SHA256.hash(data: bytes))] }

    /// A file whose SHA-256 is known, as 64 lower-case hexadecimal digits.
    public init(sha256: String) { values = ["sha256": sha256] }

    public var sha256: String? { values["sha256"] }

    /// The hash that stands before the names of targets: that of the algorithm whose name comes first.
    var first: String { values.min { $0.key < $1.key }?.value ?? "" }

    var json: MetadataValue { .object(values.mapValues { .string($0) }) }
}

/// What the timestamp says of the snapshot, and the snapshot of targets metadata (specification, sections 4.4 and 4.6).
public struct MetadataFile: Sendable {
    public var version: Int
    public var length: Int?
    public var hashes: FileHashes?
    private var other: [Name: MetadataValue] = [:]

    public init(version: Int, length: Int? = nil, hashes: FileHashes? = nil) {
        self.version = version
        self.length = length
        self.hashes = hashes
    }

    /// The version, length and hash of a file.
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
    /// Bytes.
    public let length: Int
    public let hashes: FileHashes
    /// What the publisher says of the file; the specification leaves it open.
    public let custom: MetadataValue?
    /// The role that vouches for the file.
    public internal(set) var role = ""
    private let other: [Name: MetadataValue]

    public init(path: String, length: Int, hashes: FileHashes, custom: MetadataValue? = nil) {
        self.path = path
        self.length = length
        self.hashes = hashes
        self.custom = custom
        other = [:]
    }

    /// The target that `bytes` are.
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

    /// Where the file lies below the folder of targets: its name begins with its hash in repositories of consistent snapshots.
    public func location(hasConsistentSnapshots: Bool) -> String {
        guard hasConsistentSnapshots else { return path }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "\(hashes.first).\(path)" }
        return "\(path[...slash])\(hashes.first).\(path[path.utf8.index(after: slash)...])"
    }

    /// - Throws: `wrongLength`, `wrongHash`, `unsupportedHash`.
    public func verify(_ bytes: [UInt8]) throws(UpdateError) {
        var verifier = try verifier()
        try verifier.update(bytes)
        try verifier.finish()
    }

    /// Verifies the file while it arrives.
    public func verifier() throws(UpdateError) -> FileVerifier {
        try FileVerifier(name: path, length: length, hashes: hashes)
    }
}

/// Compares a file that arrives in pieces with the length and hashes that signed metadata gives it.
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

    /// - Throws: `wrongLength` as soon as there are too many bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) throws(UpdateError) {
        count += bytes.count
        if let length, count > length { throw wrongLength("more than \(length)") }
        for index in sums.indices { sums[index].state.update(bufferPointer: bytes) }
    }

    public mutating func update(_ bytes: [UInt8]) throws(UpdateError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(UpdateError) in
            try update(UnsafeRawBufferPointer(buffer))
        }
    }

    /// - Throws: `wrongLength`, `wrongHash`.
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

    private func wrongLength(_ what: String) -> UpdateError {
        UpdateError(
            .wrongLength,
            name,
            "it has \(what) bytes",
            remedy: "Fetch it again; if it stays so, the server's copy was changed or damaged"
        )
    }
}
