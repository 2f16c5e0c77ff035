import Foundation
import MLFiles
import MLSpecification
import SwiftProtobuf
import TestSupport
import Testing

/// `coreml inspect` of costs and storage, `diff`, `validate` and `test`.
struct CheckCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// y = 2 x + 1 for two numbers, and its label.
    private func network(_ weight: Float = 2) -> SpecModel {
        .with {
            $0.specificationVersion = 4
            $0.description_p.input = [UpdatableModels.array("x", [2])]
            $0.description_p.output = [UpdatableModels.array("y", [2])]
            $0.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
            $0.neuralNetwork.layers = [
                UpdatableModels.product("double", "x", "y", [weight, 0, 0, 2], [1, 1], isUpdatable: false)
            ]
        }
    }

    private func write(_ model: SpecModel, _ name: String) throws -> String {
        try folder.write(Data(SpecificationReader.encode(model)), name)
    }

    // MARK: inspect

    @Test func inspectionCountsParametersAndOperations() throws {
        let path = try write(network(), "M.mlmodel")
        let run = try coreml("inspect", path)
        #expect(run.status == 0, "\(run.errors)")
        for line in [
            "runs on iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0 and later", "6 parameters in 24 bytes",
            "10 floating-point operations, 4 multiply–adds",
        ] {
            #expect(run.output.contains(line), "\(line)\n\(run.output)")
        }
        let compiled = folder.path("M.mlmodelc")
        #expect(try coreml("compile", path, "--output", compiled).status == 0)
        for form in [path, compiled] {
            let facts = try CommandFolder.last(try coreml("inspect", form, "--json"))
            let parameters = try #require(facts["parameters"] as? [String: Any])
            #expect(parameters["count"] as? Int == 6 && parameters["compression"] as? Double == 1)
            let compute = try #require((facts["compute"] as? [[String: Any]])?.first)
            #expect(compute["multiply_adds"] as? Double == 4 && compute["floating_point_operations"] as? Double == 10)
            #expect((facts["minimum_systems"] as? [String: String])?["watchOS"] == "6.0")
            #expect(facts["needed_specification"] as? Int == 4)
        }
    }

    // MARK: diff

    @Test func differencesHaveTheirExitStatus() throws {
        let (a, b) = (try write(network(), "A.mlmodel"), try write(network(3), "B.mlmodel"))
        let same = try coreml("diff", a, a)
        #expect(same.status == 0 && same.output.contains("no difference"), "\(same.output)\(same.errors)")
        let other = try coreml("diff", a, b)
        #expect(other.status == 1, "\(other.errors)")
        #expect(other.output.contains("same interface, same structure, 1 of 2 tensors changed"), "\(other.output)")
        #expect(other.output.contains("double.weights [2, 2]"))
        let facts = try coreml("diff", a, b, "--json")
        let weights = try #require(try CommandFolder.last(facts)["weights"] as? [[String: Any]])
        #expect(facts.status == 1 && weights.count == 2 && weights[0]["largest_difference"] as? Double == 1)
        let compiled = folder.path("B.mlmodelc")
        #expect(try coreml("compile", b, "--output", compiled).status == 0)
        #expect(try coreml("diff", b, compiled).status == 0, "the form is no difference")
        try CommandFolder.expectFailures([
            (["diff", a, folder.path("none.mlmodel")], 2, "no such file"), (["diff", a], 64, "after"),
            (["diff", a, b, "--limit", "-1"], 64, "--limit"),
        ])
    }

    // MARK: validate

    @Test func whatIsWrongIsListedWithTheExitStatus() throws {
        let sound = try coreml("validate", try write(network(), "M.mlmodel"), "--run")
        #expect(sound.status == 0 && sound.output.contains("nothing is wrong"), "\(sound.output)")
        var model = network()
        model.neuralNetwork.layers[0].innerProduct.weights.floatValue.removeLast()
        model.neuralNetwork.layers[0].output = ["z"]
        let path = try write(model, "Wrong.mlmodel")
        let run = try coreml("validate", path)
        #expect(run.status == 1, "\(run.errors)")
        #expect(
            run.output.contains("error: layer 'double' (innerProduct) › weights: 3 values are stored"),
            "\(run.output)"
        )
        #expect(run.output.contains("error: output 'y': no layer makes it"), "\(run.output)")
        let json = try coreml("validate", path, "--json")
        let line = try #require(json.output.split(separator: "\n").last)
        let list = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]])
        #expect(json.status == 1 && list.count >= 2 && list.allSatisfy { $0["severity"] is String })
        model = network()
        model.specificationVersion = 1
        let warned = try coreml("validate", try write(model, "Old.mlmodel"))
        #expect(warned.status == 0 && warned.output.contains("warning: specificationVersion"), "\(warned.output)")
        let damaged = try folder.write(Data([10, 200]), "Damaged.mlmodel")
        #expect(try coreml("validate", damaged).status == 1)
    }

    // MARK: test

    @Test func vectorsPassOrFailWithTheirExitStatus() throws {
        let model = try write(network(), "M.mlmodel")
        let good = try folder.write(#"[{"inputs": {"x": [1, 2]}, "outputs": {"y": [3, 5]}}]"#, "good.json")
        let passed = try coreml("test", model, "--vectors", good)
        #expect(passed.status == 0 && passed.output.contains("1 of 1 case passed"), "\(passed.output)\(passed.errors)")
        let bad = try folder.write(
            #"[{"name": "near <1>", "inputs": {"x": [1, 2]}, "outputs": {"y": [3.25, 5]}},"#
                + #" {"name": "misshapen", "inputs": {"x": [1, 2, 3]}, "outputs": {"y": [3, 5]}}]"#,
            "bad.json"
        )
        let report = folder.path("report.xml")
        let failed = try coreml("test", model, "--vectors", bad, "--junit", report)
        #expect(failed.status == 1, "\(failed.errors)")
        #expect(
            failed.output.contains("failed: near <1>\n  output 'y' at [0]: expected 3.25, got 3 (off by 0.25"),
            "\(failed.output)"
        )
        #expect(failed.output.contains("failed: misshapen") && failed.output.contains("0 of 2 cases passed"))
        let xml = String(decoding: try folder.data("report.xml"), as: UTF8.self)
        #expect(xml.contains("tests=\"2\" failures=\"1\" errors=\"1\"") && xml.contains("near &lt;1&gt;"), "\(xml)")
        let json = try coreml("test", model, "--vectors", bad, "--json")
        #expect(json.status == 1)
        let facts = try CommandFolder.last(json)
        #expect(facts["passed"] as? Int == 0 && facts["count"] as? Int == 2)
        for tolerance in [["--tolerance", "0.5"], ["--tolerance", "y=0.3,0"]] {
            let loose = try coreml(arguments: ["test", model, "--vectors", bad] + tolerance)
            #expect(loose.output.contains("1 of 2 cases passed"), "\(loose.output)")
        }
        try CommandFolder.expectFailures([
            (["test", model, "--vectors", folder.path("none.npz")], 2, "no such file"),
            (["test", folder.path("none.mlmodel"), "--vectors", good], 2, "no such file"),
            (["test", model], 64, "--vectors"),
            (["test", model, "--vectors", good, "--tolerance", "wide"], 64, "wide"),
            (
                ["test", model, "--vectors", try folder.write(#"[{"inputs": {"x": [1, 2]}}]"#, "no.json")], 2,
                "has an expected output"
            ),
        ])
    }

    @Test(arguments: ["cases.npz", "cases.jsonl"])
    func recordedVectorsHoldAChangedModelToAccount(_ name: String) throws {
        let (model, changed) = (try write(network(), "M.mlmodel"), try write(network(2.5), "Changed.mlmodel"))
        let vectors = folder.path(name)
        let recorded = try coreml("test", model, "--record", vectors, "--cases", "5")
        #expect(recorded.status == 0 && recorded.output.contains("5 cases written"), "\(recorded.errors)")
        #expect(try coreml("test", model, "--vectors", vectors, "--tolerance", "0", "--threads", "1").status == 0)
        let compiled = folder.path("M.mlmodelc")
        #expect(try coreml("compile", model, "--output", compiled).status == 0)
        #expect(try coreml("test", compiled, "--vectors", vectors).status == 0)
        let run = try coreml("test", changed, "--vectors", vectors)
        #expect(run.status == 1 && run.output.contains("output 'y'"), "\(run.output)")
    }

    @Test func stepsShareAStateAndFunctionsAreChosen() throws {
        var model = SpecModel()
        model.specificationVersion = 9
        model.mlProgram = try MILParser.program(
            Array(
                """
                program(1.3) {
                func main<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> s) {
                    tensor<fp16, [2]> a = read_state(input = s);
                    tensor<fp16, [2]> y = add(x = a, y = x);
                    write_state(input = s, data = y);
                } -> (y);
                func negate<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> s) {
                    tensor<fp16, [2]> a = read_state(input = s);
                    tensor<fp16, [2]> y = sub(x = a, y = x);
                    write_state(input = s, data = y);
                } -> (y);
                }
                """.utf8
            )
        )
        let state = SpecFeatureDescription.with {
            $0.name = "s"
            $0.type.stateType.arrayType.dataType = .float16
            $0.type.stateType.arrayType.shape = [2]
        }
        model.description_p.functions = ["main", "negate"].map { name in
            .with {
                $0.name = name
                $0.input = [UpdatableModels.array("x", [2], .float16)]
                $0.output = [UpdatableModels.array("y", [2], .float16)]
                $0.state = [state]
            }
        }
        model.description_p.defaultFunctionName = "main"
        let path = try write(model, "State.mlmodel")
        let vectors = try folder.write(
            #"[{"steps": [{"inputs": {"x": [1, 2]}, "outputs": {"y": [1, 2]}}, {"inputs": {"x": [1, 2]}, "outputs": {"y": [2, 4]}}]}]"#,
            "cases.json"
        )
        let run = try coreml("test", path, "--vectors", vectors)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let other = try coreml("test", path, "--vectors", vectors, "--function", "negate")
        #expect(
            other.status == 1 && other.output.contains("step 0: output 'y' at [1]: expected 2, got -2"),
            "\(other.output)"
        )
        let sound = try coreml("validate", path, "--run")
        #expect(sound.status == 0, "\(sound.output)")
        let facts = try CommandFolder.last(try coreml("inspect", path, "--json"))
        let functions = try #require(facts["program_functions"] as? [[String: Any]])
        #expect(functions.map { $0["name"] as? String } == ["main", "negate"])
        #expect(functions[0]["states"] as? [String] == ["s"] && functions[0]["default"] as? Bool == true)
    }
}
