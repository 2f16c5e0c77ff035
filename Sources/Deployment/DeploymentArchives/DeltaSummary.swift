import MLDelta
import MLEncryption
import MLFiles
import MLNumerics

/// The header of a delta (`.mldelta`), for programs that store and deliver deltas without opening models.
///
/// `Documentation/Formats/mldelta.md` describes the format.
public struct DeltaSummary: Sendable, Equatable {
    /// An archive, by its file.
    public struct Archive: Sendable, Equatable {
        /// The file's SHA-256: 64 hexadecimal digits.
        public let sha256: String
        /// The file's length in bytes.
        public let byteCount: Int
    }

    /// The archive that devices have.
    public let from: Archive
    /// The archive that they get.
    public let to: Archive

    /// Reads the header of the delta at `path`.
    ///
    /// Throws ``ArchiveError`` when it is not a delta, is damaged, or contradicts itself.
    public init(contentsOf path: String) throws(ArchiveError) {
        let header = try ArchiveError.translating { () throws(ModelError) in try DeltaFile(path).header }
        from = Archive(sha256: Hexadecimal.text(header.old.hash), byteCount: header.old.byteCount)
        to = Archive(sha256: Hexadecimal.text(header.new.hash), byteCount: header.new.byteCount)
    }
}
