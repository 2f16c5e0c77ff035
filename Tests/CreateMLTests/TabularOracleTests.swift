import CreateML
import Foundation
import TabularData
import Testing

/// The folder that `scripts/tabular-oracles` filled with tables, and with what XGBoost and scikit-learn make of them.
private let oracleFolder = ProcessInfo.processInfo.environment["COREML_TABLES"]

/// Real tables from CSV through Create ML's types, against other libraries on the same rows.
@Suite(.enabled(if: oracleFolder != nil)) struct TabularOracleTests {
    struct Table: Decodable {
        var name: String
        var isClassifier: Bool
        /// Accuracy, or root mean squared error, on the test rows.
        var boosted: Double
        var tree: Double
        /// Mean and deviation over seeds.
        var forest: [Double]
        var linear: Double?
    }

    @Test func `Scores equal the peers'`() throws {
        let folder = URL(fileURLWithPath: try #require(oracleFolder))
        let tables = try JSONDecoder().decode(
            [Table].self,
            from: Data(contentsOf: folder.appendingPathComponent("tables.json"))
        )
        #expect(!tables.isEmpty)
        var report =
            "| table | boosted | peer | tree | peer | forest | peer | linear | peer |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        for table in tables {
            let train = try DataFrame(contentsOfCSVFile: folder.appendingPathComponent("\(table.name)-train.csv"))
            let test = try DataFrame(contentsOfCSVFile: folder.appendingPathComponent("\(table.name)-test.csv"))
            let scores =
                try table.isClassifier ? classify(table, train, test, folder) : regress(table, train, test, folder)
            let single = 1.0 / Double(test.shape.rows)
            let slack = table.isClassifier ? 1e-9 : 1e-4 * table.boosted
            #expect(abs(scores.boosted - table.boosted) <= slack, "\(table.name), boosted")
            #expect(abs(scores.tree - table.tree) <= slack, "\(table.name), tree")
            let spread = max(table.forest[1], single / 2)
            #expect(abs(scores.forest - table.forest[0]) <= 2 * spread, "\(table.name), forest")
            if let linear = table.linear {
                let allowed = table.isClassifier ? single * 1.5 : 1e-6 * linear
                #expect(abs(scores.linear - linear) <= allowed, "\(table.name), linear")
            }
            func text(_ number: Double) -> String { String(format: "%.4f", number) }
            report +=
                "| \(table.name) | \(text(scores.boosted)) | \(text(table.boosted)) | \(text(scores.tree)) | \(text(table.tree)) | "
                + "\(text(scores.forest)) | \(text(table.forest[0])) ± \(text(table.forest[1])) | \(text(scores.linear)) | "
                + "\(table.linear.map(text) ?? "") |\n"
        }
        try report.write(to: folder.appendingPathComponent("report.md"), atomically: true, encoding: .utf8)
    }

    private func classify(_ table: Table, _ train: DataFrame, _ test: DataFrame, _ folder: URL) throws
        -> (boosted: Double, tree: Double, forest: Double, linear: Double)
    {
        func score<T: _TabularClassifier>(_: T.Type, _ parameters: T.ModelParameters) throws -> Double {
            let task = try T(trainingData: train, targetColumn: "target", parameters: parameters)
            try task.write(to: folder.appendingPathComponent("\(table.name)-\(T.self).mlmodel"))
            return 1 - task.evaluation(on: test).classificationError
        }
        return (
            try score(MLBoostedTreeClassifier.self, .init(validation: .none)),
            try score(MLDecisionTreeClassifier.self, .init(validation: .none)),
            try score(MLRandomForestClassifier.self, .init(validation: .none)),
            try score(
                MLLogisticRegressionClassifier.self,
                .init(validation: .none, maxIterations: 100, convergenceThreshold: 0)
            )
        )
    }

    private func regress(_ table: Table, _ train: DataFrame, _ test: DataFrame, _ folder: URL) throws
        -> (boosted: Double, tree: Double, forest: Double, linear: Double)
    {
        func score<T: _TabularRegressor>(_: T.Type, _ parameters: T.ModelParameters) throws -> Double {
            let task = try T(trainingData: train, targetColumn: "target", parameters: parameters)
            try task.write(to: folder.appendingPathComponent("\(table.name)-\(T.self).mlmodel"))
            return task.evaluation(on: test).rootMeanSquaredError
        }
        return (
            try score(MLBoostedTreeRegressor.self, .init(validation: .none)),
            try score(MLDecisionTreeRegressor.self, .init(validation: .none)),
            try score(MLRandomForestRegressor.self, .init(validation: .none)),
            try score(MLLinearRegressor.self, .init(validation: .none, maxIterations: 100, convergenceThreshold: 0))
        )
    }
}
