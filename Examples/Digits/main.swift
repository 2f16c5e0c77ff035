// Digits: a table of pixels is enough to learn handwriting.
//
// Drawings of ten digits become the rows of a table, one column for each patch of 4 × 4 pixels. Three of Create ML's
// classifiers learn 30 drawings of each digit and are asked about 10 more, by other writers. The best is written as a
// Core ML model and recognises one drawing. When scikit-learn is there (`Oracles/Shared/environment`), it does the
// same.

import CoreML
import CreateML
import ExampleSupport
import Foundation
import TabularData

/// Drawings as a table: the mean of each patch, 0…1, and the digit.
func table(_ drawings: [(digit: Int, drawing: Drawing)]) -> DataFrame {
    let patch = 4
    let side = Drawing.side / patch
    var frame = DataFrame()
    for place in 0..<side * side {
        let (top, left) = (place / side * patch, place % side * patch)
        let means = drawings.map { _, drawing -> Double in
            var sum = 0
            for row in top..<top + patch {
                for column in left..<left + patch { sum += Int(drawing.pixels[row * Drawing.side + column]) }
            }
            return Double(sum) / Double(255 * patch * patch)
        }
        frame.append(column: Column<Double>(name: "patch\(place)", contents: means))
    }
    frame.append(column: Column<String>(name: "digit", contents: drawings.map { "\($0.digit)" }))
    return frame
}

/// scikit-learn's result on the same tables.
let program = """
    import sys
    import numpy as np
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    (x, y), (u, v) = ((t[:, :-1], t[:, -1]) for t in (np.loadtxt(f, delimiter=",", skiprows=1) for f in sys.argv[1:]))
    for name, model in (
            ("gradient boosting", GradientBoostingClassifier(n_estimators=60, max_depth=6, random_state=0)),
            ("random forest", RandomForestClassifier(n_estimators=60, random_state=0)),
            ("logistic regression", LogisticRegression(max_iter=1000))):
        print(f"scikit-learn's {name}: {100 * model.fit(x, y).score(u, v):.1f} %")
    """

let sheet = try Drawing.sheet(at: data.appendingPathComponent("digits.png"))
let taught = 30
let all = sheet.enumerated().map { digit, row in row.map { (digit: digit, drawing: $0) } }
let training = table(all.flatMap { $0.prefix(taught) })
let testing = table(all.flatMap { $0.dropFirst(taught) })
print(
    "\(training.shape.rows) drawings to learn from, \(testing.shape.rows) to ask about, \(training.shape.columns - 1) patches each"
)

func share(_ metrics: MLClassifierMetrics) -> String {
    String(format: "%.1f %%", 100 * (1 - metrics.classificationError))
}

let trees = try MLBoostedTreeClassifier(
    trainingData: training,
    targetColumn: "digit",
    parameters: .init(validation: .none, maxIterations: 60)
)
print("boosted trees: \(share(trees.evaluation(on: testing)))")
let forest = try MLRandomForestClassifier(
    trainingData: training,
    targetColumn: "digit",
    parameters: .init(validation: .none, maxDepth: 12, maxIterations: 60)
)
print("random forest: \(share(forest.evaluation(on: testing)))")
let logistic = try MLLogisticRegressionClassifier(
    trainingData: training,
    targetColumn: "digit",
    parameters: .init(validation: .none, maxIterations: 100, l2Penalty: 1)
)
print("logistic regression: \(share(logistic.evaluation(on: testing)))")

let folder = try scratchFolder()
defer { try? FileManager.default.removeItem(at: folder) }
let (trainingFile, testingFile) = (
    folder.appendingPathComponent("train.csv"), folder.appendingPathComponent("test.csv")
)
try training.writeCSV(to: trainingFile)
try testing.writeCSV(to: testingFile)
print(
    peer(program, [trainingFile.path, testingFile.path])
        ?? "scikit-learn is not installed: Oracles/Shared/environment"
)

// The model as an app uses it.
let file = folder.appendingPathComponent("Digits.mlmodel")
try forest.write(to: file, metadata: MLModelMetadata(shortDescription: "Recognises a handwritten digit"))
let model = try MLModel(contentsOf: file)
let names = Array(model.modelDescription.inputDescriptionsByName.keys)

/// The digits that the model reads, one for each drawing.
func read(_ drawings: [Drawing]) throws -> [String] {
    let rows = table(drawings.map { (digit: 0, drawing: $0) })
    return try drawings.indices.map { row in
        let features = Dictionary(uniqueKeysWithValues: names.map { ($0, rows[$0, Double.self][row] ?? 0) })
        let answer = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: features))
        guard let digit = answer.featureValue(for: "digit")?.stringValue else {
            throw Unexpected("the model names no digit")
        }
        return digit
    }
}

print("\nthe written model, asked about drawings that it has not seen")
for digits in [0..<5, 5..<10] {
    let drawings = digits.map { sheet[$0][taught] }
    show(
        zip(digits, zip(drawings, try read(drawings))).map { digit, pair in (pair.0, "a \(digit), read as \(pair.1)") }
    )
}
let own = try CommandLine.arguments.dropFirst().map { try Drawing(contentsOf: URL(fileURLWithPath: $0)) }
if !own.isEmpty {
    print("\nyour drawings")
    show(zip(own, try read(own)).map { ($0, "read as \($1)") })
}
printOwnInput("make demo-digits ARGS='three.png'", "reads your drawing: one digit that fills the image")

let right = 1 - forest.evaluation(on: testing).classificationError
guard right > 0.85 else {
    throw Unexpected("only \(percent(Int(right * 100), of: 100)) of the drawings were recognised")
}
