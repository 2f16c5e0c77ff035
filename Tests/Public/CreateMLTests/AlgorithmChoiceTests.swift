import CreateML
import Foundation
import MLNumerics
import TabularData
import Testing

/// The algorithm that `MLClassifier` and `MLRegressor` choose, and their reports about it.
@Suite struct AlgorithmChoiceTests {
    /// Rows that are linear in eight columns, and some that are not and stand where the automatic split sets rows
    /// aside.
    private func misleading(_ count: Int, seed: UInt64, _ isOdd: (Int) -> Bool) -> DataFrame {
        var generator = SplitMix64(seed: seed)
        var columns = [[Double]](repeating: [], count: 11)
        for row in 0..<count {
            let odd = isOdd(row)
            let values = (0..<8).map { _ in odd ? 0 : Double.random(in: 0.1...1, using: &generator) }
            let place = Double.random(in: -1...1, using: &generator)
            for (column, value) in values.enumerated() { columns[column].append(value) }
            columns[8].append(odd ? 1 : 0)
            columns[9].append(place)
            columns[10].append(odd ? (abs(place) > 0.5 ? 200 : -200) : 1000 * values.reduce(0, +))
        }
        var frame = DataFrame()
        for (number, column) in columns.enumerated() {
            frame.append(column: Column(name: number == 10 ? "y" : "x\(number)", contents: column))
        }
        return frame
    }

    @Test func `A handful of rows does not decide`() throws {
        let held = Set(try MLSplitStrategy.automatic.split(count: 165).validation)
        #expect(held.count == 17)
        let frame = misleading(165, seed: 1) { held.contains($0) || $0 % 9 == 0 }
        // On the rows that the automatic split sets aside trees are far ahead.
        #expect(
            try MLBoostedTreeRegressor(trainingData: frame, targetColumn: "y").validationMetrics.rootMeanSquaredError
                * 2
                < MLLinearRegressor(trainingData: frame, targetColumn: "y").validationMetrics.rootMeanSquaredError
        )
        let regressor = try MLRegressor(trainingData: frame, targetColumn: "y")
        guard case .linear = regressor else {
            Issue.record("chosen was \(regressor)")
            return
        }
        let other = misleading(500, seed: 2) { $0 % 5 == 0 }
        let boosted = try MLBoostedTreeRegressor(trainingData: frame, targetColumn: "y")
        let error = regressor.evaluation(on: other).rootMeanSquaredError
        #expect(error * 2 < boosted.evaluation(on: other).rootMeanSquaredError)
        // The measure on held-out rows is true of other rows.
        #expect(abs(regressor.validationMetrics.rootMeanSquaredError / error - 1) < 0.2)
    }

    @Test func `All is said of what was tried`() throws {
        var maker = TableMaker()
        let (frame, features) = (maker.frame(rows: 165), TableMaker.features)
        let regressor = try MLRegressor(trainingData: frame, targetColumn: "price", featureColumns: features)
        let choice = try #require(regressor.choice)
        #expect(choice.measure == .rootMeanSquaredError)
        guard case .crossValidation(folds: 5, let repeats) = choice.rows else {
            Issue.record("\(choice.rows)")
            return
        }
        #expect(Set(choice.trials.map(\.algorithm)) == [.linear, .boostedTree, .randomForest, .decisionTree])
        #expect(choice.trials.map(\.isChosen) == [true] + Array(repeating: false, count: choice.trials.count - 1))
        #expect(choice.trials.first?.algorithm == regressor.algorithm)
        #expect(choice.trials.first?.folds == 5 * repeats)
        #expect(choice.trials.allSatisfy { $0.score > 0 && $0.deviation != nil && $0.folds % 5 == 0 })
        #expect(choice.trials.contains { $0.parameters.contains { $0.name == "l2Penalty" } })

        let classifier = try MLClassifier(trainingData: frame, targetColumn: "flag", featureColumns: features)
        #expect(classifier.choice?.measure == .accuracy)
        #expect(classifier.choice?.trials.contains { $0.algorithm == .supportVector } == true)
        // Every row was held out once, and learnt from in the end.
        #expect(classifier.validationMetrics.counts?.total == 165)
        #expect(classifier.trainingMetrics.counts?.total == 165)
        #expect(
            try MLLinearRegressor(trainingData: frame, targetColumn: "price", featureColumns: features).trained.choice
                == nil
        )
    }

    @Test func `Large tables are validated by the automatic split`() throws {
        var maker = TableMaker()
        let (frame, features) = (maker.frame(rows: 5000), ["area", "rooms", "city"])
        let choice = try #require(
            try MLRegressor(trainingData: frame, targetColumn: "price", featureColumns: features).choice
        )
        #expect(choice.rows == .split)
        #expect(Set(choice.trials.map(\.algorithm)) == [.linear, .boostedTree])
        #expect(choice.trials.allSatisfy { $0.folds == 1 && $0.deviation == nil && $0.parameters.isEmpty })
    }

    @Test func `The fewest rows are learnt from`() throws {
        let two = DataFrame(columns: [
            Column<Double>(name: "x", contents: [1, 2]).eraseToAnyColumn(),
            Column<Double>(name: "y", contents: [3, 4]).eraseToAnyColumn(),
            Column<String>(name: "kind", contents: ["a", "b"]).eraseToAnyColumn(),
        ])
        for rows in 1...2 {
            let regressor = try MLRegressor(
                trainingData: DataFrame(two.prefix(rows)),
                targetColumn: "y",
                featureColumns: ["x"]
            )
            #expect(regressor.trainingMetrics.isValid)
            #expect(regressor.validationMetrics.isValid == (rows == 2))
        }
        let classifier = try MLClassifier(trainingData: two, targetColumn: "kind", featureColumns: ["x"])
        #expect(classifier.choice?.trials.isEmpty == true)
        #expect(!classifier.validationMetrics.isValid)
    }

    @Test func `Folds share out every class`() {
        let targets: [Double] = [0, 1, 1, 0, 0, 1, 2, 0, 1, 1, 0, 0, 0, 0, 1]
        let folds = TableFolds(targets, count: 5, repeats: 3, isClassifier: true)
        #expect(folds.held.count == 3)
        for parts in folds.held {
            // The only row of class 2 is never held out.
            #expect(parts.flatMap { $0 }.sorted() == targets.indices.filter { $0 != 6 })
            for part in parts { #expect((2...3).contains(part.count) && Set(part.map { targets[$0] }).count == 2) }
        }
        #expect(folds.held[0] != folds.held[1])
        #expect(TableFolds(targets, count: 5, repeats: 3, isClassifier: true).held == folds.held)
        #expect(TableFolds([1, 2, 3], count: 5, repeats: 1, isClassifier: false).held[0].map(\.count) == [1, 1, 1])
        #expect(TableFolds([1], count: 5, repeats: 1, isClassifier: false).held[0].isEmpty)
    }

    private func bytes(_ regressor: MLRegressor, _ folder: TemporaryFolder) throws -> Data {
        let file = folder.file("\(UUID().uuidString).mlmodel")
        try regressor.write(to: file, metadata: nil)
        return try Data(contentsOf: file)
    }

    @Test(arguments: [90, 5000]) func `A choice that was interrupted goes on to the same model`(rows: Int) async throws
    {
        var maker = TableMaker(seed: 3)
        let (frame, folder) = (maker.frame(rows: rows, holes: rows == 90 ? 0.05 : 0), try TemporaryFolder())
        func train(_ iterations: Int, _ name: String) throws -> MLJob<MLRegressor> {
            try MLRegressor.train(
                trainingData: frame,
                targetColumn: "price",
                featureColumns: ["area", "rooms", "city", "new"],
                sessionParameters: MLTrainingSessionParameters(
                    sessionDirectory: folder.file(name),
                    reportInterval: 1,
                    checkpointInterval: 1,
                    iterations: iterations
                )
            )
        }
        let whole = try MLRegressor(
            trainingData: frame,
            targetColumn: "price",
            featureColumns: ["area", "rooms", "city", "new"]
        )
        await #expect(throws: MLCreateError.self, "one trial is no choice") { try await train(1, "limited").value }
        #expect(try bytes(try await train(1000, "limited").value, folder) == bytes(whole, folder))

        let job = try train(1000, "cancelled")
        job.cancel()
        do {
            _ = try await job.value
            Issue.record("the job was cancelled")
        } catch MLCreateError.cancelled {}
        let again = try train(1000, "cancelled")
        let last = try await again.value
        #expect(try bytes(last, folder) == bytes(whole, folder))
        #expect(last.choice?.trials.map(\.score) == whole.choice?.trials.map(\.score))
        #expect(again.progress.fractionCompleted == 1)
    }
}
