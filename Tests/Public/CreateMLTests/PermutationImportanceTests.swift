import CoreML
import Foundation
import TabularData
import Testing

import CreateML

struct PermutationImportanceTests {
    /// Numbers that follow no rule, the same each time.
    private func noise(_ count: Int, _ seed: Double) -> [Double] {
        (0..<count).map { index in
            let value = sin(Double(index) * 12.9898 + seed) * 43_758.5453
            return value - value.rounded(.down)
        }
    }

    /// A target of which `much` tells most, `some` a tenth of it, and `nothing` nothing.
    private func frame(_ count: Int = 400) -> DataFrame {
        let (much, some, nothing) = (noise(count, 1), noise(count, 2), noise(count, 3))
        var frame = DataFrame()
        frame.append(column: Column(name: "nothing", contents: nothing))
        frame.append(column: Column(name: "some", contents: some))
        frame.append(column: Column(name: "much", contents: much))
        frame.append(column: Column(name: "y", contents: zip(much, some).map { 100 * $0 + 10 * $1 }))
        let kinds = much.map { $0 > 0.5 ? "high" : "low" }
        frame.append(column: Column(name: "kind", contents: kinds))
        return frame
    }

    @Test func informativeColumnsComeFirst() throws {
        let model = try MLLinearRegressor(
            trainingData: frame(),
            targetColumn: "y",
            featureColumns: ["nothing", "some", "much"],
            parameters: .init(validation: .split(strategy: .fixed(ratio: 0.25, seed: 1)))
        )
        #expect(!model.trained.samplesTraining)
        let importance = try #require(try model.trained.importance(seed: 7))
        #expect(importance.measure == .rootMeanSquaredError)
        #expect(importance.features.map(\.name) == ["much", "some", "nothing"])
        #expect(importance.rowCount < 150 && importance.repetitions == 5, "validation rows are held out")
        // Shuffled, a line's feature adds its coefficient times the difference of two uniform numbers: √(1/6) of it.
        #expect(abs(importance.features[0].increase - 100 * (1.0 / 6).squareRoot()) < 5)
        #expect(abs(importance.features[1].increase - 10 * (1.0 / 6).squareRoot()) < 1)
        #expect(abs(importance.features[2].increase) < 0.1)
        #expect(importance.features[0].deviation > 0)
        let again = try #require(try model.trained.importance(seed: 7))
        #expect(again.features.map(\.increase) == importance.features.map(\.increase), "the seed decides")
        let other = try #require(try model.trained.importance(seed: 8))
        #expect(other.features.map(\.increase) != importance.features.map(\.increase))
    }

    @Test func classifiersLoseAccuracy() throws {
        let model = try MLDecisionTreeClassifier(
            trainingData: frame(),
            targetColumn: "kind",
            featureColumns: ["nothing", "some", "much"],
            parameters: .init(validation: .none)
        )
        #expect(model.trained.samplesTraining)
        let importance = try #require(try model.trained.importance(seed: 7))
        #expect(importance.measure == .classificationError)
        #expect(importance.features[0].name == "much")
        // The kind is then that of another row: right every second time.
        #expect(abs(importance.features[0].increase - 0.5) < 0.06)
        #expect(importance.features.dropFirst().allSatisfy { abs($0.increase) < 0.01 })
    }

    /// One feature matters anyhow; of many rows some are looked at; more features than can be measured are not.
    @Test func theCostIsBounded() throws {
        let single = try MLLinearRegressor(trainingData: frame(), targetColumn: "y", featureColumns: ["much"])
        #expect(try single.trained.importance(seed: 1) == nil)

        typealias Extent = PermutationImportance.Extent
        #expect(Extent(rows: 1, features: 5, width: 5) == nil)
        let small = try #require(Extent(rows: 30, features: 3, width: 3))
        #expect(small.rows == 30 && small.repetitions == 5)
        let large = try #require(Extent(rows: 1_000_000, features: 20, width: 20))
        #expect(large.rows == 2000 && large.repetitions == 5)
        let wide = try #require(Extent(rows: 10_000, features: 900, width: 900))
        #expect(wide.rows >= 100 && wide.rows * wide.repetitions * 900 * 900 <= 100_000_000)
        #expect(Extent(rows: 10_000, features: 50_000, width: 50_000) == nil)
        let slow = try #require(Extent(rows: 500, features: 10, width: 10, maximumPredictionCount: 20_000))
        #expect(slow.rows * slow.repetitions * 10 <= 20_000)

        let rows = large.sample(of: 10_000, seed: 3)
        #expect(rows.count == 2000 && Set(rows).count == 2000 && rows == rows.sorted())
        #expect(rows == large.sample(of: 10_000, seed: 3))
    }

    @Test func rowsHaveTheFigures() throws {
        let rows = RegressionRows(truth: [1, 2, 3, 6], predictions: [1, 4, 2, 6])
        #expect(rows.residuals == [0, -2, 1, 0])
        #expect(rows.maximumError == 2)
        #expect(rows.meanAbsoluteError == 0.75)
        #expect(rows.rootMeanSquaredError == (5.0 / 4).squareRoot())
        // The mean is 3, the squares around it are 4 + 1 + 0 + 9.
        #expect(try abs(#require(rows.determination) - (1 - 5.0 / 14)) < 1e-15)
        #expect(RegressionRows(truth: [2, 2], predictions: [1, 2]).determination == nil)
        let metrics = MLRegressorMetrics(truth: rows.truth, predictions: rows.predictions)
        #expect(metrics.rootMeanSquaredError == rows.rootMeanSquaredError && metrics.maximumError == 2)
        #expect(metrics.rows?.count == 4)
    }
}
