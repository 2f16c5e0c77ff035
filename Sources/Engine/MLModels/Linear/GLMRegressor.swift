package import MLFeatures
package import MLNumerics
package import MLSpecification

/// A generalised linear regressor: transform(weights · x + offset), one result for each row of weights.
package struct GLMRegressor: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: VectorInput
    private let linear: LinearScores
    private let transform: SpecGLMRegressor.PostEvaluationTransform
    private let output: NumericOutput

    package init(_ parameters: SpecGLMRegressor, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        linear = try LinearScores(weights: parameters.weights.map(\.value), offsets: parameters.offset)
        input = try VectorInput(interface, width: linear.width)
        transform = parameters.postEvaluationTransform
        if case .UNRECOGNIZED(let value) = transform {
            throw ModelError(.unsupported, "the transform \(value) of the results is not known")
        }
        output = try NumericOutput(interface.regressionOutput())
        guard !output.isScalar || linear.rows == 1 else {
            throw ModelError(
                .invalidModel,
                "the output '\(output.name)' is one number, but the model has \(linear.rows) rows of weights"
            )
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let matrix = try input.matrix(batch)
        let scores = linear.scores(matrix) { [transform] scores in
            switch transform {
            case .logit: for index in scores.indices { scores[index] = logistic(scores[index]) }
            case .probit: for index in scores.indices { scores[index] = normalCDF(scores[index]) }
            default: break
            }
        }
        return [output.name: try output.column(scores)]
    }
}

extension SpecModelDescription {
    /// The output that holds a regressor's result: the predicted feature, or the only output of files that name none.
    func regressionOutput() throws(ModelError) -> SpecFeatureDescription {
        predictedFeatureName.isEmpty
            ? try soleOutput() : try outputFeature(named: predictedFeatureName, for: "predicted feature")
    }
}
