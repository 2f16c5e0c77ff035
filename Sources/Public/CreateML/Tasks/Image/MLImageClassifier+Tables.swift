public import Foundation
public import TabularData

extension MLImageClassifier.DataSource {
    /// The pictures of a data frame with a row for each; an addition to Apple's API.
    ///
    /// - Parameters:
    ///   - frame: The data frame.
    ///   - imageColumn: The column of the pictures' files: paths or URLs.
    ///   - labelColumn: The column of their labels: texts or whole numbers.
    ///   - folder: The folder that relative paths begin at; the current directory if `nil`.
    /// - Returns: The files by label, `filesByLabel`, in the order of the rows.
    /// - Throws: `MLCreateError.generic` if a column or the rows are missing, or a cell is empty; `.type` for cells of
    ///   other types. The error names the column and the row, from 0.
    public static func frame(
        _ frame: DataFrame,
        imageColumn: String,
        labelColumn: String,
        relativeTo folder: URL? = nil
    ) throws -> Self {
        let images = try frame.seriesColumn(imageColumn, for: "the images' files")
        let labels = try frame.seriesTexts(labelColumn, for: "the images' labels")
        guard !labels.isEmpty else { throw MLCreateError.generic(reason: "the table of images has no rows") }
        var files: [String: [URL]] = [:]
        for (row, label) in labels.enumerated() {
            let url: URL
            switch images[row] {
            case let path as String where !path.isEmpty: url = URL(fileURLWithPath: path, relativeTo: folder)
            case let file as URL where file.isFileURL: url = file
            case nil, is String:
                throw MLCreateError.generic(
                    reason: "row \(row) of the column '\(imageColumn)' is empty; fill it or remove the row"
                )
            case let value?:
                throw MLCreateError.type(
                    reason: "row \(row) of the column '\(imageColumn)' is '\(value)' (\(type(of: value))); "
                        + "images are given by the paths of their files"
                )
            }
            guard !label.isEmpty else {
                throw MLCreateError.generic(
                    reason: "row \(row) of the column '\(labelColumn)' is empty; fill it or remove the row"
                )
            }
            files[label, default: []].append(url)
        }
        return .filesByLabel(files)
    }

    /// The pictures of a data table with a row for each; an addition to Apple's API.
    ///
    /// - Parameters:
    ///   - table: The data table.
    ///   - imageColumn: The column of the pictures' files: paths.
    ///   - labelColumn: The column of their labels: texts or whole numbers.
    ///   - folder: The folder that relative paths begin at; the current directory if `nil`.
    /// - Returns: The files by label, `filesByLabel`, in the order of the rows.
    /// - Throws: The table's error if it is invalid, and the errors of a data frame.
    public static func table(
        _ table: MLDataTable,
        imageColumn: String,
        labelColumn: String,
        relativeTo folder: URL? = nil
    ) throws -> Self {
        try frame(
            table.dataFrame(),
            imageColumn: imageColumn,
            labelColumn: labelColumn,
            relativeTo: folder
        )
    }
}
