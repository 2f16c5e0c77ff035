import CDeflate
package import MLNumerics

/// The files in a ZIP archive in memory: a Python wheel, weights that PyTorch saved, or arrays that NumPy saved.
///
/// Names and offsets come from the central directory. Everything that it states is checked against the archive, and a
/// file's content against its CRC-32. Encrypted archives, several volumes and ZIP64 are refused.
package struct ZipArchive {
    private struct Entry {
        var method: Int
        var sum: UInt32
        var packed: Int
        var size: Int
        var header: Int
    }

    private let bytes: [UInt8]
    private let path: String
    private let remedy: String
    private var entries: [String: Entry] = [:]

    /// The names of the files, in alphabetical order.
    package var names: [String] { entries.keys.sorted() }

    /// Whether bytes begin like a ZIP archive.
    package static func hasSignature(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x50, 0x4B, 3, 4]) }

    /// Reads the directory.
    ///
    /// - Parameters:
    ///   - bytes: The whole archive.
    ///   - path: The archive's name, for errors.
    ///   - kind: The expected kind of archive, for errors.
    ///   - remedy: The advice for a damaged archive, for errors.
    /// - Throws: `.malformed` for a damaged archive, `.unsupported` for one of a kind that is not read.
    package init(
        _ bytes: [UInt8],
        path: String,
        kind: String = "a ZIP archive",
        remedy: String = "fetch it again"
    ) throws(ModelError) {
        self.bytes = bytes
        self.path = path
        self.remedy = remedy
        let comment = 65_535
        guard
            let end = stride(from: bytes.count - 22, through: max(0, bytes.count - 22 - comment), by: -1).first(where: {
                bytes[$0...].starts(with: [0x50, 0x4B, 5, 6])
            })
        else { throw damaged("it is not \(kind), or it is cut off") }
        let count = try number(end + 10, 2)
        var location = try number(end + 16, 4)
        guard location != 0xFFFF_FFFF, count != 0xFFFF else { throw unsupported("the ZIP64 format") }
        for _ in 0..<count {
            guard try number(location, 4) == 0x0201_4B50 else { throw damaged("its directory is damaged") }
            let (length, extra, remark) = (
                try number(location + 28, 2), try number(location + 30, 2), try number(location + 32, 2)
            )
            guard location + 46 + length <= bytes.count else { throw damaged("its directory is cut off") }
            guard let name = String(validating: bytes[location + 46..<location + 46 + length], as: UTF8.self) else {
                throw damaged("a name in it is not UTF-8")
            }
            guard try number(location + 8, 2) & 1 == 0 else { throw unsupported("the encrypted file '\(name)'") }
            let entry = Entry(
                method: try number(location + 10, 2),
                sum: UInt32(try number(location + 16, 4)),
                packed: try number(location + 20, 4),
                size: try number(location + 24, 4),
                header: try number(location + 42, 4)
            )
            guard entry.packed != 0xFFFF_FFFF, entry.size != 0xFFFF_FFFF, entry.header != 0xFFFF_FFFF else {
                throw unsupported("the ZIP64 format for the file '\(name)'")
            }
            guard entries.updateValue(entry, forKey: name) == nil else {
                throw damaged("it has two files named '\(name)'")
            }
            location += 46 + length + extra + remark
        }
    }

    /// The content of a file.
    ///
    /// - Parameters:
    ///   - name: The file's name in the archive.
    ///   - limit: The largest size that is accepted, in bytes.
    /// - Returns: The file's bytes.
    /// - Throws: `.malformed` if there is no such file, or it is damaged or larger; `.unsupported` for a compression
    ///   other than DEFLATE.
    package func content(of name: String, limit: Int) throws(ModelError) -> [UInt8] {
        guard let entry = entries[name] else { throw damaged("it has no file '\(name)'") }
        guard entry.size <= limit else {
            throw damaged("its file '\(name)' has \(entry.size) bytes; at most \(limit) are expected")
        }
        let start = entry.header + 30 + (try number(entry.header + 26, 2)) + (try number(entry.header + 28, 2))
        guard try number(entry.header, 4) == 0x0403_4B50, entry.packed <= bytes.count - start else {
            throw damaged("its file '\(name)' is cut off")
        }
        let packed = bytes[start..<start + entry.packed]
        let content: [UInt8]
        switch entry.method {
        case 0:
            guard entry.packed == entry.size else { throw damaged("its file '\(name)' is damaged") }
            content = Array(packed)
        case 8: content = try inflated(packed, entry.size, name)
        default: throw unsupported("the compression \(entry.method) of the file '\(name)'")
        }
        guard content.withUnsafeBufferPointer({ cdeflate_crc32($0.baseAddress, $0.count) }) == entry.sum else {
            throw damaged("its file '\(name)' is damaged (its CRC-32 is wrong)")
        }
        return content
    }

    private func inflated(_ packed: ArraySlice<UInt8>, _ size: Int, _ name: String) throws(ModelError) -> [UInt8] {
        // DEFLATE cannot expand more than about a thousandfold.
        guard size <= packed.count * 1100 + 64 else { throw damaged("its file '\(name)' states a wrong size") }
        var isDamaged = false
        let content = [UInt8](unsafeUninitializedCapacity: size) { target, initialized in
            isDamaged = packed.withUnsafeBufferPointer {
                cdeflate_expand($0.baseAddress, $0.count, target.baseAddress, size) == 0
            }
            initialized = isDamaged ? 0 : size
        }
        guard !isDamaged else { throw damaged("its file '\(name)' is damaged") }
        return content
    }

    private func number(_ offset: Int, _ width: Int) throws(ModelError) -> Int {
        guard offset >= 0, offset <= bytes.count - width else { throw damaged("it is cut off") }
        return (offset..<offset + width).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    private func damaged(_ text: String) -> ModelError {
        ModelError(.malformed, "the archive cannot be read: \(text); \(remedy)", at: path)
    }
    private func unsupported(_ feature: String) -> ModelError {
        ModelError(
            .unsupported,
            "the archive has \(feature), which is not supported; pack it again as a plain ZIP",
            at: path
        )
    }
}
