import CoreML
import CreateML
import Foundation
import TabularData
import Testing

@Suite struct PoseClassifierTests {
    @Test func `Hand poses are learned from key points`() throws {
        let data = MLHandPoseClassifier.DataSource.labeledKeypointsDataFrame(
            SeriesData.poses(60, joints: 21, frames: 1, seed: 1)
        )
        let classifier = try MLHandPoseClassifier(
            trainingData: data,
            parameters: .init(maximumIterations: 6, augmentationOptions: [.rotate, .scale])
        )
        #expect(classifier.trainingMetrics.classificationError < 0.1)
        #expect(classifier.validationMetrics.isValid)
        #expect(classifier.skippedImages.isEmpty && !classifier.description.contains("Skipped"))
        let test = MLHandPoseClassifier.DataSource.labeledKeypointsDataFrame(
            SeriesData.poses(30, joints: 21, frames: 1, seed: 2)
        )
        #expect(try classifier.evaluation(on: test).classificationError < 0.2)
        let folder = try TemporaryFolder()
        try classifier.write(to: folder.file("pose.mlmodel"))
        let model = try MLModel(contentsOf: folder.file("pose.mlmodel"))
        #expect(model.modelDescription.inputDescriptionsByName["poses"]?.multiArrayConstraint?.shape == [1, 3, 21])
        #expect(try data.extractKeypoints().shape == (60, 3))
    }

    @Test func `Hand actions are learned from key points`() throws {
        let classifier = try MLHandActionClassifier(
            trainingData: .labeledKeypointsDataFrame(SeriesData.poses(14, joints: 21, frames: 24, seed: 3)),
            parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: 20)
        )
        #expect(classifier.trainingMetrics.classificationError == 0)
        let test = MLHandActionClassifier.DataSource.labeledKeypointsDataFrame(
            SeriesData.poses(8, joints: 21, frames: 24, seed: 4)
        )
        #expect(try classifier.evaluation(on: test).isValid)
        // A file of key points, 50 frames of one session.
        let folder = try TemporaryFolder()
        let clip = SeriesData.poses(1, joints: 21, frames: 50, seed: 5)
        let url = folder.file("clip.json")
        try clip.writeJSON(to: url)
        let results = try classifier.prediction(from: url)
        #expect(results.map(\.frameRange) == [0..<20, 10..<30, 20..<40, 30..<50])
        #expect(results.allSatisfy { $0.results.count == 2 && $0.results[0].confidence >= $0.results[1].confidence })
    }

    @Test func `Actions of bodies are learned from key points`() async throws {
        let folder = try TemporaryFolder()
        let job = try MLActionClassifier.train(
            trainingData: .labeledKeypointsDataFrame(SeriesData.poses(12, joints: 18, frames: 20, seed: 6)),
            parameters: .init(validation: .none, maximumIterations: 2, predictionWindowSize: 20),
            sessionParameters: MLTrainingSessionParameters(
                sessionDirectory: folder.file("session"),
                checkpointInterval: 1
            )
        )
        let classifier = try await job.value
        #expect(classifier.trainingMetrics.classificationError == 0)
        let session = try MLActionClassifier.restoreTrainingSession(
            sessionParameters: MLTrainingSessionParameters(sessionDirectory: folder.file("session"))
        )
        #expect(session.checkpoints.map(\.iteration) == [1, 2])
        let again = try MLActionClassifier(checkpoint: try #require(session.checkpoints.last))
        #expect(again.modelParameters.predictionWindowSize == 20)
        #expect(again.modelParameters.augmentationOptions == [.horizontalFlip])
    }

    /// A table out of a file, shared out, says what a data frame says.
    @Test func `Data tables of key points are shared out and learned from`() throws {
        let folder = try TemporaryFolder()
        try SeriesData.poses(16, joints: 21, frames: 24, seed: 7).writeJSON(to: folder.file("clips.json"))
        let table = try MLDataTable(contentsOf: folder.file("clips.json"))
        let parts = try MLHandActionClassifier.DataSource.labeledKeypointsData(table: table)
            .stratifiedSplit(proportions: [0.75, 0.25], seed: 3, labelColumn: "label")
        let (own, held) = (parts[parts["partition"] == 0], parts[parts["partition"] == 1])
        #expect(own.size.rows == 12 * 24 && held.size.rows == 4 * 24)
        for (part, sessions) in [(own, 6), (held, 2)] {
            // No session is torn, and each label has its share.
            let labels = part[["session_id", "label"]].dropDuplicates()["label"]
            #expect(labels.count == 2 * sessions)
            #expect((labels == "slow").ints?.sum() == sessions)
        }
        let parameters = MLHandActionClassifier.ModelParameters(
            validation: .dataSource(.labeledKeypointsData(table: held)),
            maximumIterations: 1,
            predictionWindowSize: 20
        )
        let classifier = try MLHandActionClassifier(
            trainingData: .labeledKeypointsData(table: own),
            parameters: parameters
        )
        #expect(classifier.trainingMetrics.classificationError == 0)
        let metrics = try classifier.evaluation(on: .labeledKeypointsData(table: held))
        #expect(metrics.classificationError == classifier.validationMetrics.classificationError)
        let points = try MLHandActionClassifier.DataSource.labeledKeypointsData(table: held).keypointsWithAnnotations()
        #expect(Array(points.columnNames) == ["session_id", "label", "keypoints"])
        let frame = try MLHandActionClassifier.DataSource.labeledKeypointsData(table: held).extractKeypoints()
        #expect(points.size.rows == frame.shape.rows)
        let pose = try #require(points["keypoints"][5].sequenceValue).map { $0.doubleValue ?? .nan }
        #expect(pose.count == 63 && pose == frame["keypoints", [Double].self][5])
    }

    @Test func `A data table of poses gives the model of a data frame`() throws {
        let frame = SeriesData.poses(30, joints: 21, frames: 1, seed: 8)
        let folder = try TemporaryFolder()
        try frame.writeJSON(to: folder.file("poses.json"))
        let table = try MLDataTable(contentsOf: folder.file("poses.json"))
        let parameters = MLHandPoseClassifier.ModelParameters(validation: .none, maximumIterations: 2)
        let ofTable = try MLHandPoseClassifier(
            trainingData: .labeledKeypointsData(table: table),
            parameters: parameters
        )
        let ofFrame = try MLHandPoseClassifier(
            trainingData: .labeledKeypointsDataFrame(frame),
            parameters: parameters
        )
        for (name, classifier) in [("a.mlmodel", ofTable), ("b.mlmodel", ofFrame)] {
            try classifier.write(to: folder.file(name), metadata: MLModelMetadata(author: "x"))
        }
        #expect(try Data(contentsOf: folder.file("a.mlmodel")) == Data(contentsOf: folder.file("b.mlmodel")))
        #expect(
            try MLHandPoseClassifier.DataSource.labeledKeypointsData(table: table).keypointsWithAnnotations().size == (
                30, 3
            )
        )
    }

    /// Folders hold a table a session; the parts of their split can be learned from.
    @Test func `Folders of key points are shared out`() throws {
        let folder = try TemporaryFolder()
        for index in 0..<6 {
            let clip = SeriesData.poses(1, joints: 18, frames: 22, seed: UInt64(20 + index))
            try clip.writeJSON(to: folder.file("\(index % 2 == 0 ? "jump" : "turn").\(index).json"))
        }
        let source = MLActionClassifier.DataSource.labeledFiles(at: folder.url)
        let table = try source.stratifiedSplit(proportions: [2.0 / 3, 1.0 / 3], seed: 1, labelColumn: "what")
        #expect(Array(table.columnNames) == ["session_id", "what", "keypoints", "partition"])
        #expect(table.size.rows == 6 * 22)
        #expect(table["partition"].ints?.sum() == 2 * 22)
        let classifier = try MLActionClassifier(
            trainingData: .labeledKeypointsData(table: table, labelColumn: "what"),
            parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: 20)
        )
        #expect(classifier.trainingMetrics.isValid)
        #expect(try source.videosWithAnnotations().size == (6, 2))
        #expect(try source.keypointsWithAnnotations().size == (6 * 22, 3))
    }

    @Test func `Tables of videos and pictures are shared out by name`() throws {
        let names = (0..<10).map { "\($0).mov" }
        let table = try MLDataTable(dictionary: [
            "videoPath": names, "imagePath": names, "label": names.indices.map { $0 < 6 ? "wave" : "clap" },
            "from": Array(names.indices),
        ])
        let source = MLActionClassifier.DataSource.labeledVideoData(table: table, startTimeColumn: "from")
        #expect(try Array(source.videosWithAnnotations().columnNames) == ["videoPath", "label", "from"])
        let parts = try source.stratifiedSplit(proportions: [0.5, 0.5], seed: 2, labelColumn: "label")
        let held = parts[parts["partition"] == 1]
        #expect(held.size.rows == 5 && (held["label"] == "wave").ints?.sum() == 3)
        #expect(
            try MLHandActionClassifier.DataSource.labeledVideoData(table: table).videosWithAnnotations().size == (10, 2)
        )
        let pictures = MLHandPoseClassifier.DataSource.labeledImageData(table: table)
        #expect(try Array(pictures.imagesWithAnnotations().columnNames) == ["imagePath", "label"])
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test func `Unusable key points are named`() {
        func train(_ frame: DataFrame, window: Int = 20) -> String {
            message {
                _ = try MLHandActionClassifier(
                    trainingData: .labeledKeypointsDataFrame(frame),
                    parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: window)
                )
            }
        }
        #expect(train(DataFrame()).contains("no rows"))
        #expect(train(SeriesData.poses(4, joints: 18, frames: 2, seed: 1)).contains("54 numbers"))
        #expect(train(SeriesData.poses(4, joints: 21, frames: 2, seed: 1), window: 8).contains("must be 9 frames"))
        var frame = SeriesData.poses(4, joints: 21, frames: 2, seed: 1)
        frame.replaceColumn(
            "label",
            with: Column<String>(name: "label", contents: ["a", "b", "a", "a", "b", "b", "b", "b"])
        )
        #expect(train(frame).contains("the session '0' has two labels"))
        // Data tables say why they are not valid, and columns that are not there are named.
        var table = MLDataTable()
        table.removeColumn(named: "pose")
        let source = MLHandActionClassifier.DataSource.labeledKeypointsData(table: table)
        for text in [
            message { _ = try MLHandActionClassifier(trainingData: source) },
            message { _ = try source.stratifiedSplit(proportions: [1], labelColumn: "label") },
        ] {
            #expect(text.contains("'pose'"))
        }
        let poses = MLHandActionClassifier.DataSource.labeledKeypointsDataFrame(frame)
        #expect(message { _ = try poses.videosWithAnnotations() }.contains("keypointsWithAnnotations"))
        #expect(message { _ = try poses.stratifiedSplit(proportions: [1], labelColumn: "no") }.contains("'no'"))
        #expect(
            message { _ = try poses.stratifiedSplit(proportions: [2], labelColumn: "label") }.contains("from 0 to 1")
        )
        let videos = MLActionClassifier.DataSource.labeledVideoData(table: MLDataTable(), videoColumn: "film")
        #expect(message { _ = try videos.videosWithAnnotations() }.contains("no column 'film'"))
    }
}
