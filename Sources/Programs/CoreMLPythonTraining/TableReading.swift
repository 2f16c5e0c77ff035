import Foundation
import TabularData

/// Reading tables from files, as `coreml train` does.
enum TableReading {
    /// The table of a `.csv`, `.tsv` or `.json` file, or of a folder that Turi Create or Create ML wrote.
    static func frame(_ path: String) throws -> DataFrame {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw TrainingError("there is no file '\(path)'")
        }
        let url = URL(fileURLWithPath: path)
        do {
            if isFolder.boolValue {
                guard FileManager.default.fileExists(atPath: path + "/dir_archive.ini") else {
                    throw TrainingError("is a folder, but no SFrame, where a table is expected")
                }
                return try DataFrame(contentsOfSFrameDirectory: url)
            }
            switch url.pathExtension.lowercased() {
            case "json": return try DataFrame(contentsOfJSONFile: url)
            case "csv", "txt", "tsv":
                let delimiter: Character = url.pathExtension.lowercased() == "tsv" ? "\t" : ","
                var options = CSVReadingOptions(delimiter: delimiter)
                options.floatingPointType = .double
                return try DataFrame(contentsOfCSVFile: url, options: options)
            case let other:
                throw TrainingError("ends in '.\(other)'; tables end in .csv, .tsv, .txt, .json, .parquet or .arrow")
            }
        } catch { throw TrainingError("\(path): \(error)") }
    }
}
