import CoreML
import CreateML
import Foundation
import ImageIO
import MLExtractors
import MLImages
import TabularData
import TestSupport
import Testing

/// Poses and actions from pictures and frames, with small networks in the place of the real ones: the colour of a bright
/// picture moves the joints.
@Suite struct PosePictureTests {
    /// Writes a picture of one colour.
    private func write(_ url: URL, red: UInt8) throws {
        var bitmap = Bitmap(width: 24, height: 24, layout: .rgba)
        for pixel in 0..<24 * 24 {
            for (component, value) in [red, 200, 200, 255].enumerated() { bitmap.pixels[4 * pixel + component] = value }
        }
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try ImageEncoder.png(bitmap, isOpaque: true).write(to: url)
    }

    private func withNetworks(_ body: (TemporaryFolder) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let store = ExtractorStore(folder: folder.file("store").path)
        try ExtractorStore.$replacement.withValue(store) {
            try PoseNetworks.installHands(in: store)
            try PoseNetworks.installBodies(in: store)
            try body(folder)
        }
    }

    private func withNetworks(_ body: (TemporaryFolder) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let store = ExtractorStore(folder: folder.file("store").path)
        try await ExtractorStore.$replacement.withValue(store) {
            try PoseNetworks.installHands(in: store)
            try await body(folder)
        }
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test func `Hands in pictures are classified`() throws {
        try withNetworks { folder in
            for number in 0..<6 {
                try write(folder.file("data/flat/\(number).png"), red: UInt8(135 + number))
                try write(folder.file("data/bent/\(number).png"), red: UInt8(240 + number))
            }
            // Dark: no hand is found.
            try write(folder.file("data/bent/dark.png"), red: 10)
            let source = MLHandPoseClassifier.DataSource.labeledDirectories(at: folder.file("data"))
            let table = try source.extractKeypoints()
            #expect(table.shape.rows == 12)
            let pose = try #require(table["keypoints"][0] as? [Double])
            #expect(pose.count == 63 && pose[42...].allSatisfy { abs($0 - 0.9) < 1e-4 })
            // The wrist of a bright picture: above the middle, counted from below.
            #expect(abs(pose[21] - (1 - (0.375 + PoseNetworks.offset(0).y * 0.65))) < 0.01)
            let classifier = try MLHandPoseClassifier(
                trainingData: source,
                parameters: .init(validation: .none, maximumIterations: 5)
            )
            #expect(classifier.trainingMetrics.classificationError == 0)
            #expect(classifier.skippedImages.map(\.url.lastPathComponent) == ["dark.png"])
            #expect(classifier.skippedImages.map(\.label) == ["bent"])
            #expect(classifier.skippedImages.map(\.reason) == ["no hand was found"])
            #expect(classifier.description.contains("Skipped Files: 1"))
            try write(folder.file("new.png"), red: 250)
            #expect(try classifier.prediction(from: folder.file("new.png")).first?.label == "bent")
            #expect(
                message { _ = try classifier.prediction(from: folder.file("data/bent/dark.png")) }
                    .contains("no hand was found")
            )
            var frame = DataFrame()
            frame.append(column: Column(name: "imagePath", contents: ["data/flat/1.png", "data/bent/dark.png"]))
            frame.append(column: Column(name: "label", contents: ["flat", "bent"]))
            try frame.writeJSON(to: folder.file("table.json"))
            let annotated = MLHandPoseClassifier.DataSource.directoryWithImagesAndAnnotation(
                at: folder.url,
                annotationFile: folder.file("table.json"),
                imageColumn: "imagePath",
                labelColumn: "label"
            )
            #expect(try annotated.extractKeypoints().shape.rows == 1)
            #expect(classifier.model.modelDescription.inputDescriptionsByName["poses"] != nil)
        }
    }

    @Test func `Images without a hand are listed with a session, validation images after training images`() async throws
    {
        try await withNetworks { folder in
            for number in 0..<4 {
                try write(folder.file("data/flat/\(number).png"), red: UInt8(135 + number))
                try write(folder.file("data/bent/\(number).png"), red: UInt8(240 + number))
                try write(folder.file("other/flat/\(number).png"), red: UInt8(140 + number))
            }
            try write(folder.file("data/flat/night.png"), red: 10)
            try write(folder.file("other/bent/dark.png"), red: 10)
            let session = MLTrainingSessionParameters(sessionDirectory: folder.file("session"), checkpointInterval: 1)
            let parameters = MLHandPoseClassifier.ModelParameters(
                validation: .dataSource(.labeledDirectories(at: folder.file("other"))),
                maximumIterations: 2
            )
            let job = try MLHandPoseClassifier.train(
                trainingData: .labeledDirectories(at: folder.file("data")),
                parameters: parameters,
                sessionParameters: session
            )
            #expect(try await job.value.skippedImages.map(\.url.lastPathComponent) == ["night.png", "dark.png"])
            let restored = try MLHandPoseClassifier.restoreTrainingSession(sessionParameters: session)
            let classifier = try MLHandPoseClassifier(checkpoint: try #require(restored.checkpoints.last))
            #expect(classifier.skippedImages.map(\.label) == ["flat", "bent"])
        }
    }

    @Test func `Folders of frames are videos`() throws {
        try withNetworks { folder in
            for number in 0..<4 {
                for frame in 0..<12 {
                    let waves = UInt8(frame % 4 < 2 ? 140 : 250)
                    try write(folder.file("data/wave.\(number)/\(10 + frame).png"), red: waves)
                    try write(folder.file("data/rest.\(number)/\(10 + frame).png"), red: UInt8(180 + number))
                }
            }
            let files = MLActionClassifier.DataSource.labeledFiles(at: folder.file("data"))
            #expect(try files.gatherAnnotatedFileNames()?.shape.rows == 8)
            #expect(try files.extractKeypoints().shape.rows == 8 * 12)
            let classifier = try MLActionClassifier(
                trainingData: files,
                parameters: .init(validation: .none, maximumIterations: 2, predictionWindowSize: 12)
            )
            #expect(classifier.trainingMetrics.classificationError == 0)
            let found = try classifier.prediction(from: folder.file("data/wave.2"))
            #expect(found.count == 1 && found[0].results.first?.label == "wave")
            let hands = MLHandActionClassifier.DataSource.labeledFiles(at: folder.file("data"))
            #expect(try hands.extractKeypoints().shape.rows == 8 * 12)
            // A part of a video: from the second to the fifth of twelve frames at ten a second.
            var frame = DataFrame()
            frame.append(column: Column(name: "videoPath", contents: [folder.file("data/wave.0").path]))
            frame.append(column: Column(name: "label", contents: ["wave"]))
            frame.append(column: Column(name: "from", contents: [0.2]))
            frame.append(column: Column(name: "to", contents: [0.5]))
            let part = MLHandActionClassifier.DataSource.labeledVideoDataFrame(
                frame,
                startTimeColumn: "from",
                endTimeColumn: "to"
            )
            #expect(try part.extractKeypoints(targetFrameRate: 10).shape.rows == 3)
            frame["to", Double.self] = Column(name: "to", contents: [0.1])
            let reversed = MLHandActionClassifier.DataSource.labeledVideoDataFrame(
                frame,
                startTimeColumn: "from",
                endTimeColumn: "to"
            )
            #expect(message { _ = try reversed.extractKeypoints() }.contains("ends after it begins"))
        }
    }

    @Test func `What is missing is named`() throws {
        try withNetworks { folder in
            try write(folder.file("dark/a.1.png"), red: 0)
            try write(folder.file("dark/b.1.png"), red: 0)
            let dark = MLHandPoseClassifier.DataSource.labeledFiles(at: folder.file("dark"))
            #expect(message { _ = try dark.extractKeypoints() }.contains("no hand was found in any of 2 files"))
            try Data().write(to: folder.file("dark/c.1.png"))
            #expect(message { _ = try dark.extractKeypoints() }.contains("c.1.png"))
            let frames = MLActionClassifier.DataSource.labeledVideoDataFrame(DataFrame())
            #expect(message { _ = try MLActionClassifier(trainingData: frames) }.contains("no rows"))
            let empty = ExtractorStore(folder: folder.file("empty").path)
            ExtractorStore.$replacement.withValue(empty) {
                #expect(
                    message { _ = try dark.extractKeypoints() }
                        .contains("is not installed; run: coreml extractor install mediapipe-hands")
                )
            }
            let none = MLActionClassifier.DataSource.labeledFiles(at: folder.file("dark"))
            #expect(message { _ = try none.extractKeypoints(targetFrameRate: 0) }.contains("frame rate is 0"))
        }
    }
}
