import MLFeatures
import MLLinearTraining
import MLSpecification

/// A linear model that was fitted elsewhere, on several machines, with the columns that it was fitted to.
package struct FittedWeights: Decodable, Sendable {
    var target: String
    /// The classes, for a classifier of texts.
    var textLabels: [String]?
    /// The classes, for a classifier of integers.
    var integerLabels: [Int64]?
    var features: [GrownTrees.Feature]
    /// For each output a weight for each column: one output for numbers, else one for each class but the first.
    var weights: [[Double]]
    /// By output.
    var offsets: [Double]
}

extension TrainedTable {
    /// The linear or logistic regression that was fitted elsewhere; it has no metrics.
    /// - Throws: `MLCreateError.generic` for weights that do not fit these columns and classes, or are not finite.
    package init(_ fitted: FittedWeights) throws {
        let layout = FeatureLayout(fitted.features)
        let labels = LabelList(texts: fitted.textLabels, integers: fitted.integerLabels)
        func refuse(_ what: String) -> MLCreateError { .generic(reason: "a model that was fitted elsewhere \(what)") }
        let objective = labels.map { LinearObjective.logistic(classes: $0.count) } ?? .leastSquares
        let outputs = objective.outputCount
        guard outputs > 0, fitted.weights.count == outputs, fitted.offsets.count == outputs else {
            throw refuse(
                "has \(fitted.weights.count) rows of weights and \(fitted.offsets.count) offsets for \(outputs) outputs"
            )
        }
        for row in fitted.weights where row.count != layout.width {
            throw refuse("has \(row.count) weights for \(layout.width) columns")
        }
        for number in fitted.weights.joined() where !number.isFinite { throw refuse("has a weight of \(number)") }
        for number in fitted.offsets where !number.isFinite { throw refuse("has an offset of \(number)") }
        let model = LinearModel(objective: objective, weights: fitted.weights, offsets: fitted.offsets)
        let pipeline = TabularPipeline(layout: layout, target: fitted.target, labels: labels)
        try self.init(loading: pipeline.model(LinearLearner.predictor(of: model, labels)).marked)
    }
}
