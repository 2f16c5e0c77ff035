import CreateML

/// A program that imports `CreateML` alone: what its declarations name comes with it.
func train(on table: URL, into folder: URL) async throws -> AnyPublisher<MLRandomForestRegressor, any Error> {
    let rows = try DataFrame(contentsOfCSVFile: table)
    let regressor = try MLLinearRegressor(trainingData: rows, targetColumn: "price", featureColumns: ["rooms"])
    let file = folder.appendingPathComponent("Houses.mlmodel")
    try regressor.write(to: file)
    let model = try MLModel(contentsOf: try await MLModel.compileModel(at: file))
    let first = try MLDictionaryFeatureProvider(dictionary: ["rooms": 3])
    print(try await model.prediction(from: first).featureNames)
    return try MLRandomForestRegressor.train(trainingData: rows, targetColumn: "price").result
}
