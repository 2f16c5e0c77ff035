import Foundation
import Testing

/// `coreml train text` and what `coreml evaluate` and `coreml predict` make of its models.
struct TrainTextCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    private static let topics = [
        "sport": ["goal", "match", "coach", "league", "striker", "final"],
        "food": ["oven", "salt", "butter", "soup", "spice", "dish"],
        "code": ["compiler", "bug", "loop", "stack", "thread", "cache"],
    ]

    /// Texts whose words tell their topic, but for those that all have.
    private func texts(_ count: Int, from start: Int = 0) -> [(text: String, label: String)] {
        let labels = Self.topics.keys.sorted()
        return (start..<start + count).map { index in
            let label = labels[index % 3]
            let words = Self.topics[label] ?? []
            let own = [words[index / 3 % 6], words[(index / 3 * 5 + 1) % 6]]
            return ("The \(own[0]), \"now\", and 12 of the \(own[1]) were seen", label)
        }
    }

    private func table(_ count: Int, from start: Int = 0, delimiter: String = ",") -> String {
        "number\(delimiter)body\(delimiter)topic\n"
            + texts(count, from: start).enumerated().map { index, row in
                let text = row.text.replacingOccurrences(of: "\"", with: "\"\"")
                return "\(index)\(delimiter)\"\(text)\"\(delimiter)\(row.label)\n"
            }.joined()
    }

    @Test func aClassifierIsTrainedReportedEvaluatedAndAsked() throws {
        let data = try folder.write(table(240), "mail.csv")
        let held = try folder.write(table(60, from: 240, delimiter: "\t"), "held.tsv")
        let (model, picture) = (folder.path("Mail.mlmodel"), folder.path("reports/mail.png"))
        let columns = ["--text", "body", "--label", "topic"]
        let run = try coreml(
            arguments: [
                "train", "text", data, "--validation", held, "--language", "en", "-o", model, "--report", picture,
            ]
                + columns
        )
        #expect(run.status == 0, "\(run.errors)")
        for part in ["maximum-entropy text classifier", "240 texts", "loss", "accuracy", "validation", "predicted"] {
            #expect(run.output.contains(part), "\(part) is not in \(run.output)")
        }
        let extents = try CommandFolder.extents(ofPNG: folder.data("reports/mail.png"))
        #expect(extents.width == 2000 && extents.height > 1000)

        let evaluation = try coreml(arguments: ["evaluate", model, held, "--json"] + columns)
        #expect(evaluation.status == 0, "\(evaluation.errors)")
        let figures = try CommandFolder.object(evaluation.output)
        #expect(figures["rows"] as? Int == 60)
        #expect(try #require((figures["scores"] as? [String: Double])?["accuracy"]) == 1)
        let answer = try coreml("predict", model, "-i", "text=a bug in the cache", "--json")
        #expect(try CommandFolder.object(answer.output)["label"] as? String == "code", "\(answer.errors)")
    }

    @Test func foldersOfTextsAreRead() throws {
        for (index, (text, label)) in texts(90).enumerated() { try folder.write(text, "mail/\(label)/\(index).txt") }
        let run = try coreml(
            "train",
            "text",
            folder.path("mail"),
            "--algorithm",
            "crf",
            "--validation-share",
            "0",
            "--json",
            "-o",
            folder.path("Mail.mlpackage")
        )
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n")
        let first = try CommandFolder.object(try #require(lines.first))
        #expect(first["iteration"] as? Int == 1 && first["loss"] is Double && first["accuracy"] is Double)
        let last = try CommandFolder.last(run)
        #expect(last["texts"] as? Int == 90 && last["validation"] == nil)
        #expect(last["labels"] as? [String] == ["code", "food", "sport"])
        let evaluation = try coreml("evaluate", folder.path("Mail.mlpackage"), folder.path("mail"))
        #expect(evaluation.status == 0 && evaluation.output.contains("100.0 %"), "\(evaluation.errors)")
    }

    @Test func aTaggerLearnsFromTokensAndFromArrays() throws {
        let (things, acts) = (["cat", "dog", "bird", "horse"], ["runs", "sleeps", "sings", "eats"])
        let sentences = (0..<60).map { ["the", things[$0 % 4], acts[$0 / 4 % 4], "well"] }
        let tags = ["DET", "NOUN", "VERB", "ADV"]
        let table = sentences.enumerated().map { number, words in
            zip(words, tags).map { "\(number),\($0),\($1)\n" }.joined()
        }
        let tokens = try folder.write("sentence,token,label\n" + table.joined(), "tokens.csv")
        let model = folder.path("Tagger.mlmodel")
        let run = try coreml(
            arguments: ["train", "text", tokens, "--kind", "tagger", "--sentence", "sentence", "--json", "-o", model]
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try CommandFolder.last(run)["sentences"] as? Int == 60)
        let evaluation = try coreml("evaluate", model, tokens, "--sentence", "sentence", "--json")
        let figures = try CommandFolder.object(evaluation.output)
        #expect(figures["rows"] as? Int == 240, "tokens are counted: \(evaluation.errors)")
        #expect((figures["scores"] as? [String: Double])?["accuracy"] == 1)
        let answer = try coreml("predict", model, "-i", "text=the horse sings well", "--json")
        #expect(try CommandFolder.object(answer.output)["labels"] as? [String] == tags, "\(answer.errors)")
        let shown = try coreml("predict", model, "--text", "the horse sings well")
        let lines = shown.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 5, "\(shown.output)\(shown.errors)")
        for (token, tag) in zip(["the", "horse", "sings", "well"], tags) {
            #expect(lines.contains { $0.contains(token) && $0.contains(tag) }, "\(shown.output)")
        }
        try folder.write("the cat runs well", "letters/a.txt")
        try folder.write("the dog sings well", "letters/more/b.txt")
        let files = try coreml("predict", model, folder.path("letters"), "-o", folder.path("tags.jsonl"))
        #expect(files.status == 0, "\(files.errors)")
        let rows = String(decoding: try folder.data("tags.jsonl"), as: UTF8.self).split(separator: "\n")
        #expect(try rows.map { try CommandFolder.object($0)["labels"] as? [String] } == [tags, tags])

        let objects = sentences.map { ["tokens": $0, "labels": tags] }
        let arrays = try folder.write(JSONSerialization.data(withJSONObject: objects), "tokens.json")
        let second = try coreml("train", "text", arrays, "--kind", "tagger", "-o", folder.path("Same.mlmodel"))
        #expect(second.status == 0, "\(second.errors)")
        #expect(try folder.data("Same.mlmodel") == folder.data("Tagger.mlmodel"), "the same sentences, the same model")
    }

    @Test(arguments: ["classifier", "tagger"])
    func aSessionIsGoneOnWith(kind: String) throws {
        var more: [String] = []
        let data: String
        if kind == "classifier" {
            data = try folder.write(table(120), "mail.csv")
            more = ["--text", "body", "--label", "topic"]
        } else {
            let rows = texts(60).map { row in
                let words = row.text.split(separator: " ").map(String.init)
                return ["tokens": words, "labels": words.map { $0.count > 4 ? "long" : "short" }]
            }
            data = try folder.write(JSONSerialization.data(withJSONObject: rows), "words.json")
        }
        func train(_ model: String, _ iterations: Int, _ options: String...) throws -> Outcome {
            try coreml(
                arguments: [
                    "train", "text", data, "--kind", kind, "--iterations", "\(iterations)", "-o", folder.path(model),
                    "--validation-share", "0.2", "--json",
                ] + more + options
            )
        }
        let whole = try train("Whole.mlmodel", 7)
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(try train("Half.mlmodel", 3, "--resume", folder.path("state")).status == 0)
        let rest = try train("Resumed.mlmodel", 7, "--resume", folder.path("state"))
        #expect(rest.status == 0, "\(rest.errors)")
        let first = try CommandFolder.object(try #require(rest.output.split(separator: "\n").first))
        #expect(first["iteration"] as? Int == 4 && first["validationAccuracy"] is Double)
        #expect(try folder.data("Whole.mlmodel") == folder.data("Resumed.mlmodel"))
        // A finished session gives its model again, without another pass.
        #expect(try train("Again.mlmodel", 7, "--resume", folder.path("state")).status == 0)
        #expect(try folder.data("Whole.mlmodel") == folder.data("Again.mlmodel"))
    }

    @Test func mistakesAreNamed() throws {
        let data = try folder.write(table(30), "mail.csv")
        let one = try folder.write("text,label\nhello there,greeting\ngood day,greeting\n", "one.csv")
        let gap = try folder.write("text,label\nhello,a\n,b\n", "gap.csv")
        let header = try folder.write("text,label\n", "header.csv")
        let broken = try folder.write(Data([0x63, 0xFF, 0xFE, 0x00]), "latin/a/1.txt")
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.path("bare/a"), withIntermediateDirectories: true)
        let start = ["train", "text"]
        try CommandFolder.expectFailures([
            (start + [data], 1, "no column 'text'; its columns are number, body, topic; name the column with --text"),
            (start + [data, "--text", "body"], 1, "no column 'label'"),
            (start + [folder.path("missing.csv")], 1, "missing.csv"),
            (start + [folder.path("empty")], 1, "no folders"),
            (start + [folder.path("bare")], 1, "are empty"),
            (start + [folder.path("latin")], 1, broken),
            (start + [one], 1, "greeting"),
            (start + [gap], 1, "row 1"),
            (start + [header], 1, "no rows"),
            (start + [data, "--text", "body", "--label", "topic", "--kind", "tagger"], 1, "--sentence"),
            (start + [data, "--kind", "tagger", "--algorithm", "transfer"], 64, "tagger"),
            (start + [data, "--algorithm", "transfer"], 64, "--embedding"),
            (start + [data, "--sentence", "number"], 64, "--kind tagger"),
            (start + [data, "--iterations", "0"], 64, "--iterations"),
            (start + [data, "--report", "mail.jpg"], 64, ".png"),
        ])
        let model = folder.path("Mail.mlmodel")
        #expect(try coreml(arguments: start + [data, "--text", "body", "--label", "topic", "-o", model]).status == 0)
        try CommandFolder.expectFailures([
            (
                start + [data, "--text", "body", "--label", "topic", "--algorithm", "transfer", "--embedding", model],
                1,
                "not a word embedding"
            ),
            (["evaluate", model, data], 1, "name the column with --text"),
            (["evaluate", model, data, "--recording", "x"], 1, "--recording"),
        ])
    }
}
