import ArgumentParser
import Foundation
import TabularData

/// Reads tables named on the command line.
enum TableFile {
    /// The table of a `.csv`, `.tsv` or `.json` file, or of a folder written by Turi Create or Create ML.
    ///
    /// - Parameters:
    ///   - path: The file or folder.
    ///   - delimiter: The character between cells; by default a tab in `.tsv` files, a comma in others.
    ///   - types: The types of columns for which they are not inferred.
    ///   - missing: Cells that mean a missing value; TabularData's by default.
    /// - Returns: The table.
    /// - Throws: `Failure` when the path cannot be read or is not a table of these forms.
    static func read(
        _ path: String,
        delimiter: String? = nil,
        types: [String: CSVType] = [:],
        missing: Set<String>? = nil
    ) throws -> DataFrame {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Failure("cannot read '\(path)': there is no such file")
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw Failure("cannot read '\(path)': permission is missing; allow it with chmod, or copy the file")
        }
        if isFolder.boolValue { return try frame(inFolder: path, texts: types.filter { $0.value == .string }.keys) }
        let url = URL(fileURLWithPath: path)
        do {
            if path.hasSuffix(".json") { return try DataFrame(contentsOfJSONFile: url) }
            let cells = delimiter ?? (path.hasSuffix(".tsv") ? "\t" : ",")
            var options = CSVReadingOptions(delimiter: cells.first ?? ",")
            options.floatingPointType = .double
            if let missing { options.nilEncodings = missing }
            return try DataFrame(contentsOfCSVFile: url, types: types, options: options)
        } catch DecodingError.dataCorrupted(let context) {
            throw Failure("\(path): \(context.debugDescription)")
        } catch CSVReadingError.misplacedQuote(let row, let column) {
            throw Failure(
                "\(path): row \(row), column \(column): a quote is not allowed here, or is never closed; "
                    + "double the quotes inside quoted cells"
            )
        } catch { throw Failure("\(path): \(error)") }
    }

    /// - Throws: When there are no rows.
    static func requireRows(_ frame: DataFrame, _ path: String) throws {
        guard frame.shape.rows > 0 else { throw Failure("\(path) has column names, but no rows to train on") }
    }

    /// The table of a folder written by Turi Create or Create ML.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - texts: The columns whose cells are converted to text, as in a `.csv` file; lists become JSON.
    /// - Returns: The table.
    /// - Throws: `Failure` when the folder is not a table, or a column has cells that cannot be converted.
    private static func frame(inFolder path: String, texts: some Collection<String>) throws -> DataFrame {
        do {
            var frame = try DataFrame(contentsOfSFrameDirectory: URL(fileURLWithPath: path, isDirectory: true))
            for column in frame.columns where texts.contains(column.name) {
                switch column.wrappedElementType {
                case is String.Type: break
                case is Int.Type, is Double.Type, is [Double].Type:
                    let texts = try column.map { try $0.map { $0 is [Double] ? try JSONFeature.text($0) : "\($0)" } }
                    let cells = Column<String>(name: column.name, contents: texts)
                    frame.replaceColumn(column.name, with: cells.eraseToAnyColumn())
                default:
                    throw Failure("the column '\(column.name)' has neither numbers nor strings nor lists of numbers")
                }
            }
            return frame
        } catch SFrameReadingError.missingArchive {
            throw Failure("'\(path)' is a folder, where a table is expected")
        } catch { throw Failure("\(path): \(error)") }
    }

    /// - Throws: When a column is missing, naming the existing ones.
    static func require(_ name: String, in frame: DataFrame, _ path: String, option: String? = nil) throws {
        guard !frame.columns.contains(where: { $0.name == name }) else { return }
        guard !frame.columns.isEmpty else {
            throw Failure("\(path) is empty, where a line of column names and rows of values are expected")
        }
        let names = frame.columns.map(\.name).joined(separator: ", ")
        let hint = option.map { "; name the column with \($0)" } ?? ""
        throw Failure("\(path) has no column '\(name)'; its columns are \(names)\(hint)")
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Whether a path is a folder written by Turi Create or Create ML: a table, not a folder of files.
    static func isSFrame(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path + "/dir_archive.ini")
    }

    /// Whether a path is a folder of files or of folders.
    static func isFolderOfFiles(_ path: String) -> Bool { isFolder(path) && !isSFrame(path) }

    /// The entries of a folder, without hidden files, by name.
    static func contents(ofFolder path: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }.sorted()
                .map { path + "/" + $0 }
        } catch { throw Failure("'\(path)' cannot be listed: \(error.localizedDescription)") }
    }

    /// The name of a file or folder without its parent folder and its extension.
    static func name(_ path: String) -> String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
}

/// The option for the character between cells.
struct DelimiterOption: ParsableArguments {
    @Option(help: "The character between the cells of a table; a comma by default, in .tsv files a tab.")
    var delimiter: String?

    func validate() throws {
        guard delimiter?.count ?? 1 == 1 else { throw ValidationError("--delimiter takes one character") }
    }
}
