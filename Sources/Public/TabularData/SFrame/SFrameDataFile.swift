import CLZ4
import Foundation

/// The location of a column's block in its file.
struct SFrameBlockLocation {
    let offset: Int
    /// The number of bytes in the file.
    let length: Int
    /// The number of bytes after decompression.
    let size: Int
    let rows: Int
    let flags: Flags

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt64
        static let compressed = Flags(rawValue: 1)
        static let typed = Flags(rawValue: 2)
        static let severalTypes = Flags(rawValue: 4)
        /// Floats, and types that contain floats, begin with a byte that names their encoding.
        static let marked = Flags(rawValue: 8)
    }

    /// The number of bytes that describe a block in the file's last part.
    static let described = 48
    /// The greatest number of rows in a block.
    ///
    /// A block of missing values takes two bytes, however many they are; Turi Create writes at most 2^18 rows per
    /// block.
    static let maximumRowCount = 1 << 20
}

/// A file of blocks.
final class SFrameDataFile: Sendable {
    let name: String
    private let mapped: MappedFile
    /// The blocks of each column.
    let columns: [[SFrameBlockLocation]]

    init(_ url: URL) throws(SFrameReadingError) {
        name = url.lastPathComponent
        mapped = try SFrameArchive.open(url)
        do throws(SFrameReadingError) {
            columns = try Self.columns(mapped.bytes)
        } catch .badEncoding(let reason) {
            throw .badArchive("the description of the blocks in \(name) is damaged: \(reason)")
        } catch { throw error }
    }

    /// Reads the description of the blocks, which ends the file together with its size.
    private static func columns(_ file: UnsafeBufferPointer<UInt8>) throws(SFrameReadingError)
        -> [[SFrameBlockLocation]]
    {
        guard let base = file.baseAddress, file.count >= 16 else { throw .badEncoding("the file is too short") }
        let end = file.count - 8
        let size = UInt64(littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: end, as: UInt64.self))
        guard size >= 8, size <= UInt64(end) else { throw .badEncoding("it cannot be \(size) bytes long") }
        let start = end - Int(size)
        var bytes = SFrameBytes(base + start, Int(size))
        var columns: [[SFrameBlockLocation]] = []
        for _ in 0..<(try bytes.count(of: 8)) {
            var blocks: [SFrameBlockLocation] = []
            for _ in 0..<(try bytes.count(of: SFrameBlockLocation.described)) {
                blocks.append(try block(&bytes, dataEnd: start))
            }
            columns.append(blocks)
        }
        return columns
    }

    private static func block(_ bytes: inout SFrameBytes, dataEnd: Int) throws(SFrameReadingError)
        -> SFrameBlockLocation
    {
        let (offset, length) = (try bytes.word(), try bytes.word())
        let (size, rows) = (try bytes.word(), try bytes.word())
        let flags = SFrameBlockLocation.Flags(rawValue: try bytes.word())
        // The type, which the block itself says, too.
        _ = try bytes.word()
        guard offset <= UInt64(dataEnd), length <= UInt64(dataEnd) - offset else {
            throw .badEncoding("a block of \(length) bytes at \(offset) is not in the file")
        }
        // A byte of LZ4 becomes 255 at most.
        let maximum = flags.contains(.compressed) ? length * 255 : length
        guard size <= maximum, size <= UInt64(Int32.max), length <= UInt64(Int32.max) else {
            throw .badEncoding("a block of \(length) bytes cannot be \(size) when expanded")
        }
        guard rows <= UInt64(SFrameBlockLocation.maximumRowCount) else {
            throw .unsupportedLayout(
                "a block has \(rows) rows; at most \(SFrameBlockLocation.maximumRowCount) are read"
            )
        }
        guard flags.contains(.typed) else { throw .unsupportedLayout("a block holds other things than values") }
        guard flags.rawValue < 16 else { throw .unsupportedLayout("a block has the flags \(flags.rawValue)") }
        return SFrameBlockLocation(
            offset: Int(offset),
            length: Int(length),
            size: Int(size),
            rows: Int(rows),
            flags: flags
        )
    }

    /// Returns the bytes of a block, decompressed into `memory` if necessary; both must outlive them.
    func bytes(_ block: SFrameBlockLocation, _ memory: SFrameScratch<UInt8>) throws(SFrameReadingError) -> SFrameBytes {
        guard let base = mapped.bytes.baseAddress else { throw .badEncoding("the file is empty") }
        let source = base + block.offset
        guard block.flags.contains(.compressed) else { return SFrameBytes(source, block.size) }
        let target = memory.reserve(block.size)
        guard clz4_expand(source, block.length, target, block.size) == 1 else {
            throw .badEncoding("a compressed block is damaged")
        }
        return SFrameBytes(target, block.size)
    }
}

/// A scratch buffer.
final class SFrameScratch<Element: BitwiseCopyable> {
    private var memory = UnsafeMutablePointer<Element>.allocate(capacity: 1)
    private var capacity = 1

    /// Returns uninitialised memory for `count` elements; what was reserved before becomes invalid.
    func reserve(_ count: Int) -> UnsafeMutablePointer<Element> {
        if count > capacity {
            memory.deallocate()
            capacity = max(count, 1 << 16)
            memory = .allocate(capacity: capacity)
        }
        return memory
    }

    deinit { memory.deallocate() }
}
