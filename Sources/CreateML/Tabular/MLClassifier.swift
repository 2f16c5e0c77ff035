public import CoreML
import Foundation
import MLFeatures
public import TabularData

/// The classifier that validates best of those that suit the data.
public enum MLClassifier: Sendable {
    case boostedTree(MLBoostedTreeClassifier)
    case decisionTree(MLDecisionTreeClassifier)
    case logisticRegression(MLLogisticRegressionClassifier)
    case randomForest(MLRandomForestClassifier)
    case supportVector(MLSupportVectorClassifier)

    /// Trains the algorithms that suit the data on the same rows, and keeps the one of the highest accuracy on the rows
    /// that the automatic split sets aside; on those of training when it sets none aside.  Of equals the first counts.
    ///
    /// Tried are, as in Turi Create: with two classes logistic regression and support vectors, and, with fewer than 200
    /// features, all kinds of trees; with more classes logistic regression and all kinds of trees.  Rows with missing
    /// numbers rule the linear ones out.
    public init(trainingData: DataFrame, targetColumn: String, featureColumns: [String]? = nil) throws {
        let shape = try TableShape(trainingData, targetColumn, featureColumns, isClassifier: true)
        func train<T: _TabularClassifier>(_: T.Type) throws -> T {
            try T(trainingData: trainingData, targetColumn: targetColumn, featureColumns: featureColumns)
        }
        let isBinary = shape.classes == 2
        var candidates: [MLClassifier] = []
        if !isBinary || shape.features < TableShape.fewFeatures || shape.hasMissing {
            candidates.append(.boostedTree(try train(MLBoostedTreeClassifier.self)))
            candidates.append(.randomForest(try train(MLRandomForestClassifier.self)))
            candidates.append(.decisionTree(try train(MLDecisionTreeClassifier.self)))
        }
        if !shape.hasMissing {
            if isBinary { candidates.append(.supportVector(try train(MLSupportVectorClassifier.self))) }
            candidates.append(.logisticRegression(try train(MLLogisticRegressionClassifier.self)))
        }
        func error(_ candidate: MLClassifier) -> Double {
            let metrics = candidate.validationMetrics
            return (metrics.isValid ? metrics : candidate.trainingMetrics).classificationError
        }
        guard var best = candidates.first else { throw MLCreateError.generic(reason: "no classifier suits the data") }
        for candidate in candidates.dropFirst() where error(candidate) < error(best) { best = candidate }
        self = best
    }

    private var task: any _TabularClassifier {
        switch self {
        case .boostedTree(let task): task
        case .decisionTree(let task): task
        case .logisticRegression(let task): task
        case .randomForest(let task): task
        case .supportVector(let task): task
        }
    }

    public var featureColumns: [String] { task.featureColumns }
    public var model: MLModel { task.model }
    public var targetColumn: String { task.targetColumn }
    public var trainingMetrics: MLClassifierMetrics { task.trainingMetrics }
    public var validationMetrics: MLClassifierMetrics { task.validationMetrics }

    public func evaluation(on labeledData: DataFrame) -> MLClassifierMetrics { task.evaluation(on: labeledData) }
    public func predictions(from data: DataFrame) throws -> AnyColumn { try task.predictions(from: data) }
    public func write(to fileURL: URL, metadata: MLModelMetadata?) throws {
        try task.write(to: fileURL, metadata: metadata)
    }
    public func write(toFile path: String, metadata: MLModelMetadata?) throws {
        try task.write(toFile: path, metadata: metadata)
    }
}

extension MLClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { task.description }
    public var debugDescription: String { task.debugDescription }
}

/// What of a table decides which algorithms are tried.
struct TableShape {
    /// The number of features from which on trees are not tried for two classes, and boosted ones for numbers.
    static let fewFeatures = 200

    /// Numbers of the vector that is learnt from.
    let features: Int
    let classes: Int
    let hasMissing: Bool

    init(_ frame: DataFrame, _ target: String, _ features: [String]?, isClassifier: Bool) throws {
        let table = try PreparedTable(
            frame,
            target: target,
            features: features,
            isClassifier: isClassifier,
            allowsMissing: true,
            validation: .none
        )
        self.features = table.layout.width
        classes = table.labels?.count ?? 0
        hasMissing = table.training.hasMissing
    }
}
