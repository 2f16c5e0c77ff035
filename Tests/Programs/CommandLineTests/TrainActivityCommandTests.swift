import Foundation
import Testing

/// `coreml train activity` and what `coreml evaluate` and `coreml predict` make of its models.
struct TrainActivityCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    private static let labels = ["run", "walk"]

    /// The samples of two sensors while a person runs (even numbers) or walks.
    private func recording(_ number: Int, rows: Int = 60) -> [(x: Double, y: Double)] {
        var state = UInt64(number + 1)
        func noise() -> Double {
            state = state &* 48271 % 2_147_483_647
            return 0.2 * Double(state) / 2_147_483_647
        }
        let speed = number % 2 == 0 ? 0.9 : 0.35
        return (0..<rows).map { row in
            let place = Double(number) * 1.7 + speed * Double(row)
            return (9.8 + sin(place) + noise(), 0.5 * cos(place) + noise())
        }
    }

    private func table(_ numbers: Range<Int>) -> String {
        "x,y,activity,session\n"
            + numbers.flatMap { number in
                recording(number).map { "\($0.x),\($0.y),\(Self.labels[number % 2]),\(number)\n" }
            }.joined()
    }

    private let columns = ["--label", "activity", "--recording", "session"]
    private let short = ["--window", "20", "--iterations", "3"]

    @Test func aTableIsLearntFromEvaluatedAndAsked() throws {
        let data = try folder.write(table(0..<12), "motion.csv")
        let held = try folder.write(table(12..<16), "held.csv")
        let (model, picture) = (folder.path("Motion.mlmodel"), folder.path("motion.png"))
        let run = try coreml(
            arguments: ["train", "activity", data, "--validation", held, "-o", model, "--report", picture] + columns
                + short
        )
        #expect(run.status == 0, "\(run.errors)")
        for part in ["720 rows, 12 recordings", "features: x, y", "20 samples", "validation", "loss"] {
            #expect(run.output.contains(part), "\(part) is not in \(run.output)")
        }
        #expect(try CommandFolder.extents(ofPNG: folder.data("motion.png")).width == 2000)
        let evaluation = try coreml(arguments: ["evaluate", model, held, "--json"] + columns)
        let figures = try CommandFolder.object(evaluation.output)
        #expect(figures["rows"] as? Int == 240, "samples are counted: \(evaluation.errors)")
        #expect(try #require((figures["scores"] as? [String: Double])?["accuracy"]) > 0.9)
        let samples = recording(20, rows: 20)
        let answer = try coreml(
            "predict",
            model,
            "-i",
            "x=\(samples.map(\.x))",
            "-i",
            "y=\(samples.map(\.y))",
            "--json"
        )
        #expect(try CommandFolder.object(answer.output)["activity"] as? String == "run", "\(answer.errors)")

        // One answer a sample, which the scores of the evaluation count.
        let options = ["--recording", "session"]
        let rows = try coreml(arguments: ["predict", model, held, "-o", folder.path("rows.csv")] + options)
        #expect(rows.status == 0, "\(rows.errors)")
        let lines = String(decoding: try folder.data("rows.csv"), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 241 && lines[0] == "file,session,row,activity,activityProbability", "\(lines[0])")
        let truth = String(decoding: try folder.data("held.csv"), as: UTF8.self).split(separator: "\n")
        let right = zip(lines, truth).dropFirst().count { $0.split(separator: ",")[3] == $1.split(separator: ",")[2] }
        let accuracy = try #require((figures["scores"] as? [String: Double])?["accuracy"])
        #expect(abs(Double(right) / 240 - accuracy) < 1e-9)
        let windows = try coreml(arguments: ["predict", model, held, "--windows", "--json"] + options)
        let objects = try JSONSerialization.jsonObject(with: Data(windows.output.utf8)) as? [[String: Any]]
        #expect(objects?.count == 12 && objects?[1]["first_row"] as? Int == 20, "\(windows.errors)")
        #expect(objects?[1]["last_row"] as? Int == 39 && objects?[1]["session"] as? String == "12")
        try CommandFolder.expectFailures([
            (["predict", model, try folder.write("x\n1\n", "half.csv")], 1, "no column 'y'"),
            (["predict", model, try folder.write("x,y\n", "empty.csv")], 1, "no rows"),
        ])
    }

    /// A recording shorter than a window ends nothing, and metrics count samples as the evaluation does.
    @Test func shortRecordingsAreFilledAndReported() throws {
        for number in 0..<10 {
            let rows = recording(number, rows: number == 3 ? 7 : number == 6 ? 1 : number == 8 ? 0 : 50)
            let label = Self.labels[number % 2]
            try folder.write("x,y,label\n" + rows.map { "\($0.x),\($0.y),\(label)\n" }.joined(), "all/\(number).csv")
        }
        let model = folder.path("Short.mlmodel")
        let start = ["train", "activity", folder.path("all"), "--validation-share", "0", "-o", model] + short
        let run = try coreml(arguments: start)
        #expect(run.status == 0, "\(run.errors)")
        for part in ["10 recordings", "short recordings: 2, filled", "empty recordings: 1, left out"] {
            #expect(run.output.contains(part), "\(part) is not in \(run.output)")
        }
        let figures = try CommandFolder.last(try coreml(arguments: start + ["--json"]))
        #expect(figures["shortRecordings"] as? Int == 2 && figures["emptyRecordings"] as? Int == 1)
        let evaluation = try coreml("evaluate", model, folder.path("all"), "--json")
        let counted = try CommandFolder.object(evaluation.output)
        #expect(counted["rows"] as? Int == 7 * 50 + 8, "\(evaluation.errors)")
        #expect(counted["confusion"] as? [[Int]] == figures["confusion"] as? [[Int]])
    }

    @Test func foldersOfRecordingsAreRead() throws {
        for number in 0..<8 {
            let label = Self.labels[number % 2]
            let rows = recording(number)
            try folder.write("x,y\n" + rows.map { "\($0.x),\($0.y)\n" }.joined(), "labels/\(label)/\(number).csv")
            let lines = rows.map { "\($0.x)\t\($0.y)\t\(label)\n" }.joined()
            try folder.write("x\ty\tlabel\n" + lines, "tables/\(number).tsv")
        }
        for name in ["labels", "tables"] {
            let model = folder.path(name + ".mlpackage")
            let run = try coreml(
                "train",
                "activity",
                folder.path(name),
                "--seconds",
                "0.4",
                "--frequency",
                "50",
                "--iterations",
                "2",
                "--validation-share",
                "0.25",
                "--json",
                "-o",
                model
            )
            #expect(run.status == 0, "\(run.errors)")
            let last = try CommandFolder.last(run)
            #expect(last["features"] as? [String] == ["x", "y"] && last["window"] as? Int == 20)
            #expect((last["validation"] as? [String: Double])?["accuracy"] != nil)
            let evaluation = try coreml("evaluate", model, folder.path(name), "--json")
            #expect(try CommandFolder.object(evaluation.output)["rows"] as? Int == 480, "\(evaluation.errors)")
        }
    }

    @Test func annotationsByTimeAreRead() throws {
        var annotations = "file,activity,from,to\n"
        for number in 0..<8 {
            let rows = recording(number).enumerated().map { "\($0 * 20),\($1.x),\($1.y)\n" }
            try folder.write("ms,x,y\n" + rows.joined(), "walks/\(number).csv")
            // The first five samples and the last five are nobody's.
            annotations += "\(number).csv,\(Self.labels[number % 2]),100,1080\n"
        }
        try folder.write(annotations, "walks/labels.csv")
        let columns = ["--annotation-file", "labels.csv", "--label", "activity", "--recording", "file"]
        let times = ["--time-stamp", "ms", "--label-start-time", "from", "--label-end-time", "to"]
        let start = ["train", "activity", folder.path("walks")]
        let run = try coreml(
            arguments: start + columns + times + short + ["--validation-share", "0.25", "-o", folder.path("A.mlmodel")]
        )
        #expect(run.status == 0, "\(run.errors)")
        for part in ["8 labelled times of 8 recordings", "features: x, y\n"] {
            #expect(run.output.contains(part), "\(part) is not in \(run.output)")
        }
        let held = try folder.write(table(12..<16), "held.csv")
        let evaluation = try coreml(arguments: ["evaluate", folder.path("A.mlmodel"), held, "--json"] + self.columns)
        let scores = try CommandFolder.object(evaluation.output)["scores"] as? [String: Double]
        #expect(try #require(scores?["accuracy"]) > 0.9)
        try CommandFolder.expectFailures([
            (start + columns, 1, "no column 'start'"),
            (start + ["--annotation-file", "none.csv"], 1, "no such file"),
            (start + columns + times + ["--delimiter", ";"], 1, "--delimiter"),
            (start + ["--time-stamp", "ms"], 64, "--annotation-file"),
            (["train", "activity", held] + columns + times, 1, "is not a folder"),
            (
                start + columns + ["--label-start-time", "from", "--label-end-time", "to"], 1,
                "no column 'time'; its columns are ms, x, y; name the column with --time-stamp"
            ),
        ])
    }

    /// Stopped by a signal, then gone on with: the model is the one of a run that nobody stopped.
    ///
    /// Windows of 8 are those of the network with memory, whose iterations last long enough.
    @Test func aSignalLeavesASessionToGoOnWith() throws {
        let data = try folder.write(table(0..<6), "motion.csv")
        func arguments(_ model: String) -> [String] {
            [
                "train", "activity", data, "--window", "8", "--iterations", "6", "--validation-share", "0", "--json",
                "-o", folder.path(model),
            ] + columns
        }
        let whole = try coreml(arguments: arguments("Whole.mlmodel"))
        #expect(whole.status == 0, "\(whole.errors)")
        let session = ["--resume", folder.path("state"), "--checkpoint-interval", "1"]
        let process = Process()
        process.executableURL = builtTool
        process.arguments = arguments("Resumed.mlmodel") + session
        let (output, errors) = (Pipe(), folder.url.appendingPathComponent("errors"))
        try Data().write(to: errors)
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        // It has begun when the first iteration is reported.
        _ = output.firstLine()
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 128 + SIGINT)
        #expect(String(decoding: try folder.data("errors"), as: UTF8.self).contains("continue from"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("Resumed.mlmodel")))
        let rest = try coreml(arguments: arguments("Resumed.mlmodel") + session)
        #expect(rest.status == 0, "\(rest.errors)")
        let first = try CommandFolder.object(try #require(rest.output.split(separator: "\n").first))
        #expect(try #require(first["iteration"] as? Int) > 1)
        #expect(try folder.data("Whole.mlmodel") == folder.data("Resumed.mlmodel"))
    }

    @Test func moreIterationsMayBeAskedFor() throws {
        let data = try folder.write(table(0..<6), "motion.csv")
        func train(_ model: String, _ iterations: Int, _ more: String...) throws -> Outcome {
            try coreml(
                arguments: [
                    "train", "activity", data, "--window", "20", "--iterations", "\(iterations)", "-o",
                    folder.path(model), "--validation-share", "0", "--json",
                ] + columns + more
            )
        }
        #expect(try train("Whole.mlmodel", 3).status == 0)
        #expect(try train("Half.mlmodel", 1, "--resume", folder.path("state")).status == 0)
        let rest = try train("Resumed.mlmodel", 3, "--resume", folder.path("state"))
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(try folder.data("Whole.mlmodel") == folder.data("Resumed.mlmodel"))
    }

    @Test func mistakesAreNamed() throws {
        let data = try folder.write(table(0..<4), "motion.csv")
        let rows = (0..<30).map { "\($0),1.5,run\n" }
        let one = try folder.write("x,y,label\n" + rows.joined(), "one.csv")
        let gap = try folder.write("x,y,label\n" + rows.joined() + "nan,1,walk\n", "nan.csv")
        let hole = try folder.write("x,y,label\n" + rows.joined() + ",1,walk\n", "hole.csv")
        let words = try folder.write("a,label\nup,run\ndown,walk\n", "words.csv")
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: true)
        let start = ["train", "activity"]
        try CommandFolder.expectFailures([
            (start + [data], 1, "no column 'label'; its columns are x, y, activity, session"),
            (start + [data, "--features", "x", "z", "--label", "activity"], 1, "no column 'z'"),
            (start + [folder.path("empty")], 1, "holds no .csv"),
            (start + [one, "--window", "10"], 1, "'run'"),
            (start + [gap, "--window", "10"], 1, "'x'"),
            (start + [hole, "--window", "10"], 1, "row 30 of the column 'x' is empty"),
            (start + [words], 1, "no columns of numbers"),
            (start + [data, "--window", "0"], 64, "--window"),
            (start + [data, "--seconds", "2"], 64, "--frequency"),
        ])
        #expect(
            try folder.names == ["empty", "hole.csv", "motion.csv", "nan.csv", "one.csv", "words.csv"],
            "nothing is left behind"
        )
    }
}
