/// Where metadata and targets come from: an HTTP client, a folder, a test.
public protocol MetadataFetcher: Sendable {
    /// The bytes of a file.
    ///
    /// - Parameters:
    ///   - path: below the repository's folder of metadata or of targets, each part percent-encoded: `3.root.json`.
    ///   - limit: the most bytes to take.  Implementations stop reading behind it and return `limit + 1` bytes or throw.
    /// - Returns: `nil` when the repository answers that there is no such file (HTTP 403 or 404).
    /// - Throws: when nobody answers, or something else.
    func fetch(_ path: String, limit: Int) async throws -> [UInt8]?
}

/// Where metadata that was trusted rests until the next update.
///
/// One update at a time may use a store.  `store` is atomic: after it failed, or the machine lost power, the old bytes are there.
public protocol MetadataStore: Sendable {
    /// The bytes that were stored for a role; `nil` when there are none.
    func load(_ role: String) throws -> [UInt8]?
    func store(_ role: String, _ bytes: [UInt8]) throws
    /// Removes what was stored for a role; nothing there is no error.
    func remove(_ role: String) throws
}

/// A folder of files `ROLE.json`.
public struct FileMetadataStore: MetadataStore {
    public let folder: String
    /// Nothing that is trusted has more bytes; of a larger file only so many are read, which no signature covers.
    private static let limit = 8 << 20

    /// Makes the folder when it is not there, and removes what writers left in it that were killed.
    public init(folder: String) throws(UpdateError) {
        self.folder = folder
        try SafeFile.makeFolder(folder)
        try SafeFile.removeLeftovers(in: folder)
    }

    /// Role names may hold anything; in file names all but letters, digits, `.`, `_`, `~` and `-` is percent-encoded.
    private func path(_ role: String) -> String { "\(folder)/\(PercentEncoding.encode(role)).json" }

    public func load(_ role: String) throws(UpdateError) -> [UInt8]? {
        try SafeFile.read(path(role), limit: Self.limit)?.bytes
    }

    public func store(_ role: String, _ bytes: [UInt8]) throws(UpdateError) {
        try SafeFile.write(bytes, to: path(role), mode: 0o644)
    }

    public func remove(_ role: String) throws(UpdateError) { try SafeFile.remove(path(role)) }
}

/// Texts in URLs and file names.
enum PercentEncoding {
    /// Encodes all but letters, digits, `.`, `_`, `~` and `-`.
    static func encode(_ text: String) -> String { encode(text) { isUnreserved($0) } }

    /// Encodes what cannot stand in the path of a URL.  The paths of targets are URLs already (specification, section 4.5), so
    /// what is encoded in them stays so.
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
