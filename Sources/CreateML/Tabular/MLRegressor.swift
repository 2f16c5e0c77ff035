public import CoreML
import Foundation
public import TabularData

/// The regressor that validates best of those that suit the data.
public enum MLRegressor: Sendable {
    case boostedTree(MLBoostedTreeRegressor)
    case decisionTree(MLDecisionTreeRegressor)
    case linear(MLLinearRegressor)
    case randomForest(MLRandomForestRegressor)

    /// Trains the algorithms that suit the data on the same rows, and keeps the one of the least root mean squared error
    /// on the rows that the automatic split sets aside; on those of training when it sets none aside.  Of equals the
    /// first counts.
    ///
    /// Tried are, as in Turi Create: linear regression and, with fewer than 200 features, boosted trees.  Rows with
    /// missing numbers rule linear regression out, boosted trees are then tried in any case.
    public init(trainingData: DataFrame, targetColumn: String, featureColumns: [String]? = nil) throws {
        let shape = try TableShape(trainingData, targetColumn, featureColumns, isClassifier: false)
        func train<T: _TabularRegressor>(_: T.Type) throws -> T {
            try T(trainingData: trainingData, targetColumn: targetColumn, featureColumns: featureColumns)
        }
        var candidates: [MLRegressor] = []
        if !shape.hasMissing { candidates.append(.linear(try train(MLLinearRegressor.self))) }
        if shape.hasMissing || shape.features < TableShape.fewFeatures {
            candidates.append(.boostedTree(try train(MLBoostedTreeRegressor.self)))
        }
        func error(_ candidate: MLRegressor) -> Double {
            let metrics = candidate.validationMetrics
            return (metrics.isValid ? metrics : candidate.trainingMetrics).rootMeanSquaredError
        }
        guard var best = candidates.first else { throw MLCreateError.generic(reason: "no regressor suits the data") }
        for candidate in candidates.dropFirst() where error(candidate) < error(best) { best = candidate }
        self = best
    }

    private var task: any _TabularRegressor {
        switch self {
        case .boostedTree(let task): task
        case .decisionTree(let task): task
        case .linear(let task): task
        case .randomForest(let task): task
        }
    }

    public var featureColumns: [String] { task.featureColumns }
    public var model: MLModel { task.model }
    public var targetColumn: String { task.targetColumn }
    public var trainingMetrics: MLRegressorMetrics { task.trainingMetrics }
    public var validationMetrics: MLRegressorMetrics { task.validationMetrics }

    public func evaluation(on labeledData: DataFrame) -> MLRegressorMetrics { task.evaluation(on: labeledData) }
    public func predictions(from data: DataFrame) throws -> AnyColumn { try task.predictions(from: data) }
    public func write(to fileURL: URL, metadata: MLModelMetadata?) throws {
        try task.write(to: fileURL, metadata: metadata)
    }
    public func write(toFile path: String, metadata: MLModelMetadata?) throws {
        try task.write(toFile: path, metadata: metadata)
    }
}

extension MLRegressor: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { task.description }
    public var debugDescription: String { task.debugDescription }
}
