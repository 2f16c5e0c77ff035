import Foundation
import FoundationNetworking
import MLFiles
import MLPreview
import MLSpecification
import TestSupport
import Testing

/// A preview that runs while a test asks it, as a program with the token does.
///
/// `@unchecked Sendable`: after it started, only questions are asked from several tasks, and those touch nothing that changes.
private final class RunningPreview: @unchecked Sendable {
    let process = Process()
    let url: URL
    let kind: String
    private let token: String

    init(_ arguments: String...) throws {
        process.executableURL = builtTool
        process.arguments = ["preview"] + arguments + ["--json"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let object = try CommandFolder.object(String(decoding: pipe.firstLine(), as: UTF8.self))
        url = try #require((object["url"] as? String).flatMap(URL.init(string:)))
        kind = try #require(object["kind"] as? String)
        token = try #require(url.query?.split(separator: "=").last.map(String.init))
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Ends it as Ctrl-C does.
    func interrupt() -> Int32 {
        process.interrupt()
        process.waitUntilExit()
        return process.terminationStatus
    }

    func ask(_ path: String, _ body: Data? = nil) async throws -> (status: Int, body: Data) {
        var request = URLRequest(url: try #require(URL(string: path, relativeTo: url)))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        return (try #require(response as? HTTPURLResponse).statusCode, data)
    }

    /// Sends a parcel whose JSON names the blobs by `"@0"`, `"@1"` …
    func ask(_ path: String, _ json: String, _ blobs: Data...) async throws -> (status: Int, body: Data) {
        var builder = Parcel.Builder()
        var text = json
        for (index, blob) in blobs.enumerated() {
            let members = try JSONValue.object(builder.add(blob)).line.dropFirst().dropLast()
            text = text.replacingOccurrences(of: "\"@\(index)\": 0", with: members)
        }
        return try await ask(path, Data(try builder.bytes(try JSONReader.read(Array(text.utf8)))))
    }

    /// The outputs of a prediction by name, as JSON.
    func predict(_ json: String, _ blobs: Data...) async throws -> [String: JSONValue] {
        var builder = Parcel.Builder()
        var text = json
        for (index, blob) in blobs.enumerated() {
            let members = try JSONValue.object(builder.add(blob)).line.dropFirst().dropLast()
            text = text.replacingOccurrences(of: "\"@\(index)\": 0", with: members)
        }
        let answer = try await ask("/api/predict", Data(try builder.bytes(try JSONReader.read(Array(text.utf8)))))
        try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        let parcel = try Parcel([UInt8](answer.body))
        guard case .array(let list)? = parcel.json["outputs"] else { return [:] }
        return Dictionary(list.map { ($0["name"]?.string ?? "", $0["value"] ?? .null) }) { $1 }
    }

    static func object(_ data: Data) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}

/// `coreml preview` from the outside.
@Suite(.serialized) struct PreviewCommandTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/digits")

    @Test func `a picture goes in, its class comes out, and Ctrl-C ends it`() async throws {
        let preview = try RunningPreview(Self.fixtures.appendingPathComponent("Digits.mlmodel").path)
        #expect(preview.kind == "imageClassifier")
        let page = try await preview.ask(preview.url.absoluteString)
        #expect(page.status == 200 && String(decoding: page.body, as: UTF8.self).contains("<main"))
        for file in ["page.css", "page.js", "views.js", "icon.svg"] {
            #expect(try await preview.ask("/\(file)").status == 200)
        }
        let model = try RunningPreview.object(try await preview.ask("/api/model").body)
        #expect(model["kind"] as? String == "imageClassifier")
        #expect((model["labels"] as? [String])?.count == 10)
        for digit in 0...9 {
            let picture = try Data(contentsOf: Self.fixtures.appendingPathComponent("held-out/\(digit)-1.png"))
            let outputs = try await preview.predict(#"{"inputs": {"image": {"form": "picture", "@0": 0}}}"#, picture)
            #expect(outputs["digit"] == .string("\(digit)"))
        }
        #expect(preview.interrupt() == 0)
    }

    @Test func `wrong inputs are put in words beside the input, and the server goes on`() async throws {
        let preview = try RunningPreview(Self.fixtures.appendingPathComponent("Digits.mlmodel").path)
        let picture = try Data(contentsOf: Self.fixtures.appendingPathComponent("held-out/3-1.png"))
        for (json, blob, part) in [
            (#"{"inputs": {"image": {"form": "picture", "@0": 0}}}"#, Data("no picture".utf8), "PNG, JPEG"),
            (#"{"inputs": {"image": {"form": "picture", "@0": 0}}}"#, picture.prefix(200), "too early"),
            (#"{"inputs": {"image": {"form": "picture", "offset": 0, "length": 999999}}}"#, picture, "bytes"),
            (#"{"inputs": {}}"#, picture, "missing"),
            (#"{"inputs": {"other": {"form": "json", "value": 1}}}"#, picture, "no such"),
            (#"{"inputs": {"image": {"form": "npy", "@0": 0}}}"#, picture, "NumPy"),
            (
                #"{"inputs": {"image": {"form": "numbers", "scalar": "float32", "shape": [1], "@0": 0}}}"#, picture,
                "were sent"
            ),
            (
                #"{"inputs": {"image": {"form": "numbers", "scalar": "float32", "shape": [2147483648, 2147483648, 4], "@0": 0}}}"#,
                picture, "large"
            ),
            (#"{"inputs": {"image": {"form": "json", "value": [1, 2]}}}"#, picture, "image"),
            (#"{"inputs": {"image": {"form": "hologram"}}}"#, picture, "form"),
        ] {
            let answer = try await preview.ask("/api/predict", json, blob)
            #expect(answer.status == 422, "\(json)")
            let object = try RunningPreview.object(answer.body)
            let error = try #require(object["error"] as? String)
            #expect(error.contains(part), "\(error)")
            #expect(object["input"] as? String == (json.contains("other") ? "other" : "image"), "\(json)")
        }
        for path in ["/api/predict", "/api/teach", "/api/measure", "/api/forget", "/api/picture", "/api/save"] {
            for body in [Data(), Data([255, 255, 255, 255, 0]), Data("{".utf8), Data(repeating: 0, count: 100_000)] {
                #expect([400, 422].contains(try await preview.ask(path, body).status), "\(path) \(body.count)")
            }
        }
        #expect(try await preview.ask("/../../etc/passwd").status == 404)
        #expect(try await preview.ask("/api/taught").status == 422)
        let outputs = try await preview.predict(#"{"inputs": {"image": {"form": "picture", "@0": 0}}}"#, picture)
        #expect(outputs["digit"] == .string("3"))
    }

    @Test func `a model is taught, tried, downloaded, saved and forgotten`() async throws {
        let folder = try CommandFolder()
        let model = try folder.write(
            Data(SpecificationReader.encode(UpdatableModels.neighbors(k: 1))),
            "Points.mlmodel"
        )
        let preview = try RunningPreview(model, "--save", folder.path("kept"))
        let ask = #"{"variant": "taught", "inputs": {"x": {"form": "json", "value": [8, 8]}}}"#
        #expect(try await preview.ask("/api/predict", ask).status == 422)
        let lesson = """
            {"examples": [{"x": {"form": "json", "value": [0, 0]}, "label": {"form": "text", "value": "low"}},
            {"x": {"form": "json", "value": [9, 9]}, "label": {"form": "text", "value": "high"}}], "options": {}}
            """
        let taught = try await preview.ask("/api/teach", lesson)
        let events = String(decoding: taught.body, as: UTF8.self)
        #expect(taught.status == 200)
        #expect(events.hasPrefix("event: begin\n") && events.contains("event: done\n"), "\(events)")
        #expect(try await preview.predict(ask)["label"] == .string("high"))
        let download = try await preview.ask("/api/taught")
        let copy = try folder.write(download.body, "Download.mlmodel")
        let saved = try RunningPreview.object(try await preview.ask("/api/save", Data("{}".utf8)).body)
        let path = try #require(saved["path"] as? String)
        #expect(path.hasSuffix("kept/Points-taught.mlmodel"))
        for file in [copy, path] {
            #expect(try coreml("predict", file, "-i", "x=[1, 1]", "--json").output.contains(#""label":"low""#))
        }
        _ = try await preview.ask("/api/save", Data("{}".utf8))
        #expect(FileManager.default.fileExists(atPath: folder.path("kept/Points-taught-2.mlmodel")))
        #expect(try await preview.ask("/api/forget", Data("{}".utf8)).status == 200)
        #expect(try await preview.ask("/api/predict", ask).status == 422)
        // Examples that do not fit are refused before anything is learnt.
        let wrong = try await preview.ask("/api/teach", #"{"examples": [{"x": {"form": "json", "value": [0, 0]}}]}"#)
        #expect(wrong.status == 422)
    }

    @Test func `a network tells its loss after each epoch`() async throws {
        let folder = try CommandFolder()
        let model = try folder.write(Data(SpecificationReader.encode(UpdatableModels.network())), "Net.mlmodel")
        let specification = try ModelFile.open(path: model).specification
        let preview = try RunningPreview(model)
        let examples = (0..<4).map { index in
            let values = specification.description_p.trainingInput.map { feature in
                if case .multiArrayType(let array)? = feature.type.type {
                    let numbers = (0..<array.shape.reduce(1, *)).map { "\((Int64(index) + $0) % 3)" }
                    return #""\#(feature.name)": {"form": "json", "value": [\#(numbers.joined(separator: ", "))]}"#
                }
                if case .int64Type? = feature.type.type {
                    return #""\#(feature.name)": {"form": "json", "value": \#(index % 2)}"#
                }
                return #""\#(feature.name)": {"form": "text", "value": "\#(["a", "b", "c"][index % 3])"}"#
            }
            return "{\(values.joined(separator: ", "))}"
        }
        let lesson = #"{"examples": [\#(examples.joined(separator: ", "))], "options": {"epochs": 3}}"#
        let events = String(decoding: try await preview.ask("/api/teach", lesson).body, as: UTF8.self)
        #expect(events.ranges(of: "event: epoch\n").count == 3, "\(events)")
        #expect(events.contains("event: done\n"), "\(events)")
    }

    @Test func `rows of a table are answered, and a column that lacks is named`() async throws {
        let folder = try CommandFolder()
        let model = try folder.write(
            Data(
                SpecificationReader.encode(PredictModels.identity(PredictModels.number("a"), PredictModels.text("b")))
            ),
            "Same.mlmodel"
        )
        let preview = try RunningPreview(model)
        func table(_ name: String, _ text: String) async throws -> (Int, [String: Any]) {
            let answer = try await preview.ask(
                "/api/predict",
                #"{"mode": "table", "file": {"name": "\#(name)", "@0": 0}}"#,
                Data(text.utf8)
            )
            return (answer.status, try RunningPreview.object(answer.body))
        }
        let (status, answer) = try await table("rows.csv", "a,b\n1.5,x\n2,\"y, z\"\n")
        #expect(status == 200)
        #expect(answer["columns"] as? [String] == ["a", "b", "a", "b"])
        #expect((answer["rows"] as? [[Any]])?.count == 2)
        let (again, list) = try await table("rows.json", #"[{"a": 1, "b": "x"}]"#)
        #expect(again == 200 && (list["rows"] as? [[Any]])?.count == 1)
        let (wrong, failure) = try await table("rows.csv", "a\n1\n")
        #expect(wrong == 422)
        #expect((failure["error"] as? String)?.contains("'b'") == true)
        #expect((failure["error"] as? String)?.contains("/tmp") == false)
    }

    @Test func `several predictions at once are all answered`() async throws {
        let preview = try RunningPreview(Self.fixtures.appendingPathComponent("Digits.mlmodel").path)
        let picture = try Data(contentsOf: Self.fixtures.appendingPathComponent("held-out/5-1.png"))
        try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    try await preview.predict(#"{"inputs": {"image": {"form": "picture", "@0": 0}}}"#, picture)["digit"]
                }
            }
            for try await digit in group { #expect(digit == .string("5")) }
        }
        let measured = try await preview.ask(
            "/api/measure",
            #"{"inputs": {"image": {"form": "picture", "@0": 0}}}"#,
            picture
        )
        let times = try #require(try RunningPreview.object(measured.body)["milliseconds"] as? [Double])
        #expect(times.count >= 3 && times.allSatisfy { $0 > 0 })
    }

    @Test func `the shell lines that the page shows run, and Python reads its own`() async throws {
        let folder = try CommandFolder()
        let models: [(String, SpecModel)] = [
            ("Line.mlmodel", PredictModels.line()),
            ("it's a model.mlmodel", PredictModels.identity(PredictModels.number("a b"), PredictModels.text("c"))),
            ("Recommender.mlmodel", PredictModels.recommender()),
        ]
        for (name, model) in models {
            let path = try folder.write(Data(SpecificationReader.encode(model)), name)
            let preview = try RunningPreview(path)
            let object = try RunningPreview.object(try await preview.ask("/api/model").body)
            let code = try #require(object["code"] as? [String: String])
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", (code["shell"] ?? "").replacingOccurrences(of: "ITEM", with: "a")]
            process.environment = ["PATH": builtTool.deletingLastPathComponent().path + ":/usr/bin:/bin"]
            process.standardOutput = Pipe()
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(code["shell"] ?? "")")
            // Whether Python reads its lines.
            let python = Process()
            python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            python.arguments = ["python3", "-c", "import ast, sys; ast.parse(sys.argv[1])", code["python"] ?? "("]
            try python.run()
            python.waitUntilExit()
            #expect(python.terminationStatus == 0, "\(code["python"] ?? "")")
        }
    }

    @Test func `a question is answered at its place in the text`() async throws {
        let folder = try CommandFolder()
        let vocabulary = try folder.write(AnswerModels.text, "vocab.txt")
        let preview = try RunningPreview(try folder.write(AnswerModels.span, "Span.mlmodel"))
        #expect(preview.kind == "questionAnswering")
        let asked = #"{"mode": "question", "question": "Who?", "context": "🏛️ Steve Jobs."#
        let missing = try await preview.ask("/api/predict", asked + #""}"#)
        #expect(missing.status == 422)
        #expect(try RunningPreview.object(missing.body)["input"] as? String == "vocabulary")
        let answer = try await preview.ask(
            "/api/predict",
            asked + #"", "vocabulary": {"@0": 0}}"#,
            try Data(contentsOf: URL(fileURLWithPath: vocabulary))
        )
        let object = try RunningPreview.object(answer.body)
        let best = try #require((object["answers"] as? [[String: Any]])?.first, "\(object)")
        // Scalars, as the page counts: the emoji has two.
        #expect(best["start"] as? Int == 3 && best["end"] as? Int == 13 && (best["score"] as? Double ?? 0) > 0.9)
        let empty = try await preview.ask(
            "/api/predict",
            #"{"mode": "question", "question": "", "context": "x", "vocabulary": {"@0": 0}}"#,
            try Data(contentsOf: URL(fileURLWithPath: vocabulary))
        )
        #expect((try RunningPreview.object(empty.body)["answers"] as? [Any])?.isEmpty == true)
    }

    @Test func `a model that cannot be loaded and a port that is taken are errors`() throws {
        let folder = try CommandFolder()
        let broken = try folder.write("no model", "Broken.mlmodel")
        let preview = try RunningPreview(Self.fixtures.appendingPathComponent("Digits.mlmodel").path)
        try CommandFolder.expectFailures([
            (["preview", broken], 1, "Broken.mlmodel"), (["preview", folder.path("none.mlmodel")], 1, "none.mlmodel"),
            (
                [
                    "preview", Self.fixtures.appendingPathComponent("Digits.mlmodel").path, "--port",
                    "\(preview.url.port ?? 0)",
                ],
                1, "\(preview.url.port ?? 0)"
            ),
            (["preview", broken, "--port", "70000"], 64, "--port"),
        ])
    }
}
