import Combine
import CoreML
import CreateML
import Foundation
import MLFiles
import MLSpecification
import TabularData
import Testing

/// From a table to a file to predictions.
@Suite struct TabularFlowTests {
    /// Writes a task's model, loads it as an app does, and compares what it predicts row by row.
    func checkFile<T: MLTabularTask>(_ task: T, _ frame: DataFrame, _ folder: TemporaryFolder) throws {
        let file = folder.file("\(T.self).mlmodel")
        try task.write(to: file, metadata: MLModelMetadata(author: "A", version: "3"))
        let model = try MLModel(contentsOf: file)
        let predicted = try task.predictions(from: frame)
        #expect(predicted.name == task.targetColumn)
        #expect(predicted.count == frame.shape.rows)
        for row in 0..<frame.shape.rows {
            let output = try #require(
                try model.prediction(from: TableMaker.inputs(frame, row)).featureValue(for: task.targetColumn)
            )
            switch predicted[row] {
            case let value as Double: #expect(output.doubleValue == value)
            case let value as String: #expect(output.stringValue == value)
            case let value as Int: #expect(output.int64Value == value)
            default: Issue.record("row \(row) has no prediction")
            }
        }
        #expect(model.modelDescription.metadata[.author] as? String == "A")
        #expect(model.modelDescription.predictedFeatureName == task.targetColumn)
    }

    func regressor<T: MLTabularRegressor>(_: T.Type, holes: Double, below error: Double) throws {
        var maker = TableMaker()
        let (frame, test) = (maker.frame(rows: 400, holes: holes), maker.frame(rows: 60, holes: holes))
        let task = try T(trainingData: frame, targetColumn: "price", featureColumns: TableMaker.features)
        #expect(task.featureColumns == TableMaker.features)
        #expect(task.trainingMetrics.isValid && task.validationMetrics.isValid)
        let metrics = task.evaluation(on: test)
        #expect(metrics.rootMeanSquaredError < error)
        let truth = Array(test["price", Double.self]).map { $0 ?? .nan }
        let predicted = Array(try task.predictions(from: test).assumingType(Double.self)).map { $0 ?? .nan }
        let expected = MLRegressorMetrics(truth: truth, predictions: predicted)
        #expect(metrics.rootMeanSquaredError == expected.rootMeanSquaredError)
        #expect(metrics.maximumError == expected.maximumError)
        try checkFile(task, test, TemporaryFolder())
    }

    @Test func `A boosted tree regressor`() throws {
        try regressor(MLBoostedTreeRegressor.self, holes: 0.05, below: 70)
    }
    @Test func `A decision tree regressor`() throws {
        try regressor(MLDecisionTreeRegressor.self, holes: 0.05, below: 80)
    }
    @Test func `A random forest regressor`() throws {
        try regressor(MLRandomForestRegressor.self, holes: 0.05, below: 80)
    }
    @Test func `A linear regressor`() throws { try regressor(MLLinearRegressor.self, holes: 0, below: 5) }

    func classifier<T: MLTabularClassifier>(_: T.Type, targets: [String], holes: Double, above accuracy: Double) throws
    {
        var maker = TableMaker()
        let (frame, test) = (maker.frame(rows: 400, holes: holes), maker.frame(rows: 60, holes: holes))
        for target in targets {
            let task = try T(trainingData: frame, targetColumn: target, featureColumns: TableMaker.features)
            let metrics = task.evaluation(on: test)
            #expect(1 - metrics.classificationError > accuracy, "\(target)")
            let counts = try #require(metrics.counts)
            #expect(counts.total == 60)
            try checkFile(task, test, TemporaryFolder())
        }
    }

    @Test func `A boosted tree classifier`() throws {
        try classifier(MLBoostedTreeClassifier.self, targets: ["kind", "code", "flag"], holes: 0.05, above: 0.75)
    }
    @Test func `A decision tree classifier`() throws {
        try classifier(MLDecisionTreeClassifier.self, targets: ["kind", "code", "flag"], holes: 0.05, above: 0.7)
    }
    @Test func `A random forest classifier`() throws {
        try classifier(MLRandomForestClassifier.self, targets: ["kind", "code", "flag"], holes: 0.05, above: 0.75)
    }
    @Test func `A logistic regression classifier`() throws {
        try classifier(MLLogisticRegressionClassifier.self, targets: ["kind", "code", "flag"], holes: 0, above: 0.85)
    }
    @Test func `A support vector classifier`() throws {
        try classifier(MLSupportVectorClassifier.self, targets: ["code", "flag"], holes: 0, above: 0.85)
    }

    @Test func `From a CSV file on`() throws {
        let folder = try TemporaryFolder()
        var text = "size,colour,weight\n"
        for row in 0..<80 {
            text += "\(row % 10),\(row % 3 == 0 ? "red" : ""),\(Double(row % 10) * 2.5 + (row % 3 == 0 ? 1 : 0))\n"
        }
        try text.write(to: folder.file("t.csv"), atomically: true, encoding: .utf8)
        let frame = try DataFrame(contentsOfCSVFile: folder.file("t.csv"))
        let task = try MLBoostedTreeRegressor(
            trainingData: frame,
            targetColumn: "weight",
            parameters: .init(validation: .none, maxIterations: 40)
        )
        #expect(task.featureColumns == ["size", "colour"])
        #expect(task.trainingMetrics.rootMeanSquaredError < 0.05)
        #expect(!task.validationMetrics.isValid)
        #expect(task.description.contains("maxIterations: 40"))
    }

    /// Trees are grown on numbers in single precision; the file's branches must part doubles in the same way.
    @Test func `A model parts doubles as its training parted them`() throws {
        var maker = TableMaker(seed: 4)
        // Neighbours in single precision, and doubles that are rounded up and down to them.
        let x = (0..<3000).map { _ in 1 + (Double(maker.integer(16)) + 0.9 * (maker.number() - 0.5)) * 0x1p-23 }
        let y = x.map { value in Double((Int(Float(value).bitPattern) * 7) % 16) }
        var frame = DataFrame()
        frame.append(column: Column(name: "x", contents: x))
        frame.append(column: Column(name: "y", contents: y))
        let job = try MLDecisionTreeRegressor.train(
            trainingData: frame,
            targetColumn: "y",
            parameters: .init(validation: .none, maxDepth: 12, minChildWeight: 0)
        )
        let end = DispatchSemaphore(value: 0)
        let subscription = job.result.sink(receiveCompletion: { _ in end.signal() }, receiveValue: { _ in })
        end.wait()
        subscription.cancel()
        let measured = try #require(MLProgress(progress: job.progress)?.metrics[.rootMeanSquaredError] as? Double)
        let task = try MLDecisionTreeRegressor(
            trainingData: frame,
            targetColumn: "y",
            parameters: .init(validation: .none, maxDepth: 12, minChildWeight: 0)
        )
        #expect(abs(task.trainingMetrics.rootMeanSquaredError - measured) < 1e-6)
        #expect(measured < 0.5)
    }

    /// As trees do.
    @Test func `A linear model reports mean losses of both tables`() async throws {
        var maker = TableMaker(seed: 6)
        let (frame, held) = (maker.frame(rows: 200), maker.frame(rows: 50))
        let job = try MLLinearRegressor.train(
            trainingData: frame,
            targetColumn: "price",
            featureColumns: TableMaker.features,
            parameters: .init(validation: .dataFrame(held), l2Penalty: 5)
        )
        let task = try await job.value
        let metrics = try #require(MLProgress(progress: job.progress)?.metrics)
        for (metric, error) in [
            (MLProgress.Metric.loss, task.trainingMetrics.rootMeanSquaredError),
            (.validationLoss, task.validationMetrics.rootMeanSquaredError),
        ] {
            let loss = try #require(metrics[metric] as? Double)
            #expect(abs(loss - error * error) < 1e-6 * loss, "\(metric)")
        }
        let classifying = try MLLogisticRegressionClassifier.train(
            trainingData: frame,
            targetColumn: "kind",
            featureColumns: TableMaker.features,
            parameters: .init(validation: .dataFrame(held))
        )
        _ = try await classifying.value
        let losses = try #require(MLProgress(progress: classifying.progress)?.metrics)
        for metric in [MLProgress.Metric.loss, .validationLoss] {
            let loss = try #require(losses[metric] as? Double)
            #expect(loss > 0 && loss < 1, "\(metric)")
        }
    }

    @Test func `The file is a pipeline as Create ML writes it`() throws {
        let folder = try TemporaryFolder()
        var maker = TableMaker()
        let task = try MLBoostedTreeClassifier(
            trainingData: maker.frame(rows: 100),
            targetColumn: "kind",
            featureColumns: TableMaker.features
        )
        try task.write(toFile: folder.file("m.mlmodel").path)
        let model = try ModelFile.open(path: folder.file("m.mlmodel").path).specification
        #expect(model.description_p.input.map(\.name) == TableMaker.features)
        #expect(model.description_p.output.map(\.name) == ["kind", "kindProbability"])
        #expect(model.description_p.predictedProbabilitiesName == "kindProbability")
        #expect(model.description_p.metadata.userDefined["com.apple.createml.version"] != nil)
        let stages = model.pipelineClassifier.pipeline.models
        #expect(stages.count == 4)
        #expect(stages[0].oneHotEncoder.stringCategories.vector == ["Bern", "Nice", "Oslo", "Rome"])
        #expect(stages[1].dictVectorizer.stringToIndex.vector == ["garden", "lift", "noise", "view"])
        #expect(stages[2].featureVectorizer.inputList.map(\.inputDimensions) == [1, 1, 4, 1, 4, 3])
        #expect(stages[3].description_p.input.map(\.name) == ["__vectorized_features__"])
        let trees = stages[3].treeEnsembleClassifier
        #expect(trees.treeEnsemble.numPredictionDimensions == 3)
        #expect(trees.postEvaluationTransform == .classificationSoftMax)
        let branches = trees.treeEnsemble.nodes.filter { $0.nodeBehavior != .leafNode }
        #expect(!branches.isEmpty && branches.allSatisfy { $0.nodeBehavior == .branchOnValueLessThan })
        #expect(throws: MLCreateError.self) { try task.write(toFile: folder.file("m.txt").path) }
    }

    @Test func `A model that is set predicts instead`() throws {
        var maker = TableMaker()
        let frame = maker.frame(rows: 200)
        let folder = try TemporaryFolder()
        let features = TableMaker.features
        var one = try MLDecisionTreeClassifier(trainingData: frame, targetColumn: "kind", featureColumns: features)
        let two = try MLBoostedTreeClassifier(trainingData: frame, targetColumn: "kind", featureColumns: features)
        let before = one.evaluation(on: frame).classificationError
        one.model = two.model
        #expect(one.evaluation(on: frame).classificationError == two.evaluation(on: frame).classificationError)
        #expect(before != two.evaluation(on: frame).classificationError)
        #expect(throws: MLCreateError.self) { try one.write(to: folder.file("m.mlmodel")) }
    }

    @Test func `Rows that are set aside follow the parameters`() throws {
        var maker = TableMaker()
        let frame = maker.frame(rows: 400)
        func total(_ parameters: MLDecisionTreeClassifier.ModelParameters) throws -> (Int?, Int?) {
            let task = try MLDecisionTreeClassifier(
                trainingData: frame,
                targetColumn: "kind",
                featureColumns: ["area", "city"],
                parameters: parameters
            )
            return (task.trainingMetrics.counts?.total, task.validationMetrics.counts?.total)
        }
        #expect(try total(.init()) == (380, 20))
        #expect(try total(.init(validation: .none)) == (400, nil))
        #expect(try total(.init(validation: .split(strategy: .fixed(ratio: 0.25, seed: 3)))) == (300, 100))
        #expect(try total(.init(validation: .dataFrame(maker.frame(rows: 30)))) == (400, 30))
    }

    @Test func `Early stopping keeps the best round`() throws {
        var maker = TableMaker(seed: 8)
        let rows = 200
        var frame = DataFrame()
        let x = (0..<rows).map { _ in maker.number() }
        frame.append(column: Column(name: "x", contents: x))
        frame.append(
            column: Column(name: "y", contents: x.map { $0 > 0.5 ? 1.0 : 0.0 }.map { $0 + 2 * maker.number() })
        )
        func train(_ rounds: Int?, _ iterations: Int) throws -> MLBoostedTreeRegressor {
            try MLBoostedTreeRegressor(
                trainingData: frame,
                targetColumn: "y",
                parameters: .init(
                    validation: .split(strategy: .fixed(ratio: 0.3, seed: 1)),
                    maxIterations: iterations,
                    earlyStoppingRounds: rounds
                )
            )
        }
        let errors = try (1...40).map { try train(nil, $0).validationMetrics.rootMeanSquaredError }
        let stopped = try train(4, 40).validationMetrics.rootMeanSquaredError
        var (best, since) = (0, 0)
        for place in errors.indices.dropFirst() {
            if errors[place] < errors[best] { best = place }
            since = place - best
            if since >= 4 { break }
        }
        #expect(abs(stopped - errors[best]) < 1e-6)
        #expect(stopped < errors[39])
        #expect(throws: MLCreateError.self) {
            try MLBoostedTreeRegressor(
                trainingData: frame,
                targetColumn: "y",
                parameters: .init(validation: .none, earlyStoppingRounds: 3)
            )
        }
    }

    @Test func `Early stopping needs a loss that can be compared`() throws {
        let x = (0..<100).map { Double($0) }
        let frame: DataFrame = ["x": x, "y": x.map { $0 * 2 }]
        // Finite, but beyond single precision.
        let validation: DataFrame = ["x": [1.0, 2.0], "y": [2.0, 1e200]]
        func train(_ rounds: Int?) throws -> MLBoostedTreeRegressor {
            try MLBoostedTreeRegressor(
                trainingData: frame,
                targetColumn: "y",
                parameters: .init(validation: .dataFrame(validation), maxIterations: 5, earlyStoppingRounds: rounds)
            )
        }
        let error = #expect(throws: MLCreateError.self) { try train(2) }
        #expect(error?.description.contains("the greatest validation target is 1e+200") == true)
        #expect(try train(nil).trainingMetrics.rootMeanSquaredError < 60)
    }

    @Test func `The umbrella types choose by validation`() throws {
        var maker = TableMaker()
        let (frame, test) = (maker.frame(rows: 600), maker.frame(rows: 100))
        let features = TableMaker.features
        let regressor = try MLRegressor(trainingData: frame, targetColumn: "price", featureColumns: features)
        guard case .linear = regressor else {
            Issue.record("the targets are linear in the features, but chosen was \(regressor)")
            return
        }
        #expect(regressor.evaluation(on: test).rootMeanSquaredError < 5)
        let holes = maker.frame(rows: 300, holes: 0.1)
        if case .linear = try MLRegressor(trainingData: holes, targetColumn: "price", featureColumns: features) {
            Issue.record("rows with missing numbers are for trees")
        }
        let classifier = try MLClassifier(trainingData: frame, targetColumn: "kind", featureColumns: features)
        #expect(1 - classifier.evaluation(on: test).classificationError > 0.85)
        let folder = try TemporaryFolder()
        try classifier.write(to: folder.file("c.mlmodel"), metadata: nil)
        #expect(try MLModel(contentsOf: folder.file("c.mlmodel")).modelDescription.predictedFeatureName == "kind")
    }
}

/// Tables that cannot be learnt from.
@Suite struct TabularInputTests {
    func failure(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch let error as MLCreateError {
            return "\(error)"
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func `Bad tables get errors that name the column and the row`() throws {
        var maker = TableMaker()
        let frame = maker.frame(rows: 60)
        func regress(_ frame: DataFrame, _ target: String = "price", _ features: [String]? = ["area", "rooms"])
            -> String
        {
            failure {
                _ = try MLBoostedTreeRegressor(trainingData: frame, targetColumn: target, featureColumns: features)
            }
        }
        func with<T>(_ name: String, _ contents: [T?]) -> DataFrame {
            var copy = frame
            if copy.containsColumn(name) { _ = copy.removeColumn(name) }
            copy.append(column: Column(name: name, contents: contents))
            return copy
        }
        #expect(regress(frame, "cost").contains("there is no target column 'cost'"))
        #expect(regress(frame, "price", ["area", "garage"]).contains("there is no feature column 'garage'"))
        #expect(regress(frame, "price", ["area", "price"]).contains("cannot be a feature"))
        #expect(regress(frame, "price", ["area", "area"]).contains("'area' is listed more than once"))
        #expect(regress(frame, "price", []).contains("no feature columns"))
        #expect(regress(frame, "city").contains("holds elements of type String"))
        #expect(regress(DataFrame()).contains("have no rows"))
        var prices = Array(frame["price", Double.self])
        prices[7] = .nan
        #expect(regress(with("price", prices)).contains("'price' of row 7 is missing or no finite number"))
        prices[7] = nil
        #expect(regress(with("price", prices)).contains("'price' of row 7"))
        let nothing = [Double?](repeating: nil, count: 60)
        #expect(regress(with("area", nothing)).contains("'area' has no values"))
        var areas = Array(frame["area", Double.self])
        areas[3] = .infinity
        #expect(regress(with("area", areas)).contains("'area' is inf in row 3"))
        let dates = with("area", [Date?](repeating: Date(), count: 60))
        #expect(regress(dates).contains("'area' holds elements of type Date"))
        let ragged = with("area", (0..<60).map { [Double](repeating: 1, count: $0 == 9 ? 2 : 3) as [Double]? })
        #expect(regress(ragged).contains("shape [2] in row 9"))
        let same = [String?](repeating: "same", count: 60)
        let one = with("kind", same)
        #expect(
            failure {
                _ = try MLDecisionTreeClassifier(trainingData: one, targetColumn: "kind", featureColumns: ["area"])
            }
            .contains("one class only, 'same'")
        )
        #expect(
            failure { _ = try MLDecisionTreeClassifier(trainingData: frame, targetColumn: "price") }
                .contains("a classifier learns String, Int or Bool")
        )
        areas[3] = nil
        #expect(
            failure {
                _ = try MLLinearRegressor(
                    trainingData: with("area", areas),
                    targetColumn: "price",
                    featureColumns: ["area"],
                    parameters: .init(validation: .none)
                )
            }.contains("'area' has no value in row 3")
        )
        #expect(
            failure {
                _ = try MLSupportVectorClassifier(trainingData: frame, targetColumn: "kind", featureColumns: ["area"])
            }.contains("tells two classes apart")
        )
    }

    @Test func `Parameters out of their range are refused by name`() throws {
        var maker = TableMaker()
        let frame = maker.frame(rows: 60)
        func train(_ parameters: MLBoostedTreeRegressor.ModelParameters) -> String {
            failure {
                _ = try MLBoostedTreeRegressor(
                    trainingData: frame,
                    targetColumn: "price",
                    featureColumns: ["area"],
                    parameters: parameters
                )
            }
        }
        #expect(train(.init(validation: .none, maxDepth: 0)).contains("maxDepth"))
        #expect(train(.init(validation: .none, maxIterations: 0)).contains("maxIterations"))
        #expect(train(.init(validation: .none, stepSize: -1)).contains("stepSize"))
        #expect(train(.init(validation: .none, rowSubsample: 2)).contains("rowSubsample"))
        #expect(train(.init(validation: .split(strategy: .fixed(ratio: 1, seed: 1)))).contains("ratio"))
    }

    @Test func `Evaluating and predicting on other tables`() throws {
        var maker = TableMaker()
        let frame = maker.frame(rows: 80)
        let task = try MLBoostedTreeClassifier(
            trainingData: frame,
            targetColumn: "kind",
            featureColumns: ["area", "city"]
        )
        var other = maker.frame(rows: 20)
        _ = other.removeColumn("city")
        #expect(!task.evaluation(on: other).isValid)
        #expect(failure { _ = try task.predictions(from: other) }.contains("there is no feature column 'city'"))
        other.append(column: Column(name: "city", contents: (0..<20).map { $0 }))
        #expect(failure { _ = try task.predictions(from: other) }.contains("trained on strings"))
        var cities = maker.frame(rows: 20)
        _ = cities.removeColumn("city")
        cities.append(column: Column(name: "city", contents: [String?](repeating: "Atlantis", count: 20)))
        _ = cities.removeColumn("kind")
        cities.append(column: Column(name: "kind", contents: [String](repeating: "sunken", count: 20)))
        let metrics = task.evaluation(on: cities)
        #expect(metrics.classificationError == 1)
        #expect(metrics.counts?.total == 20)
        let empty = DataFrame(frame[[Bool](repeating: false, count: 80)])
        #expect(try task.predictions(from: empty).count == 0)
    }
}
