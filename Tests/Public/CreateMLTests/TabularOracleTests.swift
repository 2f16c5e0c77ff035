import CreateML
import Foundation
import TabularData
import Testing

/// The folder that `Oracles/tables/check` filled with tables, and with what XGBoost and scikit-learn make of them.
private let oracleFolder = ProcessInfo.processInfo.environment["COREML_TABLES"]

/// Real tables from CSV through Create ML's types, against other libraries on the same rows.
@Suite(.enabled(if: oracleFolder != nil)) struct TabularOracleTests {
    struct Table: Decodable {
        struct Bar: Decodable {
            /// Accuracy, or root mean squared error, on the test rows; of forests the mean over seeds.
            var peer: Double
            /// How far from it ours may be.
            var slack: Double
            /// Of forests the deviation over as many seeds as ours; means may differ by two standard errors, too.
            var spread: Double?
        }

        var name: String
        var isClassifier: Bool
        /// By algorithm: "boosted", "tree", "forest", and "linear" where it has a peer.
        var bars: [String: Bar]
    }

    /// Our scores, for the script's report.
    struct Found: Encodable {
        var name: String
        /// By algorithm; of forests by seed.
        var scores: [String: [Double]]
    }

    private static let seeds = 42..<47

    @Test func `Scores equal the peers'`() throws {
        let folder = URL(fileURLWithPath: try #require(oracleFolder))
        let tables = try JSONDecoder().decode(
            [Table].self,
            from: Data(contentsOf: folder.appendingPathComponent("tables.json"))
        )
        #expect(!tables.isEmpty)
        var found: [Found] = []
        for table in tables {
            let train = try DataFrame(contentsOfCSVFile: folder.appendingPathComponent("\(table.name)-train.csv"))
            let test = try DataFrame(contentsOfCSVFile: folder.appendingPathComponent("\(table.name)-test.csv"))
            let scores =
                try table.isClassifier ? classify(table, train, test, folder) : regress(table, train, test, folder)
            for (algorithm, bar) in table.bars {
                let ours = try #require(scores[algorithm])
                let mean = ours.reduce(0, +) / Double(ours.count)
                var slack = bar.slack
                if let spread = bar.spread {
                    let count = Double(ours.count)
                    let variance = ours.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
                    slack = max(slack, 2 * ((variance + spread * spread) / count).squareRoot())
                }
                #expect(abs(mean - bar.peer) <= slack, "\(table.name), \(algorithm): \(mean) beside \(bar)")
            }
            found.append(Found(name: table.name, scores: scores))
        }
        try JSONEncoder().encode(found).write(to: folder.appendingPathComponent("scores.json"))
    }

    private func classify(_ table: Table, _ train: DataFrame, _ test: DataFrame, _ folder: URL) throws
        -> [String: [Double]]
    {
        func score<T: MLTabularClassifier>(_: T.Type, _ parameters: T.ModelParameters) throws -> Double {
            let task = try T(trainingData: train, targetColumn: "target", parameters: parameters)
            try task.write(to: folder.appendingPathComponent("\(table.name)-\(T.self).mlmodel"))
            return 1 - task.evaluation(on: test).classificationError
        }
        return [
            "boosted": [try score(MLBoostedTreeClassifier.self, .init(validation: .none))],
            "tree": [try score(MLDecisionTreeClassifier.self, .init(validation: .none))],
            "forest": try Self.seeds.map {
                try score(MLRandomForestClassifier.self, .init(validation: .none, randomSeed: $0))
            },
            "linear": [
                try score(
                    MLLogisticRegressionClassifier.self,
                    .init(validation: .none, maxIterations: 100, convergenceThreshold: 0)
                )
            ],
        ]
    }

    private func regress(_ table: Table, _ train: DataFrame, _ test: DataFrame, _ folder: URL) throws
        -> [String: [Double]]
    {
        func score<T: MLTabularRegressor>(_: T.Type, _ parameters: T.ModelParameters) throws -> Double {
            let task = try T(trainingData: train, targetColumn: "target", parameters: parameters)
            try task.write(to: folder.appendingPathComponent("\(table.name)-\(T.self).mlmodel"))
            return task.evaluation(on: test).rootMeanSquaredError
        }
        return [
            "boosted": [try score(MLBoostedTreeRegressor.self, .init(validation: .none))],
            "tree": [try score(MLDecisionTreeRegressor.self, .init(validation: .none))],
            "forest": try Self.seeds.map {
                try score(MLRandomForestRegressor.self, .init(validation: .none, randomSeed: $0))
            },
            "linear": [
                try score(
                    MLLinearRegressor.self,
                    .init(validation: .none, maxIterations: 100, convergenceThreshold: 0)
                )
            ],
        ]
    }
}
