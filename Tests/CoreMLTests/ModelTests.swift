import CoreML
import Testing

/// The digits network of `Tests/Fixtures/digits`, as ML program and as neural network.
struct ModelTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures/digits")

    static func model(_ name: String) throws -> MLModel {
        try MLModel(contentsOf: folder.appendingPathComponent(name))
    }

    @Test(arguments: ["Digits.mlpackage", "Digits.mlmodel"])
    func describes(name: String) throws {
        let model = try Self.model(name)
        print(model.modelDescription)
        #expect(model.modelDescription.classLabels?.count == 10)
    }
}
