import Foundation
import Testing

/// The results of a run of `coreml`.
struct Outcome {
    let status: Int32
    let output: String
    let errors: String
}

/// Runs the `coreml` that was built beside these tests.
func coreml(_ arguments: String...) throws -> Outcome { try coreml(arguments: arguments) }

/// The `coreml` that was built beside these tests.
let builtTool = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("coreml")

/// - Parameters:
///   - environment: variables beside those of the tests.
///   - tool: another program, or another name of this one.
func coreml(arguments: [String], environment: [String: String] = [:], tool: URL = builtTool) throws -> Outcome {
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try ["output", "errors"].map { name in
        let path = folder.appendingPathComponent(name)
        try Data().write(to: path)
        return (path, try FileHandle(forWritingTo: path))
    }
    process.standardOutput = files[0].1
    process.standardError = files[1].1
    try process.run()
    process.waitUntilExit()
    return Outcome(
        status: process.terminationStatus,
        output: try String(contentsOf: files[0].0, encoding: .utf8),
        errors: try String(contentsOf: files[1].0, encoding: .utf8)
    )
}

extension Pipe {
    /// The bytes up to the end of the first line: waits until they are written, or the pipe is closed.
    func firstLine() -> Data {
        var line = Data()
        while !line.contains(10) {
            let part = fileHandleForReading.availableData
            guard !part.isEmpty else { break }
            line += part
        }
        return line
    }
}

let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("Fixtures/digits").path

@Suite struct CommandLineTests {
    /// The version is in the file VERSION, which the wheel takes it from; the command says the same.
    @Test func versionIsThatOfTheProject() throws {
        let run = try coreml("--version")
        let version = try String(contentsOfFile: "VERSION", encoding: .utf8)
        #expect(run.status == 0)
        #expect(run.output == "coreml \(version)")
        #expect(try String(contentsOfFile: "Python/pyproject.toml", encoding: .utf8).contains("{file = \"VERSION\"}"))
    }

    @Test(arguments: ["Digits.mlpackage", "Digits.mlmodel"])
    func heldOutDigitsAreRecognised(model: String) throws {
        let pictures = try FileManager.default.contentsOfDirectory(atPath: "\(fixtures)/held-out")
            .filter { $0.hasSuffix(".png") }.sorted()
        #expect(pictures.count == 100)
        var right = 0
        for picture in pictures.enumerated().filter({ $0.offset % 5 == 0 }).map(\.element) {
            let run = try coreml(
                "predict",
                "\(fixtures)/\(model)",
                "-i",
                "image=\(fixtures)/held-out/\(picture)",
                "--json"
            )
            #expect(run.status == 0, "\(run.errors)")
            let answer = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            right += answer?["digit"] as? String == String(picture.prefix(1)) ? 1 : 0
            let probabilities = try #require(answer?["probabilities"] as? [String: Double])
            #expect(abs(probabilities.values.reduce(0, +) - 1) < 1e-3)
        }
        #expect(right >= 19, "\(right) of 20")
    }

    @Test func lowPrecisionFindsTheDigit() throws {
        let picture = "image=\(fixtures)/held-out/7-0.png"
        let run = try coreml("predict", "\(fixtures)/Digits.mlpackage", "-i", picture, "--precision", "low", "--json")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.isEmpty || run.errors.contains("no matrix tiles"), "\(run.errors)")
        let answer = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(answer?["digit"] as? String == "7")
        let wrong = try coreml("predict", "\(fixtures)/Digits.mlpackage", "-i", picture, "--precision", "half")
        #expect(wrong.status == 64 && wrong.errors.contains("half"), "\(wrong.errors)")
    }

    @Test func aMissingInputListsTheInputs() throws {
        let run = try coreml("predict", "\(fixtures)/Digits.mlpackage")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("'image' is missing") && run.errors.contains("28 × 28 grey"), "\(run.errors)")
    }

    @Test func aMisspeltInputIsNamed() throws {
        let run = try coreml("predict", "\(fixtures)/Digits.mlpackage", "-i", "picture=x.png")
        #expect(run.status == 1)
        #expect(run.errors.contains("no input 'picture'") && run.errors.contains("image:"), "\(run.errors)")
    }

    @Test func aDamagedPictureIsNamed() throws {
        let run = try coreml("predict", "\(fixtures)/Digits.mlpackage", "-i", "image=\(fixtures)/make.py")
        #expect(run.status == 1)
        #expect(run.errors.contains("make.py"), "\(run.errors)")
    }

    @Test func wrongUsageHasItsOwnStatus() throws {
        #expect(try coreml("predict").status == 64)
        #expect(try coreml("bench", "\(fixtures)/Digits.mlpackage", "--runs", "0").status == 64)
    }

    @Test func inspectionShowsInterfaceAndClasses() throws {
        let text = try coreml("inspect", "\(fixtures)/Digits.mlpackage")
        #expect(text.status == 0)
        for part in ["image 28 × 28 grey", "10 classes", "conv", "iOS"] {
            #expect(text.output.contains(part), "\(part)")
        }
        let json = try coreml("inspect", "\(fixtures)/Digits.mlmodel", "--json")
        let facts = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect((facts?["classes"] as? [String])?.count == 10)
    }

    @Test func everyStepOfTheDigitsNetworkHasAKernel() throws {
        let plan = try coreml("plan", "\(fixtures)/Digits.mlpackage")
        #expect(plan.status == 0)
        #expect(!plan.output.contains("reference"), "\(plan.output)")
        #expect(plan.output.contains("arena"))
    }

    @Test func aCompiledModelAnswersTheSame() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let compiled = try coreml("compile", "\(fixtures)/Digits.mlpackage", folder.path)
        #expect(compiled.status == 0, "\(compiled.errors)")
        let path = compiled.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let picture = "image=\(fixtures)/held-out/7-0.png"
        let expected = try coreml("predict", "\(fixtures)/Digits.mlpackage", "-i", picture, "--json")
        let actual = try coreml("predict", path, "-i", picture, "--json")
        #expect(actual.output == expected.output && actual.status == 0, "\(actual.errors)")
    }

    @Test func measurementsAreServed() throws {
        let run = try coreml("bench", "\(fixtures)/Digits.mlpackage", "--runs", "3", "--clients", "2", "--json")
        let figures = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Double]
        #expect((figures?["median_ms"] ?? 0) > 0)
        #expect((figures?["runs"] ?? 0) >= 3)
    }
}
