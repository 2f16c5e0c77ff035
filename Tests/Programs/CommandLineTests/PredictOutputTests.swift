import Foundation
import Testing

/// The output of `coreml predict`: every output of every row, or an error that names a value that the format cannot
/// hold.
struct PredictOutputTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// Gives back a number, a label, an array, shares and a sequence.
    private func model() throws -> String {
        try folder.write(
            PredictModels.identity(
                PredictModels.number("price"),
                PredictModels.text("label"),
                PredictModels.array("x", [2]),
                PredictModels.shares("shares"),
                PredictModels.numbers("ids")
            ),
            "Same.mlmodel"
        )
    }

    private func rows() throws -> String {
        try folder.write(
            "price,label,x,shares,ids\n"
                + "0.1,\"a, b\",\"[1, 2.5]\",\"{\"\"cat\"\": 0.75, \"\"dog\"\": 0.25}\",\"[3, 4]\"\n"
                + ",\"say \"\"hi\"\"\",\"[3, 4]\",\"{\"\"cat\"\": 0.5}\",[]\n",
            "rows.csv"
        )
    }

    @Test func rowsBecomeATableThatReadsBack() throws {
        let (model, rows) = (try model(), try rows())
        let first = try coreml("predict", model, "--csv", rows, "-o", folder.path("a.csv"))
        #expect(first.status == 0 && first.output.isEmpty, "\(first.errors)")
        let table = String(decoding: try folder.data("a.csv"), as: UTF8.self)
        #expect(table.hasPrefix("price,label,x,shares,ids\n0.1,\"a, b\",\"[1,2.5]\","), "\(table)")
        let second = try coreml("predict", model, "--csv", folder.path("a.csv"), "--output", folder.path("b.csv"))
        #expect(second.status == 0, "\(second.errors)")
        #expect(try folder.data("a.csv") == folder.data("b.csv"))
    }

    @Test func rowsBecomeObjects() throws {
        let (model, rows) = (try model(), try rows())
        for name in ["a.jsonl", "a.json"] {
            let run = try coreml("predict", model, "--csv", rows, "-o", folder.path(name), "--json")
            #expect(run.status == 0, "\(run.errors)")
            let text = String(decoding: try folder.data(name), as: UTF8.self)
            let lines = name == "a.json" ? text : "[" + text.split(separator: "\n").joined(separator: ",") + "]"
            for list in [lines, run.output] {
                let objects = try #require(
                    try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]],
                    "\(list)"
                )
                #expect(objects.count == 2)
                #expect(objects[0]["price"] as? Double == 0.1 && objects[1]["price"] as? String == "nan")
                #expect(objects[1]["label"] as? String == "say \"hi\"" && objects[0]["ids"] as? [Int] == [3, 4])
            }
        }
    }

    @Test func rowsBecomeArrays() throws {
        let run = try coreml("predict", try model(), "--csv", try rows(), "-o", folder.path("a.npz"))
        #expect(run.status == 0, "\(run.errors)")
        let archive = try folder.data("a.npz")
        for (name, header) in [
            ("price", "'<f8', 'fortran_order': False, 'shape': (2, )"),
            ("label", "'<U8', 'fortran_order': False, 'shape': (2, )"),
            ("x", "'<f8', 'fortran_order': False, 'shape': (2, 2, )"),
            ("shares", "'<f8', 'fortran_order': False, 'shape': (2, 2, )"),
            ("shares.labels", "'<U3', 'fortran_order': False, 'shape': (2, )"),
            ("ids", "'<i8', 'fortran_order': False, 'shape': (2, )"),
            ("ids.lengths", "'<i8', 'fortran_order': False, 'shape': (2, )"),
        ] {
            let start = try #require(
                archive.range(of: Data("\(name).npy\u{93}NUMPY".unicodeScalars.map { UInt8($0.value) }))
            )
            let head = archive[start.upperBound..<archive.index(start.upperBound, offsetBy: 120)]
            #expect(head.range(of: Data(header.utf8)) != nil, "\(name): \(String(decoding: head, as: UTF8.self))")
        }
        // The inputs as NumPy reads them.
        let array = try folder.write(
            PredictModels.identity(PredictModels.array("x", [2])),
            "X.mlmodel"
        )
        let one = try coreml("predict", array, "-i", "x=[1, 2.5]", "-o", folder.path("x.npz"))
        #expect(one.status == 0, "\(one.errors)")
        let again = try coreml("predict", array, "-i", folder.path("x.npz"), "--json")
        #expect(again.output == "{\"x\":[1,2.5]}\n", "\(again.output)\(again.errors)")
    }

    @Test func everyOutputOfAClassifierIsInTheArchive() throws {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Fixtures/digits").path
        let pictures = "\(fixtures)/held-out"
        let run = try coreml(
            "predict",
            "\(fixtures)/Digits.mlmodel",
            "-i",
            "image=\(pictures)/3-0.png",
            "-o",
            folder.path("a.npz")
        )
        #expect(run.status == 0, "\(run.errors)")
        let archive = try folder.data("a.npz")
        for name in ["digit.npy", "probabilities.npy", "probabilities.labels.npy"] {
            #expect(archive.range(of: Data(name.utf8)) != nil, "\(name)")
        }
        // A folder of pictures, seen through a link, is a row for each.
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("linked"),
            withDestinationPath: pictures
        )
        let list = try coreml(
            "predict",
            "\(fixtures)/Digits.mlmodel",
            folder.path("linked"),
            "-o",
            folder.path("a.csv")
        )
        #expect(list.status == 0, "\(list.errors)")
        let lines = String(decoding: try folder.data("a.csv"), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 101 && lines[0] == "file,probabilities,digit", "\(lines[0])")
        let right = lines.dropFirst().filter { line in
            let cells = line.split(separator: ",")
            return cells[0].split(separator: "/").last?.prefix(1) == cells.last
        }
        #expect(right.count >= 95, "\(right.count)")
    }

    @Test func picturesAreWrittenWhateverTheForm() throws {
        let model = try folder.write(PredictModels.identity(PredictModels.picture("image")), "Picture.mlmodel")
        let pictures = try [folder.writePicture("in/a.png"), folder.writePicture("in/b.png")]
        let run = try coreml(arguments: ["predict", model] + pictures + ["-o", folder.path("out") + "/"])
        #expect(run.status == 0, "\(run.errors)")
        for name in ["out/a.png", "out/b.png"] {
            let extents = try CommandFolder.extents(ofPNG: folder.data(name))
            #expect(extents == (4, 3))
        }
        let one = try coreml("predict", model, "-i", "image=\(pictures[0])", "-o", folder.path("one.png"), "--json")
        #expect(one.status == 0, "\(one.errors)")
        #expect(try CommandFolder.extents(ofPNG: folder.data("one.png")).width == 4)
        let named = try CommandFolder.object(one.output)["image"] as? [String: Any]
        #expect(named?["path"] as? String == folder.path("one.png") && named?["height"] as? Int == 3, "\(one.output)")
        let lines = try coreml(arguments: ["predict", model] + pictures + ["-o", folder.path("rows.jsonl")])
        #expect(lines.status == 0, "\(lines.errors)")
        for line in String(decoding: try folder.data("rows.jsonl"), as: UTF8.self).split(separator: "\n") {
            let picture = try #require(try CommandFolder.object(line)["image"] as? [String: Any])
            let path = try #require(picture["path"] as? String)
            #expect(try CommandFolder.extents(ofPNG: folder.data(path)).width == 4, "\(path)")
        }
        let array = try coreml("predict", model, pictures[0], "-o", folder.path("pixels.npz"))
        #expect(array.status == 0, "\(array.errors)")
        let archive = try folder.data("pixels.npz")
        #expect(archive.range(of: Data("'shape': (3, 4, 4, )".utf8)) != nil)
        #expect(archive.range(of: Data([255, 0, 0, 255, 255, 0, 0, 255])) != nil, "red, green, blue and alpha")
    }

    @Test func whatAFormDoesNotHoldIsNamedBeforeAnythingIsWritten() throws {
        let model = try model()
        let picture = try folder.write(
            PredictModels.identity(PredictModels.picture("image"), PredictModels.number("score")),
            "Both.mlmodel"
        )
        let input = try folder.writePicture("a.png")
        let lists = try folder.write(PredictModels.identity(PredictModels.array("x", [])), "Lists.mlmodel")
        let uneven = try folder.write("x\n\"[1, 2]\"\n\"[1]\"\n", "uneven.csv")
        let before = try folder.names
        try CommandFolder.expectFailures([
            (["predict", model, "--csv", try rows(), "-o", folder.path("a.xml")], 64, ".csv, .json, .jsonl"),
            (
                ["predict", model, "--csv", try rows(), "-o", folder.path("masks") + "/"], 1,
                "does not hold the output 'price'"
            ),
            (
                ["predict", picture, "-i", "image=\(input)", "-i", "score=1", "-o", folder.path("b.png")], 1,
                "does not hold the output 'score'"
            ),
            (["predict", lists, "--csv", uneven, "-o", folder.path("b.npz")], 1, "the output 'x'"),
            (["predict", model, "--csv", try rows(), "-o", folder.path("none/b.csv")], 1, "none/b.csv"),
        ])
        #expect(try folder.names == (before + ["rows.csv"]).sorted())
    }

    @Test func aWrongRowIsNamedAndNothingIsLeft() throws {
        let model = try folder.write(PredictModels.line(), "X.mlmodel")
        let rows = (0..<3000).map { $0 == 2900 ? "\"[1, 2, 3]\"\n" : "\"[1, 2]\"\n" }.joined()
        let table = try folder.write("x\n" + rows, "rows.csv")
        for name in ["a.csv", "a.jsonl", "a.npz", "a.json"] {
            let run = try coreml("predict", model, "--csv", table, "-o", folder.path(name))
            #expect(run.status == 1 && run.errors.contains("2900"), "\(name): \(run.errors)")
        }
        #expect(try folder.names == ["X.mlmodel", "rows.csv"])
    }
}
