import CoreML
import CreateML
import Foundation
import ImageIO
import MLEngine
import MLFeatureFiles
import MLFiles
import MLImages
import MLNumerics
import MLPreview
import MLSpecification
import MLUpdating
import QuestionAnswering

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

    static func json(_ value: JSONValue, status: Int = 200) -> PageResponse {
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
        let cancellation = Cancellation(stopsBetweenSteps: true)
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

    func variant(_ parcel: Parcel) throws -> PreviewSession.Variant {
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
        let cancellation = Cancellation(stopsBetweenSteps: true)
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
    func withFile<R>(_ parcel: Parcel, _ body: (String) throws -> R) throws -> R {
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

    // MARK: Questions

    /// The positions in a text of the answers to a question.
    private func question(_ parcel: Parcel) throws -> PageResponse {
        let tokenizer: WordPieceTokenizer
        if let json = parcel.json["vocabulary"] {
            let bytes = Array(try failing { () throws(ModelError) in try parcel.blob(json) })
            tokenizer = try WordPieceTokenizer(text: bytes, name: "The vocabulary")
        } else if case .wordPieces(let provided)? = session.vocabulary {
            tokenizer = provided
        } else {
            throw InputFailure(
                input: "vocabulary",
                message:
                    "The model takes numbers of word pieces; drop its vocabulary (vocab.txt), or start with --vocabulary."
            )
        }
        guard let model = session.model else { throw Failure("the model does not find answers in texts") }
        let question = parcel.json["question"]?.string ?? ""
        let context = parcel.json["context"]?.string ?? ""
        let start = ContinuousClock.now
        var settings = QuestionAnswerer.Settings()
        (settings.count, settings.longestAnswer) = (3, 30)
        let answerer = try QuestionAnswerer(model: model, tokenizer: tokenizer, settings: settings)
        let isEmpty = tokenizer.tokens(question).isEmpty || tokenizer.tokens(context).isEmpty
        let answers = isEmpty ? [] : try answerer.answers(to: question, in: context)
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
