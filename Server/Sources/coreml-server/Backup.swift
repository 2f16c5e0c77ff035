import ArgumentParser
import Crypto
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase

/// The contents of a backup, as its `backup.json` states.
private struct Manifest: Codable {
    var format = 1
    let made: Date
    /// The SHA-256 of the database.
    let database: String
    let files: Int
    let hasKeys: Bool
}

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies everything that a server keeps in its folder to another one, while the server runs.",
        discussion: """
            Anybody who can read a backup with keys can sign for the teams, and read their models: protect it like the keys themselves. \
            Without keys it is useless unless the folders keys and vault are backed up separately.
            Servers over PostgreSQL and S3 are backed up by pg_dump and the storage's versions: see Documentation/Operating.md.
            """
    )

    @OptionGroup var data: DataOptions
    @Option(name: .shortAndLong, help: "The folder to create.") var output: String
    @Flag(inversion: .prefixedNo, help: "Copy the keys too.") var keys = true

    func run() async throws {
        guard data.sharedDatabase == nil, data.sharedBlobs == nil else {
            throw ValidationError(
                "Servers that share their storage are backed up with pg_dump and by the storage: see Documentation/Operating.md."
            )
        }
        guard !FileManager.default.fileExists(atPath: output) else {
            throw ValidationError("\(output) exists already.")
        }
        let partial = output + ".partial"
        try? FileManager.default.removeItem(atPath: partial)
        try makePrivateFolder(partial)
        let count = try await copy(to: partial)
        try FileManager.default.moveItem(atPath: partial, toPath: output)
        print("\(output): the database, \(count) files\(keys ? ", keys" : "").")
    }

    private func copy(to folder: String) async throws -> Int {
        // Records first: the files and keys that they name existed before them, and stay.
        let database = try SQLiteDatabase(path: data.folder + "/server.sqlite")
        try database.backUp(to: folder + "/server.sqlite")
        try await database.close()
        let named = try await namedFiles(folder + "/server.sqlite")
        let source = try FolderBlobStore(folder: data.folder + "/blobs", removesLeftovers: false)
        let target = try FolderBlobStore(folder: folder + "/blobs")
        for digest in named { try await copyFile(digest, from: source, to: target) }
        if keys {
            for name in ["keys", "vault"] { try copyPrivately(data.folder + "/" + name, to: folder + "/" + name) }
        }
        let manifest = Manifest(
            made: Date(),
            database: try hash(folder + "/server.sqlite"),
            files: named.count,
            hasKeys: keys
        )
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(manifest).write(to: URL(fileURLWithPath: folder + "/backup.json"))
        return named.count
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restores a server's folder from a backup.",
        discussion: """
            Devices refuse versions older than those they have seen. So everything with a version is signed again with a \
            version that is higher by --advance: more than the server can have signed since the backup was made. Releases \
            and deployments that were made since the backup are lost; make them again.
            """
    )

    @OptionGroup var data: DataOptions
    @Argument(help: "The folder of the backup.") var backup: String
    @Option(help: "The number that is added to versions.") var advance = 1_000_000

    func run() async throws {
        guard data.sharedDatabase == nil, data.sharedBlobs == nil else {
            throw ValidationError("A backup is restored to a folder, not to shared storage.")
        }
        guard advance > 0 else { throw ValidationError("Versions can only rise.") }
        let manager = FileManager.default
        if let content = try? manager.contentsOfDirectory(atPath: data.folder), !content.isEmpty {
            throw ValidationError("\(data.folder) is not empty.")
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let manifest = try decoder.decode(
            Manifest.self,
            from: Data(contentsOf: URL(fileURLWithPath: backup + "/backup.json"))
        )
        guard manifest.format == 1 else { throw ValidationError("A newer server made the backup; use that one.") }
        guard try hash(backup + "/server.sqlite") == manifest.database else {
            throw ValidationError("The database of the backup was changed, or is damaged.")
        }
        try makePrivateFolder(data.folder)
        try manager.copyItem(atPath: backup + "/server.sqlite", toPath: data.folder + "/server.sqlite")
        let source = try FolderBlobStore(folder: backup + "/blobs")
        let target = try FolderBlobStore(folder: data.folder + "/blobs")
        for digest in try await namedFiles(data.folder + "/server.sqlite") {
            try await copyFile(digest, from: source, to: target)
        }
        guard manifest.hasKeys else {
            print("The backup has no keys: put the folders keys and vault into \(data.folder), and run")
            print("  coreml-server advance-versions --data \(data.folder) --by \(advance)")
            return
        }
        for name in ["keys", "vault"] { try copyPrivately(backup + "/" + name, to: data.folder + "/" + name) }
        try await finishRestoring(data, advance)
    }
}

struct AdvanceVersions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advance-versions",
        abstract: "Signs everything again with higher versions, after a restored backup: devices refuse lower ones."
    )

    @OptionGroup var data: DataOptions
    @Option(name: .customLong("by"), help: "The number that is added to versions.") var versions = 1_000_000

    func run() async throws {
        guard versions > 0 else { throw ValidationError("Versions can only rise.") }
        try await finishRestoring(data, versions)
    }
}

private func finishRestoring(_ data: DataOptions, _ versions: Int) async throws {
    let service = try await data.open().service()
    try await service.advanceVersions(by: versions)
    let report = try await service.check()
    for problem in report.problems { print("WRONG: \(problem)") }
    guard report.problems.isEmpty else { throw ExitCode.failure }
    print("\(data.folder) is ready: versions have risen by \(versions).")
}

// MARK: Files

/// The files that a database names.
private func namedFiles(_ path: String) async throws -> Set<BlobDigest> {
    let database = try SQLiteDatabase(path: path)
    let names = try await database.read { connection in
        try connection.query("SELECT sha256 FROM archives UNION SELECT sha256 FROM vectors").map {
            try $0.text("sha256")
        }
    }
    try await database.close()
    return Set(names.compactMap { BlobDigest($0) })
}

private func copyFile(_ digest: BlobDigest, from source: FolderBlobStore, to target: FolderBlobStore) async throws {
    guard let byteCount = try await source.byteCount(digest) else { throw BlobError.missing(digest) }
    let upload = try await target.upload()
    var position = 0
    while position < byteCount {
        let end = min(position + 4 << 20, byteCount)
        try await upload.append(try await source.read(digest, position..<end))
        position = end
    }
    _ = try await upload.finish(expecting: digest)
}

private func makePrivateFolder(_ path: String) throws {
    try FileManager.default.createDirectory(
        atPath: path,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
    )
}

/// Copies a folder of keys, which only its owner can read.
private func copyPrivately(_ source: String, to target: String) throws {
    guard FileManager.default.fileExists(atPath: source) else { return }
    try makePrivateFolder(target)
    for name in try FileManager.default.contentsOfDirectory(atPath: source) {
        let (from, to) = (source + "/" + name, target + "/" + name)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: from, isDirectory: &isFolder) else { continue }
        if isFolder.boolValue {
            try copyPrivately(from, to: to)
        } else {
            let data = try Data(contentsOf: URL(fileURLWithPath: from))
            let isMade = FileManager.default.createFile(
                atPath: to,
                contents: data,
                attributes: [.posixPermissions: 0o600]
            )
            guard isMade else { throw ValidationError("\(to) cannot be written.") }
        }
    }
}

/// The SHA-256 of a file, in hexadecimal digits.
private func hash(_ path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    var hash = SHA256()
    while let data = try file.read(upToCount: 4 << 20), !data.isEmpty { hash.update(data: data) }
    return BlobDigest(hash: hash.finalize()).description
}
