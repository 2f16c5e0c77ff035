import Foundation
import TabularData

/// Reading tables from files.
enum TableFile {
    /// Reads a CSV or JSON file or an SFrame folder.
    /// - Throws: `MLCreateError.io` for other files and options out of range, otherwise the reader's error.
    static func read(_ url: URL, _ options: MLDataTable.ParsingOptions) throws -> DataFrame {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw MLCreateError.io(reason: "there is no file \(url.path)")
        }
        if let maximum = options.maxRows, maximum < 0 {
            throw MLCreateError.io(reason: "maxRows is \(maximum); it must be 0 or more")
        }
        if isFolder.boolValue { return try TableFolder.read(url, options) }
        switch url.pathExtension.lowercased() {
        case "csv", "tsv", "txt": return try csv(url, options)
        case "json":
            var reading = JSONReadingOptions()
            reading.dateParsers = []
            let frame = try DataFrame(contentsOfJSONFile: url, columns: options.selectColumns, options: reading)
            return options.maxRows.map { DataFrame(frame.prefix($0)) } ?? frame
        default:
            throw MLCreateError.io(
                reason:
                    "\(url.path) ends neither in .csv (or .tsv, .txt) nor in .json; give it the extension of its format"
            )
        }
    }

    private static func csv(_ url: URL, _ options: MLDataTable.ParsingOptions) throws -> DataFrame {
        let data = try Data(contentsOf: url, options: .alwaysMapped)
        let dialect = try TableDialect(options)
        let (text, isPlain) = try dialect.plain(data)
        let reading = CSVReadingOptions(
            hasHeaderRow: options.containsHeader,
            nilEncodings: Set(options.missingValues).union([""]),
            // Tables have no Booleans: such cells are strings.
            trueEncodings: [],
            falseEncodings: [],
            usesQuoting: isPlain || !options.quote.isEmpty,
            usesEscaping: !isPlain && !dialect.escape.isEmpty && data.range(of: Data(dialect.escape)) != nil,
            delimiter: isPlain ? "," : Character(options.delimiter),
            escapeCharacter: isPlain || dialect.escape.isEmpty ? "\\" : Character(options.escape)
        )
        var withoutDates = reading
        withoutDates.dateParsers = []
        var frame: DataFrame
        if let maximum = options.maxRows {
            do {
                frame = try DataFrame(
                    csvData: text,
                    columns: options.selectColumns,
                    rows: 0..<maximum,
                    options: withoutDates
                )
            } catch CSVReadingError.outOfBounds {
                // The file has fewer rows.
                frame = try DataFrame(csvData: text, columns: options.selectColumns, options: withoutDates)
            }
        } else {
            frame = try DataFrame(csvData: text, columns: options.selectColumns, options: withoutDates)
        }
        for column in frame.columns where column.wrappedElementType is String.Type {
            if let parsed = containers(column.assumingType(String.self)) {
                frame.replaceColumn(column.name, with: parsed)
            }
        }
        return frame
    }

    /// The lists or objects of a column whose cells are all JSON lists or all JSON objects; `nil` for other columns.
    private static func containers(_ column: Column<String>) -> AnyColumn? {
        guard let first = column.lazy.compactMap({ $0 }).first, let start = first.utf8.first,
            start == UInt8(ascii: "[") || start == UInt8(ascii: "{")
        else { return nil }
        let end = start == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}")
        var text = "["
        for (row, cell) in column.enumerated() {
            if row > 0 { text += "," }
            if let cell {
                guard cell.utf8.first == start, cell.utf8.last == end else { return nil }
                text += "{\"cell\":\(cell)}"
            } else {
                text += "{\"cell\":null}"
            }
        }
        var options = JSONReadingOptions()
        options.dateParsers = []
        // Cells that only look like JSON remain text.
        guard var parsed = try? DataFrame(jsonData: Data((text + "]").utf8), options: options),
            parsed.shape == (column.count, 1)
        else { return nil }
        parsed.renameColumn("cell", to: column.name)
        return parsed.columns[0]
    }
}
