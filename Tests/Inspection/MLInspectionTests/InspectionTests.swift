import MLFiles
import MLInspection
import MLNumerics
import MLSpecification
import SwiftProtobuf
import Testing

/// The description of a model.
struct InspectionTests {
    private typealias M = InspectedModels

    @Test func parametersOfAProgramAreItsFloatingPointTensors() throws {
        let file = try M.program(
            M.constant("w", [5, 7]) + M.constant("h", [5], "fp16") + "fp32 e = const()[val = fp32(0.1)]; "
                + "tensor<int32, [2]> s = const()[val = tensor<int32, [2]>([1, 15])]; "
                + "tensor<fp32, [3, 5]> l = linear(x = x, weight = w); tensor<fp32, [3, 5]> y = add(x = l, y = e);",
            inputs: [("x", [3, 7])]
        )
        let inspection = ModelInspection(file)
        let parameters = inspection.parameters
        #expect(parameters.parameters == 40 && parameters.bytes == 35 * 4 + 5 * 2)
        #expect(parameters.rows.map(\.storage.description) == ["float32", "float16"])
        #expect(parameters.compression == 160.0 / 150.0)
        #expect(inspection.histogram.map(\.kind).sorted() == ["add", "linear"])
        #expect(inspection.root.functions.map(\.opset) == ["ios18"])
    }

    @Test func compressedWeightsSayHowTheyAreStored() throws {
        let affine = try M.program(
            "tensor<fp32, [4]> w = constexpr_affine_dequantize()[axis = int32(0), "
                + "quantized_data = tensor<int8, [4]>([1, 2, -3, 4]), scale = fp32(0.5), zero_point = int8(0)]; "
                + "tensor<fp32, [4]> y = add(x = x, y = w);",
            inputs: [("x", [4])],
            opset: "ios16"
        )
        let tensors = affine.parameterTensors()
        #expect(tensors.map(\.storage.description) == ["linear int8"])
        #expect(tensors.map(\.count) == [4])
        #expect(try tensors.first?.values().values == [0.5, 1, -1.5, 2])
        let palette = try M.program(
            "tensor<uint2, [4]> i = const()[val = tensor<uint2, [4]>([3, 0, 1, 2])]; "
                + "tensor<fp32, [1, 4, 1]> t = const()[val = tensor<fp32, [1, 4, 1]>([[[10], [20], [30], [40]]])]; "
                + "tensor<fp32, [4]> w = constexpr_lut_to_dense(indices = i, lut = t); "
                + "tensor<fp32, [4]> y = add(x = x, y = w);",
            inputs: [("x", [4])]
        )
        let packed = palette.parameterTensors()
        #expect(packed.map(\.storage.description) == ["palette of 2 bits"])
        // Four indices in a byte, four entries of four bytes.
        #expect(packed.map(\.byteCount) == [1 + 16])
        #expect(try packed.first?.values().values == [40, 10, 20, 30])
    }

    @Test func blobsThatSeveralFunctionsUseCountOnce() throws {
        let (offset, bytes) = try M.weightFile(Tensor([1, 2, 3, 4] as [Float], shape: [4]))
        let blob =
            "tensor<fp32, [4]> w = const()[val = tensor<fp32, [4]>(BLOBFILE(path = string(\"@model_path/w.bin\"), "
            + "offset = uint64(\(offset))))]; tensor<fp32, [4]> y = add(x = x, y = w);"
        var model = SpecModel()
        model.specificationVersion = 9
        model.mlProgram = try MILParser.program(
            Array(
                """
                program(1.3) {
                func main<ios18>(tensor<fp32, [4]> x) { \(blob) } -> (y);
                func other<ios18>(tensor<fp32, [4]> x) { \(blob) } -> (y);
                }
                """.utf8
            )
        )
        let file = ModelFile(specification: model, blobs: ["@model_path/w.bin": bytes])
        let inspection = ModelInspection(file)
        #expect(inspection.parameters.parameters == 4 && inspection.parameters.bytes == 16)
        #expect(inspection.parameters.sharedTensors == 1)
        #expect(inspection.root.functions.map(\.name) == ["main", "other"])
        #expect(inspection.root.functions.map(\.parameterCount) == [4, 4])
        let facts = try #require(inspection.weightFiles.first)
        #expect(facts.blobs == 1 && facts.usedBlobs == 1 && facts.references == 2 && facts.failure == nil)
    }

    @Test func networksCountEveryWeightField() throws {
        let inspection = ModelInspection(ModelFile(specification: M.network()))
        #expect(inspection.parameters.parameters == 4 * 3 + 3 + 3 * 2 + 2)
        #expect(inspection.root.tensors.map(\.name) == ["first.weights", "first.bias", "last.weights", "last.bias"])
        var half = M.network()
        half.neuralNetwork.layers[0].innerProduct.weights = .with {
            $0.rawValue = SpecBytes.field([UInt8](repeating: 0b0001_1011, count: 3))
            $0.quantization.numberOfBits = 2
            $0.quantization.lookupTableQuantization.floatValue = [1, 2, 3, 4]
        }
        let packed = ModelInspection(ModelFile(specification: half)).root.tensors
        #expect(packed[0].storage.description == "palette of 2 bits" && packed[0].byteCount == 3 + 16)
        #expect(try packed[0].values().values == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4])
    }

    @Test func versionsAreThoseStatedAndThoseNeeded() throws {
        var model = M.network()
        model.specificationVersion = 8
        let inspection = ModelInspection(ModelFile(specification: model))
        #expect(inspection.statedSystems?.iOS == "17.0" && inspection.statedSystems?.visionOS == "1.0")
        #expect(inspection.neededVersion == 4)
        for version in Int32(1)...10 {
            model.specificationVersion = version
            #expect(ModelInspection(ModelFile(specification: model)).statedSystems != nil)
        }
    }

    @Test func pipelinesShowTheirTree() throws {
        var outer = SpecModel()
        outer.specificationVersion = 4
        outer.description_p.input = [M.array("x", [4])]
        outer.description_p.output = [M.array("y", [2])]
        var inner = outer
        inner.pipeline.models = [M.network()]
        outer.pipeline.models = [inner]
        outer.pipeline.names = ["inside"]
        let inspection = ModelInspection(ModelFile(specification: outer))
        #expect(inspection.root.stages.map(\.name) == ["inside"])
        #expect(inspection.root.stages.first?.stages.map(\.kind) == ["neuralNetwork"])
        #expect(inspection.parameters.parameters == 23)
        #expect(inspection.costs.count == 1)
        #expect(inspection.histogram.contains { $0.kind == "innerProduct" && $0.count == 2 })
    }

    @Test func labelsComeFromWhereverTheKindKeepsThem() {
        var tagger = SpecModel()
        tagger.wordTagger.stringTags.vector = ["noun", "verb"]
        #expect(ClassLabels(inside: tagger)?.texts == ["noun", "verb"])
        var neighbors = SpecModel()
        neighbors.kNearestNeighborsClassifier.int64ClassLabels.vector = [3, 1, 3]
        #expect(ClassLabels(inside: neighbors)?.texts == ["3", "1"])
        var pipeline = SpecModel()
        pipeline.pipeline.models = [tagger, SpecModel()]
        #expect(ClassLabels(inside: pipeline)?.texts == ["noun", "verb"])
        #expect(ClassLabels(inside: SpecModel()) == nil)
    }

    @Test func customClassesAndLinksAreNamed() {
        var network = M.network()
        network.neuralNetwork.layers[1].custom.className = "Bend"
        let inspection = ModelInspection(ModelFile(specification: network))
        #expect(inspection.root.customClasses == ["Bend"])
        guard case .failure(let error)? = inspection.root.cost else {
            Issue.record("what a class of the app computes cannot be counted")
            return
        }
        #expect("\(error)".contains("Bend"))
        var link = SpecModel()
        link.specificationVersion = 4
        link.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = "Extractor.mlmodelc"
        link.linkedModel.linkedModelFile.linkedModelSearchPath.defaultValue = ".."
        #expect(ModelInspection(ModelFile(specification: link)).root.link == "Extractor.mlmodelc in ..")
    }

    @Test func extentsThatNoIntegerHoldsDoNotEndTheProcess() throws {
        let file = try M.program(
            "tensor<fp32, [3]> y = sin(x = z);",
            inputs: [("x", [1 << 40, 1 << 40]), ("z", [3])],
            outputShape: [3]
        )
        let inspection = ModelInspection(file)
        #expect(inspection.costs.count == 1)
        #expect(ModelValidation.findings(of: file).contains { $0.message.contains("larger than any array") })
    }
}
