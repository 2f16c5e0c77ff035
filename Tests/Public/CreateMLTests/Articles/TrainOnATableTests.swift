import CreateML
import Foundation
import Testing

/// The predictions of the article "Train on a table".
///
/// `ReadMeTests` compares the article with this file.
@Suite struct TrainOnATableTests {
    @Test func theWrittenModelPredicts() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("houses-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let rows = (0..<60).map { row in
            let (rooms, area) = (1 + row % 6, 40 + row * 7 % 90)
            return "\(rooms),\(area),\(10_000 * rooms + 2_000 * area)"
        }
        let csv = folder.appendingPathComponent("houses.csv")
        try Data((["rooms,area,price"] + rows).joined(separator: "\n").utf8).write(to: csv)
        let regressor = try MLLinearRegressor(
            trainingData: try DataFrame(contentsOfCSVFile: csv),
            targetColumn: "price",
            featureColumns: ["rooms", "area"]
        )

        let file = folder.appendingPathComponent("Houses.mlmodel")
        try regressor.write(to: file)
        let model = try MLModel(contentsOf: try await MLModel.compileModel(at: file))
        let house = try MLDictionaryFeatureProvider(dictionary: ["rooms": 3, "area": 75])
        let prediction = try await model.prediction(from: house)
        let price = try #require(prediction.featureValue(for: "price")).doubleValue

        #expect(abs(price - 180_000) < 20_000)
    }
}
