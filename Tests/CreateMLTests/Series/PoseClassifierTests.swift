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

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test func `Videos and pictures say what to do instead`() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.file("wave.1.mov"))
        let files = MLHandActionClassifier.DataSource.labeledFiles(at: folder.url)
        for text in [
            message { _ = try MLHandActionClassifier(trainingData: files) },
            message { _ = try MLActionClassifier(trainingData: .labeledVideoDataFrame(DataFrame())) },
            message { _ = try MLHandPoseClassifier(trainingData: .labeledImageDataFrame(DataFrame())) },
        ] {
            #expect(text.contains("Vision") && text.contains("labeledKeypointsDataFrame"))
        }
        #expect(try files.labeledMedia().keys.sorted() == ["wave"])
        #expect(try files.gatherAnnotatedFileNames()?.shape.rows == 1)
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
    }
}
