import Foundation
import Testing

/// `coreml train sound` and what `coreml evaluate` and `coreml predict` make of its models.
struct TrainSoundCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// The samples of a hum with noise, between -1 and 1, at 16 kHz.
    private func samples(_ frequency: Double, seconds: Double, seed: UInt64) -> [Double] {
        var state = seed
        return (0..<Int(seconds * 16_000)).map { index in
            state = state &* 48271 % 2_147_483_647
            let noise = Double(state) / 2_147_483_647 - 0.5
            return 0.3 * sin(2 * .pi * frequency * Double(index) / 16_000) + 0.03 * noise
        }
    }

    /// The samples as a WAV file of 16 bits.
    private func wav(_ samples: [Double]) -> Data {
        var data = Data("RIFF".utf8)
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        append(UInt32(36 + 2 * samples.count))
        data += Data("WAVEfmt ".utf8)
        append(UInt32(16))
        for value in [UInt16(1), 1] { append(value) }
        for value in [UInt32(16_000), 32_000] { append(value) }
        for value in [UInt16(2), 16] { append(value) }
        data += Data("data".utf8)
        append(UInt32(2 * samples.count))
        for sample in samples { append(Int16((sample * 32_767).rounded())) }
        return data
    }

    /// Eight files of two sounds, under a name of their own each.
    private func write(_ name: (_ label: String, _ number: Int) -> String, from start: Int = 0) throws {
        for (label, frequency) in [("low", 220.0), ("high", 1400.0)] {
            for number in start..<start + 4 {
                let pitch = frequency * (1 + 0.02 * Double(number))
                try folder.write(wav(samples(pitch, seconds: 1.6, seed: UInt64(number + 1))), name(label, number))
            }
        }
    }

    @Test func aFolderIsLearntFromEvaluatedAndAsked() throws {
        try write { "train/\($0)/\($1).wav" }
        try write({ "held/\($0)/\($1).wav" }, from: 4)
        let model = folder.path("Sounds.mlmodel")
        let run = try coreml(
            "train",
            "sound",
            folder.path("train"),
            "--validation",
            folder.path("held"),
            "--iterations",
            "5",
            "--report",
            folder.path("report.html"),
            "-o",
            model
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("8 files") && run.output.contains("validation"))
        let page = String(decoding: try folder.data("report.html"), as: UTF8.self)
        #expect(page.contains("data:image/svg+xml") && page.contains("accuracy") && page.contains("<th>high</th>"))
        let evaluation = try coreml("evaluate", model, folder.path("held"), "--overlap", "0", "--json")
        let figures = try CommandFolder.object(evaluation.output)
        #expect(figures["rows"] as? Int == 8, "a window a file: \(evaluation.errors)")
        #expect((figures["scores"] as? [String: Double])?["accuracy"] == 1)
        let window = Array(samples(225, seconds: 1, seed: 9).prefix(15_600))
        let file = try folder.write(JSONSerialization.data(withJSONObject: window), "window.json")
        let answer = try coreml("predict", model, "-i", "audioSamples=\(file)", "--json")
        #expect(try CommandFolder.object(answer.output)["classLabel"] as? String == "low", "\(answer.errors)")

        let one = try coreml("predict", model, folder.path("held/low/5.wav"), "--json")
        #expect(try CommandFolder.object(one.output)["classLabel"] as? String == "low", "\(one.errors)")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("linked"),
            withDestinationPath: folder.path("held")
        )
        let files = try coreml("predict", model, folder.path("linked"), "-o", folder.path("files.csv"))
        #expect(files.status == 0, "\(files.errors)")
        let rows = String(decoding: try folder.data("files.csv"), as: UTF8.self).split(separator: "\n")
        #expect(rows.first == "file,classLabel,classLabelProbs" && rows.count == 9, "\(rows)")
        #expect(rows.dropFirst().allSatisfy { $0.contains("/high/") == $0.contains(",high,") })
        let windows = try coreml(
            "predict",
            model,
            folder.path("held"),
            "--windows",
            "--overlap",
            "0.5",
            "-o",
            folder.path("windows.csv")
        )
        #expect(windows.status == 0, "\(windows.errors)")
        let lines = String(decoding: try folder.data("windows.csv"), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 17 && lines[0].hasPrefix("file,start_seconds,end_seconds,classLabel"), "\(lines)")
        #expect(lines[2].contains(",0.4875,1.4625,"), "\(lines[2])")
        try CommandFolder.expectFailures([
            (["predict", model, try folder.write("none", "noise.wav")], 1, "noise.wav"),
            (["predict", model, folder.path("train"), "--overlap", "1"], 64, "--overlap"),
            (["predict", model, folder.path("train"), "--recording", "x"], 1, "--recording does not apply"),
        ])
    }

    @Test func aTableAndNamesOfFilesGiveTheSame() throws {
        try write { "clips/\($0).\($1).wav" }
        let labels = ["high", "low"]
        let rows = labels.flatMap { label in (0..<4).map { "clips/\(label).\($0).wav,\(label)\n" } }
        let table = try folder.write("clip,sound\n" + rows.joined(), "clips.csv")
        let options = ["--iterations", "2", "--validation-share", "0", "--json"]
        let first = try coreml(
            arguments: ["train", "sound", table, "--file", "clip", "--label", "sound", "-o", folder.path("A.mlmodel")]
                + options
        )
        #expect(first.status == 0, "\(first.errors)")
        #expect(try CommandFolder.last(first)["files"] as? Int == 8)
        let second = try coreml(
            arguments: ["train", "sound", folder.path("clips"), "-o", folder.path("B.mlpackage")] + options
        )
        #expect(second.status == 0, "\(second.errors)")
        for model in ["A.mlmodel", "B.mlpackage"] {
            let run = try coreml("evaluate", folder.path(model), table, "--file", "clip", "--label", "sound", "--json")
            #expect(
                (try CommandFolder.object(run.output)["scores"] as? [String: Double])?["accuracy"] == 1,
                "\(run.errors)"
            )
        }
    }

    @Test func mistakesAreNamed() throws {
        try write { "train/\($0)/\($1).wav" }
        let table = try folder.write("path,label\nnone.wav,low\n", "clips.csv")
        let noise = try folder.write("this is no sound", "noise/low/a.wav")
        try folder.write(wav(samples(200, seconds: 1, seed: 1)), "one/low/a.wav")
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.path("bare/low"), withIntermediateDirectories: true)
        let start = ["train", "sound"]
        try CommandFolder.expectFailures([
            (start + [folder.path("missing")], 1, "missing"),
            (start + [folder.path("empty")], 1, "empty"),
            (start + [folder.path("bare")], 1, "no folders with files"),
            (start + [folder.path("noise")], 1, noise),
            (start + [folder.path("one")], 1, "'low'"),
            (start + [table], 1, "no column 'file'; its columns are path, label; name the column with --file"),
            (start + [table, "--file", "path"], 1, "none.wav"),
            (start + [folder.path("train"), "--overlap", "1"], 64, "--overlap"),
            (start + [folder.path("train"), "--layers", "0"], 64, "--layers"),
            (start + [folder.path("train"), "--extractor", folder.path("none.mlmodel")], 1, "none.mlmodel"),
            (start + [folder.path("train"), "--extractor-output", "x"], 64, "--extractor, which is missing"),
        ])
        #expect(try folder.names == ["bare", "clips.csv", "empty", "noise", "one", "train"])
    }
}
