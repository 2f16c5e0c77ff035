import Foundation
import MLFiles
import MLSpecification
import TestSupport
import Testing

/// `coreml update` from the outside.
struct UpdateCommandTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("update-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func write(_ model: SpecModel, _ name: String) throws -> String {
        try Data(SpecificationReader.encode(model)).write(to: folder.appendingPathComponent(name))
        return path(name)
    }

    private func write(_ text: String, _ name: String) throws -> String {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        return path(name)
    }

    private func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }

    private func lines(_ count: Int) -> String {
        (0..<count).map { index in
            #"{"x": [\#(index % 3), \#(index % 7)], "label": "\#(["a", "b", "c"][index % 3])"}"#
        }.joined(separator: "\n")
    }

    @Test func csvAndJSONLinesTeachAClassifier() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try write(UpdatableModels.neighbors(k: 1), "Points.mlmodel")
        let csv = try write("x,label\n\"[0, 0]\",low\n\"[9, 9]\",high\n", "points.csv")
        let lines = try write("{\"x\": [5, 5], \"label\": \"middle\"}\n\n", "more.jsonl")
        let run = try coreml("update", model, csv, lines)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("3 examples"))
        let answer = try coreml("predict", model, "-i", "x=[5.5, 5.2]", "--json")
        #expect(answer.output.contains(#""label":"middle""#), "\(answer.output)\(answer.errors)")
    }

    @Test func epochsAndTheEndAreJSON() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try write(UpdatableModels.network(), "Net.mlmodel")
        let before = try bytes("Net.mlmodel")
        let data = try write(lines(10), "data.jsonl")
        let run = try coreml(
            "update",
            model,
            data,
            "--json",
            "--epochs",
            "2",
            "--learning-rate",
            "0.01",
            "--seed",
            "3",
            "-o",
            path("New.mlmodelc")
        )
        #expect(run.status == 0, "\(run.errors)")
        let objects = try run.output.split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(objects.count == 3)
        #expect(objects[1]?["epoch"] as? Int == 1)
        #expect(objects[2]?["examples"] as? Int == 10)
        #expect(try bytes("Net.mlmodel") == before)
        #expect(try coreml("predict", path("New.mlmodelc"), "-i", "x=[1, 2]").status == 0)
    }

    @Test func mistakesAreNamedAndLeaveTheModel() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try write(UpdatableModels.network(), "Net.mlmodel")
        let before = try bytes("Net.mlmodel")
        let good = try write(lines(4), "good.jsonl")
        func failure(_ arguments: String...) throws -> String {
            let run = try coreml(arguments: ["update", model] + arguments)
            #expect(run.status == 1, "\(run.output)")
            return run.errors
        }
        #expect(try failure(write("{\"x\": [1, 2]}", "bad.jsonl")).contains("line 1 has no 'label'"))
        #expect(try failure(write("{\"x\": [1, 2, 3], \"label\": \"a\"}", "wide.jsonl")).contains("example 0"))
        #expect(try failure(write("{\"x\": [1, 2], \"label\": \"q\"}", "label.jsonl")).contains("q"))
        #expect(try failure(write("", "empty.jsonl")).contains("no training data"))
        #expect(try failure(path("nothing.csv")).contains("nothing.csv"))
        #expect(try failure(good, "--epochs", "5000").contains("1 … 1000"))
        #expect(try coreml("update", model).status == 64)
        #expect(try bytes("Net.mlmodel") == before)
    }

    /// Runs that use their time up, one mini-batch each, end in the same bytes as one run.
    @Test func timeBudgetsAndCheckpoints() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try write(UpdatableModels.network(epochs: 2, shuffles: true), "Net.mlmodel")
        let before = try bytes("Net.mlmodel")
        let data = try write(lines(10), "data.jsonl")
        #expect(try coreml("update", model, data, "-o", path("Whole.mlmodel")).status == 0)
        var statuses: [Int32] = []
        repeat {
            let run = try coreml(
                "update",
                model,
                data,
                "-o",
                path("Pieces.mlmodel"),
                "--checkpoint",
                path("state"),
                "--time-budget",
                "0.000001"
            )
            statuses.append(run.status)
            #expect(try bytes("Net.mlmodel") == before)
        } while statuses.last == 75 && statuses.count < 50
        // Begin, six mini-batches, two ends of epochs; the last run finds nothing left to do.
        #expect(statuses == [Int32](repeating: 75, count: 9) + [0])
        #expect(try bytes("Pieces.mlmodel") == bytes("Whole.mlmodel"))
        #expect(!FileManager.default.fileExists(atPath: path("state")))
        let run = try coreml("update", model, data, "-o", path("Never.mlmodel"), "--time-budget", "0.000001")
        #expect(run.status == 75 && run.errors.contains("unchanged"))
        #expect(!FileManager.default.fileExists(atPath: path("Never.mlmodel")))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func signalsEndTheRunWithACheckpoint(signal: Int32) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try write(UpdatableModels.network(epochs: 1000, miniBatch: 1), "Net.mlmodel")
        let before = try bytes("Net.mlmodel")
        let data = try write(lines(3000), "data.jsonl")
        let process = Process()
        process.executableURL = builtTool
        process.arguments = ["update", model, data, "--checkpoint", path("state")]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        // It has begun when the first epoch is reported.
        _ = errors.firstLine()
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 128 + signal)
        #expect(try bytes("Net.mlmodel") == before)
        let next = try coreml("update", model, data, "--checkpoint", path("state"), "--time-budget", "0.2")
        #expect(next.status == 75 && next.errors.contains("continuing in epoch"), "\(next.errors)")
    }

    /// A file that may not grow stands for a full disk.
    @Test func aFullDiskLeavesTheOldModel() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try write(UpdatableModels.neighbors(), "Points.mlmodel")
        let before = try bytes("Points.mlmodel")
        let data = try write(lines(2000), "data.jsonl")
        for target in [model, path("New.mlmodelc")] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [
                "-c", "ulimit -f 8; exec \"$@\"", "sh", builtTool.path, "update", model, data, "-o", target,
            ]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 1)
            #expect(try bytes("Points.mlmodel") == before)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["Points.mlmodel", "data.jsonl"])
    }
}
