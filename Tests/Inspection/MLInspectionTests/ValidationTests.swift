import MLEngine
import MLFiles
import MLInspection
import MLNumerics
import MLSpecification
import SwiftProtobuf
import TestSupport
import Testing

/// The defects of a model, one by one.
struct ValidationTests {
    private typealias M = InspectedModels

    private func findings(_ model: SpecModel) -> [ModelFinding] {
        ModelValidation.findings(of: ModelFile(specification: model))
    }

    /// The network after one defect is put in, and what must be said of it.
    struct Defect: CustomTestStringConvertible, Sendable {
        let location: String
        let message: String
        var severity = ModelFinding.Severity.error
        let edit: @Sendable (inout SpecModel) -> Void

        var testDescription: String { message }
    }

    @Test func soundModelsHaveNothingWrong() throws {
        #expect(findings(M.network()).isEmpty)
        #expect(ModelValidation.findings(of: ModelFile(specification: M.network()), runs: true).isEmpty)
        for model in [
            UpdatableModels.network(), UpdatableModels.neighbors(k: 3, isTree: true),
            UpdatableModels.pipeline(UpdatableModels.extractor(), UpdatableModels.neighbors(k: 3, isTree: false)),
        ] {
            #expect(findings(model).filter { $0.severity == .error }.isEmpty, "\(findings(model))")
        }
        let program = try M.program("tensor<fp32, [3]> y = sin(x = x);", inputs: [("x", [3])], outputShape: [3])
        #expect(ModelValidation.findings(of: program, runs: true).isEmpty)
    }

    private static let interfaceDefects: [Defect] = [
        Defect(location: "input[0]", message: "has no name") { $0.description_p.input[0].name = "" },
        Defect(location: "input 'x'", message: "two features have this name") {
            $0.description_p.input.append($0.description_p.input[0])
        },
        Defect(location: "output 'y'", message: "has no type") { $0.description_p.output[0].type = SpecFeatureType() },
        Defect(location: "shape", message: "extent 0 is not positive") {
            $0.description_p.input[0].type.multiArrayType.shape = [0, 4]
        },
        Defect(location: "shape", message: "larger than any array") {
            $0.description_p.input[0].type.multiArrayType.shape = [1 << 40, 1 << 40]
        },
        Defect(location: "dataType", message: "does not state the type") {
            $0.description_p.input[0].type.multiArrayType.dataType = .invalidArrayDataType
        },
        Defect(location: "dataType", message: "77 is not a type") {
            $0.description_p.input[0].type.multiArrayType.dataType = .UNRECOGNIZED(77)
        },
        Defect(location: "shapeRange[0]", message: "from 5 to 2 is empty") {
            $0.description_p.input[0].type.multiArrayType.shapeRange.sizeRanges = [
                .with {
                    $0.lowerBound = 5
                    $0.upperBound = 2
                }
            ]
        },
        Defect(location: "enumeratedShapes", message: "list of shapes is empty") {
            $0.description_p.input[0].type.multiArrayType.enumeratedShapes = .init()
        },
        Defect(location: "enumeratedShapes", message: "[4] is not among those", severity: .warning) {
            $0.description_p.input[0].type.multiArrayType.enumeratedShapes.shapes = [.with { $0.shape = [5] }]
        },
        Defect(location: "input 'picture'", message: "0 × 3") {
            $0.description_p.input.append(
                .with {
                    $0.name = "picture"
                    $0.type.imageType.height = 3
                    $0.type.imageType.colorSpace = .rgb
                }
            )
        },
        Defect(location: "colorSpace", message: "does not state its color layout") {
            $0.description_p.input.append(
                .with {
                    $0.name = "picture"
                    $0.type.imageType.width = 3
                    $0.type.imageType.height = 3
                }
            )
        },
        Defect(location: "input 'bag'", message: "type of its keys") {
            $0.description_p.input.append(
                .with {
                    $0.name = "bag"
                    $0.type.dictionaryType = .init()
                    $0.type.isOptional = true
                }
            )
        },
        Defect(location: "state 's'", message: "not that of a state") {
            $0.description_p.state = [M.array("s", [2])]
        },
        Defect(location: "predictedFeatureName", message: "no output is called 'label'") {
            $0.description_p.predictedFeatureName = "label"
        },
        Defect(location: "defaultFunctionName", message: "no function is called 'second'") {
            $0.description_p.functions = [
                .with {
                    $0.name = "first"
                    $0.output = [M.array("y", [2])]
                }
            ]
            $0.description_p.defaultFunctionName = "second"
        },
        Defect(location: "specificationVersion", message: "its features came with 4", severity: .warning) {
            $0.specificationVersion = 1
        },
        Defect(location: "metadata", message: "\"balloon\" is not a kind of preview", severity: .warning) {
            $0.description_p.metadata.userDefined["com.apple.coreml.model.preview.type"] = "balloon"
        },
        Defect(location: "metadata", message: "not an object in JSON", severity: .warning) {
            $0.description_p.metadata.userDefined["com.apple.coreml.model.preview.parameters"] = "{"
        },
        Defect(location: "metadata", message: "2 labels, but 1 colors", severity: .warning) {
            $0.description_p.metadata.userDefined["com.apple.coreml.model.preview.parameters"] =
                #"{"labels": ["a", "b"], "colors": ["red"]}"#
        },
    ]

    private static let networkDefects: [Defect] = [
        Defect(location: "layers", message: "has no layers") { $0.neuralNetwork.layers = [] },
        Defect(location: "layers[1]", message: "the layer has no name", severity: .warning) {
            $0.neuralNetwork.layers[1].name = ""
        },
        Defect(location: "layer 'first'", message: "two layers have this name", severity: .warning) {
            $0.neuralNetwork.layers[1].name = "first"
        },
        Defect(location: "layer 'bend'", message: "its input 'nothing' is made by no layer") {
            $0.neuralNetwork.layers[1].input = ["nothing"]
        },
        Defect(location: "output 'y'", message: "no layer makes it") { $0.neuralNetwork.layers[2].output = ["z"] },
        Defect(location: "layer 'bend'", message: "kind of layer is not known") {
            $0.neuralNetwork.layers[1].layer = nil
        },
        Defect(location: "layer 'first'", message: "11 values are stored where the shape [3, 4] needs 12") {
            $0.neuralNetwork.layers[0].innerProduct.weights.floatValue.removeLast()
        },
        Defect(location: "bias", message: "no values are stored") {
            $0.neuralNetwork.layers[0].innerProduct.bias = SpecWeightParams()
        },
        Defect(location: "weights", message: "in 2 forms") {
            $0.neuralNetwork.layers[0].innerProduct.weights.float16Value = SpecBytes.field([0, 0])
        },
        Defect(location: "weights", message: "quantised weights of 9 bits") {
            $0.neuralNetwork.layers[0].innerProduct.weights = .with {
                $0.rawValue = SpecBytes.field([1, 2, 3])
                $0.quantization.numberOfBits = 9
            }
        },
        Defect(location: "weights", message: "a table of 3 entries for indices of 2 bits") {
            $0.neuralNetwork.layers[0].innerProduct.weights = .with {
                $0.rawValue = SpecBytes.field([1, 2, 3])
                $0.quantization.numberOfBits = 2
                $0.quantization.lookupTableQuantization.floatValue = [1, 2, 3]
            }
        },
        Defect(location: "weights", message: "not finite", severity: .warning) {
            $0.neuralNetwork.layers[0].innerProduct.weights.floatValue[3] = .nan
        },
        Defect(location: "preprocessing[0]", message: "no input 'image'") {
            $0.neuralNetwork.preprocessing = [
                .with {
                    $0.featureName = "image"
                    $0.scaler.channelScale = 1
                }
            ]
        },
        Defect(location: "", message: "the app's own Bend", severity: .warning) {
            $0.neuralNetwork.layers[1].custom.className = "Bend"
        },
        Defect(location: "layer 'bend'", message: "names no class") { $0.neuralNetwork.layers[1].custom = .init() },
        Defect(location: "update", message: "no layer is updatable") {
            $0.isUpdatable = true
            $0.description_p.trainingInput = $0.description_p.input
        },
        Defect(location: "trainingInput", message: "features of a training example") { $0.isUpdatable = true },
    ]

    @Test(arguments: interfaceDefects + networkDefects)
    func aDefectIsNamedWithItsPlace(_ defect: Defect) throws {
        var model = M.network()
        defect.edit(&model)
        let found = findings(model)
        #expect(
            found.contains {
                $0.severity == defect.severity && $0.message.contains(defect.message)
                    && (defect.location.isEmpty || $0.location.contains { $0.contains(defect.location) })
            },
            "\(found.map(\.description).joined(separator: "\n"))"
        )
    }

    @Test func classifiersNeedLabelsThatFit() throws {
        var model = UpdatableModels.network()
        model.isUpdatable = false
        model.neuralNetworkClassifier.stringClassLabels.vector.append("one more")
        #expect(findings(model).contains { $0.severity == .error && $0.message.contains("labels for") })
        model.neuralNetworkClassifier.stringClassLabels.vector = []
        #expect(findings(model).contains { $0.message.contains("has no labels") })
        model.neuralNetworkClassifier.int64ClassLabels.vector = [1, 2, 2]
        let found = findings(model)
        #expect(found.contains { $0.severity == .warning && $0.message.contains("such as '2'") }, "\(found)")
        #expect(found.contains { $0.message.contains("the labels are integers, but the output is a string") })
    }

    @Test func updateParametersOutOfRangeAreNamed() throws {
        var model = UpdatableModels.network()
        model.neuralNetworkClassifier.updateParams.epochs.defaultValue = 5000
        let found = findings(model)
        #expect(found.contains { $0.location.first == "update" && $0.message.contains("5000") }, "\(found)")
    }

    // MARK: Programs

    @Test func everyOperationThatIsWrongIsNamed() throws {
        let file = try M.program(
            "tensor<fp32, [3]> a = teleport(x = x); tensor<fp32, [4]> b = sin(x = x); "
                + "tensor<fp32, [3]> c = cos(x = nowhere); tensor<fp32, [3]> d = sin(x = x, speed = x); "
                + "tensor<fp32, [3]> y = add(x = a, y = c);",
            inputs: [("x", [3])],
            outputShape: [3]
        )
        let found = ModelValidation.findings(of: file)
        func says(_ location: String, _ message: String) -> Bool {
            found.contains { $0.location.contains { $0.contains(location) } && $0.message.contains(message) }
        }
        #expect(says("'a' (teleport)", "is not supported"), "\(found)")
        #expect(says("'b' (sin)", "declares 'b' as tensor<fp32, [4]>, but it is tensor<fp32, [3]>"), "\(found)")
        #expect(says("'c' (cos)", "'nowhere', which nothing before it makes"), "\(found)")
        #expect(says("'d' (sin)", "'speed'"), "\(found)")
        #expect(!found.contains { $0.location.contains { $0.contains("'y' (add)") } }, "what is right is not blamed")
    }

    @Test func blobsThatDoNotFitAreNamed() throws {
        let (offset, bytes) = try M.weightFile(Tensor([1, 2, 3, 4] as [Float], shape: [4]))
        func findings(_ shape: Int, _ offset: UInt64, _ type: String = "fp32", _ name: String = "w.bin") throws
            -> String
        {
            let tensor = "tensor<\(type), [\(shape)]>"
            let file = try M.program(
                "\(tensor) w = const()[val = \(tensor)(BLOBFILE(path = string(\"@model_path/\(name)\"), "
                    + "offset = uint64(\(offset))))]; tensor<fp32, [\(shape)]> y = add(x = x, y = w);",
                inputs: [("x", [shape])],
                outputShape: [Int64(shape)],
                blobs: ["@model_path/w.bin": bytes]
            )
            return ModelValidation.findings(of: file).map(\.description).joined(separator: "\n")
        }
        #expect(try findings(4, offset).isEmpty)
        #expect(try findings(5, offset).contains("takes 5 elements, but the weight file holds 4"))
        #expect(try findings(4, offset + 64).contains("blob at"))
        #expect(try findings(4, 1 << 40).contains("no blob can be described"))
        #expect(try findings(4, offset, "fp16").contains("holds fp32 where the program says fp16"))
        #expect(try findings(4, offset, "fp32", "other/v.bin").contains("is missing"))
        #expect(try findings(4, offset, "fp32", "../w.bin").contains("leads out of the model"))
    }

    @Test func functionsAndInterfacesMustAgree() throws {
        var model = try M.program(
            "tensor<fp32, [3]> y = sin(x = x);",
            inputs: [("x", [3])],
            outputShape: [3]
        ).specification
        func message(_ edit: (inout SpecModel) -> Void) -> String {
            var copy = model
            edit(&copy)
            return findings(copy).map(\.description).joined(separator: "\n")
        }
        #expect(message { _ in }.isEmpty)
        #expect(
            message { $0.description_p.input[0].type.multiArrayType.shape = [4] }.contains("the function takes tensor")
        )
        #expect(message { $0.description_p.input[0].name = "z" }.contains("description does not list it"))
        #expect(message { $0.description_p.input.append(M.array("z", [1])) }.contains("the function does not take it"))
        #expect(message { $0.description_p.output.append(M.array("z", [1])) }.contains("the function does not give it"))
        #expect(message { $0.description_p.defaultFunctionName = "other" }.contains("no function 'other'"))
        let newer = message { $0.mlProgram.functions["main"]?.opset = "CoreML99" }
        #expect(newer.contains("operation set 'CoreML99' is not known"))
        let bodiless = message { model in
            let block = model.mlProgram.functions["main"]?.blockSpecializations["CoreML8"]
            model.mlProgram.functions["main"]?.blockSpecializations = ["CoreML7": block ?? .init()]
        }
        #expect(bodiless.contains("no body for its operation set"))
        model.specificationVersion = 6
        #expect(message { _ in }.contains("came with 9"))
    }

    // MARK: Pipelines

    @Test func connectionsOfAPipelineAreChecked() throws {
        let sound = UpdatableModels.pipeline(
            UpdatableModels.extractor(),
            UpdatableModels.neighbors(k: 3, isTree: false)
        )
        func messages(_ edit: (inout SpecModel) -> Void) -> String {
            var model = sound
            edit(&model)
            return findings(model).map(\.description).joined(separator: "\n")
        }
        func stages(_ model: inout SpecModel, _ edit: (inout [SpecModel]) -> Void) {
            var stages = model.stages
            edit(&stages)
            model.setStages(stages)
        }
        let unfed = messages { stages(&$0) { $0[1].description_p.input[0].name = "elsewhere" } }
        #expect(unfed.contains("model 'learner'") && unfed.contains("nothing gives it"), "\(unfed)")
        #expect(
            messages { $0.description_p.output.append(M.array("more", [1])) }.contains(
                "no model of the pipeline makes it"
            )
        )
        #expect(
            messages { stages(&$0) { $0[1].description_p.input[0].type.stringType = .init() } }
                .contains("it takes string, but")
        )
        #expect(messages { stages(&$0) { $0[0].specificationVersion = 9 } }.contains("is newer than the pipeline's"))
    }

    // MARK: Files

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = try FileAccess.makeTemporaryFolder("validation")
        defer { try? FileAccess.remove(folder) }
        try body(folder)
    }

    @Test func filesThatAreNoModelsSaySo() throws {
        try withFolder { folder in
            func findings(_ bytes: [UInt8]) throws -> String {
                let path = folder + "/M.mlmodel"
                try FileAccess.write(bytes, to: path)
                return ModelValidation.findings(at: path).map(\.description).joined(separator: "\n")
            }
            #expect(try findings([]).contains("empty"))
            #expect(try findings([0x50, 0x4B, 3, 4, 0, 0]).contains("ZIP"))
            let bytes = try SpecificationReader.encode(M.network())
            #expect(try findings(bytes).isEmpty)
            let cut = try findings(Array(bytes.dropLast(5)))
            #expect(cut.contains("damaged at byte") && cut.contains("neuralNetwork"), "\(cut)")
            #expect(try findings([8, 99, 0x12, 0]).contains("specification version is 99"))
            #expect(ModelValidation.findings(at: folder + "/none").count == 1)
            #expect(ModelValidation.findings(at: folder).count == 1)
        }
    }

    @Test func everythingMissingInAPackageIsNamed() throws {
        try withFolder { folder in
            let package = folder + "/M.mlpackage"
            try FileAccess.makeFolder(package + "/Data/com.apple.CoreML")
            let root = PackageManifest.Item(
                identifier: "A",
                name: "model.mlmodel",
                author: "",
                description: "",
                path: "com.apple.CoreML/model.mlmodel"
            )
            var items = [root]
            for name in ["weights", "more"] {
                items.append(
                    PackageManifest.Item(identifier: name, name: name, author: "", description: "", path: "x/\(name)")
                )
            }
            try FileAccess.write(
                SpecificationReader.encode(M.network()),
                to: package + "/Data/com.apple.CoreML/model.mlmodel"
            )
            try FileAccess.write(
                PackageManifest(items: items, rootIdentifier: "A").json,
                to: package + "/Manifest.json"
            )
            let missing = ModelValidation.findings(at: package)
            #expect(missing.count == 2 && missing.allSatisfy { $0.message.contains("is missing") }, "\(missing)")
            try FileAccess.write(
                PackageManifest(items: [root], rootIdentifier: "B").json,
                to: package + "/Manifest.json"
            )
            #expect(ModelValidation.findings(at: package).map(\.message).joined().contains("identifier B is not among"))
            try FileAccess.write(
                PackageManifest(items: [root], rootIdentifier: "A").json,
                to: package + "/Manifest.json"
            )
            #expect(ModelValidation.findings(at: package).isEmpty)
            try FileAccess.write("x", to: package + "/Data/notes.txt")
            #expect(ModelValidation.findings(at: package).map(\.severity) == [.warning])
            try FileAccess.write("{", to: package + "/Manifest.json")
            #expect(ModelValidation.findings(at: package).count == 1)
        }
    }

    /// Bytes changed at random: never a trap, and a finding whenever the model does not load.
    @Test(arguments: 0..<4)
    func damagedFilesAreNeverCalledSound(_ seed: Int) throws {
        let program = try M.program(
            M.constant("w", [4, 3])
                + "tensor<fp32, [2, 4]> l = linear(x = x, weight = w); tensor<fp32, [2, 4]> y = relu(x = l);",
            inputs: [("x", [2, 3])],
            outputShape: [2, 4]
        ).specification
        let models = [
            M.network(), program, UpdatableModels.network(),
            UpdatableModels.pipeline(UpdatableModels.extractor(), UpdatableModels.neighbors(k: 3, isTree: true)),
        ]
        var generator = SplitMix64(seed: UInt64(seed))
        try withFolder { folder in
            let path = folder + "/M.mlmodel"
            let sound = try SpecificationReader.encode(models[seed])
            for _ in 0..<150 {
                var bytes = sound
                for _ in 0...(generator.next() % 4) {
                    let location = Int(generator.next() % UInt64(bytes.count))
                    switch generator.next() % 3 {
                    case 0: bytes[location] ^= 1 << UInt8(generator.next() % 8)
                    case 1: bytes[location] = UInt8(truncatingIfNeeded: generator.next())
                    default: bytes.remove(at: location)
                    }
                }
                try FileAccess.write(bytes, to: path)
                let found = ModelValidation.findings(at: path, runs: true)
                let refusal: ModelError? = {
                    do throws(ModelError) {
                        _ = try EngineLoader.load(try ModelFile.open(path: path))
                        return nil
                    } catch { return error }
                }()
                if let refusal { #expect(!found.isEmpty, "refused with: \(refusal)") }
            }
        }
    }
}
