import Foundation
import Testing

/// `coreml train` and `coreml evaluate` from the outside.
struct TrainCommandTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("train-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func write(_ text: String, _ name: String) throws -> String {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        return path(name)
    }

    /// Houses whose price follows from size and place; every tenth has no size.
    private func houses(_ count: Int, from start: Int = 0) -> String {
        let rows = (start..<start + count).map { index -> String in
            let size = 40 + index * 37 % 160
            let place = ["town", "suburb", "village"][index * 7 % 3]
            let price = size * (place == "town" ? 9 : place == "suburb" ? 6 : 3) + index % 5
            let kind = price > 700 ? "dear" : "cheap"
            return "\(index % 10 == 9 ? "" : "\(size)"),\(place),\(index % 4),\(price),\(kind)"
        }
        return "size,place,rooms,price,kind\n" + rows.joined(separator: "\n") + "\n"
    }

    private func object(_ line: some StringProtocol) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func aRegressorIsTrainedReportedAndEvaluated() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try write(houses(300), "houses.csv")
        let held = try write(houses(60, from: 300), "held.csv")
        let (model, page) = (path("Houses.mlmodel"), path("report.html"))
        let run = try coreml(
            "train",
            "tabular",
            data,
            "--target",
            "price",
            "--features",
            "size",
            "place",
            "rooms",
            "--algorithm",
            "boosted-tree",
            "--iterations",
            "40",
            "--validation",
            held,
            "-o",
            model,
            "--report",
            page
        )
        #expect(run.status == 0, "\(run.errors)")
        for part in ["boosted-tree regressor of 'price'", "root mean squared error", "validation", "iterations", "┤"] {
            #expect(run.output.contains(part), "\(part) is not in \(run.output)")
        }
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.contains("data:image/svg+xml") && html.contains("maximum error") && html.hasSuffix("</html>\n"))

        let evaluation = try coreml("evaluate", model, held, "--json")
        #expect(evaluation.status == 0, "\(evaluation.errors)")
        let scores = try #require(try object(evaluation.output)["scores"] as? [String: Double])
        let error = try #require(scores["rootMeanSquaredError"])
        #expect(error < 200 && error > 0, "prices deviate by 400, and a tenth of the houses has no size")
        #expect(try #require(scores["maximumError"]) >= error)
    }

    @Test func classesAreCounted() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try write(houses(200), "houses.csv")
        let model = path("Kind.mlmodel")
        let run = try coreml(
            "train",
            "tabular",
            data,
            "--target",
            "kind",
            "--algorithm",
            "decision-tree",
            "--validation-share",
            "0",
            "--json",
            "-o",
            model
        )
        #expect(run.status == 0, "\(run.errors)")
        let last = try object(try #require(run.output.split(separator: "\n").last))
        #expect(last["labels"] as? [String] == ["cheap", "dear"])
        #expect((last["training"] as? [String: Double])?["accuracy"] == 1, "the price tells the kind")
        #expect(last["validation"] == nil)
        let confusion = try #require(last["confusion"] as? [[Int]])
        #expect(confusion.joined().reduce(0, +) == 200)
        let evaluation = try coreml("evaluate", model, data)
        #expect(evaluation.status == 0, "\(evaluation.errors)")
        #expect(evaluation.output.contains("100.0 %") && evaluation.output.contains("precision"))
    }

    /// Rows for predictions are read as training reads them, and what is wrong in them is named.
    @Test func rowsForPredictionsAreTables() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try write(houses(60), "houses.csv")
        let model = path("Kind.mlmodel")
        let training = try coreml(
            arguments: [
                "train", "tabular", data, "--target", "kind", "--algorithm", "decision-tree", "--validation-share", "0",
                "-o", model,
            ]
        )
        #expect(training.status == 0, "\(training.errors)")
        func score(_ run: Outcome) throws -> Double {
            #expect(run.status == 0, "\(run.errors)")
            return try #require((try object(run.output)["scores"] as? [String: Double])?["accuracy"])
        }
        let accuracy = try score(try coreml("evaluate", model, data, "--json"))
        let tabs = try write(houses(60).replacingOccurrences(of: ",", with: "\t"), "houses.tsv")
        let semicolons = try write(houses(60).replacingOccurrences(of: ",", with: ";"), "semicolons.csv")
        for run in [
            try coreml("evaluate", model, tabs, "--json"),
            try coreml("evaluate", model, semicolons, "--delimiter", ";", "--json"),
        ] {
            #expect(try score(run) == accuracy)
        }
        let header = "size,place,rooms,price,kind\n50,town,1,9,cheap\n"
        for (text, part) in [
            (header + "50,town,many,9,cheap\n", "row 1, column 'rooms': 'many'"),
            (header + "50,town\n", "row 1 has 2 columns, not 5"), (header + "50,to\"wn,1,9,cheap\n", "row 1, column 1"),
            ("size,place\n50,town\n", "no column"), ("", "no header line"),
        ] {
            let wrong = try write(text, "wrong.csv")
            for run in [try coreml("evaluate", model, wrong), try coreml("predict", model, "--csv", wrong)] {
                #expect(
                    run.status == 1 && run.errors.contains("wrong.csv") && run.errors.contains(part),
                    "\(run.errors)"
                )
            }
        }
    }

    @Test func theBestOfSeveralIsKept() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try write(houses(200), "houses.csv")
        let run = try coreml("train", "tabular", data, "--target", "kind", "-o", path("Best.mlpackage"))
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("the best of those tried"))
        #expect(FileManager.default.fileExists(atPath: path("Best.mlpackage/Manifest.json")))
        #expect(run.output.contains("chosen: by 5-fold cross-validation"))
        for algorithm in ["decision-tree", "boosted-tree", "random-forest"] {
            #expect(run.output.contains("\n  \(algorithm) "), "\(algorithm) is not among those tried: \(run.output)")
        }
    }

    @Test func whatWasTriedIsToldAndGoneOnWith() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try write(houses(120), "houses.csv")
        func train(_ model: String, _ more: String...) throws -> Outcome {
            try coreml(arguments: ["train", "tabular", data, "--target", "price", "-o", path(model)] + more)
        }
        let first = try train("First.mlmodel", "--json", "--resume", path("state"))
        #expect(first.status == 0, "\(first.errors)")
        let end = try object(try #require(first.output.split(separator: "\n").last))
        let tried = try #require(end["tried"] as? [[String: Any]])
        #expect(tried.first?["chosen"] as? Bool == true)
        let best = try #require(tried.first?["algorithm"] as? String)
        #expect(end["algorithm"] as? String == "\(best) regressor")
        // Some sizes are missing, which rules linear models out.
        let algorithms = Set(tried.compactMap { $0["algorithm"] as? String })
        #expect(algorithms == ["boosted-tree", "random-forest", "decision-tree"])
        #expect(tried.allSatisfy { $0["rootMeanSquaredError"] is Double && $0["folds"] is Int })
        #expect((end["crossValidation"] as? [String: Int])?["folds"] == 5)
        // All trials are in the session's folder: nothing is tried again.
        let second = try train("Second.mlmodel", "--json", "--resume", path("state"))
        #expect(second.output.split(separator: "\n").count == 1, "\(second.output)")
        #expect(
            try Data(contentsOf: folder.appendingPathComponent("First.mlmodel"))
                == Data(contentsOf: folder.appendingPathComponent("Second.mlmodel"))
        )
    }

    @Test func aSessionIsGoneOnWith() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try write(houses(200), "houses.csv")
        func train(_ model: String, _ more: String...) throws -> Outcome {
            try coreml(
                arguments: [
                    "train", "tabular", data, "--target", "price", "--algorithm", "boosted-tree", "-o", path(model),
                ] + more
            )
        }
        #expect(try train("Whole.mlmodel", "--iterations", "12").status == 0)
        #expect(try train("Half.mlmodel", "--iterations", "6", "--resume", path("state")).status == 0)
        let rest = try train("Resumed.mlmodel", "--iterations", "12", "--resume", path("state"), "--json")
        #expect(rest.status == 0, "\(rest.errors)")
        let first = try object(try #require(rest.output.split(separator: "\n").first))
        #expect(first["iteration"] as? Int == 7)
        #expect(
            try Data(contentsOf: folder.appendingPathComponent("Whole.mlmodel"))
                == Data(contentsOf: folder.appendingPathComponent("Resumed.mlmodel"))
        )
    }

    @Test func mistakesAreNamed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try write(houses(50), "houses.csv")
        let ragged = try write("a,b\n1,2\n3\n", "ragged.csv")
        let empty = try write("", "empty.csv")
        let header = try write("a,b\n", "header.csv")
        let quote = try write("a,b\n1,\"2\n3,4\n", "quote.csv")
        let cut = try write("[{\"a\":1,", "cut.json")
        let unlabelled = try write("a,b\n1,x\n2,\n3,y\n", "unlabelled.csv")
        let start = ["train", "tabular"]
        for (arguments, status, part) in [
            (start + [data, "--target", "cost"], 1, "size, place, rooms, price, kind"),
            (start + [path("missing.csv"), "--target", "price"], 1, "missing.csv"),
            (start + [ragged, "--target", "a"], 1, "ragged.csv"),
            (start + [empty, "--target", "a"], 1, "empty.csv is empty"),
            (start + [header, "--target", "a"], 1, "header.csv has column names, but no rows"),
            (start + [quote, "--target", "a"], 1, "double the quotes inside quoted cells"),
            (start + [cut, "--target", "a"], 1, "cut.json: the JSON is malformed"),
            (start + [unlabelled, "--target", "b"], 1, "'b' of row 1 is missing; remove"),
            (start + [data, "--target", "kind", "--algorithm", "linear"], 1, "logistic"),
            (start + [data, "--target", "price", "--algorithm", "logistic"], 1, "--classifier"),
            (start + [data, "--target", "price", "--depth", "3"], 64, "--algorithm"),
            (["train", "recommender", data, "--seed", "3"], 64, "--validation-share"),
            (start + [data, "--target", "price", "--algorithm", "linear", "--depth", "3"], 64, "linear"),
            (start + [data, "--target", "price", "-o", path("x.txt")], 64, ".mlmodel"),
        ] as [([String], Int32, String)] {
            let run = try coreml(arguments: arguments)
            #expect(run.status == status, "\(arguments): \(run.errors)")
            #expect(run.errors.contains(part), "\(arguments): \(run.errors)")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "cut.json", "empty.csv", "header.csv", "houses.csv", "quote.csv", "ragged.csv", "unlabelled.csv",
            ]
        )
    }
}
