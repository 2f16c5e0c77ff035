import MLNumerics

/// A buffer of FlatBuffers in memory.
///
/// Every offset is checked before it is followed, so a damaged or hostile file is an error and nothing else.
struct FlatBuffer {
    /// A table: a position in the buffer, and the table of its fields' offsets.
    struct Table {
        fileprivate let position: Int
        fileprivate let fields: Range<Int>
    }

    private let bytes: [UInt8]
    private let path: String

    /// - Parameters:
    ///   - bytes: The whole buffer, at most 2 GiB.
    ///   - path: Its name, for errors.
    /// - Throws: `.malformed` for larger buffers.
    init(_ bytes: [UInt8], path: String) throws(ModelError) {
        self.bytes = bytes
        self.path = path
        guard bytes.count < 1 << 31 else { throw damaged("it has \(bytes.count) bytes; at most 2 GiB are read") }
    }

    /// Whether the buffer's identifier, its bytes 4 to 7, is `identifier`.
    func isIdentified(as identifier: StaticString) -> Bool {
        bytes.count >= 8 && bytes[4..<8].elementsEqual(identifier.description.utf8)
    }

    func damaged(_ text: String) -> ModelError {
        ModelError(.malformed, "the file is not a TensorFlow Lite model that can be read: \(text)", at: path)
    }

    /// The table that the buffer begins with.
    func root() throws(ModelError) -> Table { try table(try reference(0)) }

    // MARK: Fields

    /// A number in a field, or the default of an absent field.
    func number<Number: FixedWidthInteger>(
        _ table: Table,
        _ field: Int,
        default absent: Number
    ) throws(ModelError) -> Number {
        guard let position = try self.position(table, field) else { return absent }
        return try scalar(position)
    }

    /// The table that a field refers to; `nil` for an absent field.
    func table(_ table: Table, _ field: Int) throws(ModelError) -> Table? {
        guard let position = try self.position(table, field) else { return nil }
        return try self.table(try reference(position))
    }

    /// The tables in a field; empty for an absent one.
    func tables(_ table: Table, _ field: Int, atMost limit: Int) throws(ModelError) -> [Table] {
        guard let range = try vector(table, field, width: 4) else { return [] }
        guard range.count / 4 <= limit else {
            throw damaged("it lists \(range.count / 4) entries; at most \(limit) are read")
        }
        var result: [Table] = []
        result.reserveCapacity(range.count / 4)
        for position in stride(from: range.lowerBound, to: range.upperBound, by: 4) {
            result.append(try self.table(try reference(position)))
        }
        return result
    }

    /// The numbers in a field; `nil` for an absent one.
    func numbers<Number: FixedWidthInteger>(
        _ table: Table,
        _ field: Int,
        of type: Number.Type
    ) throws(ModelError) -> [Int]? {
        let width = Number.bitWidth / 8
        guard let range = try vector(table, field, width: width) else { return nil }
        var result: [Int] = []
        result.reserveCapacity(range.count / width)
        for position in stride(from: range.lowerBound, to: range.upperBound, by: width) {
            result.append(Int(truncatingIfNeeded: try scalar(position) as Number))
        }
        return result
    }

    /// The bytes in a field; `nil` for an absent one.
    func content(_ table: Table, _ field: Int) throws(ModelError) -> ArraySlice<UInt8>? {
        try vector(table, field, width: 1).map { bytes[$0] }
    }

    /// The text in a field; empty for an absent one, with replacement characters for bytes that are not UTF-8.
    func text(_ table: Table, _ field: Int) throws(ModelError) -> String {
        String(decoding: try content(table, field) ?? [], as: UTF8.self)
    }

    // MARK: Positions

    private func scalar<Number: FixedWidthInteger>(_ position: Int) throws(ModelError) -> Number {
        let width = Number.bitWidth / 8
        guard position >= 0, position <= bytes.count - width else { throw damaged("it is cut off") }
        var value: Number = 0
        for index in (0..<width).reversed() {
            value = (width > 1 ? value << 8 : 0) | Number(truncatingIfNeeded: bytes[position + index])
        }
        return value
    }

    /// The position that the offset at `position` refers to.
    private func reference(_ position: Int) throws(ModelError) -> Int { position + Int(try scalar(position) as UInt32) }

    private func table(_ position: Int) throws(ModelError) -> Table {
        let start = position - Int(try scalar(position) as Int32)
        let length = Int(try scalar(start) as UInt16)
        guard length >= 4, length % 2 == 0, start <= bytes.count - length else { throw damaged("a table is cut off") }
        return Table(position: position, fields: start + 4..<start + length)
    }

    private func position(_ table: Table, _ field: Int) throws(ModelError) -> Int? {
        let entry = table.fields.lowerBound + 2 * field
        guard entry + 2 <= table.fields.upperBound else { return nil }
        let offset = Int(try scalar(entry) as UInt16)
        return offset == 0 ? nil : table.position + offset
    }

    private func vector(_ table: Table, _ field: Int, width: Int) throws(ModelError) -> Range<Int>? {
        guard let position = try self.position(table, field) else { return nil }
        let start = try reference(position)
        let count = Int(try scalar(start) as UInt32)
        guard count <= (bytes.count - start - 4) / width else { throw damaged("a list is cut off") }
        return start + 4..<start + 4 + count * width
    }
}
