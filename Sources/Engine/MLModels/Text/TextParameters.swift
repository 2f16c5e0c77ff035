import MLNumerics

/// The parameters of natural-language models in this package's own revisions.
///
/// Apple's parameters are blocks of its Natural Language framework whose form is not published. The form of ours is
/// that of Documentation/TextModels.md: little-endian, the eight bytes `SWCOREML`, a byte for the kind, and the fields
/// that the kind's type lists; a string is its length in bytes (UInt32) and UTF-8.
package enum TextParameters {
    /// Features by their spelling, words by `Words`; used for gazetteers and word embeddings.
    package static let revision: UInt32 = 1001
    /// Features by their keys, words by `TextTokenizer`; used for text classifiers and word taggers.
    package static let keyedRevision: UInt32 = 1002

    /// The kind of a block.
    package enum Kind: UInt8, Sendable {
        case gazetteer = 1
        case wordEmbedding = 2
        case textClassifier = 3
        case wordTagger = 4
    }

    static let magic = [UInt8]("SWCOREML".utf8)

    /// Checks the header of a block and returns a reader for the fields after it.
    ///
    /// - Parameters:
    ///   - bytes: The block.
    ///   - revision: The revision that the model declares.
    ///   - kind: The kind of model that the block must have.
    ///   - revisions: The revisions that the kind supports.
    /// - Returns: A reader at the first byte after the header.
    /// - Throws: `.unsupported` for another revision or a block of another origin, `.malformed` for another kind.
    static func reader(
        _ bytes: [UInt8],
        revision: UInt32,
        _ kind: Kind,
        of revisions: Set<UInt32> = [Self.revision]
    ) throws(ModelError) -> ByteReader {
        guard revisions.contains(revision), bytes.starts(with: magic) else {
            throw ModelError(
                .unsupported,
                "its parameters are a block of Apple's Natural Language framework (revision \(revision)), "
                    + "whose format is not published; train the model here, or keep a graph that does the same"
            )
        }
        var reader = ByteReader(bytes, at: magic.count)
        let found = try reader.byte()
        guard found == kind.rawValue else {
            throw ModelError(
                .malformed,
                "its parameters are of kind \(found), but the model is of kind \(kind.rawValue)"
            )
        }
        return reader
    }

    static func writer(_ kind: Kind) -> ByteWriter {
        var writer = ByteWriter()
        writer.bytes = magic + [kind.rawValue]
        return writer
    }
}

/// Reads the fields of a block in order, never beyond its end.
struct ByteReader {
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8], at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    private mutating func take(_ count: Int) throws(ModelError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - position else {
            throw ModelError(
                .malformed,
                "the parameters end at byte \(bytes.count), within a field at byte \(position)"
            )
        }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func byte() throws(ModelError) -> UInt8 {
        let slice = try take(1)
        return slice[slice.startIndex]
    }

    mutating func integer() throws(ModelError) -> Int {
        Int(try take(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }

    /// A count of elements of at least `size` bytes each, so that a false count cannot allocate much memory.
    mutating func count(of size: Int) throws(ModelError) -> Int {
        let count = try integer()
        guard count <= (bytes.count - position) / Swift.max(size, 1) else {
            throw ModelError(
                .malformed,
                "the parameters claim \(count) entries at byte \(position), more than they can hold"
            )
        }
        return count
    }

    mutating func string() throws(ModelError) -> String {
        let length = try count(of: 1)
        let slice = try take(length)
        guard let text = String(validating: slice, as: UTF8.self) else {
            throw ModelError(.malformed, "the text at byte \(position - length) of the parameters is not UTF-8")
        }
        return text
    }

    mutating func floats(_ count: Int) throws(ModelError) -> [Float] {
        let (size, overflow) = count.multipliedReportingOverflow(by: 4)
        guard !overflow else {
            throw ModelError(.malformed, "the parameters claim \(count) numbers at byte \(position)")
        }
        let slice = try take(size)
        return Self.numbers(slice, UInt32.self).map { Float(bitPattern: $0) }
    }

    /// Like `floats`, but all must be finite.
    mutating func finiteFloats(_ count: Int) throws(ModelError) -> [Float] {
        let values = try floats(count)
        guard values.allSatisfy(\.isFinite) else {
            throw ModelError(.malformed, "a number before byte \(position) of the parameters is not finite")
        }
        return values
    }

    /// Keys in ascending order, as a table of their indices.
    mutating func keys(_ count: Int) throws(ModelError) -> KeyTable {
        let (size, overflow) = count.multipliedReportingOverflow(by: 8)
        guard !overflow else {
            throw ModelError(.malformed, "the parameters claim \(count) keys at byte \(position)")
        }
        let slice = try take(size)
        let keys = Self.numbers(slice, UInt64.self)
        for index in keys.indices.dropFirst() where keys[index - 1] >= keys[index] {
            throw ModelError(
                .malformed,
                "key \(index) before byte \(position) of the parameters is not in ascending order"
            )
        }
        guard let table = KeyTable(keys) else {
            throw ModelError(.malformed, "a key before byte \(position) of the parameters occurs twice")
        }
        return table
    }

    mutating func integers(_ count: Int) throws(ModelError) -> [Int] {
        let (size, overflow) = count.multipliedReportingOverflow(by: 4)
        guard !overflow else {
            throw ModelError(.malformed, "the parameters claim \(count) integers at byte \(position)")
        }
        let slice = try take(size)
        return Self.numbers(slice, UInt32.self).map { Int($0) }
    }

    mutating func uint16s(_ count: Int) throws(ModelError) -> [UInt16] {
        let (size, overflow) = count.multipliedReportingOverflow(by: 2)
        guard !overflow else {
            throw ModelError(.malformed, "the parameters claim \(count) numbers at byte \(position)")
        }
        let slice = try take(size)
        return Self.numbers(slice, UInt16.self)
    }

    /// The numbers in some bytes, the lowest byte of each first.
    private static func numbers<T: FixedWidthInteger & BitwiseCopyable>(_ slice: ArraySlice<UInt8>, _: T.Type) -> [T] {
        let bytes = slice.span.bytes
        let width = MemoryLayout<T>.size
        return (0..<bytes.byteCount / width).map {
            T(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: $0 * width, as: T.self))
        }
    }

    /// Checks that there are no further bytes.
    func end() throws(ModelError) {
        guard position == bytes.count else {
            throw ModelError(.malformed, "\(bytes.count - position) bytes follow the parameters")
        }
    }
}

/// Writes the fields of a block in order.
///
/// Bytes are appended without reserving capacity: a reservation for each of many short fields would copy everything
/// written so far every time.
package struct ByteWriter {
    package fileprivate(set) var bytes: [UInt8] = []

    package init() {}

    mutating func byte(_ value: UInt8) { bytes.append(value) }
    mutating func integer(_ value: Int) { bytes.append(littleEndian: UInt32(value)) }
    mutating func string(_ text: String) {
        integer(text.utf8.count)
        bytes += text.utf8
    }
    package mutating func floats(_ values: [Float]) {
        for value in values { bytes.append(littleEndian: value.bitPattern) }
    }
    package mutating func keys(_ values: [UInt64]) {
        for value in values { bytes.append(littleEndian: value) }
    }
    mutating func uint16s(_ values: [UInt16]) {
        for value in values { bytes.append(littleEndian: value) }
    }
}
