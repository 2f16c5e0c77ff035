import Glibc
package import MLNumerics

/// The mapped bytes of a file: pages are read when touched and shared with other processes that map the file.
///
/// Files are replaced by renaming and never rewritten in place. When a file is truncated while it is mapped, the
/// missing part reads as zeros, which `checkWhole` detects afterwards.
package struct MappedFile: Sendable {
    package let path: String
    package let storage: TensorStorage

    package init(_ path: String) throws(ModelError) {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileAccess.failure("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileAccess.failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ModelError(.io, "Not a file; give the path of a file.", at: path)
        }
        let count = Int(status.st_size)
        guard count > 0 else {
            storage = TensorStorage(byteCount: 0)
            return
        }
        guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), address != MAP_FAILED else {
            throw FileAccess.failure("map", path)
        }
        storage = TensorStorage(mapping: address, byteCount: count, path: path)
    }

    /// Calls a closure with the bytes.
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try storage.withBytes(body)
    }
}

extension TensorStorage {
    /// Throws `ModelError.io` when the file was truncated while it was mapped.
    package func checkWhole() throws(ModelError) {
        guard Self.someFileWasTruncated, let path = truncatedFile else { return }
        throw ModelError(
            .io,
            "The file was cut short while it was in use; restore it and load the model again.",
            at: path
        )
    }
}
