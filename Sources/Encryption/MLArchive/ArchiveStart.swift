import Crypto
import MLFiles
package import MLNumerics

/// The first 48 bytes of an archive: the lengths of its header and signatures, and the hash of the header.
///
/// From it, a program that fetches an archive piece by piece learns which bytes to request next.
package struct ArchiveStart: Sendable {
    package static let byteCount = 48
    private static let maximumSignaturesByteCount = 1 << 20

    package let headerByteCount: Int
    package let signaturesByteCount: Int
    package let headerHash: [UInt8]

    /// Reads the first 48 bytes of an archive; throws when they are not those of one.
    package init(_ bytes: [UInt8]) throws(ModelError) {
        guard bytes.count == Self.byteCount, bytes.starts(with: ModelVaults.archiveMagic) else {
            throw ModelError(.malformed, "This is not a model archive; check the file.")
        }
        func length(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
        (headerByteCount, signaturesByteCount) = (length(8), length(12))
        headerHash = Array(bytes[16...])
        guard headerByteCount <= ArchiveHeader.maximumByteCount, signaturesByteCount <= Self.maximumSignaturesByteCount
        else {
            throw ModelError(
                .malformed,
                "The header claims \(headerByteCount) bytes and its signatures \(signaturesByteCount), more than they can "
                    + "have."
            )
        }
    }

    /// The number of bytes of the start, the header and the signatures.
    package var byteCount: Int { Self.byteCount + headerByteCount + signaturesByteCount }
    /// The offset of the payload.
    package var payloadStart: Int { ArchiveHeader.aligned(byteCount) }

    /// The header that `text` spells.
    package func header(_ text: [UInt8]) throws(ModelError) -> ArchiveHeader {
        guard SHA256.hash(data: text).elementsEqual(headerHash) else {
            throw ModelError(
                .malformed,
                "The header is damaged: its hash is not the one in the archive; get it again."
            )
        }
        return try withErrorContext("header") { () throws(ModelError) in try ArchiveHeader(readingText: text) }
    }

    static var cutOff: ModelError { ModelError(.malformed, "The archive was cut off; get it again.") }
}
