// Houses: what four algorithms learn of the prices of houses, from a CSV file on.
//
// The table is that of 506 districts of Boston, which scikit-learn bundled (`scripts/houses-table`): Harrison and
// Rubinfeld 1978.
// Its column B, made from the share of Black inhabitants, is left out.

import CoreML
import CreateML
import ExampleSupport
import Foundation
import TabularData

guard CommandLine.arguments.count > 1 else {
    FileHandle.standardError.write(
        Data("Pass a CSV file with the columns of boston_house_prices.csv; `make demo-houses` fetches that one.\n".utf8)
    )
    exit(2)
}
var text = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
// Its first line counts rows and columns; the second names these.
if let line = text.split(separator: "\n").first, !line.contains("MEDV"), let end = text.firstIndex(of: "\n") {
    text = String(text[text.index(after: end)...])
}
let table = try DataFrame(csvData: Data(text.utf8))
let target = "MEDV"
let features = table.columns.map(\.name).filter { $0 != target && $0 != "B" }
print("\(table.shape.rows) districts, \(features.count) features: \(features.joined(separator: ", "))\n")

let (first, second) = table.randomSplit(by: 0.8, seed: 7)
let (training, testing) = (DataFrame(first), DataFrame(second))
let folder = try scratchFolder()
defer { try? FileManager.default.removeItem(at: folder) }

/// Trains, writes, loads, and measures what the loaded model predicts.
@MainActor
func measure<T: MLTabularRegressor>(_ type: T.Type, _ parameters: T.ModelParameters) throws -> (Double, Double) {
    var trained: T?
    let time = try ContinuousClock().measure {
        trained = try T(
            trainingData: training,
            targetColumn: target,
            featureColumns: features,
            parameters: parameters
        )
    }
    guard let trained else { throw Unexpected("nothing was trained") }
    let file = folder.appendingPathComponent("\(T.self).mlmodel")
    try trained.write(to: file, metadata: MLModelMetadata(shortDescription: "Median prices of houses"))
    let model = try MLModel(contentsOf: file)
    var squares = 0.0
    for row in testing.rows {
        var inputs: [String: Any] = [:]
        for feature in features {
            switch row[feature] {
            case let number as Double: inputs[feature] = number
            case let number as Int: inputs[feature] = Double(number)
            default: throw Unexpected("the column \(feature) holds no numbers")
            }
        }
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs))
        let truth = row[target] as? Double ?? .nan
        let error = (output.featureValue(for: target)?.doubleValue ?? .nan) - truth
        squares += error * error
    }
    let loaded = (squares / Double(testing.shape.rows)).squareRoot()
    let evaluated = trained.evaluation(on: testing).rootMeanSquaredError
    guard abs(loaded - evaluated) < 1e-9 * evaluated else { throw Unexpected("the file predicts otherwise") }
    return (loaded, time / .milliseconds(1))
}

let results: [(name: String, result: (error: Double, time: Double))] = [
    ("linear", try measure(MLLinearRegressor.self, .init(validation: .none))),
    ("decision tree", try measure(MLDecisionTreeRegressor.self, .init(validation: .none))),
    ("boosted trees", try measure(MLBoostedTreeRegressor.self, .init(validation: .none, maxIterations: 100))),
    ("random forest", try measure(MLRandomForestRegressor.self, .init(validation: .none, maxIterations: 100))),
]

for (name, frame) in [("train", training), ("test", testing)] {
    try frame.selecting(columnNames: features + [target])
        .writeCSV(to: folder.appendingPathComponent("\(name).csv"))
}
let program = """
    import json, sys, time
    import numpy as np
    import xgboost
    from sklearn.linear_model import LinearRegression
    train, test = (np.loadtxt(sys.argv[1] + "/" + name + ".csv", delimiter=",", skiprows=1) for name in ("train", "test"))
    x, y = train[:, :-1], train[:, -1]
    def boosted(**more):
        return xgboost.XGBRegressor(base_score=0.5, min_child_weight=0.1, max_depth=6, tree_method="exact", n_jobs=2, **more)
    models = {
        "linear": LinearRegression(), "decision tree": boosted(n_estimators=1, learning_rate=1),
        "boosted trees": boosted(n_estimators=100, learning_rate=0.3),
        "random forest": boosted(n_estimators=1, num_parallel_tree=100, learning_rate=1, subsample=0.8, colsample_bytree=0.8)}
    result = {}
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(x, y)
        took = 1000 * (time.perf_counter() - start)
        result[name] = [float(np.sqrt(np.mean((model.predict(test[:, :-1]) - test[:, -1]) ** 2))), took]
    print(json.dumps(result))
    """
let peers = try peer(program, [folder.path]).map {
    try JSONDecoder().decode([String: [Double]].self, from: Data($0.utf8))
}
print("error in 1,000 dollars on \(testing.shape.rows) districts that were not trained on")
print("algorithm        ours     ms" + (peers == nil ? "" : "   scikit-learn, XGBoost     ms"))
for (name, result) in results {
    var line = name.padding(toLength: 14, withPad: " ", startingAt: 0)
    line += String(format: "%7.2f %6.1f", result.error, result.time)
    if let other = peers?[name], other.count == 2 { line += String(format: " %24.2f %6.1f", other[0], other[1]) }
    print(line)
}
let spread = testing[target, Double.self].standardDeviation() ?? 0
guard results.allSatisfy({ $0.result.error < spread }) else { throw Unexpected("an algorithm learnt nothing") }
