public import Foundation

extension DataFrame {
    /// Reads the rows of a CSV file.
    ///
    /// - Parameters:
    ///   - url: A file in UTF-8.
    ///   - columns: The columns to read, in that order; all by default.
    ///   - rows: The rows to read, counted from 0 without the header; all by default.
    ///   - types: The types of columns by name. Each other column has the first type that fits all its cells:
    ///     integer, number, Boolean, date, string.
    ///   - options: The dialect and the encodings of values.
    /// - Throws: `CSVReadingError`, or the file system's error.
    public init(
        contentsOfCSVFile url: URL,
        columns: [String]? = nil,
        rows: Range<Int>? = nil,
        types: [String: CSVType] = [:],
        options: CSVReadingOptions = .init()
    ) throws {
        let file = try MappedFile(url)
        defer { withExtendedLifetime(file) {} }
        self = try CSVReader(options).frame(file.bytes, of: file, columns: columns, rows: rows, types: types)
    }

    /// Reads the rows of CSV text.
    ///
    /// - Parameters:
    ///   - data: Text in UTF-8.
    ///   - columns: The columns to read, in that order; all by default.
    ///   - rows: The rows to read, counted from 0 without the header; all by default.
    ///   - types: The types of columns by name; those of other columns are inferred.
    ///   - options: The dialect and the encodings of values.
    /// - Throws: `CSVReadingError`.
    public init(
        csvData data: Data,
        columns: [String]? = nil,
        rows: Range<Int>? = nil,
        types: [String: CSVType] = [:],
        options: CSVReadingOptions = .init()
    ) throws {
        self = try data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            try CSVReader(options).frame(
                bytes.assumingMemoryBound(to: UInt8.self),
                of: nil,
                columns: columns,
                rows: rows,
                types: types
            )
        }
    }

    /// Reads typed columns of a CSV file.
    ///
    /// - Parameters:
    ///   - url: A file in UTF-8.
    ///   - columns: The columns to read, of type `Int`, `Double`, `Float`, `Bool`, `Date`, `String` or `Data`.
    ///   - rows: The rows to read, counted from 0 without the header; all by default.
    ///   - options: The dialect and the encodings of values.
    /// - Throws: `CSVReadingError`, `.unsupportedColumnType` for columns of other types, or the file system's error.
    public init<each T>(
        contentsOfCSVFile url: URL,
        columns: repeat ColumnID<each T>,
        rows: Range<Int>? = nil,
        options: CSVReadingOptions = .init()
    ) throws {
        let (names, types) = try csvTypes(repeat each columns)
        try self.init(contentsOfCSVFile: url, columns: names, rows: rows, types: types, options: options)
    }

    /// Reads typed columns of CSV text.
    ///
    /// - Parameters:
    ///   - data: Text in UTF-8.
    ///   - columns: The columns to read, of type `Int`, `Double`, `Float`, `Bool`, `Date`, `String` or `Data`.
    ///   - rows: The rows to read, counted from 0 without the header; all by default.
    ///   - options: The dialect and the encodings of values.
    /// - Throws: `CSVReadingError`, `.unsupportedColumnType` for columns of other types.
    public init<each T>(
        csvData data: Data,
        columns: repeat ColumnID<each T>,
        rows: Range<Int>? = nil,
        options: CSVReadingOptions = .init()
    ) throws {
        let (names, types) = try csvTypes(repeat each columns)
        try self.init(csvData: data, columns: names, rows: rows, types: types, options: options)
    }
}

private func csvTypes<each T>(_ columns: repeat ColumnID<each T>) throws -> ([String], [String: CSVType]) {
    var names: [String] = []
    var types: [String: CSVType] = [:]
    for column in repeat each columns {
        let type: CSVType
        switch column.type {
        case is Int.Type: type = .integer
        case is Double.Type: type = .double
        case is Float.Type: type = .float
        case is Bool.Type: type = .boolean
        case is Date.Type: type = .date
        case is String.Type: type = .string
        case is Data.Type: type = .data
        default:
            throw CSVReadingError.unsupportedColumnType(
                columnIndex: names.count,
                columnName: column.name,
                type: typeName(column.type)
            )
        }
        names.append(column.name)
        types[column.name] = type
    }
    return (names, types)
}
