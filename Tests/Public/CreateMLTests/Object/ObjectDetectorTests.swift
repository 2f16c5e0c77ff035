import CoreGraphics
import CoreML
import CreateML
import Foundation
import ImageIO
import MLImages
import TabularData
import Testing
import Vision

@Suite struct ObjectDetectorTests {
    private static let form = MLObjectDetector.AnnotationType.boundingBox()

    @Test func `A detector learns, and Vision makes observations of its model`() throws {
        let files = try ObjectFixtures()
        let detector = try MLObjectDetector(
            trainingData: files.source,
            parameters: files.parameters(iterations: 60),
            annotationType: Self.form
        )
        #expect(detector.skippedImages.isEmpty)
        #expect(detector.trainingMetrics.meanAveragePrecision.IoU50 > 0.3)
        #expect(Set(detector.trainingMetrics.averagePrecision.IoU50.keys) == Set(ObjectFixtures.labels))
        #expect(!detector.validationMetrics.isValid)

        let url = files.folder.file("Squares.mlmodel")
        try detector.write(to: url)
        let model = try MLModel(contentsOf: MLModel.compileModel(at: url))
        let interface = model.modelDescription
        #expect(Set(interface.inputDescriptionsByName.keys) == ["image", "iouThreshold", "confidenceThreshold"])
        #expect(Set(interface.outputDescriptionsByName.keys) == ["confidence", "coordinates"])
        #expect((interface.metadata[.creatorDefinedKey] as? [String: String])?["featureExtractorNotice"] != nil)

        let request = VNCoreMLRequest(model: try VNCoreMLModel(for: model))
        request.imageCropAndScaleOption = .scaleFill
        let picture = files.pictures.appendingPathComponent("0.png")
        try VNImageRequestHandler(url: picture).perform([request])
        let observations = try #require(request.results as? [VNRecognizedObjectObservation])
        let found = try detector.prediction(from: picture)
        #expect(observations.count == found.count)
        for (observation, object) in zip(observations, found) {
            #expect(observation.labels.first?.identifier == object.label)
            // Vision's boxes have their origin at the bottom left, the detector's are pixels around the centre.
            #expect(abs(observation.boundingBox.midX * 160 - object.boundingBox.origin.x) < 1)
            #expect(abs((1 - observation.boundingBox.midY) * 120 - object.boundingBox.origin.y) < 1)
        }
        // A threshold of 0 finds more than one of 0.9.
        func count(_ threshold: Double) throws -> Int {
            let constraint = try #require(interface.inputDescriptionsByName["image"]?.imageConstraint)
            let image = try MLFeatureValue(imageAt: picture, constraint: constraint)
            let input = try MLDictionaryFeatureProvider(dictionary: [
                "image": image, "confidenceThreshold": threshold, "iouThreshold": 0.5,
            ])
            return try model.prediction(from: input).featureValue(for: "coordinates")?.multiArrayValue?.shape[0]
                .intValue ?? -1
        }
        #expect(try count(0.0001) > count(0.9))
    }

    @Test func `A session that was interrupted gives the same bytes as one that was not`() async throws {
        let files = try ObjectFixtures(count: 3)
        func session(_ name: String, _ iterations: Int) -> MLTrainingSessionParameters {
            MLTrainingSessionParameters(
                sessionDirectory: files.folder.file(name),
                reportInterval: 1,
                checkpointInterval: 2,
                iterations: iterations
            )
        }
        func trained(_ name: String, _ limit: Int) async throws -> Data {
            let job = try MLObjectDetector.train(
                trainingData: files.source,
                annotationType: Self.form,
                parameters: files.parameters(iterations: 6),
                sessionParameters: session(name, limit)
            )
            let detector = try await job.value
            let url = files.folder.file(name + ".mlmodel")
            try detector.write(to: url, metadata: MLModelMetadata(author: "A"))
            return try Data(contentsOf: url)
        }
        let whole = try await trained("whole", 6)
        let part = try await trained("parts", 4)
        // The pictures are kept with the session.
        try FileManager.default.removeItem(at: files.pictures.appendingPathComponent("0.png"))
        let continued = try await trained("parts", 6)
        #expect(part != whole)
        #expect(continued == whole)
    }

    @Test func `Pictures and boxes that cannot be used are named and do not end a run`() throws {
        let files = try ObjectFixtures(count: 3)
        let folder = files.pictures
        try Data("no picture".utf8).write(to: folder.appendingPathComponent("broken.png"))
        try Data().write(to: folder.appendingPathComponent("empty.png"))
        let good = ["x": 40, "y": 40, "width": 30, "height": 30]
        var list = try #require(
            JSONSerialization.jsonObject(with: Data(contentsOf: folder.appendingPathComponent("boxes.json"))) as? [Any]
        )
        for name in ["broken.png", "empty.png", "missing.png"] {
            list.append(["image": name, "annotations": [["label": "red", "coordinates": good]]])
        }
        list.append([
            "image": "0.png",
            "annotations": [
                ["label": "red", "coordinates": ["x": 40, "y": 40, "width": 0, "height": 10]],
                ["label": "red", "coordinates": ["x": 900, "y": 40, "width": 10, "height": 10]],
                ["label": "red"],
            ],
        ])
        try JSONSerialization.data(withJSONObject: list).write(to: folder.appendingPathComponent("boxes.json"))
        let detector = try MLObjectDetector(
            trainingData: files.source,
            parameters: files.parameters(iterations: 1, batchSize: 1),
            annotationType: Self.form
        )
        let left = detector.skippedImages.filter { !$0.isUsed }
        #expect(left.map(\.url.lastPathComponent) == ["broken.png", "empty.png", "missing.png"])
        let used = detector.skippedImages.filter(\.isUsed)
        #expect(used.map(\.url.lastPathComponent) == ["0.png", "0.png", "0.png"])
        #expect(used.map(\.reason).contains { $0.contains("empty") })
        #expect(used.map(\.reason).contains { $0.contains("outside") })
        // An evaluation names them, too, and is not ended by them.
        #expect(detector.evaluation(on: files.source).isValid)
    }

    @Test func `Parameters and extractors that cannot be used are errors that name them`() throws {
        let files = try ObjectFixtures(count: 2)
        func message(_ change: (inout MLObjectDetector.ModelParameters) -> Void) -> String {
            var parameters = files.parameters(iterations: 1)
            change(&parameters)
            do {
                _ = try MLObjectDetector(trainingData: files.source, parameters: parameters, annotationType: Self.form)
                return ""
            } catch { return "\(error)" }
        }
        #expect(message { $0.gridSize = CGSize(width: 9, height: 9) }.contains("9 × 9"))
        #expect(message { $0.batchSize = 0 }.contains("batch size is 0"))
        #expect(message { $0.maxIterations = 0 }.contains("iterations is 0"))
    }

    @Test func `Without a pretrained network features are learned, which the model says`() throws {
        let files = try ObjectFixtures()
        var parameters = files.parameters(iterations: 100, batchSize: 3)
        parameters.extractors = "/nowhere"
        let detector = try MLObjectDetector(
            trainingData: files.source,
            parameters: parameters,
            annotationType: Self.form
        )
        #expect(detector.trainingMetrics.meanAveragePrecision.IoU50 > 0.5)
        #expect(detector.modelParameters.learnsFeatures)
        let warning = try #require(detector.warnings.first)
        #expect(warning.contains("coreml extractor install"))
        #expect("\(detector)".contains(warning))
        let metadata = detector.model.modelDescription.metadata
        #expect((metadata[.creatorDefinedKey] as? [String: String])?["featureExtractorNotice"] == warning)
        #expect((metadata[.license] as? String ?? "") == "")
    }

    @Test func `A session of learned features resumes to the same bytes, and mirror images change them`() async throws {
        let files = try ObjectFixtures(count: 2)
        func trained(_ name: String, _ limit: Int, mirrors: Bool = true) async throws -> Data {
            var parameters = files.parameters(iterations: 4)
            parameters.learnsFeatures = true
            parameters.mirrorsImages = mirrors
            let job = try MLObjectDetector.train(
                trainingData: files.source,
                annotationType: Self.form,
                parameters: parameters,
                sessionParameters: MLTrainingSessionParameters(
                    sessionDirectory: files.folder.file(name),
                    reportInterval: 1,
                    checkpointInterval: 1,
                    iterations: limit
                )
            )
            let detector = try await job.value
            // It was requested, so nothing is missing.
            #expect(!detector.warnings[0].contains("not installed"))
            #expect(detector.modelParameters.mirrorsImages == mirrors)
            let url = files.folder.file(name + ".mlmodel")
            try detector.write(to: url, metadata: MLModelMetadata(author: "A"))
            return try Data(contentsOf: url)
        }
        let whole = try await trained("whole", 4)
        _ = try await trained("parts", 2)
        #expect(try await trained("parts", 4) == whole)
        #expect(try await trained("plain", 4, mirrors: false) != whole)
    }
}
