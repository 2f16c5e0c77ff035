import Crypto
import Foundation

/// A folder in the OCI image layout that holds a model artifact, as `oras` and ModelPack's tools write it.
///
/// Layers are files or tar archives, of the Model Spec (`application/vnd.cncf.model.*`) or named by
/// `org.opencontainers.image.title`. Every blob is checked against its digest and size before it is used.
struct ImageLayout {
    private struct Descriptor: Decodable {
        let mediaType: String
        let digest: String
        let size: Int
        let annotations: [String: String]?
    }

    private struct Index: Decodable { let manifests: [Descriptor] }

    private struct Manifest: Decodable {
        let layers: [Descriptor]
        let annotations: [String: String]?
        let artifactType: String?
    }

    private static let maximumDocumentByteCount = 4 << 20
    private static let maximumLayerCount = 1000
    private let folder: String
    private let manifest: Manifest

    init(_ folder: String) throws {
        self.folder = folder
        guard let data = FileManager.default.contents(atPath: folder + "/index.json"),
            data.count <= Self.maximumDocumentByteCount,
            let index = try? JSONDecoder().decode(Index.self, from: data)
        else { throw Failure("\(folder)/index.json is not an index of an OCI image layout.") }
        let manifests = index.manifests.filter { $0.mediaType == "application/vnd.oci.image.manifest.v1+json" }
        guard let first = manifests.first, manifests.count == 1 else {
            throw Failure("The layout has \(manifests.count) manifests; one model artifact is needed.")
        }
        guard first.size <= Self.maximumDocumentByteCount,
            let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(contentsOf: Self.blob(first, folder))),
            manifest.layers.count <= Self.maximumLayerCount
        else { throw Failure("The manifest \(first.digest) cannot be read.") }
        self.manifest = manifest
    }

    /// The annotations of the manifest as text.
    var note: String? {
        let facts = (manifest.annotations ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return facts.isEmpty
            ? nil : String((["Imported from an OCI artifact"] + facts).joined(separator: "\n").prefix(12_000))
    }

    /// The file of a blob, after checking its digest and size.
    private static func blob(_ descriptor: Descriptor, _ folder: String) throws -> URL {
        let parts = descriptor.digest.split(separator: ":")
        guard parts.count == 2, parts[0] == "sha256", parts[1].utf8.count == 64, parts[1].allSatisfy(\.isHexDigit)
        else {
            throw Failure("\"\(descriptor.digest)\" is not a digest of SHA-256.")
        }
        let url = URL(fileURLWithPath: folder + "/blobs/sha256/" + parts[1])
        guard let file = try? FileHandle(forReadingFrom: url) else {
            throw Failure("The blob \(descriptor.digest) is missing.")
        }
        defer { try? file.close() }
        var (hash, byteCount) = (SHA256(), 0)
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
            hash.update(data: piece)
            byteCount += piece.count
        }
        let found = hash.finalize().map { String(format: "%02x", $0) }.joined()
        guard byteCount == descriptor.size, found == parts[1] else {
            throw Failure("The blob \(descriptor.digest) was changed: it has \(byteCount) bytes and the hash \(found).")
        }
        return url
    }

    // MARK: Unpacking

    /// Writes the files of all layers into a folder.
    func unpack(to target: String) throws {
        var written = 0
        for layer in manifest.layers {
            let annotations = layer.annotations ?? [:]
            let name = annotations["org.cncf.model.filepath"] ?? annotations["org.opencontainers.image.title"]
            let type = layer.mediaType
            if type.hasSuffix("+gzip") || type.hasSuffix("+zstd") {
                throw Failure(
                    "The layer \(layer.digest) is compressed (\(type)), which is not supported: pull it with oras, and import the folder."
                )
            }
            let blob = try Self.blob(layer, folder)
            if type.hasSuffix(".tar") {
                written += try Tar.unpack(blob, to: target)
            } else if let name {
                try Self.copy(blob, to: target, name)
                written += 1
            }
        }
        guard written > 0 else { throw Failure("No layer of the artifact names a file.") }
    }

    private static func copy(_ blob: URL, to target: String, _ name: String) throws {
        let location = try SafePath.url(name, in: target)
        try FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try FileManager.default.copyItem(at: blob, to: location)
    }
}

/// Resolves untrusted paths within a folder.
enum SafePath {
    static func url(_ path: String, in folder: String) throws -> URL {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).filter { $0 != "." }
        let isRight =
            !path.hasPrefix("/") && !parts.isEmpty && parts.count <= 32 && path.utf8.count <= 1024
            && parts.allSatisfy { $0 != ".." && !$0.isEmpty && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x5C } }
        guard isRight else { throw Failure("\"\(path)\" is not a path within a folder.") }
        return URL(fileURLWithPath: folder + "/" + parts.joined(separator: "/"))
    }
}

/// Reads tar archives (POSIX.1-2001, pax) of files and folders; other entries are refused.
enum Tar {
    private static let blockByteCount = 512
    private static let maximumEntryCount = 10_000

    /// Unpacks an archive into a folder and returns the number of files.
    static func unpack(_ archive: URL, to folder: String) throws -> Int {
        let file = try FileHandle(forReadingFrom: archive)
        defer { try? file.close() }
        var (files, entries) = (0, 0)
        var longName: String?
        while let header = try file.read(upToCount: blockByteCount), header.count == blockByteCount {
            let header = [UInt8](header)
            if header.allSatisfy({ $0 == 0 }) { break }
            entries += 1
            guard entries <= maximumEntryCount, isRight(header), let byteCount = number(header[124..<136]) else {
                throw Failure("The tar archive \(archive.lastPathComponent) is damaged at its entry \(entries).")
            }
            let prefix = text(header[345..<500])
            let name = longName ?? (prefix.isEmpty ? "" : prefix + "/") + text(header[0..<100])
            longName = nil
            switch header[156] {
            case UInt8(ascii: "0"), 0:
                try write(file, byteCount, to: SafePath.url(name, in: folder))
                files += 1
            case UInt8(ascii: "5"):
                let path = name.hasSuffix("/") ? String(name.dropLast()) : name
                if path != ".", !path.isEmpty {
                    try FileManager.default.createDirectory(
                        at: SafePath.url(path, in: folder),
                        withIntermediateDirectories: true
                    )
                }
                try skip(file, byteCount)
            case UInt8(ascii: "x"), UInt8(ascii: "g"):
                guard byteCount <= 1 << 20, let data = try file.read(upToCount: byteCount), data.count == byteCount
                else {
                    throw Failure("The tar archive \(archive.lastPathComponent) is cut off.")
                }
                if header[156] == UInt8(ascii: "x") { longName = path(inRecords: data) }
                try skip(file, (blockByteCount - byteCount % blockByteCount) % blockByteCount)
                continue
            default: throw Failure("\"\(name)\" in the tar archive is neither a file nor a folder.")
            }
        }
        return files
    }

    /// Whether the header's checksum is right.
    private static func isRight(_ header: [UInt8]) -> Bool {
        let sum = header.enumerated().reduce(0) { $0 + Int((148..<156).contains($1.offset) ? 0x20 : $1.element) }
        return number(header[148..<156]) == sum
    }

    /// Parses octal digits.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        let digits = field.prefix { $0 != 0 }.filter { $0 != 0x20 }
        guard !digits.isEmpty, digits.count <= 12 else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: 8)
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String {
        String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The path among a pax header's records, each of which is `LENGTH NAME=VALUE` and a line feed.
    private static func path(inRecords data: Data) -> String? {
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let record = line[line.index(after: space)...]
            if record.hasPrefix("path=") { return String(record.dropFirst(5)) }
        }
        return nil
    }

    private static func write(_ file: FileHandle, _ byteCount: Int, to location: URL) throws {
        try FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        guard FileManager.default.createFile(atPath: location.path, contents: nil) else {
            throw Failure("\(location.path) cannot be written.")
        }
        let output = try FileHandle(forWritingTo: location)
        defer { try? output.close() }
        var remaining = byteCount
        while remaining > 0 {
            guard let piece = try file.read(upToCount: min(remaining, 1 << 20)), !piece.isEmpty else {
                throw Failure("The tar archive is cut off in \(location.lastPathComponent).")
            }
            try output.write(contentsOf: piece)
            remaining -= piece.count
        }
        try skip(file, (blockByteCount - byteCount % blockByteCount) % blockByteCount)
    }

    private static func skip(_ file: FileHandle, _ byteCount: Int) throws {
        guard byteCount > 0 else { return }
        let data = try file.read(upToCount: byteCount)
        guard data?.count == byteCount else { throw Failure("The tar archive is cut off.") }
    }
}
