// A playground's source that trains on a data table, in the style of the first tutorials of Create ML: it compiles
// unchanged.

import CreateML
import Foundation

func trainHousePrices(_ csv: URL, _ folder: URL) throws -> Double {
    let houseData = try MLDataTable(contentsOf: csv)
    let (trainingData, testData) = houseData.randomSplit(by: 0.8, seed: 0)
    let pricer = try MLRegressor(trainingData: trainingData, targetColumn: "MEDV")
    let worst = pricer.trainingMetrics.maximumError + pricer.validationMetrics.maximumError
    print("The largest error is \(worst)")
    let evaluationMetrics = pricer.evaluation(on: testData)
    let predictions = try pricer.predictions(from: testData)
    print(predictions[0].doubleValue ?? .nan)
    let metadata = MLModelMetadata(author: "John Appleseed", shortDescription: "Predicts prices.", version: "1.0")
    try pricer.write(to: folder.appendingPathComponent("HousePricer.mlmodel"), metadata: metadata)
    return evaluationMetrics.rootMeanSquaredError
}

func trainDeliveries(_ csv: URL) throws -> MLBoostedTreeClassifier {
    var table = try MLDataTable(contentsOf: csv, options: MLDataTable.ParsingOptions(delimiter: ";"))
    table.removeColumn(named: "courier")
    let columns = ["distance", "items", "hour", "late"]
    let deliveries = table[columns].dropMissing()
    let far = deliveries[deliveries["distance"] > 2.5]
    let distances: MLDataColumn<Double> = far["distance"]
    print(far.size.rows, distances.mean() ?? 0, deliveries["hour"].ints?.max() ?? 0)
    let parameters = MLBoostedTreeClassifier.ModelParameters(validationData: nil, maxDepth: 4, maxIterations: 20)
    return try MLBoostedTreeClassifier(trainingData: deliveries, targetColumn: "late", parameters: parameters)
}

func trainRegressors(_ table: MLDataTable) throws -> [MLRegressorMetrics] {
    [
        try MLLinearRegressor(trainingData: table, targetColumn: "y").evaluation(on: table),
        try MLBoostedTreeRegressor(
            trainingData: table,
            targetColumn: "y",
            featureColumns: ["x"],
            parameters: MLBoostedTreeRegressor.ModelParameters(maxIterations: 30)
        ).evaluation(on: table),
        try MLRandomForestRegressor(
            trainingData: table,
            targetColumn: "y",
            parameters: .init(validationData: table)
        ).evaluation(on: table),
    ]
}

func trainMoods(_ json: URL) throws -> String {
    let data = try MLDataTable(contentsOf: json)
    let (testingData, trainingData) = data.randomSplit(by: 0.2, seed: 5)
    let classifier = try MLTextClassifier(trainingData: trainingData, textColumn: "text", labelColumn: "label")
    let accuracy = (1.0 - classifier.trainingMetrics.classificationError) * 100
    let metrics = classifier.evaluation(on: testingData, textColumn: "text", labelColumn: "label")
    print(accuracy, metrics.confusion, metrics.precisionRecall)
    return try classifier.prediction(from: "It was great")
}

func trainTagger(_ json: URL) throws -> [String] {
    let data = try MLDataTable(contentsOf: json)
    let tagger = try MLWordTagger(trainingData: data, tokenColumn: "tokens", labelColumn: "labels")
    return try tagger.prediction(from: "The AirPods are a fantastic Apple product.")
}

func recommendSongs(_ csv: URL) throws -> MLDataTable {
    let plays = try MLDataTable(contentsOf: csv)
    let recommender = try MLRecommender(
        trainingData: plays,
        userColumn: "user",
        itemColumn: "song",
        ratingColumn: "stars"
    )
    print(recommender.evaluation(on: plays, userColumn: "user", itemColumn: "song").precisionRecall)
    return try recommender.recommendations(fromUsers: ["ann", "ben"], maxCount: 3)
}

func summarise(_ sales: MLDataTable, _ shops: MLDataTable) -> MLDataTable {
    var sales = sales
    let price: MLDataColumn<Double> = sales["price"]
    let amount: MLDataColumn<Double> = sales["amount"]
    sales.addColumn(price * amount, named: "turnover")
    sales["expensive"] = price.map { $0 > 100 ? "yes" : "no" }
    sales["year"] = sales["date"].map { (value: MLDataValue) -> Int? in value.stringValue.flatMap { Int($0.prefix(4)) }
    }
    let mean = MLDataTable.Aggregator(operations: .mean, .count, of: "turnover")
    return sales.join(with: shops, on: "shop", type: .left)
        .group(columnsNamed: "city", "year", aggregators: [mean])
        .sort(columnNamed: "city")
}
