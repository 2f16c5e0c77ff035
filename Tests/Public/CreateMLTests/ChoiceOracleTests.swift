import CreateML
import Foundation
import TabularData
import Testing

/// The folder that `Oracles/automatic-choice/check` filled with small tables, split into rows for training and rows
/// held out.
private let choiceFolder = ProcessInfo.processInfo.environment["COREML_CHOICE_TABLES"]

/// The automatic choice and each algorithm with its defaults on the same rows; the script judges the scores.
@Suite(.enabled(if: choiceFolder != nil)) struct ChoiceOracleTests {
    struct Table: Decodable {
        var name: String
        var isClassifier: Bool
        var isMissing: Bool
        var seeds: Int
    }

    struct Found: Encodable {
        var table: String
        var seed: Int
        /// Accuracies, or root mean squared errors, on the rows held out: of each algorithm, and of "automatic".
        var scores: [String: Double] = [:]
        /// The result of the automatic choice.
        var seconds = 0.0
        var chosen = ""
    }

    @Test func `Each is scored on the rows held out`() throws {
        let folder = URL(fileURLWithPath: try #require(choiceFolder))
        let tables = try JSONDecoder().decode(
            [Table].self,
            from: Data(contentsOf: folder.appendingPathComponent("tables.json"))
        )
        #expect(!tables.isEmpty)
        var found: [Found] = []
        for table in tables {
            for seed in 0..<table.seeds {
                func rows(_ part: String) throws -> DataFrame {
                    try DataFrame(
                        contentsOfCSVFile: folder.appendingPathComponent("\(table.name)-\(seed)-\(part).csv")
                    )
                }
                let (train, test) = (try rows("train"), try rows("test"))
                var entry = Found(table: table.name, seed: seed)
                try table.isClassifier
                    ? classify(table, train, test, &entry) : regress(table, train, test, &entry)
                found.append(entry)
            }
        }
        try JSONEncoder().encode(found).write(to: folder.appendingPathComponent("scores.json"))
    }

    private func timed<Value>(_ entry: inout Found, _ body: () throws -> Value) rethrows -> Value {
        let start = ContinuousClock.now
        defer { entry.seconds = (ContinuousClock.now - start) / .seconds(1) }
        return try body()
    }

    private func text(_ choice: AlgorithmChoice?) -> String {
        guard let best = choice?.trials.first else { return "" }
        return ([best.algorithm.rawValue] + best.parameters.map { "\($0.name) \($0.value)" }).joined(separator: " ")
    }

    private func classify(_ table: Table, _ train: DataFrame, _ test: DataFrame, _ entry: inout Found) throws {
        let model = try timed(&entry) { try MLClassifier(trainingData: train, targetColumn: "target") }
        entry.scores["automatic"] = 1 - model.evaluation(on: test).classificationError
        entry.chosen = text(model.choice)
        func score<T: MLTabularClassifier>(_: T.Type) throws -> Double {
            let task = try T(trainingData: train, targetColumn: "target")
            return 1 - task.evaluation(on: test).classificationError
        }
        entry.scores["boosted-tree"] = try score(MLBoostedTreeClassifier.self)
        entry.scores["random-forest"] = try score(MLRandomForestClassifier.self)
        entry.scores["decision-tree"] = try score(MLDecisionTreeClassifier.self)
        guard !table.isMissing else { return }
        entry.scores["logistic"] = try score(MLLogisticRegressionClassifier.self)
        if model.trainingMetrics.confusionDataFrame.shape.rows == 4 {
            entry.scores["support-vector"] = try score(MLSupportVectorClassifier.self)
        }
    }

    private func regress(_ table: Table, _ train: DataFrame, _ test: DataFrame, _ entry: inout Found) throws {
        let model = try timed(&entry) { try MLRegressor(trainingData: train, targetColumn: "target") }
        entry.scores["automatic"] = model.evaluation(on: test).rootMeanSquaredError
        entry.chosen = text(model.choice)
        func score<T: MLTabularRegressor>(_: T.Type) throws -> Double {
            try T(trainingData: train, targetColumn: "target").evaluation(on: test).rootMeanSquaredError
        }
        entry.scores["boosted-tree"] = try score(MLBoostedTreeRegressor.self)
        entry.scores["random-forest"] = try score(MLRandomForestRegressor.self)
        entry.scores["decision-tree"] = try score(MLDecisionTreeRegressor.self)
        if !table.isMissing { entry.scores["linear"] = try score(MLLinearRegressor.self) }
    }
}
