package import MLNumerics

/// The files of a model's folder by their paths within it (`specification.bin`, `weights/weight.bin`).
///
/// They may be plain files on disk, encrypted, or packed into an archive.
package protocol FolderContents: Sendable {
    /// Whether the model is secret: no part of it, however changed, may be written to disk in the clear.
    ///
    /// That includes temporary files, caches and logs.
    var isProtected: Bool { get }

    /// The bytes of a file, mapped or decrypted; `nil` when the folder has no such file.
    func contents(of name: String) throws(ModelError) -> TensorStorage?

    /// The path of the file when it is a plain file on disk; `nil` otherwise.
    func path(of name: String) -> String?
}

/// A folder on disk whose files are mapped as they are.
package struct PlainFolder: FolderContents {
    package let path: String

    package init(_ path: String) { self.path = path }

    package var isProtected: Bool { false }

    package func contents(of name: String) throws(ModelError) -> TensorStorage? {
        guard let path = path(of: name) else { return nil }
        return try MappedFile(path).storage
    }

    package func path(of name: String) -> String? {
        let file = path + "/" + name
        return FileAccess.kind(of: file) == .file ? file : nil
    }
}
