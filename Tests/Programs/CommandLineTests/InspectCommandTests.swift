import Foundation
import MLFiles
import MLSpecification
import SwiftProtobuf
import TestSupport
import Testing

/// `coreml inspect` and `coreml plan` of models that learn, branch and loop.
struct InspectCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    private func write(_ model: SpecModel, _ name: String) throws -> String {
        try folder.write(Data(SpecificationReader.encode(model)), name)
    }

    private func learning(_ model: SpecModel) throws -> (text: String, json: [String: Any]) {
        let path = try write(model, "Model.mlmodel")
        let text = try coreml("inspect", path)
        #expect(text.status == 0, "\(text.errors)")
        let facts = try CommandFolder.last(try coreml("inspect", path, "--json"))
        return (text.output, facts["learning"] as? [String: Any] ?? [:])
    }

    @Test func networksSayHowTheyLearn() throws {
        let (text, json) = try learning(UpdatableModels.network())
        for line in [
            "layers         head (innerProduct)", "categorical cross-entropy of 'probabilities' against 'label'",
            "optimizer      SGD", "epochs         3 (1 to 1000)", "miniBatchSize  4 (1, 2, 3, 4, 5, 8, 1000)",
            "learningRate   0.5 (0.0 to 1e+30)", "momentum       0.25 (0.0 to 1.0)", "shuffle        false",
            "seed           7 (0 to 1000)",
        ] {
            #expect(text.contains(line), "\(line)\n\(text)")
        }
        #expect(json["optimizer"] as? String == "sgd")
        #expect((json["layers"] as? [[String: String]]) == [["name": "head", "kind": "innerProduct"]])
        let losses = try #require(json["losses"] as? [[String: String]])
        #expect(losses[0]["training_input"] == "label" && losses[0]["input"] == "probabilities")
        let parameters = try #require(json["parameters"] as? [String: [String: Any]])
        #expect(parameters["epochs"]?["default"] as? Int == 3 && parameters["epochs"]?["maximum"] as? Int == 1000)
        #expect(parameters["miniBatchSize"]?["values"] as? [Int] == [1, 2, 3, 4, 5, 8, 1000])
        #expect(parameters["learningRate"]?["maximum"] as? Double == 1e30)
        #expect(parameters["shuffle"]?["default"] as? Bool == false)
    }

    @Test func aPipelineNamesWhatLearns() throws {
        var adam = UpdatableModels.network()
        adam.description_p.input[0].name = "features"
        adam.description_p.trainingInput[0].name = "features"
        adam.neuralNetworkClassifier.layers[0].input = ["features"]
        adam.neuralNetworkClassifier.updateParams.optimizer.adamOptimizer = .with {
            $0.learningRate.defaultValue = 0.001
            $0.miniBatchSize.defaultValue = 16
            $0.beta1.defaultValue = 0.9
            $0.beta2.defaultValue = 0.999
            $0.eps.defaultValue = 1e-8
            $0.beta1.range.minValue = 0.5
            $0.beta1.range.maxValue = 0.99
        }
        let (text, json) = try learning(UpdatableModels.pipeline(UpdatableModels.extractor(), adam))
        #expect(text.contains("Learns in 'learner'") && text.contains("beta1          0.9 (0.5 to 0.99)"), "\(text)")
        #expect(text.contains("miniBatchSize  16\n"), "a range that is not stated is not invented: \(text)")
        #expect(json["model"] as? [String] == ["learner"])
        let parameters = try #require(json["parameters"] as? [String: [String: Any]])
        #expect(parameters["miniBatchSize"]?.count == 1)
    }

    @Test(arguments: [true, false])
    func neighboursSayTheirSettings(isUpdatable: Bool) throws {
        var model = UpdatableModels.neighbors(k: 5, isTree: true)
        model.isUpdatable = isUpdatable
        let (text, json) = try learning(model)
        for line in [
            isUpdatable ? "Learns" : "Neighbours", "numberOfNeighbors  5 (1 to 50)", "weighting          uniform",
            "index              k-d tree, leaves of up to 3 examples", "distance           squared Euclidean",
            "default label      unknown",
        ] {
            #expect(text.contains(line), "\(line)\n\(text)")
        }
        let neighbors = try #require(json["neighbors"] as? [String: Any])
        #expect(neighbors["leaf_size"] as? Int == 3 && neighbors["dimensions"] as? Int == 2)
        let parameters = try #require(json["parameters"] as? [String: [String: Int]])
        #expect(parameters["numberOfNeighbors"] == ["default": 5, "minimum": 1, "maximum": 50])
    }

    /// Contradictions of the format are reported; the rest is shown all the same.
    @Test func aDamagedParameterIsNamed() throws {
        var model = UpdatableModels.network()
        model.neuralNetworkClassifier.updateParams.epochs.defaultValue = 5000
        let (text, json) = try learning(model)
        #expect(text.contains("cannot be updated") && text.contains("'epochs' is 5000"), "\(text)")
        #expect(text.contains("head (innerProduct)"))
        #expect((json["cannot_be_updated"] as? String)?.contains("'epochs' is 5000") == true)
    }

    @Test func modelsThatDoNotLearnSayNothingOfIt() throws {
        let (text, json) = try learning(UpdatableModels.extractor())
        #expect(!text.contains("Learns") && json.isEmpty)
    }

    // MARK: Branches and loops

    private func layer(
        _ name: String,
        _ inputs: [String],
        _ outputs: [String],
        _ kind: SpecNeuralNetworkLayer.OneOf_Layer
    ) -> SpecNeuralNetworkLayer {
        .with {
            $0.name = name
            $0.input = inputs
            $0.output = outputs
            $0.layer = kind
        }
    }

    private func add(_ name: String, _ input: String, _ output: String, _ alpha: Float) -> SpecNeuralNetworkLayer {
        layer(name, [input], [output], .add(.with { $0.alpha = alpha }))
    }

    /// y = x + 1, then + 2 while y < 10; then − 1 or, where the sum is above 100, + 5 and × 2.
    private func looping() -> SpecModel {
        var loop = SpecLoopLayerParams()
        loop.conditionVar = "goes"
        loop.conditionNetwork.layers = [layer("test", ["y"], ["goes"], .lessThan(.with { $0.alpha = 10 }))]
        loop.bodyNetwork.layers = [add("step", "y", "y", 2)]
        var branch = SpecBranchLayerParams()
        branch.ifBranch.layers = [
            add("more", "y", "z", 5), layer("twice", ["z"], ["z"], .multiply(.with { $0.alpha = 2 })),
        ]
        branch.elseBranch.layers = [add("less", "y", "z", -1)]
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [UpdatableModels.array("x", [1])]
        model.description_p.output = [UpdatableModels.array("z", [1])]
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.layers = [
            add("start", "x", "y", 1), layer("loop", [], [], .loop(loop)),
            layer("large", ["y"], ["large"], .greaterThan(.with { $0.alpha = 100 })),
            layer("choice", ["large"], [], .branch(branch)),
        ]
        return model
    }

    @Test func operationsInsideBranchesAndLoopsAreCounted() throws {
        let path = try write(looping(), "Loop.mlmodel")
        let facts = try CommandFolder.last(try coreml("inspect", path, "--json"))
        #expect(
            facts["operations"] as? [String: Int]
                == ["add": 4, "multiply": 1, "loop": 1, "branch": 1, "lessThan": 1, "greaterThan": 1]
        )
        var program = SpecModel()
        program.specificationVersion = 9
        program.description_p.input = [UpdatableModels.array("x", [1])]
        program.mlProgram = try MILParser.program(
            Array(
                """
                program(1.3) { func main<ios18>(tensor<fp32, [1]> x) {
                    bool p = const()[val = bool(true)];
                    tensor<fp32, [1]> y = cond(pred = p) {
                        () { tensor<fp32, [1]> a = sin(x = x); } -> (a);
                        () { tensor<fp32, [1]> b = cos(x = x); tensor<fp32, [1]> c = cos(x = b); } -> (c);
                    };
                } -> (y); }
                """.utf8
            )
        )
        let other = try CommandFolder.last(try coreml("inspect", try write(program, "P.mlmodel"), "--json"))
        #expect(other["operations"] as? [String: Int] == ["cond": 1, "sin": 1, "cos": 2])
    }

    @Test func thePlanShowsBothArmsAndTheLoop() throws {
        let path = try write(looping(), "Loop.mlmodel")
        let run = try coreml("plan", path, "-i", "x=[2]")
        #expect(run.status == 0, "\(run.errors)")
        func line(_ start: String) -> String {
            run.output.split(separator: "\n").map(String.init).first { $0.hasPrefix("\(start) ") } ?? ""
        }
        func number(_ operation: String) throws -> Substring {
            let step = run.output.split(separator: "\n").first { $0.contains(" \(operation) ") }
            return try #require(step?.split(separator: " ").first, "\(run.output)")
        }
        let (loop, branch) = (try number("while_loop"), try number("cond"))
        // 3, 5, 7, 9, 11: four turns, and the condition once more.
        #expect(line("\(loop).condition").contains("run 5 times") && !line("\(loop).condition.0").isEmpty)
        #expect(line("\(loop).body").contains("run 4 times"), "\(run.output)")
        #expect(line("\(loop).body.0").contains("layer 'step'"), "\(run.output)")
        #expect(line("\(branch).true").contains("not run") && line("\(branch).false").contains("run once"))
        #expect(
            line("\(branch).true.0").contains("more") || line("\(branch).true.0").contains("twice"),
            "\(run.output)"
        )
        #expect(line("\(branch).false.0").contains("layer 'less'"), "\(run.output)")
        #expect(!run.output.contains("\n0 steps") && run.output.contains("when first run"), "\(run.output)")
    }

    @Test func aModelWithStatesIsPlanned() throws {
        var model = SpecModel()
        model.specificationVersion = 9
        model.mlProgram = try MILParser.program(
            Array(
                """
                program(1.3) { func main<ios18>(tensor<fp32, [2]> x, state<tensor<fp16, [2]>> s) {
                    tensor<fp16, [2]> a = read_state(input = s);
                    string half = const()[val = string("fp16")];
                    tensor<fp16, [2]> h = cast(x = x, dtype = half);
                    tensor<fp16, [2]> b = add(x = a, y = h);
                    write_state(input = s, data = b);
                    string full = const()[val = string("fp32")];
                    tensor<fp32, [2]> y = cast(x = b, dtype = full);
                } -> (y); }
                """.utf8
            )
        )
        model.description_p.input = [UpdatableModels.array("x", [2])]
        model.description_p.output = [UpdatableModels.array("y", [2])]
        model.description_p.state = [
            .with {
                $0.name = "s"
                $0.type.stateType.arrayType.dataType = .float16
                $0.type.stateType.arrayType.shape = [2]
            }
        ]
        let run = try coreml("plan", try write(model, "State.mlmodel"))
        #expect(run.status == 0 && run.output.contains("add"), "\(run.errors)\(run.output)")
    }
}
