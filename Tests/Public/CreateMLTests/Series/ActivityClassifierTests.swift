import Combine
import CoreML
import CreateML
import Foundation
import TabularData
import Testing

@Suite struct ActivityClassifierTests {
    private static var parameters: MLActivityClassifier.ModelParameters {
        .init(validation: .none, maximumIterations: 3, predictionWindowSize: 20)
    }

    private static func trained(_ parameters: MLActivityClassifier.ModelParameters = parameters) throws
        -> MLActivityClassifier
    {
        try MLActivityClassifier(
            trainingData: .dataFrame(SeriesData.activities(16, seed: 1)),
            featureColumns: ["x", "y"],
            labelColumn: "activity",
            recordingFileColumn: "file",
            parameters: parameters
        )
    }

    @Test func `A table of recordings gives a model that streams`() throws {
        let classifier = try Self.trained()
        #expect(classifier.trainingMetrics.classificationError < 0.05)
        #expect(!classifier.validationMetrics.isValid)
        let test = SeriesData.activities(10, seed: 2)
        let metrics = classifier.evaluation(on: .dataFrame(test), featureColumns: ["x", "y"])
        #expect(metrics.classificationError < 0.2)
        #expect(metrics.confusionDataFrame.shape.rows == 4)
        let rows = try classifier.predictions(from: test)
        let windows = try classifier.predictions(from: test, perWindowPrediction: true)
        #expect(rows.count == 600 && windows.count == 30)
        #expect(rows.indices.allSatisfy { rows[$0] == windows[$0 / 20] })

        let folder = try TemporaryFolder()
        let url = folder.file("activity.mlmodel")
        try classifier.write(to: url, metadata: MLModelMetadata(author: "A walker", version: "7"))
        let model = try MLModel(contentsOf: url)
        #expect(model.modelDescription.metadata[.author] as? String == "A walker")
        #expect(model.modelDescription.predictedFeatureName == "activity")
        #expect(Set(model.modelDescription.inputDescriptionsByName.keys) == ["x", "y", "stateIn"])
        // A stream of windows by hand.
        var state = try MLMultiArray(shape: [2], dataType: .double)
        for place in 0..<2 { state[place] = 0 }
        let (x, y) = (test["x", Double.self], test["y", Double.self])
        for window in 0..<3 {
            let samples = { (column: Column<Double>) in
                try MLMultiArray((window * 20..<window * 20 + 20).map { column[$0] ?? .nan })
            }
            let output = try model.prediction(
                from: MLDictionaryFeatureProvider(dictionary: ["x": samples(x), "y": samples(y), "stateIn": state])
            )
            #expect(output.featureValue(for: "activity")?.stringValue == windows[window])
            state = try #require(output.featureValue(for: "stateOut")?.multiArrayValue)
        }
    }

    /// Recordings of other lengths than whole windows, some of which show both activities, one shorter than a window.
    private static func uneven(_ count: Int, seed: UInt64) -> DataFrame {
        let whole = SeriesData.activities(count, seed: seed)
        let rows = (0..<count).flatMap { index in
            (0..<(index == 1 ? 11 : 45 + index)).map { index * 60 + $0 }
        }
        var labels = rows.map { whole["activity", String.self][$0] ?? "" }
        for (place, row) in rows.enumerated() where row / 60 % 5 == 0 && row % 60 > 40 { labels[place] = "run" }
        return DataFrame(columns: [
            Column<Double>(name: "x", contents: rows.map { whole["x", Double.self][$0] ?? 0 }).eraseToAnyColumn(),
            Column<Double>(name: "y", contents: rows.map { whole["y", Double.self][$0] ?? 0 }).eraseToAnyColumn(),
            Column<String>(name: "activity", contents: labels).eraseToAnyColumn(),
            Column<String>(name: "file", contents: rows.map { "recording \($0 / 60)" }).eraseToAnyColumn(),
        ])
    }

    /// Metrics of training count rows of windows that are made as those of evaluation are, by features (windows of 20) and by
    /// the network (8).
    @Test(arguments: [20, 8]) func `Training, evaluation and predictions agree on recordings of any length`(
        window: Int
    ) throws {
        let (own, held) = (Self.uneven(12, seed: 1), Self.uneven(6, seed: 2))
        let classifier = try MLActivityClassifier(
            trainingData: .dataFrame(own),
            featureColumns: ["x", "y"],
            labelColumn: "activity",
            recordingFileColumn: "file",
            parameters: .init(
                validation: .dataSource(.dataFrame(held)),
                maximumIterations: 1,
                predictionWindowSize: window
            )
        )
        #expect(classifier.shortRecordings == (window == 20 ? 2 : 0))
        let folder = try TemporaryFolder()
        let file = folder.file("uneven.mlmodel")
        try classifier.write(to: file)
        let model = try MLModel(contentsOf: file)
        for (data, metrics) in [(own, classifier.trainingMetrics), (held, classifier.validationMetrics)] {
            let counts = try #require(metrics.counts)
            #expect(counts.total == data.shape.rows, "rows are counted")
            let others = [
                classifier.evaluation(on: .dataFrame(data), featureColumns: ["x", "y"]),
                MLActivityClassifier.evaluation(
                    of: model,
                    on: .dataFrame(data),
                    labelColumn: "activity",
                    recordingFileColumn: "file"
                ),
            ]
            for other in others { #expect(other.counts == counts) }
            let rows = try classifier.predictions(from: data)
            let right = zip(rows, data["activity", String.self]).count { $0 == $1 }
            #expect(right == Int((counts.accuracy * Double(counts.total)).rounded()))
            let recordings = try MLActivityClassifier.predictions(of: model, from: data, recordingColumn: "file")
            #expect(recordings.map(\.prediction.rowCount).reduce(0, +) == data.shape.rows)
            for recording in recordings {
                let rows = recording.prediction.rows
                for (row, said) in zip(recording.rows, rows) {
                    #expect(data["file", String.self][row] == recording.name)
                    #expect(said.probabilities?.max { $0.value < $1.value }?.key == said.label)
                }
                #expect(recording.prediction.windows.count == (rows.count + window - 1) / window)
            }
            #expect(recordings.flatMap { $0.prediction.rows.map(\.label) } == rows)
        }
    }

    @Test func `Recordings without rows are left out and counted`() throws {
        let folder = try TemporaryFolder()
        let frame = SeriesData.activities(4, seed: 4, rows: 30)
        for (index, label) in ["walk", "run", "walk", "run", "run"].enumerated() {
            let labelled = folder.file("labelled").appendingPathComponent(label)
            try FileManager.default.createDirectory(at: labelled, withIntermediateDirectories: true)
            var text = "x,y\n"
            for row in (index * 30..<index * 30 + 30) where row < 120 {
                text += "\(frame["x", Double.self][row] ?? 0),\(frame["y", Double.self][row] ?? 0)\n"
            }
            try Data(text.utf8).write(to: labelled.appendingPathComponent("\(index).csv"))
        }
        func train(_ name: String) throws -> MLActivityClassifier {
            try MLActivityClassifier(
                trainingData: .labeledDirectories(at: folder.file(name)),
                featureColumns: ["x", "y"],
                parameters: Self.parameters
            )
        }
        let classifier = try train("labelled")
        #expect(classifier.emptyRecordings == 1 && classifier.shortRecordings == 0)
        #expect(classifier.description.contains("Empty recordings: 1, left out"))
        #expect(classifier.trainingMetrics.counts?.total == 120)
        for label in ["walk", "run"] {
            let labelled = folder.file("none").appendingPathComponent(label)
            try FileManager.default.createDirectory(at: labelled, withIntermediateDirectories: true)
            try Data("x,y\n".utf8).write(to: labelled.appendingPathComponent("a.csv"))
        }
        do { _ = try train("none") } catch { #expect("\(error)".contains("no recordings"), "\(error)") }
        #expect(throws: MLCreateError.self) { try train("none") }
    }

    @Test func `Validation data are judged and choose the iteration`() throws {
        var parameters = Self.parameters
        parameters.validation = .dataSource(.dataFrame(SeriesData.activities(6, seed: 3, rows: 50)))
        parameters.maximumIterations = 4
        let classifier = try Self.trained(parameters)
        #expect(classifier.validationMetrics.classificationError < 0.2)
        parameters.validation = .split(strategy: .fixed(ratio: 0.25, seed: 1))
        parameters.maximumIterations = 2
        #expect(try Self.trained(parameters).validationMetrics.isValid)
    }

    @Test func `A data table validates`() throws {
        let folder = try TemporaryFolder()
        try SeriesData.activities(16, seed: 1).writeCSV(to: folder.file("own.csv"))
        try SeriesData.activities(6, seed: 3, rows: 50).writeCSV(to: folder.file("held.csv"))
        let held = try MLDataTable(contentsOf: folder.file("held.csv"))
        var parameters = MLActivityClassifier.ModelParameters(
            validationData: held,
            maximumIterations: 3,
            predictionWindowSize: 20
        )
        #expect(parameters.validationData?.size.rows == 300)
        guard case .dataSource(.dataFrame(let frame)) = parameters.validation else {
            Issue.record("a table validates, and not \(parameters.validation)")
            return
        }
        #expect(frame.shape == (300, 4))
        func train(_ parameters: MLActivityClassifier.ModelParameters) throws -> MLActivityClassifier {
            try MLActivityClassifier(
                trainingData: MLDataTable(contentsOf: folder.file("own.csv")),
                featureColumns: ["x", "y"],
                labelColumn: "activity",
                recordingFileColumn: "file",
                parameters: parameters
            )
        }
        let classifier = try train(parameters)
        #expect(classifier.validationMetrics.confusion["Count"].ints?.sum() == 6 * 50)
        parameters.validation = .dataSource(.dataFrame(SeriesData.activities(6, seed: 3, rows: 50)))
        #expect(parameters.validationData == nil)
        #expect(
            try train(parameters).validationMetrics.classificationError
                == classifier.validationMetrics.classificationError
        )
        // A table that is not valid says why, when it is used.
        var broken = held
        broken.removeColumn(named: "speed")
        parameters.validationData = broken
        #expect(throws: MLCreateError.self) { try train(parameters) }
        do { _ = try train(parameters) } catch { #expect("\(error)".contains("'speed'")) }
        parameters.validationData = nil
        guard case .split(.automatic) = parameters.validation else {
            Issue.record("without a table a part of the recordings validates, and not \(parameters.validation)")
            return
        }
        #expect(MLActivityClassifier.ModelParameters(validationData: nil).validationData == nil)
    }

    @Test func `Folders of files by label and annotated files are read`() throws {
        let folder = try TemporaryFolder()
        let frame = SeriesData.activities(6, seed: 4, rows: 40)
        var annotations = "file,activity,from,to\n"
        for index in 0..<6 {
            let label = index % 2 == 0 ? "walk" : "run"
            let labelled = folder.file("labelled").appendingPathComponent(label)
            try FileManager.default.createDirectory(at: labelled, withIntermediateDirectories: true)
            var text = "t,x,y\n"
            for row in index * 40..<index * 40 + 40 {
                text +=
                    "\(row - index * 40),\(frame["x", Double.self][row] ?? 0),\(frame["y", Double.self][row] ?? 0)\n"
            }
            try Data(text.utf8).write(to: labelled.appendingPathComponent("\(index).csv"))
            try Data(text.utf8).write(to: folder.file("\(index).csv"))
            annotations += "\(index).csv,\(label),5,34\n"
        }
        try Data(annotations.utf8).write(to: folder.file("annotations.csv"))
        let labelled = MLActivityClassifier.DataSource.labeledDirectories(at: folder.file("labelled"))
        let all = try labelled.gatherAnnotatedFeatures(featureColumns: ["x", "y"])
        #expect(all.shape == (240, 4))
        #expect(all.columns.map(\.name) == ["x", "y", "label", "recordingFile"])
        let annotated = MLActivityClassifier.DataSource.directoryWithDataAndAnnotation(
            at: folder.url,
            annotationFileName: "annotations.csv",
            timeStampColumn: "t",
            labelStartTimeColumn: "from",
            labelEndTimeColumn: "to"
        )
        let part = try annotated.gatherAnnotatedFeatures(
            featureColumns: ["x", "y"],
            labelColumn: "activity",
            recordingFileColumn: "file"
        )
        #expect(part.shape == (180, 4))
        #expect(part["x", Double.self][0].map { abs($0 - (frame["x", Double.self][5] ?? 0)) < 1e-5 } ?? false)
        let classifier = try MLActivityClassifier(
            trainingData: labelled,
            featureColumns: ["x", "y"],
            parameters: Self.parameters
        )
        #expect(classifier.labelColumn == "label")
        #expect(classifier.trainingMetrics.classificationError < 0.2)
    }

    @Test func `A cancelled job goes on to the model of one that was not`() async throws {
        let folder = try TemporaryFolder()
        let data = MLActivityClassifier.DataSource.dataFrame(SeriesData.activities(8, seed: 5))
        func session(_ name: String, iterations: Int) throws -> MLTrainingSession<MLActivityClassifier> {
            try MLActivityClassifier.makeTrainingSession(
                trainingData: data,
                featureColumns: ["x", "y"],
                labelColumn: "activity",
                recordingFileColumn: "file",
                parameters: Self.parameters,
                sessionParameters: MLTrainingSessionParameters(
                    sessionDirectory: folder.file(name),
                    reportInterval: 1,
                    checkpointInterval: 1,
                    iterations: iterations
                )
            )
        }
        let whole = try await MLActivityClassifier.resume(session("whole", iterations: 3)).value
        _ = try await MLActivityClassifier.resume(session("part", iterations: 1)).value
        let rest = try MLActivityClassifier.restoreTrainingSession(
            sessionParameters: MLTrainingSessionParameters(sessionDirectory: folder.file("part"), iterations: 3)
        )
        let begun = rest.iteration
        let resumed = try await MLActivityClassifier.resume(rest).value
        #expect(begun == 1)
        for (name, classifier) in [("a.mlmodel", whole), ("b.mlmodel", resumed)] {
            try classifier.write(to: folder.file(name), metadata: MLModelMetadata(author: "x"))
        }
        #expect(try Data(contentsOf: folder.file("a.mlmodel")) == Data(contentsOf: folder.file("b.mlmodel")))
        let checkpoint = try #require(rest.checkpoints.last)
        #expect(checkpoint.metrics[.accuracy] is Double)
        let again = try MLActivityClassifier(checkpoint: checkpoint)
        #expect(again.featureColumns == ["x", "y"])
        #expect(again.modelParameters.predictionWindowSize == 20)
        #expect(again.trainingMetrics.classificationError == resumed.trainingMetrics.classificationError)
    }

    private static func message(
        _ frame: DataFrame,
        features: [String] = ["x", "y"],
        label: String = "activity",
        window: Int = 20
    ) -> String {
        do {
            _ = try MLActivityClassifier(
                trainingData: .dataFrame(frame),
                featureColumns: features,
                labelColumn: label,
                recordingFileColumn: "file",
                parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: window)
            )
            return ""
        } catch { return "\(error)" }
    }

    @Test func `Unusable tables are named`() throws {
        let frame = SeriesData.activities(4, seed: 6)
        #expect(Self.message(frame, features: ["z"]).contains("no column 'z'"))
        #expect(Self.message(frame, features: []).contains("no feature columns"))
        #expect(Self.message(frame, features: ["x", "x"]).contains("named twice"))
        #expect(Self.message(frame, features: ["x", "activity"]).contains("cannot be called 'activity'"))
        #expect(Self.message(frame, label: "what").contains("no column 'what'"))
        #expect(Self.message(frame, features: ["file"]).contains("feature columns hold numbers"))
        #expect(Self.message(frame, window: 61).isEmpty, "short recordings are filled up")
        #expect(Self.message(frame, window: 0).contains("window is 0"))
        #expect(Self.message(DataFrame()).contains("no rows"))
        let one = DataFrame(frame.filter(on: "activity", String.self) { $0 == "run" })
        #expect(Self.message(one).contains("one class, 'run'"))
        var broken = frame
        broken.replaceColumn(
            "x",
            with: Column<Double>(name: "x", contents: [.nan] + [Double](repeating: 1, count: 239))
        )
        #expect(Self.message(broken).contains("row 0 of the column 'x' is nan"))
        var missing = frame
        missing.replaceColumn(
            "y",
            with: Column<Double>(name: "y", contents: [nil] + [Double?](repeating: 1, count: 239))
        )
        #expect(Self.message(missing).contains("row 0 of the column 'y' is empty"))
        let metrics = try Self.trained().evaluation(on: .dataFrame(DataFrame()), featureColumns: ["x", "y"])
        #expect(!metrics.isValid)
        #expect(metrics.error.map { "\($0)".contains("no rows") } ?? false)
    }
}
