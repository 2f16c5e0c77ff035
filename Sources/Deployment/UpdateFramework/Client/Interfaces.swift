/// A source of metadata or targets: an HTTP client, a folder, a test.
public protocol MetadataFetcher: Sendable {
    /// Fetches the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: the path below the repository's folder of metadata or of targets, each part percent-encoded:
    ///     `3.root.json`.
    ///   - limit: the largest number of bytes to take. Implementations stop reading after it and return `limit + 1`
    ///     bytes or throw.
    /// - Returns: the bytes; `nil` when the repository answers that there is no such file (HTTP 403 or 404).
    /// - Throws: any error when the repository cannot be reached or answers something else.
    func fetch(_ path: String, limit: Int) async throws -> [UInt8]?
}

/// A store that keeps trusted metadata from one update to the next.
///
/// Only one update at a time may use a store. `store` is atomic: after it failed, or the machine lost power, the old
/// bytes are there.
public protocol MetadataStore: Sendable {
    /// The bytes that were stored for a role; `nil` when there are none.
    func load(_ role: String) throws -> [UInt8]?
    /// Stores the bytes of a role, replacing earlier ones atomically.
    func store(_ role: String, _ bytes: [UInt8]) throws
    /// Removes the bytes of a role; not an error when there are none.
    func remove(_ role: String) throws
}

/// A store in a folder, as files `ROLE.json`.
public struct FileMetadataStore: MetadataStore {
    /// The folder's path.
    public let folder: String
    /// The largest number of bytes that are read of a file; no trusted metadata is larger.
    private static let limit = 8 << 20

    /// Creates the folder when it does not exist, and removes temporary files that killed writers left in it.
    ///
    /// Throws `storage`.
    public init(folder: String) throws(UpdateError) {
        self.folder = folder
        try SafeFile.makeFolder(folder)
        try SafeFile.removeLeftovers(in: folder)
    }

    /// Percent-encodes role names, which may hold anything, except for letters, digits, `.`, `_`, `~` and `-`.
    private func path(_ role: String) -> String { "\(folder)/\(PercentEncoding.encode(role)).json" }

    /// The bytes that were stored for a role; `nil` when there are none.
    public func load(_ role: String) throws(UpdateError) -> [UInt8]? {
        try SafeFile.read(path(role), limit: Self.limit)?.bytes
    }

    /// Stores the bytes of a role, replacing earlier ones atomically.
    public func store(_ role: String, _ bytes: [UInt8]) throws(UpdateError) {
        try SafeFile.write(bytes, to: path(role), mode: 0o644)
    }

    /// Removes the bytes of a role; not an error when there are none.
    public func remove(_ role: String) throws(UpdateError) { try SafeFile.remove(path(role)) }
}

/// Percent-encoding of texts for URLs and file names.
enum PercentEncoding {
    /// Encodes everything except letters, digits, `.`, `_`, `~` and `-`.
    static func encode(_ text: String) -> String { encode(text) { isUnreserved($0) } }

    /// Encodes the characters that cannot be part of a URL's path.
    ///
    /// The paths of targets are URLs already (specification, section 4.5), so what is encoded in them stays so.
    static func encode(path: String) -> String {
        encode(path) { isUnreserved($0) || "/%!$&'()*+,;=:@".utf8.contains($0) }
    }

    private static func encode(_ text: String, _ isKept: (UInt8) -> Bool) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) { result.append(byte) } else { result += "%\(Hex.text([byte]).uppercased())".utf8 }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
