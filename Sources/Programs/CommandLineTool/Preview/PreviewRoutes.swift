import CoreML
import CreateML
import Foundation
import ImageIO
import MLCompiler
import MLEngine
import MLFeatureFiles
import MLFiles
import MLImages
import MLNumerics
import MLPreview
import MLSpecification
import MLTraining

/// Handles the page's requests.
struct PreviewRoutes: Sendable {
    let session: PreviewSession

    init(_ session: PreviewSession) { self.session = session }

    func answer(_ request: PageRequest, _ body: [UInt8], _ connection: PageConnection) -> PageServer.Answer {
        do {
            switch (request.method, request.path) {
            case (.get, "/api/model"): return .response(Self.json(try PreviewDescription(session).json))
            case (.get, "/api/taught"): return .response(try taughtModel())
            case (.get, let path):
                guard let file = PageAssets.response(path) else {
                    return .response(PageResponse(404, text: "There is no such page."))
                }
                return .response(file)
            case (.post, "/api/predict"): return .response(try predict(body, connection))
            case (.post, "/api/measure"): return .response(try measure(body, connection))
            case (.post, "/api/picture"): return .response(try picture(body))
            case (.post, "/api/teach"): return try teach(body)
            case (.post, "/api/generate"):
                let parcel = try failing { () throws(ModelError) in try Parcel(body) }
                let generation = try PreviewGeneration(session, parcel)
                return .events { events in generation.run(events) }
            case (.post, "/api/forget"):
                let json = try JSONFeature.value(String(decoding: body, as: UTF8.self))
                if let name = json["state"]?.string { session.forgetState(name) } else { session.reset() }
                return .response(Self.json(.object([])))
            case (.post, "/api/save"): return .response(try save())
            default: return .response(PageResponse(404, text: "There is no such page."))
            }
        } catch {
            return .response(Self.failure(error))
        }
    }

    private static func json(_ value: JSONValue, status: Int = 200) -> PageResponse {
        do {
            return PageResponse(status, type: "application/json", Array(try value.line.utf8))
        } catch {
            return PageResponse(500, text: "The answer cannot be written as JSON: \(error)")
        }
    }

    private static func failure(_ error: any Error) -> PageResponse {
        if let failure = error as? InputFailure {
            return json(
                .object([.init("error", .string(failure.message)), .init("input", .string(failure.input))]),
                status: 422
            )
        }
        return json(.object([.init("error", .string(PreviewInputs.sentence(error)))]), status: 422)
    }

    private static func parcel(_ builder: Parcel.Builder, _ members: [JSONValue.Member]) throws -> PageResponse {
        PageResponse(type: "application/octet-stream", try builder.bytes(.object(members)))
    }

    // MARK: Predictions

    private func predict(_ body: [UInt8], _ connection: PageConnection) throws -> PageResponse {
        let parcel = try failing { () throws(ModelError) in try Parcel(body) }
        let cancellation = Cancellation(reachesSteps: true)
        return try connection.watching({ cancellation.cancel() }) {
            try session.queue.run(cancellation) {
                switch parcel.json["mode"]?.string {
                case "windows": try windows(parcel)
                case "table": try table(parcel, cancellation)
                case "question": try question(parcel)
                default: try single(parcel)
                }
            }
        }
    }

    private func variant(_ parcel: Parcel) throws -> PreviewSession.Variant {
        guard let name = parcel.json["variant"]?.string else { return .original }
        guard let variant = PreviewSession.Variant(rawValue: name) else {
            throw Failure("there is no variant '\(name)'")
        }
        return variant
    }

    private func single(_ parcel: Parcel) throws -> PageResponse {
        let start = ContinuousClock.now
        let engine = try session.engine(try variant(parcel))
        let features = try PreviewInputs(interface: engine.interface).features(parcel, parcel.json["inputs"])
        let state = parcel.json["state"]?.string.map(session.state) ?? engine.makeState()
        let predicting = ContinuousClock.now
        let outputs = try failing { () throws(ModelError) in
            try engine.prediction(from: features, backings: [:], state: state)
        }
        let end = ContinuousClock.now
        var answer = AnswerParcel()
        let list = answer.outputs(outputs, in: engine.interface.output.map(\.name))
        return try Self.parcel(
            answer.builder,
            [
                .init("outputs", list), .init("milliseconds", .number((end - predicting) / .milliseconds(1))),
                .init("preparing", .number((predicting - start) / .milliseconds(1))),
            ]
        )
    }

    /// The model's prediction time, measured at most `runs` times and for about three seconds.
    private func measure(_ body: [UInt8], _ connection: PageConnection) throws -> PageResponse {
        let parcel = try failing { () throws(ModelError) in try Parcel(body) }
        let engine = try session.engine(try variant(parcel))
        let features = try PreviewInputs(interface: engine.interface).features(parcel, parcel.json["inputs"])
        let cancellation = Cancellation(reachesSteps: true)
        var times: [JSONValue] = []
        try connection.watching({ cancellation.cancel() }) {
            try session.queue.run(cancellation) {
                let begin = ContinuousClock.now
                while times.count < 3 || times.count < 200 && ContinuousClock.now - begin < .seconds(3) {
                    let state = engine.makeState()
                    let start = ContinuousClock.now
                    _ = try failing { () throws(ModelError) in
                        try engine.prediction(from: features, backings: [:], state: state)
                    }
                    times.append(.number((ContinuousClock.now - start) / .milliseconds(1)))
                }
            }
        }
        return Self.json(.object([.init("milliseconds", .array(times))]))
    }

    // MARK: Files

    /// Converts an image in any supported format to one that every browser shows: upright, at most 2,048 pixels wide.
    private func picture(_ body: [UInt8]) throws -> PageResponse {
        let file = try failing { () throws(ModelError) in try ImageFile(Data(body)) }
        return try failing { () throws(ModelError) in
            var bitmap = try file.bitmap().upright(fromExifOrientation: file.exifOrientation)
            let longest = max(bitmap.width, bitmap.height)
            if longest > 2048 {
                let factor = 2048 / Double(longest)
                bitmap = bitmap.resampled(
                    width: max(Int(Double(bitmap.width) * factor), 1),
                    height: max(Int(Double(bitmap.height) * factor), 1)
                )
            }
            return PageResponse(type: "image/png", [UInt8](try ImageEncoder.png(bitmap, isOpaque: false)))
        }
    }

    /// Runs `body` with a temporary file that contains a blob of the request.
    private func withFile<R>(_ parcel: Parcel, _ body: (String) throws -> R) throws -> R {
        guard let json = parcel.json["file"] else { throw Failure("the request has no file") }
        let bytes = Array(try failing { () throws(ModelError) in try parcel.blob(json) })
        let name = json["name"]?.string ?? ""
        let ending = URL(fileURLWithPath: "/" + name).pathExtension.lowercased()
        let isPlain =
            !ending.isEmpty && ending.utf8.count <= 8
            && ending.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        let folder = try failing { () throws(ModelError) in try FileAccess.makeTemporaryFolder("coreml-preview") }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/file" + (isPlain ? "." + ending : "")
        do {
            try failing { () throws(ModelError) in try FileAccess.write(bytes, to: path) }
            return try body(path)
        } catch {
            // The page knows the file by its own name.
            throw Failure(PreviewInputs.sentence(error).replacingOccurrences(of: path, with: name))
        }
    }

    // MARK: Windows

    /// The prediction for a part of a file.
    private struct Window {
        var range: Range<Int>
        /// The classes, the most probable first.
        var results: [(label: String, confidence: Double)]

        init(range: Range<Int>, results: [(label: String, confidence: Double)]) {
            (self.range, self.results) = (range, results)
        }

        init(_ window: WindowPrediction) { self.init(range: window.range, results: window.results) }

        /// The classes of all windows, each with its mean probability.
        static func mean(_ windows: [Window]) -> [(label: String, confidence: Double)] {
            var sums: [String: Double] = [:]
            for window in windows {
                for result in window.results { sums[result.label, default: 0] += result.confidence }
            }
            return sums.map { (label: $0.key, confidence: $0.value / Double(windows.count)) }
                .sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
        }
    }

    /// The predictions of a model of sounds, sensors or key points for a file, window by window.
    private func windows(_ parcel: Parcel) throws -> PageResponse {
        guard let model = session.series else { throw Failure("the model takes no such files") }
        let start = ContinuousClock.now
        var (windows, unit, rate) = ([Window](), "s", 1.0)
        try withFile(parcel) { path in
            let url = URL(fileURLWithPath: path)
            switch session.plan.kind {
            case .soundClassifier:
                rate = Double(MLSoundClassifier.sampleRate)
                windows = try MLSoundClassifier.predictions(of: model, from: url, overlapFactor: 0.5).map(Window.init)
            case .keypointClassifier:
                unit = "frames"
                windows = try KeypointPredictions.predictions(of: model, from: url).map(Window.init)
            default:
                unit = "rows"
                windows = try activities(model, path)
            }
        }
        guard !windows.isEmpty else { throw Failure("the file holds nothing to classify") }
        let mean = Window.mean(windows)
        return Self.json(
            .object([
                .init("unit", .string(unit)),
                .init(
                    "windows",
                    .array(
                        windows.map { window in
                            .object([
                                .init("start", .number(Double(window.range.lowerBound) / rate)),
                                .init("end", .number(Double(window.range.upperBound) / rate)),
                                .init("results", Self.ranking(window.results)),
                            ])
                        }
                    )
                ),
                .init("mean", Self.ranking(mean)),
                .init("milliseconds", .number((ContinuousClock.now - start) / .milliseconds(1))),
            ])
        )
    }

    private func activities(_ model: MLModel, _ path: String) throws -> [Window] {
        let table = try TableFile.read(path)
        guard table.shape.rows > 0 else { throw Failure("the table has no rows") }
        let recordings = try MLActivityClassifier.predictions(of: model, from: table, recordingColumn: "recording")
        return recordings.flatMap { recording in
            recording.prediction.windows.enumerated().map { index, window in
                let rows = recording.rows.dropFirst(index * recording.prediction.windowSize)
                    .prefix(recording.prediction.windowSize)
                let first = rows.first ?? 0
                let results =
                    window.probabilities.map { $0.map { (label: $0.key, confidence: $0.value) } }
                    ?? [(label: window.label, confidence: 1)]
                return Window(
                    range: first..<max((rows.last ?? first) + 1, first + 1),
                    results: results.sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
                )
            }
        }
    }

    private static func ranking(_ results: [(label: String, confidence: Double)]) -> JSONValue {
        .array(results.prefix(100).map { .array([.string($0.label), .number($0.confidence)]) })
    }

    // MARK: Tables

    /// The maximum number of rows that the page shows.
    private static let mostRows = 5000

    /// Predictions for the rows of a CSV table, or of a list of JSON objects, whose names are those of the inputs.
    private func table(_ parcel: Parcel, _ cancellation: Cancellation) throws -> PageResponse {
        let engine = try session.engine(try variant(parcel))
        let reader = InputReader(interface: engine.interface)
        let start = ContinuousClock.now
        var columns: [JSONValue] = []
        var rows: [JSONValue] = []
        var isCut = false
        try withFile(parcel) { path in
            let features = try path.hasSuffix(".json") ? objects(path, reader) : reader.rows(ofCSV: path)
            guard !features.isEmpty else { throw Failure("the table has no rows") }
            let inputs = engine.interface.input.filter { features[0][$0.name] != nil }.map(\.name)
            let outputs = engine.interface.output.map(\.name)
            columns = (inputs + outputs).map { .string($0) }
            isCut = features.count > Self.mostRows
            let predictor = Predictor(engine: engine)
            for (index, row) in features.prefix(Self.mostRows).enumerated() {
                try failing { () throws(ModelError) in try cancellation.check() }
                let answers = try predictor.outputs(row, at: "row \(index)")
                rows.append(
                    .array(
                        inputs.map { Self.cell(row[$0]) } + outputs.map { Self.cell(answers[$0]) }
                    )
                )
            }
        }
        return Self.json(
            .object([
                .init("columns", .array(columns)), .init("rows", .array(rows)), .init("isCut", .bool(isCut)),
                .init("inputs", .integer(Int64(columns.count - engine.interface.output.count))),
                .init("milliseconds", .number((ContinuousClock.now - start) / .milliseconds(1))),
            ])
        )
    }

    private func objects(_ path: String, _ reader: InputReader) throws -> [[String: FeatureData]] {
        let json = try JSONFeature.value(inFile: path)
        let list: [JSONValue] = if case .array(let list) = json { list } else { [json] }
        return try list.enumerated().map { index, value in
            guard case .object(let members) = value else {
                throw Failure(
                    "row \(index) is \(FeatureJSON.shown(value)), where an object with the inputs is expected"
                )
            }
            var features: [String: FeatureData] = [:]
            for member in members where reader.interface.input.contains(where: { $0.name == member.name }) {
                features[member.name] = try JSONFeature.data(member.value, for: try reader.feature(member.name))
            }
            if let missing = reader.interface.input.first(where: { !$0.type.isOptional && features[$0.name] == nil }) {
                throw Failure("row \(index) lacks '\(missing.name)'")
            }
            return features
        }
    }

    private static func cell(_ value: FeatureData?) -> JSONValue {
        switch value {
        case nil: .null
        case .int64(let number)?: .integer(number)
        case .double(let number)?: .number(number)
        case .string(let text)?: .string(text)
        case .tensor(let tensor)? where tensor.count == 1 && tensor.scalarType != .string: .number(tensor.values[0])
        case .tensor(let tensor)?: .string(PredictionText.summary(tensor))
        case .image(let image)?: .string("picture of \(image.width) × \(image.height)")
        case .dictionary(.strings(let values))?: best(values.map { ($0.key, $0.value) })
        case .dictionary(.integers(let values))?: best(values.map { ("\($0.key)", $0.value) })
        case .sequence(.strings(let values))?: .string(values.joined(separator: ", "))
        case .sequence(.integers(let values))?: .string(values.map(String.init).joined(separator: ", "))
        }
    }

    /// The greatest values of a dictionary.
    private static func best(_ values: [(key: String, value: Double)]) -> JSONValue {
        let sorted = values.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return .string(
            sorted.prefix(3).map { "\($0.key) \(String(format: "%.3g", $0.value))" }.joined(separator: ", ")
                + (sorted.count > 3 ? ", …" : "")
        )
    }

    // MARK: Questions

    /// The positions in a text of the answers to a question.
    private func question(_ parcel: Parcel) throws -> PageResponse {
        let pieces: WordPieces
        if let json = parcel.json["vocabulary"] {
            let bytes = Array(try failing { () throws(ModelError) in try parcel.blob(json) })
            pieces = try failing { () throws(ModelError) in try WordPieces(String(decoding: bytes, as: UTF8.self)) }
        } else if case .wordPieces(let given)? = session.vocabulary {
            pieces = given
        } else {
            throw InputFailure(
                input: "vocabulary",
                message:
                    "The model takes numbers of word pieces; drop its vocabulary (vocab.txt), or start with --vocabulary."
            )
        }
        let question = parcel.json["question"]?.string ?? ""
        let context = parcel.json["context"]?.string ?? ""
        let start = ContinuousClock.now
        let asking = try QuestionAsking(session.plan, session.engine.interface, pieces)
        let answers = try asking.answers(question, context) { features in
            try failing { () throws(ModelError) in
                try session.engine.prediction(from: features, backings: [:], state: session.engine.makeState())
            }
        }
        return Self.json(
            .object([
                .init(
                    "answers",
                    .array(
                        answers.map { answer in
                            .object([
                                .init("start", .integer(Int64(answer.range.lowerBound))),
                                .init("end", .integer(Int64(answer.range.upperBound))),
                                .init("score", .number(answer.score)),
                            ])
                        }
                    )
                ),
                .init("milliseconds", .number((ContinuousClock.now - start) / .milliseconds(1))),
            ])
        )
    }

    // MARK: Teaching

    private func teach(_ body: [UInt8]) throws -> PageServer.Answer {
        let parcel = try failing { () throws(ModelError) in try Parcel(body) }
        let lesson = try PreviewLesson(session, parcel)
        return .events { events in lesson.run(events) }
    }

    private func taughtModel() throws -> PageResponse {
        guard let taught = session.taughtFile else { throw Failure("the model has not been taught yet") }
        let folder = try failing { () throws(ModelError) in try FileAccess.makeTemporaryFolder("coreml-preview") }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bytes = try failing { () throws(ModelError) in
            try ModelCompiler.save(taught, to: folder + "/taught.mlmodel")
            return try FileAccess.read(folder + "/taught.mlmodel")
        }
        var response = PageResponse(type: "application/octet-stream", bytes)
        response.headers = [("Content-Disposition", "attachment; filename=\"taught.mlmodel\"")]
        return response
    }

    /// Writes the trained model to the folder of `--save`, beside those saved before.
    private func save() throws -> PageResponse {
        guard let folder = session.saveFolder else { throw Failure("start with --save FOLDER to save models here") }
        guard let taught = session.taughtFile else { throw Failure("the model has not been taught yet") }
        let base = FileAccess.withoutTrailingSlash(folder)
        let stem = base + "/" + TableFile.name(session.file.path) + "-taught"
        var (path, turn) = (stem + ".mlmodel", 2)
        while FileAccess.kind(of: path) != nil {
            path = "\(stem)-\(turn).mlmodel"
            turn += 1
        }
        try failing { () throws(ModelError) in
            try FileAccess.makeFolder(base)
            try ModelCompiler.save(taught, to: path)
        }
        return Self.json(.object([.init("path", .string(path))]))
    }
}
