import Foundation
import Testing

/// Models that are asked about what they were made for.
struct PredictSubjectTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    @Test func stringsAreGivenWithAndWithoutQuotes() throws {
        let model = try folder.write(PredictModels.identity(PredictModels.text("city")), "City.mlmodel")
        for (given, city) in [
            ("Riga", "Riga"), (#""Riga""#, "Riga"), (#""a \"b\" \u0101""#, "a \"b\" ā"), (#""""#, ""),
            // A text that is not JSON is a string.
            (#"""#, "\""), (#""a" and "b""#, #""a" and "b""#), ("3", "3"), ("", ""),
        ] {
            let run = try coreml("predict", model, "-i", "city=\(given)", "--json")
            #expect(try CommandFolder.last(run)["city"] as? String == city, "\(given): \(run.output)\(run.errors)")
        }
        let rows = try folder.write("city\n\"\"\"Riga\"\"\"\n", "rows.csv")
        let run = try coreml("predict", model, "--csv", rows, "-o", folder.path("rows.jsonl"))
        #expect(run.status == 0, "\(run.errors)")
        let line = String(decoding: try folder.data("rows.jsonl"), as: UTF8.self)
        #expect(try CommandFolder.object(line)["city"] as? String == #""Riga""#, "\(line)")
    }

    @Test func sequencesAreInputs() throws {
        let model = try folder.write(
            PredictModels.identity(PredictModels.words("words"), PredictModels.numbers("numbers")),
            "Lists.mlmodel"
        )
        for (words, numbers) in [(#"["Water","a \"b\""]"#, "[3,-4,9007199254740993]"), ("[]", "[]")] {
            let run = try coreml("predict", model, "-i", "words=\(words)", "-i", "numbers=\(numbers)", "--json")
            #expect(run.output == "{\"numbers\":\(numbers),\"words\":\(words)}\n", "\(run.output)\(run.errors)")
        }
        let file = try folder.write(#"{"words": ["x"], "numbers": [1]}"#, "both.json")
        let run = try coreml("predict", model, "-i", file, "--json")
        #expect(run.output == "{\"numbers\":[1],\"words\":[\"x\"]}\n", "\(run.output)\(run.errors)")
        let inspected = try coreml("inspect", model)
        #expect(inspected.output.contains("sequence of integers"), "\(inspected.output)")
        let start = ["predict", model, "-i"]
        try CommandFolder.expectFailures([
            (start + [#"words=["a", 3]"#, "-i", "numbers=[1]"], 1, "element 1 is 3"),
            (start + [#"words=["a"]"#, "-i", "numbers=[1, 2.5]"], 1, "sequence of integers"),
            (start + [#"words=["a"]"#, "-i", "numbers=[true]"], 1, "element 0 is true"),
            (start + [#"words="a""#, "-i", "numbers=[1]"], 1, "takes a list"),
            (start + ["words=Water", "-i", "numbers=[1]"], 1, "not a value for 'words'"),
        ])
    }

    @Test func recommendersAnswerByItemsAndUsers() throws {
        let model = try folder.write(PredictModels.recommender(), "Films.mlmodel")
        let plain = try coreml(
            "predict",
            model,
            "-i",
            #"interactions={"a": 1}"#,
            "-i",
            "k=2",
            "-i",
            #"exclude=["b"]"#,
            "--json"
        )
        #expect(
            try CommandFolder.object(plain.output)["recommendations"] as? [String] == ["c", "a"],
            "\(plain.errors)"
        )
        let rows = try folder.write(
            "interactions,k,exclude\n\"{\"\"a\"\": 1}\",1,\"[\"\"b\"\", \"\"c\"\"]\"\n\"{\"\"a\"\": 1}\",1,\n",
            "rows.csv"
        )
        let batch = try coreml("predict", model, "--csv", rows, "-o", folder.path("batch.jsonl"))
        #expect(batch.status == 0, "\(batch.errors)")
        let lines = String(decoding: try folder.data("batch.jsonl"), as: UTF8.self).split(separator: "\n")
        #expect(try lines.map { try CommandFolder.object($0)["recommendations"] as? [String] } == [["a"], ["b"]])

        let items = try coreml("predict", model, "--items", "a", "d=2", "--k", "1", "--json")
        #expect(try CommandFolder.object(items.output)["recommendations"] as? [String] == ["b"], "\(items.errors)")
        let table = try folder.write("who,film,stars\n7,a,1\n8,b,3\n7,d,2\n", "ratings.csv")
        let columns = ["--user-column", "who", "--item-column", "film", "--rating-column", "stars"]
        let user = try coreml(
            arguments: ["predict", model, "--observed", table, "--user", "7", "--k", "1", "--json"] + columns
        )
        let answer = try CommandFolder.object(user.output)
        #expect(answer["user"] as? String == "7" && answer["recommendations"] as? [String] == ["b"], "\(user.errors)")
        let all = try coreml(
            arguments: ["predict", model, "--observed", table, "-o", folder.path("all.csv")] + columns
        )
        #expect(all.status == 0, "\(all.errors)")
        let text = String(decoding: try folder.data("all.csv"), as: UTF8.self)
        #expect(text.hasPrefix("user,recommendations,scores\n7,") && text.contains("\n8,"), "\(text)")

        let numbered = try folder.write(PredictModels.recommender(ofNumbers: true), "Numbers.mlmodel")
        let numbers = try coreml("predict", numbered, "--items", "10", "--k", "2", "--json")
        #expect(try CommandFolder.object(numbers.output)["recommendations"] as? [Int] == [11, 12], "\(numbers.errors)")
        let start = ["predict", model]
        try CommandFolder.expectFailures([
            (start + ["--user", "7"], 64, "--observed"),
            (start + ["--observed", table], 1, "--user-column"),
            (start + ["--observed", table, "--user", "9"] + columns, 1, "'9'"),
            (start + ["--items", "z"], 1, "'z'"),
            (["predict", numbered, "--items", "a=b"], 1, "--items a=b"),
            (start + ["--windows"], 1, "--windows does not apply"),
            (start + ["--k", "3"], 64, "--k needs"),
            (start + ["--items", "a", "-o", folder.path("a.csv"), "--k", "3", "--", "x.csv"], 1, "no input for files"),
        ])
    }

    @Test func posesAreReadFromTablesOfKeyPoints() throws {
        let model = try folder.write(PredictModels.handPoses(), "Hands.mlmodel")
        func pose(_ x: Double) -> String { "[\(x)" + String(repeating: ", 0.5", count: 62) + "]" }
        let left = try folder.write("[{\"keypoints\": \(pose(0.1))}]", "hands/left.json")
        try folder.write("[{\"keypoints\": \(pose(0.9))}, {\"keypoints\": \(pose(0.8))}]", "hands/more/right.json")
        let one = try coreml("predict", model, left, "--json")
        #expect(try CommandFolder.object(one.output)["label"] as? String == "left", "\(one.errors)")
        let all = try coreml("predict", model, folder.path("hands"), "--json")
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(all.output.utf8)) as? [[String: Any]])
        #expect(rows.map { $0["label"] as? String } == ["left", "right"], "\(all.errors)")
        let windows = try coreml("predict", model, folder.path("hands"), "--windows", "-o", folder.path("a.csv"))
        #expect(windows.status == 0, "\(windows.errors)")
        let lines = String(decoding: try folder.data("a.csv"), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 4 && lines[0] == "file,first_frame,last_frame,label,labelProbabilities", "\(lines)")
        try CommandFolder.expectFailures([
            (["predict", model, folder.path("none")], 1, "no such file"),
            (["predict", model, "--windows"], 1, "--windows applies to files"),
            (["predict", model, try folder.write("x\n1\n", "x.csv")], 1, "keypoints"),
        ])
    }
}
