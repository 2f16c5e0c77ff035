import ArgumentParser
import CreateML
import Foundation
import TabularData

/// Users' choices on the command line: a table with a row for each choice.
struct ChoiceData {
    var userColumn: String
    var itemColumn: String
    /// The column of ratings; `nil` when every choice counts 1.
    var ratingColumn: String?
    var delimiter: String?

    /// Reads the table with the columns of the choices.
    ///
    /// - Parameters:
    ///   - path: A file, or a folder written by Turi Create or Create ML.
    ///   - types: The types of columns for which they are not inferred.
    /// - Returns: The table.
    /// - Throws: `Failure` when there are no rows, or a column is missing, which it names.
    func table(_ path: String, types: [String: CSVType] = [:]) throws -> DataFrame {
        let frame = try TableFile.read(path, delimiter: delimiter, types: types)
        let columns =
            [(userColumn, "--user"), (itemColumn, "--item")] + (ratingColumn.map { [($0, "--rating")] } ?? [])
        for (name, option) in columns { try TableFile.require(name, in: frame, path, option: option) }
        try TableFile.requireRows(frame, path)
        return frame
    }

    /// The table of `path` with identifiers of the same types as in `other`.
    func table(_ path: String, like other: DataFrame) throws -> DataFrame {
        var types: [String: CSVType] = [:]
        for name in [userColumn, itemColumn] where other[name].wrappedElementType == String.self {
            types[name] = .string
        }
        return try table(path, types: types)
    }
}

extension TrainingReport {
    /// Adds precision and recall at each number of recommendations.
    mutating func add(_ metrics: MLRecommenderMetrics, of data: String) throws {
        guard metrics.isValid else {
            throw Failure("\(data): \(metrics.error.map { "\($0)" } ?? "nothing was counted")")
        }
        let table = metrics.precisionRecallDataFrame
        for name in ["precision", "recall"] {
            for (cutoff, value) in zip(table["cutoff", Int.self], table[name, Double.self]) {
                guard let cutoff else { continue }
                scores.append(Score(name: "\(name) at \(cutoff)", key: "\(name)At\(cutoff)", validation: value))
            }
        }
    }
}

/// The numbers of recommendations at which precision and recall are measured.
struct Cutoffs: ExpressibleByArgument {
    static let usual = Cutoffs(values: [1, 2, 3, 4, 5])

    var values: [Int]

    private init(values: [Int]) { self.values = values }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        values = parts.compactMap { Int($0) }.filter { $0 > 0 }
        guard values.count == parts.count else { return nil }
        values = Set(values).sorted()
    }

    var defaultValueDescription: String { values.map(String.init).joined(separator: ",") }
}
