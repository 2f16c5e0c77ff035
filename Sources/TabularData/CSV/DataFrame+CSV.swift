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
        self = try MappedFile.withBytes(of: url) { bytes in
            try CSVReader(options).frame(bytes, columns: columns, rows: rows, types: types)
        }
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

/// The bytes of a file, brought into memory as they are read.
final class MappedFile {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let mapping: UnsafeMutableRawPointer?

    /// Calls `body` with the bytes, which are gone afterwards.
    static func withBytes<R>(of url: URL, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) throws -> R {
        let file = try MappedFile(url)
        defer { withExtendedLifetime(file) {} }
        return try body(file.bytes)
    }

    private init(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY)
        var status = stat()
        if descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 {
            let length = Int(status.st_size)
            let memory = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, 0)
            close(descriptor)
            if let memory, memory != MAP_FAILED {
                mapping = memory
                bytes = UnsafeBufferPointer(start: memory.assumingMemoryBound(to: UInt8.self), count: length)
                return
            }
        } else if descriptor >= 0 {
            close(descriptor)
        }
        // Pipes and the like; also says what is wrong when there is no such file.
        let data = try Data(contentsOf: url)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: data.count)
        _ = copy.initialize(from: data)
        mapping = nil
        bytes = UnsafeBufferPointer(copy)
    }

    deinit {
        if let mapping { munmap(mapping, bytes.count) } else { bytes.deallocate() }
    }
}
