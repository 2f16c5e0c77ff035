import CoreML
import CoreMLExtras
import Foundation

/// Models for tests, made in a folder of their own that is removed with the last reference.
final class TestModels: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("serving-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Writes a model to `NAME/VERSION/model.mlmodel`, or to another path.
    func write(_ model: ModelSpecification, _ path: String) throws {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        let new = url.deletingLastPathComponent().appendingPathComponent(".new.mlmodel")
        try model.write(to: new)
        _ = rename(new.path, url.path)
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// y = scale · [[1, 2, 3], [4, 5, 6], [7, 8, 9]] x + [0, 0, 1] for rows x of three numbers, as many as come.
    static func rows(scale: Float = 1) throws -> ModelSpecification {
        var builder = NeuralNetworkBuilder()
        let type = ModelArrayType(shape: [1, 3], flexibility: .ranges([1...64, 3...3]))
        let x = builder.input("x", .multiArray(type))
        let weights = (1...9).map { Float($0) * scale }
        builder.output(
            builder.innerProduct(
                "y",
                x,
                outputChannels: 3,
                inputChannels: 3,
                weights: .init(weights),
                bias: [0, 0, 1]
            ),
            .array([1, 3])
        )
        return try builder.finished()
    }

    /// y = x for arrays of a type and shape.
    static func copy(_ type: MLMultiArrayDataType, _ shape: [Int]) throws -> ModelSpecification {
        var builder = NeuralNetworkBuilder()
        let x = builder.input("x", .array(shape, type))
        builder.output(builder.copy("y", x), .array(shape, type))
        return try builder.finished()
    }

    /// The sums over each colour of a picture of 2 × 3 pixels.
    static func picture() throws -> ModelSpecification {
        var builder = NeuralNetworkBuilder()
        let x = builder.input("image", .image(width: 3, height: 2, color: .rgb))
        builder.output(builder.copy("pixels", x), .array([1, 3, 2, 3]))
        return try builder.finished()
    }

    /// The nearest of two points: a label, and the probabilities of both.
    static func neighbors() throws -> ModelSpecification {
        var builder = NearestNeighborsBuilder(
            input: "point",
            dimensions: 2,
            label: "kind",
            probabilities: "probabilities",
            default: "none"
        )
        builder.neighbors = 1
        builder.add([0, 0], label: "near")
        builder.add([10, 10], label: "far")
        return try builder.finished()
    }
}
