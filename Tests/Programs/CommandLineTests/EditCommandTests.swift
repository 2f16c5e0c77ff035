import Foundation
import Testing

private let digits = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("Fixtures/digits").path

@Suite struct EditCommandTests {
    private func edited(_ arguments: String..., model: String = "\(digits)/Digits.mlmodel") throws -> (Outcome, String)
    {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mlmodel").path
        return (try coreml(arguments: ["edit", model, "--output", path] + arguments), path)
    }

    @Test func layersBecomeUpdatable() throws {
        let (run, path) = try edited(
            "--updatable",
            "linear_0,linear_1",
            "--optimizer",
            "adam",
            "--learning-rate",
            "0.001:0...0.1",
            "--epochs",
            "10:5,10",
            "--author",
            "me",
            "--json"
        )
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(run.status == 0, "\(run.errors)")
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(facts["updatable_layers"] as? [String] == ["linear_0", "linear_1"])
        #expect(facts["training_inputs"] as? [String] == ["image", "digit"])
        #expect(facts["updatable_here_only_because_of"] as? [String] == ["65"])
        let said = try edited("--updatable", "linear_0,linear_1")
        defer { try? FileManager.default.removeItem(atPath: said.1) }
        #expect(said.0.errors.contains("not propagate gradients through the layer '65' (softmaxNd): the model"))
        let inspected = try coreml("inspect", path)
        #expect(inspected.output.contains("me"))
        let picture = "image=\(digits)/held-out/7-0.png"
        let answers = try [path, "\(digits)/Digits.mlmodel"].map { try coreml("predict", $0, "-i", picture, "--json") }
        #expect(answers[0].output == answers[1].output && answers[0].status == 0)

        // A model that is updatable already can be changed piece by piece.
        let again = try edited("--epochs", "5:5,10", "--rename", "image=drawing", model: path)
        defer { try? FileManager.default.removeItem(atPath: again.1) }
        #expect(again.0.status == 0, "\(again.0.errors)")
        #expect(again.0.output.contains("Adam, learning rate 0.001 (0.0 to 0.1)"), "\(again.0.output)")
        #expect(again.0.output.contains("epochs   5 (5, 10)") && again.0.output.contains("drawing, digit"))
    }

    @Test func errorsSayWhatCouldBe() throws {
        for (arguments, text) in [
            (["--updatable", "65"], "can: input.1, input.7, input.13, linear_0, linear_1"),
            (["--updatable", "nothing"], "there is no layer 'nothing'"),
            (["--epochs", "3"], "name the layers that learn with --updatable"),
            (["--updatable", "linear_1", "--momentum", "0.5", "--optimizer", "adam"], "momentum belongs to"),
            (["--updatable", "linear_1", "--epochs", "3:4,5"], "the epochs is 3"),
            (["--rename", "picture=image"], "there is no input or output 'picture'"),
            (["--neighbors", "3"], "not a nearest-neighbours classifier"),
        ] {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mlmodel")
                .path
            let run = try coreml(arguments: ["edit", "\(digits)/Digits.mlmodel", "--output", path] + arguments)
            #expect(run.status == 1 && run.errors.contains(text), "\(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        let run = try coreml("edit", "\(digits)/Digits.mlmodel", "--output", "x.mlmodel", "--epochs", "two")
        #expect(run.status == 64)
    }
}
