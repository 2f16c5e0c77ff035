import CoreML
import CoreMLExtras
import Foundation
import MLFiles
import MLSpecification
import Testing

/// Pipelines of ML programs, each with weights in a file `weights/weight.bin`.
@Suite struct ProgramPipelineTests {
    private static func feature(_ name: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.shape = [3]
        feature.type.multiArrayType.dataType = .float32
        return feature
    }

    /// Writes a package of `output = input * factors`, whose factors are in the weight file.
    private static func package(
        _ folder: String,
        _ input: String,
        _ output: String,
        factors: [Float]
    ) throws -> ModelSpecification {
        let path = "\(folder)/\(output).bin"
        let writer = try WeightFileWriter(path: path)
        let offset = try writer.append(.float32, elementCount: factors.count, factors.span.bytes)
        try writer.finish()
        let text = """
            program(1.0) {
              func main<ios15>(tensor<fp32, [3]> \(input)) {
                tensor<fp32, [3]> factors = const()[val = tensor<fp32, [3]>(BLOBFILE(
                  path = string("@model_path/weights/weight.bin"), offset = uint64(\(offset))))];
                tensor<fp32, [3]> \(output) = mul(x = \(input), y = factors);
              } -> (\(output));
            }
            """
        var specification = SpecModel()
        specification.mlProgram = try MILParser.program(Array(text.utf8))
        specification.description_p.input = [feature(input)]
        specification.description_p.output = [feature(output)]
        specification.specificationVersion = SpecificationVersion.minimum(specification)
        let package = "\(folder)/\(output).mlpackage"
        try ModelFile.writePackage(specification, weights: ["weight.bin": .path(path)], to: package)
        return try ModelSpecification(contentsOf: URL(fileURLWithPath: package))
    }

    private static func answer(_ model: MLModel, _ output: String) throws -> [Double] {
        let input = try MLDictionaryFeatureProvider(dictionary: ["x": MLMultiArray([1, 2, 3] as [Float])])
        let array = try #require(try model.prediction(from: input).featureValue(for: output)?.multiArrayValue)
        return (0..<array.count).map { array[$0].doubleValue }
    }

    @Test func everyProgramFindsItsWeights() throws {
        let folder = try FileAccess.makeTemporaryFolder("pipeline")
        defer { try? FileAccess.remove(folder) }
        var inner = PipelineBuilder()
        try inner.append(try Self.package(folder, "x", "y", factors: [10, 20, 30]), named: "first")
        try inner.append(try Self.package(folder, "y", "z", factors: [0.5, 0.25, 2]), named: "second")
        // A pipeline within a pipeline.
        var builder = PipelineBuilder()
        try builder.append(try inner.finished(), named: "both")
        try builder.append(try Self.package(folder, "z", "w", factors: [1, 3, -1]), named: "third")
        let pipeline = try builder.finished()
        let expected: [Double] = [5, 30, -180]
        #expect(try Self.answer(try pipeline.model(), "w") == expected)
        #expect(pipeline.specificationVersion == 6)

        let file = URL(fileURLWithPath: folder + "/All.mlmodel")
        #expect(message { try pipeline.write(to: file) }.contains("which a .mlmodel file cannot hold; use .mlpackage"))
        #expect(!FileManager.default.fileExists(atPath: file.path))

        let url = URL(fileURLWithPath: folder + "/All.mlpackage")
        try pipeline.write(to: url)
        let names = try FileAccess.names(in: url.path + "/Data/com.apple.CoreML/weights")
        #expect(names.sorted() == ["0-0-weight.bin", "0-1-weight.bin", "1-weight.bin"])
        // The written package needs none of the files that it was made of.
        for name in ["y", "z", "w"] { try FileAccess.remove("\(folder)/\(name).mlpackage") }
        #expect(try Self.answer(try MLModel(contentsOf: url), "w") == expected)
        let compiled = try MLModel.compileModel(at: url)
        defer { try? FileManager.default.removeItem(at: compiled) }
        #expect(try Self.answer(try MLModel(contentsOf: compiled), "w") == expected)
    }
}
