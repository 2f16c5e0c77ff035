import CSecrets
import Glibc
import MLFiles
package import MLNumerics

/// Reads and writes `.mlmodelkey` files.
package enum KeyFiles {
    package static let suffix = ".mlmodelkey"

    /// Reads a key; throws also when the key is in the clear and other users may read the file.
    package static func read(_ path: String) throws(ModelError) -> ModelKey {
        let file = try OpenFile(path)
        return try withErrorContext(path) { () throws(ModelError) in
            guard file.byteCount <= ModelKey.maximumTextByteCount else {
                throw ModelError(
                    .malformed,
                    "A key has at most \(ModelKey.maximumTextByteCount) bytes, this file \(file.byteCount): it is not a key."
                )
            }
            let key = try ErasedBytes.with(file.byteCount) { (buffer) throws(ModelError) in
                try file.read(at: 0, into: buffer)
                return try ModelKey(text: UnsafeRawBufferPointer(buffer))
            }
            if key.secret != nil { try requirePrivate(path) }
            return key
        }
    }

    /// Writes a key; one in the clear so that only its owner can read it.
    package static func write(_ key: ModelKey, to path: String) throws(ModelError) {
        try write(key.text, to: path, isSecret: key.secret != nil)
    }

    /// Writes a text; a secret one so that only its owner can read it from the first byte on.
    package static func write(_ text: [UInt8], to path: String, isSecret: Bool) throws(ModelError) {
        try FileAccess.makeFolder(FileAccess.folder(of: path))
        guard isSecret else { return try FileAccess.write(text, to: path) }
        let temporary = FileAccess.folder(of: path) + "/.\(FileAccess.name(of: path)).\(getpid())"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw OpenFile.failure("write", path) }
        let isWritten =
            text.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == text.count
            && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten, rename(temporary, path) == 0 else {
            let error = OpenFile.failure("write", path)
            unlink(temporary)
            throw error
        }
    }

    /// Throws when others than the owner may read a file.
    private static func requirePrivate(_ path: String) throws(ModelError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw OpenFile.failure("read", path) }
        let mode = status.st_mode & 0o777
        guard mode & 0o077 == 0 else {
            throw ModelError(
                .keyFetch,
                "The key is secret, but others than its owner have access to the file (mode \(String(mode, radix: 8))); "
                    + "run chmod 600, and make a new key if someone may have read this one."
            )
        }
    }

    /// The path of the key beside a model: `M.mlmodelkey` beside `M.mlmodelc`, `M.mlpackage`, `M.mlmodel` or
    /// `M.mlarchive`.
    ///
    /// `nil` when there is none.
    package static func path(beside model: String) -> String? {
        let model = FileAccess.withoutTrailingSlash(model)
        let name = FileAccess.name(of: model)
        var bases = [name]
        for ending in [".mlmodelc", ".mlpackage", ".mlmodel", ".mlarchive"] where name.hasSuffix(ending) {
            bases.append(String(name.dropLast(ending.count)))
        }
        for base in bases {
            let path = FileAccess.folder(of: model) + "/" + base + suffix
            if FileAccess.kind(of: path) == .file { return path }
        }
        return nil
    }
}

/// Bytes that are overwritten when they are no longer needed.
enum ErasedBytes {
    static func with<R>(
        _ count: Int,
        _ body: (UnsafeMutableRawBufferPointer) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 1)
        defer {
            if let address = buffer.baseAddress { csecrets_erase(address, buffer.count) }
            buffer.deallocate()
        }
        return try body(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
}
