import MLCompiler
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
                try FileAccess.names(in: compiled) == ["metadata.json", "model.mil", "specification.bin", "weights"]
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
