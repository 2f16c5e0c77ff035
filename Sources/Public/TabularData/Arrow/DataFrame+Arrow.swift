import CTabular

extension DataFrame {
    /// Reads all record batches of an Arrow stream.
    ///
    /// Numbers of 64 bits, `Float` and the bytes of strings in columns without missing elements are not copied when the
    /// stream has one batch: the columns keep its memory, which must not change.
    ///
    /// | Arrow | elements |
    /// |---|---|
    /// | booleans | `Bool` |
    /// | integers of 8 to 64 bits | `Int` |
    /// | half, float | `Float` |
    /// | double | `Double` |
    /// | UTF-8, large, view | `String` |
    /// | dates, timestamps | `Date` |
    /// | lists, large, fixed-size | `[Double]`, `[Float]`, `[Int]`, `[String]` |
    /// | maps from strings or integers to numbers, structures of numbers | `[String: Double]`, `[Int: Double]` |
    /// | dictionaries | those of the dictionary's values |
    /// | null | `String`, all missing |
    /// - Parameter stream: The address of an `ArrowArrayStream`, which is taken over and released.
    /// - Throws: `ArrowError` for other types, naming the column, and for arrays that contradict themselves.
    package init(arrowStream stream: UnsafeMutableRawPointer) throws(ArrowError) {
        let source = stream.assumingMemoryBound(to: ArrowArrayStream.self)
        guard source.pointee.release != nil else { throw ArrowError("the stream was released already") }
        var stream = source.pointee
        source.pointee.release = nil
        defer { if let release = stream.release { release(&stream) } }
        guard let describe = stream.get_schema, let next = stream.get_next else {
            throw ArrowError("the stream has no functions to read it")
        }
        var schema = ArrowSchema()
        guard describe(&stream, &schema) == 0 else { throw Self.failure(of: &stream) }
        defer { if let release = schema.release { release(&schema) } }
        let reader = try ArrowReader(&schema)
        var chunks: [ArrowChunk] = []
        while true {
            var array = ArrowArray()
            guard next(&stream, &array) == 0 else { throw Self.failure(of: &stream) }
            guard array.release != nil else { break }
            chunks.append(ArrowChunk(moving: &array))
        }
        var batches: [ArrowBatch] = []
        for chunk in chunks { batches.append(ArrowBatch(array: chunk.array, owner: chunk)) }
        self = try reader.frame(batches)
    }

    /// Reads a record batch in the Arrow C data interface, and copies it.
    ///
    /// - Parameters:
    ///   - array: The address of an `ArrowArray` of a structure, which remains the caller's.
    ///   - schema: The address of its `ArrowSchema`, which remains the caller's.
    /// - Throws: The errors of `init(arrowStream:)`.
    package init(copyingArrowArray array: UnsafeRawPointer, schema: UnsafeRawPointer) throws(ArrowError) {
        let array = array.assumingMemoryBound(to: ArrowArray.self)
        guard array.pointee.release != nil else { throw ArrowError("the array was released already") }
        self = try ArrowReader(schema.assumingMemoryBound(to: ArrowSchema.self))
            .frame([ArrowBatch(array: array, owner: nil)])
    }

    private static func failure(of stream: inout ArrowArrayStream) -> ArrowError {
        let message = stream.get_last_error.flatMap { $0(&stream) }.map { String(cString: $0) }
        return ArrowError("the table cannot be read: \(message ?? "its library gives no reason")")
    }
}

/// The rows of a table in one piece.
struct ArrowBatch {
    let array: UnsafePointer<ArrowArray>
    let owner: ArrowChunk?
}

/// Makes a data frame of record batches.
struct ArrowReader {
    let fields: [ArrowField]

    init(_ schema: UnsafePointer<ArrowSchema>) throws(ArrowError) {
        guard schema.pointee.release != nil else { throw ArrowError("the schema was released already") }
        guard let format = schema.pointee.format, String(cString: format) == "+s" else {
            throw ArrowError("the Arrow data are not a table: their schema is not a structure of columns")
        }
        fields = try ArrowField(schema).children
        var names: Set<String> = []
        for field in fields where !names.insert(field.name).inserted {
            throw ArrowError("the table has two columns '\(field.name)'; rename one")
        }
    }

    func frame(_ batches: [ArrowBatch]) throws(ArrowError) -> DataFrame {
        var rows = 0
        for batch in batches {
            let part = try ArrowPart("(table)", batch.array, owner: batch.owner)
            let header = batch.array.pointee
            guard header.n_children == Int64(fields.count), fields.isEmpty || header.children != nil else {
                throw ArrowError("a batch has \(header.n_children) columns, where the schema has \(fields.count)")
            }
            guard header.n_buffers >= 1, header.buffers != nil else {
                throw ArrowError("a batch has \(header.n_buffers) buffers, where a structure has 1")
            }
            guard try part.missingCount() == 0 else {
                throw ArrowError("the table has rows that are missing as a whole")
            }
            rows += part.count
            guard rows <= RowSelection.maximumRowCount else {
                throw ArrowError("the table has more than \(RowSelection.maximumRowCount) rows; divide it")
            }
        }
        var result = DataFrame()
        for (index, field) in fields.enumerated() {
            var columns: [any ErasedColumn] = []
            for batch in batches where batch.array.pointee.length > 0 {
                let first = Int(batch.array.pointee.offset)
                let rows = first..<first + Int(batch.array.pointee.length)
                let part = try ArrowPart(
                    field.name,
                    batch.array.pointee.children[index],
                    rows: rows,
                    owner: batch.owner
                )
                columns.append(try ArrowColumn(field).column(part))
            }
            result.append(column: AnyColumn(erased: try Self.joined(columns, rows, like: field)))
        }
        return result
    }

    /// One column of those of all batches.
    private static func joined(
        _ columns: [any ErasedColumn],
        _ rows: Int,
        like field: ArrowField
    ) throws(ArrowError) -> any ErasedColumn {
        guard columns.count != 1 else { return columns[0] }
        guard let first = columns.first else { return ArrowColumn.empty(field) }
        var result = first.prototype.makeColumn(capacity: rows).erased
        for column in columns {
            do throws(ElementTypeMismatch) { try result.append(column, in: 0..<column.count) } catch {
                throw .column(field.name, "has batches of different types: \(error.description)")
            }
        }
        return result
    }
}
