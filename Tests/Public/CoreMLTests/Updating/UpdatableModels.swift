import CoreML
import MLFiles
import MLSpecification
import TestSupport

extension UpdatableModels {
    static func folder() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("update-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    /// Writes a model and compiles it.
    static func compiled(_ model: SpecModel, in folder: URL) throws -> URL {
        let source = folder.appendingPathComponent("Model.mlmodel")
        try Data(SpecificationReader.encode(model)).write(to: source)
        let target = folder.appendingPathComponent("Model-\(UUID().uuidString).mlmodelc")
        try FileManager.default.moveItem(at: MLModel.compileModel(at: source), to: target)
        return target
    }

    static func example(_ x: [Float], _ label: Any?, as input: String = "x") throws -> any MLFeatureProvider {
        var values: [String: Any] = [input: MLMultiArray(MLShapedArray<Float>(scalars: x, shape: [x.count]))]
        values["label"] = label
        return try MLDictionaryFeatureProvider(dictionary: values)
    }

    /// Points around three corners.
    static func points(_ count: Int) -> [(x: [Float], label: String)] {
        (0..<count).map { index in
            let corner = index % 3
            let wobble = Float((index * 37) % 11) / 20
            let x: [Float] = [corner == 0 ? -1 : 1 + wobble, corner == 1 ? -1 - wobble : 1]
            return (x, ["a", "b", "c"][corner])
        }
    }

    static func batch(_ points: [(x: [Float], label: String)]) throws -> MLArrayBatchProvider {
        MLArrayBatchProvider(array: try points.map { try example($0.x, $0.label) })
    }
}
