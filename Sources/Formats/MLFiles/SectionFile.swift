import Glibc
package import MLNumerics

/// A file of named sections, each of which starts on a page, so that it can be mapped and used in place.
///
/// The file starts with 64 bytes: the magic number `COREMLC1`, the version of the content (u32), the number of sections
/// (u32), the offset of the table (u64), its FNV-1a hash (u64), the file's size (u64), and zeros. For each section the
/// table has the name after its length (u32), then offset, byte count and FNV-1a hash (u64 each; a hash of 0 marks a
/// section that is used without being read as a whole). All numbers are little-endian.
package struct SectionFile: Sendable {
    static let magic: [UInt8] = Array("COREMLC1".utf8)
    static let headerByteCount = 64
    static let pageByteCount = 4096

    struct Section: Sendable {
        let offset: Int
        let byteCount: Int
        let hash: UInt64
    }

    package let path: String
    package let storage: TensorStorage
    /// The version of the content of the sections.
    package let version: Int
    private let sections: [String: Section]

    package init(_ storage: TensorStorage, path: String) throws(ModelError) {
        self.path = path
        self.storage = storage
        func integer<I: FixedWidthInteger>(_: I.Type, at offset: Int) -> I {
            I(littleEndian: (storage.address + offset).loadUnaligned(as: I.self))
        }
        func malformed(_ detail: String) -> ModelError {
            ModelError(.malformed, "\(detail); the file is damaged: compile the model again.", at: path)
        }
        let size = storage.byteCount
        guard size >= Self.headerByteCount, storage.withBytes({ $0.starts(with: Self.magic) }) else {
            throw malformed("This is not a file of sections")
        }
        version = Int(integer(UInt32.self, at: 8))
        let count = Int(integer(UInt32.self, at: 12))
        guard let table = Int(exactly: integer(UInt64.self, at: 16)), integer(UInt64.self, at: 32) == UInt64(size)
        else {
            throw malformed("The file has \(size) bytes, not those that it states: it was cut off")
        }
        guard table >= Self.headerByteCount, table <= size, size - table <= 1 << 20 else {
            throw malformed("The table of sections lies outside the file")
        }
        guard Self.hash(storage, table, size - table) == integer(UInt64.self, at: 24) else {
            throw malformed("The table of sections differs from the written one")
        }
        var sections: [String: Section] = [:]
        var position = table
        for _ in 0..<count {
            guard size - position >= 4 else { throw malformed("The table of sections ends early") }
            let length = Int(integer(UInt32.self, at: position))
            guard length <= 4096, size - position - 4 >= length + 24 else {
                throw malformed("The table of sections ends early")
            }
            let text = storage.withBytes { String(validating: $0[(position + 4)...].prefix(length), as: UTF8.self) }
            position += 4 + length
            let section = Section(
                offset: Int(clamping: integer(UInt64.self, at: position)),
                byteCount: Int(clamping: integer(UInt64.self, at: position + 8)),
                hash: integer(UInt64.self, at: position + 16)
            )
            position += 24
            guard let name = text, section.offset % Self.pageByteCount == 0,
                section.offset <= table, section.byteCount <= table - section.offset
            else { throw malformed("A section lies outside the file") }
            sections[name] = section
        }
        self.sections = sections
    }

    package func has(_ name: String) -> Bool { sections[name] != nil }

    /// The bytes of a section; throws when they do not match their hash.
    package func bytes(_ name: String) throws(ModelError) -> [UInt8] {
        guard let section = sections[name] else {
            throw ModelError(.malformed, "The section '\(name)' is missing; compile the model again.", at: path)
        }
        guard section.hash == Self.hash(storage, section.offset, section.byteCount) else {
            throw ModelError(
                .malformed,
                "The section '\(name)' differs from the written one: the file is damaged; compile the model again.",
                at: path
            )
        }
        return storage.withBytes { [UInt8]($0[section.offset..<section.offset + section.byteCount]) }
    }

    /// The byte range of a section that is used without being read as a whole.
    package func range(_ name: String) throws(ModelError) -> Range<Int> {
        guard let section = sections[name] else {
            throw ModelError(.malformed, "The section '\(name)' is missing; compile the model again.", at: path)
        }
        return section.offset..<section.offset + section.byteCount
    }

    private static func hash(_ storage: TensorStorage, _ offset: Int, _ count: Int) -> UInt64 {
        var hash = SectionHash()
        storage.withBytes { hash.add($0.bytes.extracting(offset..<offset + count)) }
        return hash.value
    }
}

/// The 64-bit FNV-1a hash, which detects damage but not manipulation.
package struct SectionHash {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func add(_ bytes: [UInt8]) { add(bytes.span.bytes) }

    mutating func add(_ bytes: RawSpan) {
        var hash = value
        for offset in 0..<bytes.byteCount {
            let byte = bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        value = hash
    }
}

/// Writes a `SectionFile`, section by section.
///
/// The file can be opened after each `seal`, and continued.
package final class SectionFileWriter {
    private let path: String
    private let version: Int
    private let descriptor: Int32
    private var position = SectionFile.headerByteCount
    private var sections: [(name: String, section: SectionFile.Section)] = []

    /// Makes the file at `path`, which must not exist.
    package init(_ path: String, version: Int) throws(ModelError) {
        self.path = path
        self.version = version
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileAccess.failure("write", path) }
    }

    deinit { close(descriptor) }

    /// Adds a section that is checked when it is read.
    package func add(_ name: String, _ bytes: [UInt8]) throws(ModelError) {
        let start = beginSection()
        var hash = SectionHash()
        hash.add(bytes)
        try append(bytes.span.bytes)
        sections.append((name, SectionFile.Section(offset: start, byteCount: bytes.count, hash: hash.value)))
    }

    /// Adds a section of parts that are used in place, each at a multiple of 64 bytes from the start of the section.
    ///
    /// - Parameters:
    ///   - name: The section's name.
    ///   - count: The number of parts.
    ///   - write: Appends the part of a number with the function that it is given.
    /// - Returns: The offsets of the parts within the section.
    /// - Throws: The errors of `write`, and of the file system.
    package func add(
        _ name: String,
        partCount count: Int,
        _ write: (Int, (RawSpan) throws(ModelError) -> Void) throws(ModelError) -> Void
    ) throws(ModelError) -> [Int] {
        let start = beginSection()
        var offsets: [Int] = []
        for part in 0..<count {
            position = (position + 63) / 64 * 64
            offsets.append(position - start)
            try write(part, append)
        }
        sections.append((name, SectionFile.Section(offset: start, byteCount: position - start, hash: 0)))
        return offsets
    }

    /// Completes the file with the sections written so far.
    package func seal() throws(ModelError) {
        let table = position
        var bytes: [UInt8] = []
        for (name, section) in sections {
            bytes.append(littleEndian: UInt32(name.utf8.count))
            bytes += Array(name.utf8)
            bytes.append(littleEndian: UInt64(section.offset))
            bytes.append(littleEndian: UInt64(section.byteCount))
            bytes.append(littleEndian: section.hash)
        }
        var hash = SectionHash()
        hash.add(bytes)
        try append(bytes.span.bytes)
        var header = SectionFile.magic
        header.append(littleEndian: UInt32(version))
        header.append(littleEndian: UInt32(sections.count))
        header.append(littleEndian: UInt64(table))
        header.append(littleEndian: hash.value)
        header.append(littleEndian: UInt64(position))
        header += [UInt8](repeating: 0, count: SectionFile.headerByteCount - header.count)
        try write(header.span.bytes, at: 0)
        position = table
    }

    private func beginSection() -> Int {
        let page = SectionFile.pageByteCount
        position = (position + page - 1) / page * page
        return position
    }

    private func append(_ bytes: RawSpan) throws(ModelError) {
        try write(bytes, at: position)
        position += bytes.byteCount
    }

    private func write(_ bytes: RawSpan, at offset: Int) throws(ModelError) {
        var remaining = bytes
        var location = offset
        while !remaining.isEmpty {
            let written = remaining.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(location)) }
            if written < 0 {
                if errno == EINTR { continue }
                throw FileAccess.failure("write", path)
            }
            remaining = remaining.extracting(droppingFirst: written)
            location += written
        }
    }
}
