import MLFeatures
import MLLinearTraining
import MLModels
import MLNumerics
import MLTrainingCore
import MLSpecification
import Testing

@Suite struct LinearModelTests {
    /// The file's model gives the scores that training kept.
    @Test(arguments: allObjectives)
    func specificationPredictsTheSame(objective: LinearObjective) throws {
        var noise = Noise(state: 29)
        let examples = Examples(&noise, rows: 60, dense: 3, sparse: 5, categories: 2)
        let targets = targets(objective, examples.rows, &noise)
        var trainer = try LinearTrainer(examples.matrix, targets: targets, objective: objective)
        try trainer.train()
        let scores = try trainer.model.scores(of: examples.matrix)
        let width = examples.rows[0].count
        var description = SpecModelDescription()
        var input = SpecFeatureDescription()
        input.name = "x"
        input.type.multiArrayType.shape = [Int64(width)]
        input.type.multiArrayType.dataType = .double
        description.input = [input]
        var output = SpecFeatureDescription()
        output.name = "y"
        description.predictedFeatureName = "y"
        let engine: any ModelEngine
        if objective == .leastSquares {
            output.type.doubleType = SpecDoubleFeatureType()
            description.output = [output]
            engine = try GLMRegressor(trainer.model.regressorParameters, description)
        } else {
            output.type.int64Type = SpecInt64FeatureType()
            description.output = [output]
            var parameters = trainer.model.classifierParameters
            parameters.int64ClassLabels.vector = (0...Int64(objective.outputCount)).map { $0 }
            engine = try GLMClassifier(parameters, description)
        }
        let classes = trainer.model.classes(scores)
        for (row, values) in examples.rows.enumerated() {
            let x = Tensor(values: values, scalarType: .float64, shape: [width])
            switch try engine.prediction(from: ["x": .tensor(x)])["y"] {
            case .double(let value)?: #expect(abs(value - scores[row]) < 1e-9 * (1 + abs(value)))
            case .int64(let label)?: #expect(label == classes[row])
            default: Issue.record("no answer")
            }
        }
    }
}
