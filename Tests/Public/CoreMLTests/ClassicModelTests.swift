import CoreML
import MLFiles
import MLSpecification
import SwiftProtobuf
import Testing

/// Pipelines, linked models, custom models and batches through `MLModel`.
struct ClassicModelTests {
    static func number(_ name: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.doubleType = SpecDoubleFeatureType()
        return feature
    }

    static func scaler(_ input: String, _ output: String, by scale: Double) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [number(input)]
        model.description_p.output = [number(output)]
        model.scaler.scaleValue = [scale]
        return model
    }

    static func load(_ model: SpecModel, _ configuration: MLModelConfiguration = MLModelConfiguration()) throws
        -> MLModel
    {
        try MLModel(ModelFile(specification: model), configuration: configuration)
    }

    static func value(_ model: MLModel, _ name: String, _ inputs: [String: Any]) throws -> Double {
        try model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs)).featureValue(for: name)?.doubleValue
            ?? .nan
    }

    @Test func batchesAndRowsAgree() throws {
        let model = try Self.load(Self.scaler("x", "y", by: 3))
        let batch = try MLArrayBatchProvider(dictionary: ["x": (0..<100).map { Double($0) }])
        let answers = try model.predictions(fromBatch: batch)
        #expect(answers.count == 100)
        for index in 0..<100 {
            #expect(answers.features(at: index).featureValue(for: "y")?.doubleValue == Double(index) * 3)
        }
        let bad = MLArrayBatchProvider(array: [
            try MLDictionaryFeatureProvider(dictionary: ["x": 1.0]),
            try MLDictionaryFeatureProvider(dictionary: ["z": 1.0]),
        ])
        #expect(throws: MLModelError.self) { try model.predictions(fromBatch: bad) }
    }

    /// Two pipelines that link to one file use one engine; a changed search path finds another file.
    @Test func linkedModels() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("linked-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("other"),
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ model: SpecModel, _ name: String) throws -> URL {
            let url = folder.appendingPathComponent(name)
            try Data(SpecificationReader.encode(model)).write(to: url)
            return url
        }
        let source = try write(Self.scaler("x", "features", by: 10), "Extractor.mlmodel")
        let compiled = try MLModel.compileModel(at: source)
        try FileManager.default.moveItem(at: compiled, to: folder.appendingPathComponent("Extractor.mlmodelc"))
        let other = try MLModel.compileModel(at: try write(Self.scaler("x", "features", by: 7), "Other.mlmodel"))
        try FileManager.default.moveItem(at: other, to: folder.appendingPathComponent("other/Extractor.mlmodelc"))
        func pipeline(_ scale: Double) -> SpecModel {
            var link = SpecModel()
            link.specificationVersion = 4
            link.description_p.input = [Self.number("x")]
            link.description_p.output = [Self.number("features")]
            link.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = "Extractor.mlmodelc"
            link.linkedModel.linkedModelFile.linkedModelSearchPath.defaultValue = "nowhere:."
            var model = SpecModel()
            model.specificationVersion = 4
            model.description_p.input = [Self.number("x")]
            model.description_p.output = [Self.number("y")]
            model.pipeline.models = [link, Self.scaler("features", "y", by: scale)]
            model.pipeline.names = ["extractor", "head"]
            return model
        }
        let first = try MLModel(contentsOf: try write(pipeline(2), "First.mlmodel"))
        let second = try MLModel(contentsOf: try write(pipeline(3), "Second.mlmodel"))
        #expect(try Self.value(first, "y", ["x": 1.0]) == 20)
        #expect(try Self.value(second, "y", ["x": 1.0]) == 30)
        #expect(first.sharesModels(with: second))
        let configuration = MLModelConfiguration()
        configuration.parameters = [MLParameterKey.linkedModelSearchPath.scoped(to: "extractor"): "other"]
        let third = try MLModel(
            contentsOf: folder.appendingPathComponent("First.mlmodel"),
            configuration: configuration
        )
        #expect(try Self.value(third, "y", ["x": 1.0]) == 14)
        #expect(!first.sharesModels(with: third))
        // A file that links to itself, and one that is not there.
        var loop = SpecModel()
        loop.specificationVersion = 4
        loop.description_p = pipeline(1).pipeline.models[0].description_p
        loop.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = "Loop.mlmodel"
        let url = try write(loop, "Loop.mlmodel")
        #expect(throws: MLModelError.self) { try MLModel(contentsOf: url) }
        loop.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = "Missing.mlmodelc"
        let missing = try write(loop, "Missing.mlmodel")
        #expect(throws: MLModelError.self) { try MLModel(contentsOf: missing) }
    }

    /// Doubles, or fails when the parameter asks for it.
    final class Doubler: MLCustomModel {
        private let factor: Double

        init(modelDescription: MLModelDescription, parameters: [String: Any]) throws {
            struct NoFactor: Error {}
            guard let factor = parameters["factor"] as? Double else { throw NoFactor() }
            self.factor = factor
        }

        func prediction(
            from input: any MLFeatureProvider,
            options: MLPredictionOptions
        ) throws -> any MLFeatureProvider {
            let x = input.featureValue(for: "x")?.doubleValue ?? .nan
            return try MLDictionaryFeatureProvider(dictionary: ["y": x * factor])
        }
    }

    @Test func customModels() throws {
        var model = Self.scaler("x", "y", by: 1)
        model.customModel.className = "TestDoubler"
        #expect(throws: MLModelError.self) { try Self.load(model) }
        CustomModelClasses.register(Doubler.self, as: "TestDoubler")
        #expect { try Self.load(model) } throws: { ($0 as? MLModelError)?.code == .customModel }
        var factor = SpecCustomModel.CustomModelParamValue()
        factor.doubleValue = 2.5
        model.customModel.parameters["factor"] = factor
        let loaded = try Self.load(model)
        #expect(try Self.value(loaded, "y", ["x": 4.0]) == 10)
        let answers = try loaded.predictions(fromBatch: try MLArrayBatchProvider(dictionary: ["x": [1.0, 2.0]]))
        #expect((0..<2).map { answers.features(at: $0).featureValue(for: "y")?.doubleValue } == [2.5, 5])
    }

    @Test func featurePrintsNeedARegisteredModel() throws {
        var model = Self.scaler("x", "y", by: 1)
        model.audioFeaturePrint.sound.version = .soundVersion1
        #expect(throws: MLModelError.self) { try Self.load(model) }
        FeatureExtractorModels.register(try Self.load(Self.scaler("in", "out", by: 9)), for: .audioSound(version: 1))
        defer { FeatureExtractorModels.register(nil, for: .audioSound(version: 1)) }
        #expect(try Self.value(try Self.load(model), "y", ["x": 2.0]) == 18)
    }
}
