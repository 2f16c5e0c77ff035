// Houses: what four algorithms learn of the prices of houses, from a CSV file on.
//
// The table is that of 506 districts of Boston, which scikit-learn bundled (`scripts/demos/houses-table`): Harrison and
// Rubinfeld 1978.
// Its column B, made from the share of Black inhabitants, is left out.

import CoreML
import CreateML
import ExampleSupport
import Foundation
import TabularData

guard CommandLine.arguments.count > 1 else {
    let usage = "Pass a CSV file and its target column; `make demo-houses` fetches a table of houses.\n"
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}
var text = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
let target = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : "MEDV"
let isBoston = target == "MEDV"
// The first line of the table of Boston counts rows and columns; the second names these.
if isBoston, let line = text.split(separator: "\n").first, !line.contains(target), let end = text.firstIndex(of: "\n") {
    text = String(text[text.index(after: end)...])
}
let table = try DataFrame(csvData: Data(text.utf8))

/// Whether a column has numbers and no gap.
func isNumber(_ column: AnyColumn) -> Bool {
    (column.wrappedElementType == Double.self || column.wrappedElementType == Int.self) && column.missingCount == 0
}

guard let values = table.columns.first(where: { $0.name == target }), isNumber(values) else {
    throw Unexpected("there is no column '\(target)' of numbers: pass FILE TARGET; \(table.columns.map(\.name)) exist")
}
let features = table.columns.filter { isNumber($0) && $0.name != target && !(isBoston && $0.name == "B") }.map(\.name)
print(
    "\(table.shape.rows) \(isBoston ? "districts" : "rows"), \(features.count) features: \(features.joined(separator: ", "))\n"
)

let (first, second) = table.randomSplit(by: 0.8, seed: 7)
let (training, testing) = (DataFrame(first), DataFrame(second))
let folder = try scratchFolder()
defer { try? FileManager.default.removeItem(at: folder) }

/// The root mean squared error of a model, the milliseconds of its training, and its predictions beside the true values.
struct Measurement {
    let error: Double
    let time: Double
    let answers: [(predicted: Double, truth: Double)]
}

/// Trains, writes, loads, and measures what the loaded model predicts.
@MainActor
func measure<T: MLTabularRegressor>(_ type: T.Type, _ parameters: T.ModelParameters) throws -> Measurement {
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
    var answers: [(predicted: Double, truth: Double)] = []
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
        let truth = row[target] as? Double ?? (row[target] as? Int).map(Double.init) ?? .nan
        answers.append((output.featureValue(for: target)?.doubleValue ?? .nan, truth))
    }
    let squares = answers.reduce(0) { $0 + ($1.predicted - $1.truth) * ($1.predicted - $1.truth) }
    let loaded = (squares / Double(testing.shape.rows)).squareRoot()
    let evaluated = trained.evaluation(on: testing).rootMeanSquaredError
    guard abs(loaded - evaluated) < 1e-9 * evaluated else { throw Unexpected("the file predicts otherwise") }
    return Measurement(error: loaded, time: time / .milliseconds(1), answers: answers)
}

let results: [(name: String, result: Measurement)] = [
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
let unit = isBoston ? "error in 1,000 dollars" : "error of '\(target)'"
print("\(unit) on \(testing.shape.rows) \(isBoston ? "districts" : "rows") that were not trained on")
print("algorithm        ours     ms" + (peers == nil ? "" : "   scikit-learn, XGBoost     ms"))
for (name, result) in results {
    var line = name.padding(toLength: 14, withPad: " ", startingAt: 0)
    line += String(format: "%7.2f %6.1f", result.error, result.time)
    if let other = peers?[name], other.count == 2 { line += String(format: " %24.2f %6.1f", other[0], other[1]) }
    print(line)
}
// Ten of the predictions, from the least true value to the greatest.
let answers = results[2].result.answers.sorted { $0.truth < $1.truth }
let most = answers.reduce(.leastNonzeroMagnitude) { max($0, $1.truth, $1.predicted) }
func place(_ value: Double) -> Int { Int((50 * max(value, 0) / most).rounded()) }
print("\nten predictions of the boosted trees (▇) and the true values (│)")
for number in 0..<min(10, answers.count) {
    let (predicted, truth) = answers[number * answers.count / min(10, answers.count)]
    var bar = Array(repeating: Character("▇"), count: place(predicted))
    while bar.count <= place(truth) { bar.append(" ") }
    bar[place(truth)] = "│"
    print(String(format: "%8.1f  ", truth) + String(bar))
}
printOwnInput(
    "make demo-houses ARGS='sold.csv price'",
    "trains on the columns of numbers in your table and predicts its column 'price'"
)
let mean = answers.reduce(0) { $0 + $1.truth } / Double(answers.count)
let spread = (answers.reduce(0) { $0 + ($1.truth - mean) * ($1.truth - mean) } / Double(answers.count)).squareRoot()
guard !isBoston || results.allSatisfy({ $0.result.error < spread }) else {
    throw Unexpected("an algorithm learnt nothing")
}
