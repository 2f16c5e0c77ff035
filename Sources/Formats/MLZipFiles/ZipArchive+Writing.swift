import CDeflate
package import MLNumerics

extension ZipArchive {
    /// The largest number of bytes that a field of an archive can state.
    private static let maximumByteCount = 1 << 32 - 2

    /// The bytes of an archive of the given files, stored without compression, in their order.
    ///
    /// Dates are 1 January 1980, so that equal files make equal archives.
    ///
    /// - Parameter files: The files; their names in UTF-8 take at most 65,535 bytes.
    /// - Returns: The archive's bytes.
    /// - Throws: `.unsupported` for files beyond 4 GB or 65,534 files, which need ZIP64.
    package static func stored(_ files: [(name: String, content: [UInt8])]) throws(ModelError) -> [UInt8] {
        func littleEndian(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> ($0 * 8) & 255) } }
        guard files.count < 0xFFFF else {
            throw ModelError(.unsupported, "\(files.count) files are too many for a ZIP archive; at most 65,534 fit")
        }
        var archive: [UInt8] = []
        var directory: [UInt8] = []
        for (name, content) in files {
            guard content.count <= maximumByteCount, archive.count <= maximumByteCount else {
                throw ModelError(.unsupported, "'\(name)' is too large for a ZIP archive, whose files end before 4 GB")
            }
            let file = Array(name.utf8)
            let sum = content.withUnsafeBufferPointer { Int(cdeflate_crc32($0.baseAddress, $0.count)) }
            let common =
                littleEndian(20, 2) + littleEndian(0x800, 2) + littleEndian(0, 2) + littleEndian(0, 2)
                + littleEndian(0x21, 2)
                + littleEndian(sum, 4) + littleEndian(content.count, 4) + littleEndian(content.count, 4)
                + littleEndian(file.count, 2)
                + littleEndian(0, 2)
            directory +=
                littleEndian(0x0201_4B50, 4) + littleEndian(20, 2) + common + littleEndian(0, 2) + littleEndian(0, 2)
                + littleEndian(0, 2)
                + littleEndian(0, 4) + littleEndian(archive.count, 4) + file
            archive += littleEndian(0x0403_4B50, 4) + common + file + content
        }
        let end =
            littleEndian(0x0605_4B50, 4) + littleEndian(0, 4) + littleEndian(files.count, 2)
            + littleEndian(files.count, 2)
            + littleEndian(directory.count, 4) + littleEndian(archive.count, 4) + littleEndian(0, 2)
        return archive + directory + end
    }
}
