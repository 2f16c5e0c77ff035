import Foundation
import TabularData
import Testing

/// Folders that Turi Create and Create ML write as the data of texts, words, sounds and activities.
struct SFrameCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    private func write(_ columns: [(name: String, contents: SFrameContents)], _ name: String) throws -> String {
        let url = URL(fileURLWithPath: folder.path(name), isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try SFrameWriter.write(columns, to: url)
        return url.path
    }

    private func strings(_ values: [String]) -> SFrameContents { .strings(Column(name: "", contents: values)) }

    private func scores(_ run: Outcome) throws -> (rows: Int?, accuracy: Double?) {
        #expect(run.status == 0, "\(run.errors)")
        let figures = try CommandFolder.last(run)
        return (figures["rows"] as? Int, (figures["scores"] as? [String: Double])?["accuracy"])
    }

    @Test func textsAreLearntAndEvaluated() throws {
        let texts = (0..<60).map { $0 % 2 == 0 ? "a goal in match \($0)" : "salt and butter \($0)" }
        let data = try write(
            [("body", strings(texts)), ("topic", .integers(Column(name: "", contents: (0..<60).map { $0 % 2 })))],
            "mail"
        )
        let model = folder.path("Mail.mlmodel")
        let columns = ["--text", "body", "--label", "topic"]
        let run = try coreml(arguments: ["train", "text", data, "-o", model] + columns)
        #expect(run.status == 0 && run.output.contains("60 texts"), "\(run.errors)")
        let result = try scores(try coreml(arguments: ["evaluate", model, data, "--json"] + columns))
        #expect(result.rows == 60 && result.accuracy == 1)
    }

    @Test func sentencesAreLearntAndEvaluated() throws {
        let sentences = (0..<40).map { number in
            ["the", number % 2 == 0 ? "cat" : "dog", "sees", number % 3 == 0 ? "Anna" : "Otto"]
        }
        func lists(_ values: [[String]]) -> SFrameContents {
            .values(.list, values.map { .list($0.map { .string($0) }) })
        }
        let tags = sentences.map { _ in ["-", "animal", "-", "name"] }
        let data = try write([("tokens", lists(sentences)), ("labels", lists(tags))], "names")
        let model = folder.path("Names.mlmodel")
        let run = try coreml("train", "text", data, "--kind", "tagger", "-o", model, "--validation-share", "0")
        #expect(run.status == 0 && run.output.contains("40 sentences"), "\(run.errors)")
        let result = try scores(try coreml("evaluate", model, data, "--json"))
        #expect(result.rows == 160 && result.accuracy == 1)
    }

    @Test func activitiesAreLearntAndEvaluated() throws {
        let rows = 0..<600
        func wave(_ row: Int) -> Double { sin(Double(row) * (row / 60 % 2 == 0 ? 0.9 : 0.3)) }
        let data = try write(
            [
                ("x", .floats(Column(name: "", contents: rows.map(wave)))),
                ("activity", strings(rows.map { $0 / 60 % 2 == 0 ? "run" : "walk" })),
                ("session", .integers(Column(name: "", contents: rows.map { $0 / 60 }))),
            ],
            "motion"
        )
        let model = folder.path("Motion.mlmodel")
        let columns = ["--label", "activity", "--recording", "session"]
        let run = try coreml(
            arguments: ["train", "activity", data, "-o", model, "--window", "20", "--iterations", "3"] + columns
        )
        #expect(run.status == 0 && run.output.contains("600 rows, 10 recordings"), "\(run.errors)")
        let result = try scores(try coreml(arguments: ["evaluate", model, data, "--json"] + columns))
        let accuracy = try #require(result.accuracy)
        #expect(result.rows == 600 && accuracy > 0.8)
    }
}
