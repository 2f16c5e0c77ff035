import CoreGraphics
import CoreML
import CreateML
import Foundation
import ImageIO
import MLDetectionTraining
import MLImages
import MLNumerics
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

    @Test func `Views show objects where their boxes are, and turned ones are turned`() throws {
        let (width, height) = (120, 80)
        var image = Bitmap(width: width, height: height, layout: .rgba)
        for position in 0..<width * height {
            let isInside = (72..<96).contains(position % width) && (8..<40).contains(position / width)
            let color: [UInt8] = isInside ? [250, 20, 20, 255] : [20, 20, 250, 255]
            image.pixels.replaceSubrange(4 * position..<4 * position + 4, with: color)
        }
        let object = DetectionObject(label: 0, box: DetectionBox(left: 0.6, top: 0.1, right: 0.8, bottom: 0.5))
        for turns in [false, true] {
            var (seen, wide, tilted) = (0, 0, 0)
            for seed in 0..<80 {
                var random = SplitMix64(seed: UInt64(seed))
                let view = DetectionView.random(image, [object], mirrors: true, turns: turns, &random)
                // A view may leave the object out.
                guard let object = view.objects.first else { continue }
                let (box, side) = (object.box, view.image.width)
                seen += 1
                func isObject(_ x: Double, _ y: Double) -> Bool {
                    let (column, row) = (Int(x * Double(side)), Int(y * Double(side)))
                    let pixel = 4 * (row * side + column)
                    return view.image.pixels[pixel] > view.image.pixels[pixel + 2]
                }
                let share = object.isExact ? 0.1 : 0.45
                for (x, y) in [(share, share), (1 - share, share), (share, 1 - share), (1 - share, 1 - share)] {
                    #expect(isObject(box.left + x * box.width, box.top + y * box.height), "view \(seed)")
                }
                guard object.isExact else {
                    tilted += 1
                    continue
                }
                // The object is as wide as 24 / 120 and as high as 32 / 80 of the image.
                if box.width > box.height { wide += 1 }
                let outside = (box.left - 0.05, box.right + 0.05, (box.top + box.bottom) / 2)
                if outside.0 > 0 { #expect(!isObject(outside.0, outside.2), "view \(seed)") }
                if outside.1 < 1 { #expect(!isObject(outside.1, outside.2), "view \(seed)") }
            }
            #expect(seen > 50)
            #expect(turns ? (20..<60).contains(tilted) : tilted == 0, "\(tilted) of \(seen) are tilted")
            #expect(turns ? wide > 3 : wide < 8, "\(wide) of \(seen) are wide")
        }
    }

    @Test func `Channels are left out at random, and the others make up for them`() throws {
        #expect(ChannelDropout(share: 0, seed: 1) == nil)
        var dropout = try #require(ChannelDropout(share: 0.2, seed: 1))
        var same = dropout
        let factors = (0..<10_000).map { _ in dropout.next() }
        #expect(factors.prefix(100) == (0..<100).map { _ in same.next() }[...])
        #expect(Set(factors) == [0, 1.25])
        #expect(abs(factors.reduce(0, +) / 10_000 - 1) < 0.02)
    }

    @Test func `A session of learned features resumes to the same bytes, and other views change them`() async throws {
        let files = try ObjectFixtures(count: 2)
        func trained(_ name: String, _ limit: Int, mirrors: Bool = true, turns: Bool = false) async throws -> Data {
            var parameters = files.parameters(iterations: 4)
            parameters.learnsFeatures = true
            parameters.mirrorsImages = mirrors
            parameters.turnsImages = turns
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
            #expect(detector.modelParameters.turnsImages == turns)
            let url = files.folder.file(name + ".mlmodel")
            try detector.write(to: url, metadata: MLModelMetadata(author: "A"))
            return try Data(contentsOf: url)
        }
        let whole = try await trained("whole", 4)
        _ = try await trained("parts", 2)
        #expect(try await trained("parts", 4) == whole)
        #expect(try await trained("plain", 4, mirrors: false) != whole)
        #expect(try await trained("turned", 4, turns: true) != whole)
    }
}
