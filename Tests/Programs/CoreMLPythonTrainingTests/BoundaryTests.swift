import CoreMLPython
import CoreMLPythonTraining
import Foundation
import ImageIO
import MLImages
import TabularData
import Testing

/// The C interface of training, called as Python calls it.
@Suite struct BoundaryTests {
    private typealias Failed = UnsafeMutablePointer<CChar>?

    /// A failure that the interface reported.
    private struct Reported: Error {
        let message: String
    }

    /// Calls a function with a place for its failure, and throws what it stores there.
    private func call<R>(_ body: (Failure) -> R) throws -> R {
        var message: Failed = nil
        let answer = body(&message)
        guard let message else { return answer }
        defer { CoreMLPython.free(message) }
        throw Reported(message: String(cString: message))
    }

    private func message(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "no failure"
        } catch let failure as Reported { return failure.message } catch { return "\(error)" }
    }

    /// Waits on a thread of its own: training needs those that tests run on.
    private func finish(_ training: UnsafeMutableRawPointer) async {
        let address = Int(bitPattern: training)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                if let training = UnsafeMutableRawPointer(bitPattern: address) {
                    while !waitForTraining(training, 1) {}
                }
                done.resume()
            }
        }
    }

    /// A text that the interface gave, as JSON.
    private func object(_ text: Failed) throws -> [String: Any] {
        let text = try #require(text)
        defer { CoreMLPython.free(text) }
        return try #require(try JSONSerialization.jsonObject(with: Data(String(cString: text).utf8)) as? [String: Any])
    }

    private func table(_ frame: DataFrame) throws -> UnsafeMutableRawPointer {
        let stream = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
        defer { stream.deallocate() }
        try frame.give(arrowStream: stream)
        return try #require(try call { frameFromStream(stream, $0) })
    }

    private func flowers(_ rows: Int = 90) throws -> UnsafeMutableRawPointer {
        let kinds = ["daisy", "lily", "rose"]
        return try table(
            DataFrame(columns: [
                Column<Double>(name: "size", contents: (0..<rows).map { Double($0 % 3) + Double($0) / 1000 })
                    .eraseToAnyColumn(),
                Column<String>(name: "colour", contents: (0..<rows).map { $0 % 2 == 0 ? "red" : nil })
                    .eraseToAnyColumn(),
                Column<String>(name: "kind", contents: (0..<rows).map { kinds[$0 % 3] }).eraseToAnyColumn(),
            ])
        )
    }

    private func training(
        _ task: String,
        _ options: String,
        _ data: UnsafeMutableRawPointer?
    ) throws -> UnsafeMutableRawPointer {
        try #require(try call { startTraining(task, options, data, nil, $0) })
    }

    private func model(_ task: String, _ options: String, _ data: UnsafeMutableRawPointer?) async throws
        -> UnsafeMutableRawPointer
    {
        let training = try training(task, options, data)
        defer { release(training) }
        await finish(training)
        return try #require(try call { trainedModel(training, $0) })
    }

    @Test func aModelIsTrainedAskedAndWritten() async throws {
        let data = try flowers()
        defer { release(data) }
        #expect(frameRows(data) == 90)
        let options =
            #"{"target": "kind", "validation": {"kind": "none"}, "parameters": {"maxDepth": 3, "stepSize": 1}}"#
        let model = try await model("BoostedTreeClassifier", options, data)
        defer { release(model) }
        let facts = try object(try call { modelFacts(model, $0) })
        #expect(
            facts["features"] as? [String] == ["size", "colour"]
                && facts["labels"] as? [String] == ["daisy", "lily", "rose"]
        )
        #expect((facts["parameters"] as? [String: Any])?["maxDepth"] as? Int == 3)
        let metrics = try object(try call { evaluateModel(model, "{}", data, $0) })
        #expect(metrics["accuracy"] as? Double == 1 && metrics["examples"] as? Int == 90)
        let answer = try #require(try call { predictWithModel(model, #"{"probabilities": true}"#, data, $0) })
        defer { release(answer) }
        let stream = try #require(try call { frameToStream(answer, $0) })
        let frame = try DataFrame(arrowStream: stream)
        CoreMLPython.free(stream.assumingMemoryBound(to: CChar.self))
        #expect(frame.columns.map(\.name) == ["daisy", "lily", "rose"] && frame.shape.rows == 90)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mlmodel").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try call { writeModel(model, path, #"{"author": "Ada"}"#, $0) })
        let loaded = try #require(try call { loadTrainedModel(path, $0) })
        defer { release(loaded) }
        let again = try object(try call { evaluateModel(loaded, "{}", data, $0) })
        #expect(again["confusion"] as? [[Int]] == metrics["confusion"] as? [[Int]])
    }

    @Test func progressIsReportedAndTrainingCancelled() async throws {
        let data = try flowers(3000)
        defer { release(data) }
        let training = try training(
            "RandomForestClassifier",
            #"{"target": "kind", "parameters": {"maxIterations": 1000000}}"#,
            data
        )
        defer { release(training) }
        // The C interface has no callbacks: Python asks for the progress, too.
        var count = 0
        while count < 3 {
            await Task.yield()
            #expect(!waitForTraining(training, 0))
            count = try #require(try object(try call { trainingProgress(training, 0, $0) })["count"] as? Int)
        }
        cancelTraining(training)
        await finish(training)
        #expect(trainingWasCancelled(training))
        #expect(await message { _ = try call { trainedModel(training, $0) } }.contains("cancelled"))
    }

    @Test(arguments: [
        ("Oracle", "{}", "there is no task 'Oracle'"), ("DecisionTreeClassifier", "{}", "pass target"),
        ("DecisionTreeClassifier", "[1]", "not a JSON object"), ("DecisionTreeClassifier", "{\"target\": 7}", "target"),
        ("DecisionTreeClassifier", #"{"target": "kind", "depth": 3}"#, "no parameter 'depth'"),
        ("DecisionTreeClassifier", #"{"target": "kind", "parameters": {"stepSize": 1}}"#, "no parameter 'stepSize'"),
        ("DecisionTreeClassifier", #"{"target": "kind", "parameters": {"maxDepth": "deep"}}"#, "'deep'"),
        ("DecisionTreeClassifier", #"{"target": "kind", "parameters": {"maxDepth": 1e300}}"#, "whole number"),
        ("DecisionTreeClassifier", #"{"target": "kind", "validation": {"kind": "odd"}}"#, "not a kind of validation"),
        ("DecisionTreeClassifier", #"{"target": "kind", "validation": {"kind": "data"}}"#, "validation needs a table"),
        ("DecisionTreeRegressor", #"{"target": "kind"}"#, "'kind' holds elements of type String"),
        ("SupportVectorClassifier", #"{"target": "kind", "session": "/tmp/s"}"#, "leave out session"),
        ("TextClassifier", #"{"text": "colour", "label": "kind", "resume": true}"#, "not resumed without its data"),
        ("WordTagger", "{}", "'tokens'"),
        ("Recommender", #"{"parameters": {"similarity": "x"}}"#, "jaccard, cosine, pearson"),
        ("ActivityClassifier", "{}", "pass features"), ("SoundClassifier", "{}", "'file'"),
        ("HandPoseClassifier", #"{"parameters": {"augmentations": ["x"]}}"#, "'x' is not an augmentation"),
        ("ImageClassifier", "{}", "'image'"),
        (
            "ImageClassifier",
            #"{"folder": "/usr", "parameters": {"featureExtractor": "learned", "fineTunedBlocks": 2}}"#,
            "fine_tuned_blocks is for efficientnet-lite0"
        ),
        ("ImageClassifier", #"{"folder": "/nowhere"}"#, "nowhere"),
        ("ImageClassifier", #"{"image": "colour", "label": "kind"}"#, "row 1 of the column 'colour' is empty"),
        ("ObjectDetector", #"{"units": "miles"}"#, "pixel, normalized"), ("ObjectDetector", "{}", "no column 'image'"),
        ("StyleTransfer", "{}", "needs style_image"),
        ("StyleTransfer", #"{"styleImage": "a", "contentDirectory": "b", "processingOption": "x"}"#, "centerCrop"),
    ])
    func wrongRequestsAreNamed(task: String, options: String, words: String) async throws {
        let data = try flowers()
        defer { release(data) }
        let text = await message { release(try await model(task, options, data)) }
        #expect(text.contains(words), "\(text)")
    }

    @Test func filesAndSFramesAreRead() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sframe = folder.appendingPathComponent("frame")
        try FileManager.default.createDirectory(at: sframe, withIntermediateDirectories: true)
        try SFrameWriter.write(
            [
                ("x", .floats(Column(name: "x", contents: [1, 2, nil]))),
                ("kind", .strings(Column(name: "kind", contents: ["a", nil, "b"]))),
            ],
            to: sframe
        )
        let csv = folder.appendingPathComponent("frame.csv")
        try Data("x,kind\n1,a\n2,\n,b\n".utf8).write(to: csv)
        for path in [sframe.path, csv.path] {
            let table = try #require(try call { frameFromFile(path, $0) })
            defer { release(table) }
            let stream = try #require(try call { frameToStream(table, $0) })
            let frame = try DataFrame(arrowStream: stream)
            CoreMLPython.free(stream.assumingMemoryBound(to: CChar.self))
            #expect(frame["x"].map { ($0 as? Double) ?? ($0 as? Int).map { Double($0) } } == [1, 2, nil], "\(path)")
            #expect(Array(frame["kind", String.self]) == ["a", nil, "b"], "\(path)")
        }
        for (path, words) in [
            (folder.path, "no SFrame"), (folder.path + "/x.csv", "there is no file"), ("/etc/passwd", "ends in"),
        ] {
            let text = await message { release(try #require(try call { frameFromFile(path, $0) })) }
            #expect(text.contains(words), "\(path): \(text)")
        }
    }

    @Test func picturesAreLearnedAndPredictedFromMemory() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        func stripes(_ label: String, _ seed: Int) -> [UInt8] {
            (0..<32 * 32).map { index in
                let place = label == "flat" ? index / 32 : index % 32
                return UInt8(place / 4 % 2 * 150 + (index * 7 + seed * 31) % 60)
            }
        }
        for label in ["flat", "upright"] {
            let own = folder.appendingPathComponent(label)
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            for number in 0..<6 {
                let bitmap = Bitmap(width: 32, height: 32, layout: .gray, pixels: stripes(label, number))
                try ImageEncoder.png(bitmap, isOpaque: true).write(to: own.appendingPathComponent("\(number).png"))
            }
        }
        let options = """
            {"folder": "\(folder.path)", "validation": {"kind": "none"},
             "parameters": {"featureExtractor": "learned", "maxIterations": 5}}
            """
        let model = try await model("ImageClassifier", options, nil)
        defer { release(model) }
        let facts = try object(try call { modelFacts(model, $0) })
        #expect((facts["training"] as? [String: Any])?["accuracy"] as? Double == 1)
        #expect((facts["warnings"] as? [String])?.first?.contains("learned from the training pictures") == true)
        let pictures = try ["flat", "upright"].map { label in
            try #require(try call { pictureFromPixels(stripes(label, 9), 32, 32, 1, $0) })
        }
        defer { pictures.forEach { release($0) } }
        #expect(pictureWidth(pictures[0]) == 32 && pictureHeight(pictures[0]) == 32)
        var bytes = [UInt8](repeating: 0, count: 32 * 32 * 3)
        readPicture(pictures[0], &bytes)
        #expect(bytes[3...5].elementsEqual([UInt8](repeating: stripes("flat", 9)[1], count: 3)))
        let answer = try #require(try call { predictPictures(model, "{}", pictures, 2, $0) })
        defer { release(answer) }
        let stream = try #require(try call { frameToStream(answer, $0) })
        let frame = try DataFrame(arrowStream: stream)
        CoreMLPython.free(stream.assumingMemoryBound(to: CChar.self))
        #expect(Array(frame["label", String.self]) == ["flat", "upright"])
        #expect(
            await message { release(try #require(try call { stylizePicture(model, pictures[0], $0) })) }
                .contains("does not draw")
        )
        for (width, height, channels) in [(0, 32, 1), (32, -1, 1), (1 << 40, 1, 1), (32, 32, 2)] {
            let text = await message {
                release(try #require(try call { pictureFromPixels(bytes, width, height, channels, $0) }))
            }
            #expect(text.contains("cannot be used"), "\(text)")
        }
    }

    @Test func everyTaskIsDescribed() async throws {
        let text = try #require(try call { trainingTasks($0) })
        defer { CoreMLPython.free(text) }
        let tasks = try #require(
            try JSONSerialization.jsonObject(with: Data(String(cString: text).utf8)) as? [[String: Any]]
        )
        #expect(tasks.count == 24 && Set(tasks.compactMap { $0["task"] as? String }).count == 24)
        for task in tasks {
            let name = try #require(task["task"] as? String)
            // A task that is not there says so; these say what they miss.
            let text = await message { release(try await model(name, "{}", nil)) }
            #expect(!text.contains("there is no task"), "\(text)")
        }
    }
}
