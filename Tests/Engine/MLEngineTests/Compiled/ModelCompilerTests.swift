import MLEngine
import MLFiles
import MLNumerics
import MLSpecification
import Testing

@Suite struct ModelCompilerTests {
    @Test func programKeepsSpecificationTextAndWeights() throws {
        try withTemporaryFolder { folder in
            let package = folder + "/adder.mlpackage"
            let weights = try weightFile()
            try ModelFile.writePackage(program(), weights: ["weight.bin": .bytes(weights)], to: package)
            let compiled = try ModelCompiler.compile(path: package, into: folder)
            #expect(compiled == folder + "/adder.mlmodelc")
            #expect(try ModelCompiler.compile(path: package, into: folder) == compiled)
            #expect(
                try FileAccess.names(in: compiled) == [
                    "compiled.bin", "metadata.json", "model.mil", "specification.bin", "weights",
                ]
            )
            #expect(try FileAccess.names(in: folder) == ["adder.mlmodelc", "adder.mlpackage"])
            try FileAccess.remove(package)

            let file = try ModelFile.open(path: compiled)
            #expect(file.form == .compiled)
            #expect(file.specification == program())
            let blob = try file.blob(fileName: "@model_path/weights/weight.bin", offset: 64)
            #expect(try blob.tensor(shape: [2]).values == [1, 2])
            let text = String(decoding: try FileAccess.read(compiled + "/model.mil"), as: UTF8.self)
            #expect(text.contains("w = const()[val = tensor<fp32, [2]>(BLOBFILE(path = string("))
            let metadata = try JSONReader.read(try FileAccess.read(compiled + "/metadata.json"))
            guard case .array(let list) = metadata else { return #expect(Bool(false)) }
            #expect(list[0]["modelType"]?["name"]?.string == "MLModelType_mlProgram")
            #expect(throws: ModelError.self) { try ModelCompiler.compile(path: compiled) }
        }
    }

    @Test func missingWeightsLeaveNothingBehind() throws {
        try withTemporaryFolder { folder in
            try ModelFile.writeModel(program(), to: folder + "/adder.mlmodel")
            #expect(throws: ModelError.self) {
                try ModelCompiler.compile(path: folder + "/adder.mlmodel", into: folder)
            }
            #expect(try FileAccess.names(in: folder) == ["adder.mlmodel"])
        }
    }

    @Test func pipelineInMemoryIsCompiled() throws {
        var pipeline = SpecModel()
        pipeline.specificationVersion = 9
        pipeline.pipeline.models = [program(), program()]
        let file = ModelFile(specification: pipeline, blobs: ["weight.bin": try weightFile()])
        let compiled = try ModelCompiler.compile(file, named: "both")
        defer { try? FileAccess.remove(FileAccess.folder(of: compiled)) }
        #expect(FileAccess.name(of: compiled) == "both.mlmodelc")
        let back = try ModelFile.open(path: compiled)
        #expect(back.specification == pipeline)
        let stage = back.stage(back.specification.stages[1], named: "second")
        #expect(try stage.blob(fileName: "@model_path/weights/weight.bin", offset: 64).elementCount == 2)
        #expect(FileAccess.kind(of: compiled + "/model1/model.mil") == .file)
    }

    /// The object in `metadata.json`, and the texts of a member that is a list of features.
    private func metadata(_ model: SpecModel, named name: String = "m") throws -> JSONValue {
        try withTemporaryFolder { folder in
            let compiled = try ModelCompiler.compile(ModelFile(specification: model), named: name, into: folder)
            let value = try JSONReader.read(try FileAccess.read(compiled + "/metadata.json"))
            guard case .array(let list) = value else { return .null }
            return try #require(list.first)
        }
    }

    private func element(_ value: JSONValue?, _ index: Int) -> JSONValue? {
        guard case .array(let list)? = value, list.indices.contains(index) else { return nil }
        return list[index]
    }

    @Test func metadataDescribesAnUpdatablePipeline() throws {
        var image = SpecFeatureDescription()
        image.name = "drawing"
        image.type.imageType.width = 28
        image.type.imageType.height = 28
        image.type.imageType.colorSpace = .grayscale
        var label = SpecFeatureDescription()
        label.name = "label"
        label.type.stringType = SpecStringFeatureType()
        var votes = SpecFeatureDescription()
        votes.name = "votes"
        votes.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        var layer = SpecNeuralNetworkLayer()
        layer.convolution.weights.floatValue = [1]
        var relu = SpecNeuralNetworkLayer()
        relu.activation.reLu = SpecActivationReLU()
        var network = SpecModel()
        network.neuralNetwork.layers = [layer, relu]
        var neighbors = SpecModel()
        neighbors.isUpdatable = true
        neighbors.kNearestNeighborsClassifier.numberOfNeighbors.defaultValue = 5
        neighbors.kNearestNeighborsClassifier.numberOfNeighbors.range.minValue = 1
        neighbors.kNearestNeighborsClassifier.numberOfNeighbors.range.maxValue = 1000
        neighbors.kNearestNeighborsClassifier.stringClassLabels.vector = ["cat", "dog"]
        var model = SpecModel()
        model.specificationVersion = 4
        model.isUpdatable = true
        model.description_p.input = [image]
        model.description_p.output = [label, votes]
        model.description_p.trainingInput = [image, label]
        model.description_p.predictedFeatureName = "label"
        model.pipelineClassifier.pipeline.models = [network, neighbors]

        let value = try metadata(model, named: "2 new-models")
        #expect(value["generatedClassName"]?.string == "_2_new_models")
        #expect(value["method"]?.string == "predict")
        #expect(value["modelType"]?["name"]?.string == "MLModelType_pipelineClassifier")
        let kinds = (0..<2).map { element(value["modelType"]?["structure"], $0)?["name"]?.string }
        #expect(kinds == ["MLModelType_neuralNetwork", "MLModelType_kNearestNeighborsClassifier"])
        #expect(value["classLabels"] == .array([.string("cat"), .string("dog")]))
        #expect(value["isUpdatable"]?.string == "1")
        #expect(value["updateParameters"] == .array([]))
        #expect(element(value["inputSchema"], 0)?["formattedType"]?.string == "Image (Grayscale 28 × 28)")
        #expect(element(value["inputSchema"], 0)?["isColor"]?.string == "0")
        #expect(element(value["outputSchema"], 0)?["formattedType"]?.string == "String")
        #expect(element(value["outputSchema"], 1)?["formattedType"]?.string == "Dictionary (String → Double)")
        #expect(element(value["trainingInputSchema"], 1)?["name"]?.string == "label")
        let parameter = element(value["modelParameters"], 0)
        #expect(parameter?["name"]?.string == "numberOfNeighbors")
        #expect(parameter?["scope"]?.string == "model1")
        #expect(parameter?["defaultValue"]?.string == "5")
        #expect(parameter?["allowedRange"]?.string == "[1, 1000]")
        #expect(value["storagePrecision"]?.string == "Float32")
        #expect(value["computePrecision"]?.string == "Float16")
        let layers = value["neuralNetworkLayerTypeHistogram"]
        #expect(layers == .object([.init("ActivationReLU", .integer(1)), .init("Convolution", .integer(1))]))
        #expect(value["availability"]?["macCatalyst"]?.string == "13.0")
    }

    @Test func metadataDescribesFlexibleShapesAndPrecisions() throws {
        var model = program()
        var feature = SpecFeatureDescription()
        feature.name = "x"
        feature.type.multiArrayType.dataType = .float32
        feature.type.multiArrayType.shape = [0, 80]
        var open = SpecSizeRange()
        open.upperBound = -1
        var fixed = SpecSizeRange()
        (fixed.lowerBound, fixed.upperBound) = (80, 80)
        feature.type.multiArrayType.shapeRange.sizeRanges = [open, fixed]
        var listed = SpecFeatureDescription()
        listed.name = "y"
        listed.type.multiArrayType.dataType = .float16
        listed.type.multiArrayType.shape = [1, 2]
        listed.type.multiArrayType.enumeratedShapes.shapes = [[1, 2], [1, 4]].map { (shape: [Int64]) in
            var result = SpecArrayFeatureType.Shape()
            result.shape = shape
            return result
        }
        model.description_p.input = [feature, listed]
        try withTemporaryFolder { folder in
            let file = ModelFile(specification: model, blobs: ["weight.bin": try weightFile()])
            let compiled = try ModelCompiler.compile(file, named: "m", into: folder)
            let list = try JSONReader.read(try FileAccess.read(compiled + "/metadata.json"))
            let value = try #require(element(list, 0))
            let x = element(value["inputSchema"], 0)
            #expect(x?["formattedType"]?.string == "MultiArray (Float32 0 × 80)")
            #expect(x?["shapeFlexibility"]?.string == "0... × 80")
            #expect(x?["shapeRange"]?.string == "[[0, -1], [80, 80]]")
            let y = element(value["inputSchema"], 1)
            #expect(y?["shapeFlexibility"]?.string == "1 × 2 | 1 × 4")
            #expect(y?["enumeratedShapes"]?.string == "[[1, 2], [1, 4]]")
            #expect(value["storagePrecision"]?.string == "Float32")
            #expect(value["classLabels"] == nil)
            #expect(value["modelParameters"] == .array([]))
        }
    }

    private func program() -> SpecModel {
        var type = MILValueType()
        type.tensorType.dataType = .float32
        type.tensorType.rank = 1
        var dimension = MILDimension()
        dimension.constant.size = 2
        type.tensorType.dimensions = [dimension]
        var value = MILValue()
        value.type = type
        value.blobFileValue.fileName = "@model_path/weights/weight.bin"
        value.blobFileValue.offset = 64
        var output = MILNamedValueType()
        output.name = "w"
        output.type = type
        var constant = MILOperation()
        constant.type = "const"
        constant.outputs = [output]
        constant.attributes = ["val": value]
        var block = MILBlock()
        block.operations = [constant]
        block.outputs = ["w"]
        var function = MILFunction()
        function.opset = "CoreML8"
        function.blockSpecializations = ["CoreML8": block]
        var model = SpecModel()
        model.specificationVersion = 9
        model.mlProgram.functions = ["main": function]
        return model
    }

    private func weightFile() throws -> [UInt8] {
        try withTemporaryFolder { folder in
            let writer = try WeightFileWriter(path: folder + "/w")
            _ = try writer.append(Tensor([1, 2] as [Float], shape: [2]))
            try writer.finish()
            return try FileAccess.read(folder + "/w")
        }
    }

    private func withTemporaryFolder<R>(_ body: (String) throws -> R) throws -> R {
        let folder = try FileAccess.makeTemporaryFolder("compiler-tests")
        defer { try? FileAccess.remove(folder) }
        return try body(folder)
    }
}
