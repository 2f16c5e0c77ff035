import CLZ4
package import Foundation

/// The reason why a frame cannot be written.
package struct SFrameWritingError: Error, CustomStringConvertible {
    package let description: String
}

/// Writes a frame as Turi Create does (see Documentation/SFrame.md).
package enum SFrameWriter {
    /// Writes the files of a frame.
    ///
    /// - Parameters:
    ///   - columns: Columns of equal length with distinct names.
    ///   - folder: An empty directory.
    /// - Throws: `SFrameWritingError` for names that the format cannot represent, or the file system's error.
    package static func write(_ columns: [(name: String, contents: SFrameContents)], to folder: URL) throws {
        let rows = columns.first?.contents.count ?? 0
        for (name, contents) in columns {
            precondition(contents.count == rows, "'\(name)' has \(contents.count) rows, the first column \(rows)")
            let ends = [name.utf8.first, name.utf8.last].compactMap { $0 }
            guard !name.utf8.contains(10), !ends.contains(where: SFrameSettings.isBlank) else {
                throw SFrameWritingError(
                    description: "a column's name begins or ends with a blank or has two lines, which SFrames cannot "
                        + "write: '\(name)'; rename it"
                )
            }
        }
        let prefix = "m_" + String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        try data(columns.map(\.contents), folder.appendingPathComponent("\(prefix).0000"))
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        try write("\(prefix).sidx", index(columns.map(\.contents), rows, "\(prefix).0000"))
        var frame = "[sframe]\nversion=0\nnum_segments=0\nnum_columns=\(columns.count)\nnrows=\(rows)\n"
        if !columns.isEmpty {
            frame += "[column_names]\n" + list(columns.map(\.name))
            frame += "[column_files]\n" + list(columns.indices.map { "\(prefix).sidx:\($0)" })
        }
        try write("\(prefix).frame_idx", frame)
        try write("objects.bin", "")
        try write(
            "dir_archive.ini",
            "[archive]\nversion=1\nnum_prefixes=3\n[metadata]\ncontents=sframe\n[prefixes]\n"
                + list(["dir_archive.ini", "objects.bin", prefix])
        )
    }

    /// Returns the names in a directory that a new frame would overwrite although they are not files of a frame.
    package static func foreignFiles(in folder: URL) throws -> [String] { try SFrameArchive.foreignFiles(in: folder) }

    private static func key(_ position: Int) -> String {
        let digits = String(position)
        return String(repeating: "0", count: max(4 - digits.count, 0)) + digits
    }

    private static func list(_ values: [String]) -> String {
        values.enumerated().map { "\(key($0.offset))=\($0.element)\n" }.joined()
    }

    private static func index(_ columns: [SFrameContents], _ rows: Int, _ file: String) -> String {
        let described = columns.map {
            #"{"content_type": "", "metadata": {"__type__": "\#($0.kind.rawValue)"}, "#
                + #""segment_sizes": {"0000": "\#(rows)"}}"#
        }
        return #"{"sarray": {"version": 2, "num_segments": 1}, "segment_files": {"0000": "\#(file)"}, "columns": ["#
            + described.joined(separator: ", ") + "]}\n"
    }

    // MARK: Data

    /// The number of blocks that are prepared in parallel and held in memory until they are written.
    private static let batch = 64

    private static func data(_ columns: [SFrameContents], _ url: URL) throws {
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        var offset: UInt64 = 0
        var description = SFrameOutput()
        description.append(UInt64(columns.count))
        for column in columns {
            let blocks = column.blocks()
            description.append(UInt64(blocks.count))
            for start in stride(from: 0, to: blocks.count, by: batch) {
                let rows = Array(blocks[start..<min(start + batch, blocks.count)])
                for (rows, block) in zip(rows, Parallel.map(rows) { packed(column.block($0)) }) {
                    try file.write(contentsOf: block.bytes)
                    description.append(offset)
                    description.append(UInt64(block.bytes.count))
                    description.append(UInt64(block.size))
                    description.append(UInt64(rows.count))
                    description.append(block.flags.rawValue)
                    // The type, which the block itself says.
                    description.append(UInt64(0))
                    offset += UInt64(block.bytes.count)
                }
            }
        }
        let size = UInt64(description.bytes.count)
        description.append(size)
        try file.write(contentsOf: Data(description.bytes))
        try file.synchronize()
    }

    private struct Packed: Sendable {
        let bytes: Data
        let size: Int
        let flags: SFrameBlockLocation.Flags
    }

    /// Compresses a block when that saves at least a tenth.
    private static func packed(_ block: (bytes: [UInt8], flags: SFrameBlockLocation.Flags)) -> Packed {
        let (bytes, flags) = block
        let bound = clz4_bound(bytes.count)
        var memory = [UInt8](repeating: 0, count: bound)
        let size = bound == 0 ? 0 : clz4_pack(bytes, bytes.count, &memory, bound)
        if size > 0, size * 10 < bytes.count * 9 {
            return Packed(bytes: Data(memory[..<size]), size: bytes.count, flags: flags.union(.compressed))
        }
        return Packed(bytes: Data(bytes), size: bytes.count, flags: flags)
    }
}
