public import Foundation

extension DataFrame {
    /// The rows of a CSV file.
    ///
    /// - Parameters:
    ///   - columns: the columns to read, in that order; all of them when none are given.
    ///   - rows: the rows to read, counted without the header.
    ///   - types: the types of columns.  Others have the first type that fits all their cells: whole numbers, numbers,
    ///     Booleans, dates, strings.
    /// - Throws: `CSVReadingError`, or what the file system says.
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

    /// The rows of a CSV text.  Throws `CSVReadingError`.
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

    /// Some columns of a CSV file with their types.
    public init<each T>(
        contentsOfCSVFile url: URL,
        columns: repeat ColumnID<each T>,
        rows: Range<Int>? = nil,
        options: CSVReadingOptions = .init()
    ) throws {
        let (names, types) = try csvTypes(repeat each columns)
        try self.init(contentsOfCSVFile: url, columns: names, rows: rows, types: types, options: options)
    }

    /// Some columns of a CSV text with their types.
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
