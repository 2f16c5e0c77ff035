import Crypto
import FoundationEssentials
import Glibc
import MLFiles
package import MLNumerics

/// Encrypts compiled folders.
package enum FolderEncryption {
    /// Throws when `key` cannot be used for encryption: it has expired, or its secret is locked.
    package static func check(_ key: ModelKey) throws(ModelError) {
        if let date = key.notAfter, date < Dates.now {
            throw ModelError(
                .invalidInput,
                "The key \(key.keyID) expired on \(date); make a new one with coreml key rotate."
            )
        }
        if key.publicKey == nil, key.secret == nil { throw KeyPair.locked(key) }
    }

    /// Encrypts the files of the compiled folder `source` for the holder of `key` into the empty folder `target`.
    ///
    /// `encryption.json` is written beside them. Where `isDescriptionReadable` is true, `metadata.json` stays in the
    /// clear. Returns the content key, for binding other data to it.
    @discardableResult
    package static func encrypt(
        _ source: String,
        into target: String,
        with key: ModelKey,
        isDescriptionReadable: Bool = false
    ) throws(ModelError) -> SecretBytes {
        try check(key)
        let contentKey = SecretBytes.random()
        let contentID = (0..<EncryptionRecord.contentIDByteCount).map { _ in UInt8.random(in: .min ... .max) }
        var files: [EncryptionRecord.EncryptedFile] = []
        var clear: [EncryptionRecord.ClearFile] = []
        let paths = try FolderListing.files(in: source)
        guard !paths.contains(ModelVaults.encryptionName) else {
            throw ModelError(.invalidInput, "The model is encrypted already; encrypt the model that it was made from.")
        }
        try ContainedPath.check(all: paths)
        for path in paths {
            let plain = try MappedFile(source + "/" + path)
            let location = target + "/" + path
            try FileAccess.makeFolder(FileAccess.folder(of: location))
            if isDescriptionReadable, path == descriptionName {
                try plain.withBytes { (bytes) throws(ModelError) in
                    try FileAccess.write(bytes.bytes, to: location)
                    clear.append(.init(path: path, byteCount: bytes.count, hash: Array(SHA256.hash(data: bytes))))
                }
                continue
            }
            let context = EncryptionRecord.context(contentID, path)
            let start = try encrypt(plain, to: location, contentKey, context)
            files.append(.init(path: path, byteCount: plain.storage.byteCount, start: start))
        }
        let record = try EncryptionRecord(
            contentID: contentID,
            created: Dates.now,
            files: files,
            clear: clear,
            contentKey: contentKey,
            key: key
        )
        try FileAccess.write(record.text, to: target + "/" + ModelVaults.encryptionName)
        return contentKey
    }

    private static let descriptionName = "metadata.json"

    /// Encrypts one file, and returns the salt and the commitment at its beginning.
    private static func encrypt(
        _ plain: MappedFile,
        to location: String,
        _ contentKey: SecretBytes,
        _ context: [UInt8]
    ) throws(ModelError) -> [UInt8] {
        let file = try NewFile(replacing: location)
        var start: [UInt8] = []
        try plain.withBytes { (bytes) throws(ModelError) in
            try Cobblestone.seal(bytes, key: contentKey, context: context) { (piece) throws(ModelError) in
                if start.isEmpty { start = Array(piece.prefix(Cobblestone.startByteCount)) }
                try file.append(piece.bytes)
            }
        }
        try file.finish()
        return start
    }
}

/// The files of a folder and its subfolders.
package enum FolderListing {
    /// The paths within `folder`, in the order of their bytes.
    ///
    /// Throws for links and anything else that is not a file or folder, which have no place in a model.
    package static func files(in folder: String) throws(ModelError) -> [String] {
        var result: [String] = []
        try list(folder, "", depth: 0, &result)
        return result.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func list(
        _ folder: String,
        _ prefix: String,
        depth: Int,
        _ result: inout [String]
    ) throws(ModelError) {
        guard depth <= ContainedPath.deepest, result.count <= ContainedPath.maximumFileCount else {
            throw ModelError(.invalidInput, "The folder has more files or levels than a model may have.", at: folder)
        }
        for name in try FileAccess.names(in: folder) {
            var status = stat()
            guard lstat(folder + "/" + name, &status) == 0 else { throw OpenFile.failure("read", folder + "/" + name) }
            switch status.st_mode & S_IFMT {
            case S_IFREG: result.append(prefix + name)
            case S_IFDIR: try list(folder + "/" + name, prefix + name + "/", depth: depth + 1, &result)
            default:
                throw ModelError(
                    .invalidInput,
                    "A link, or neither a file nor a folder; remove it from the model.",
                    at: folder,
                    name
                )
            }
        }
    }
}
