package import MLNumerics
package import MLSpecification

/// A fitted linear model: score = weights · x + offset for each output, in the caller's columns.
package struct LinearModel: Hashable, Sendable {
    package let objective: LinearObjective
    /// [outputs][columns].
    package let weights: [[Double]]
    /// By output.
    package let offsets: [Double]

    /// A model whose weights, [outputs][columns], are known.
    package init(objective: LinearObjective, weights: [[Double]], offsets: [Double]) {
        (self.objective, self.weights, self.offsets) = (objective, weights, offsets)
    }

    /// Converts coefficients of stored columns to the caller's columns.
    package init(_ coefficients: [Double], of tiles: LinearTiles, objective: LinearObjective) {
        self.objective = objective
        var (weights, offsets) = ([[Double]](), [Double]())
        for output in 0..<objective.outputCount {
            let own = coefficients[output * tiles.width..<(output + 1) * tiles.width]
            var row = [Double](repeating: 0, count: tiles.width - 1)
            var offset = own[own.startIndex]
            for position in 1..<Swift.max(tiles.width, 1) {
                let weight = own[own.startIndex + position] / tiles.scales[position]
                row[tiles.columns[position]] = weight
                offset -= weight * tiles.means[position]
            }
            weights.append(row)
            offsets.append(offset)
        }
        (self.weights, self.offsets) = (weights, offsets)
    }

    /// The scores [examples × outputs] of examples with the same columns as in training.
    package func scores(of matrix: LinearTrainingMatrix) throws(ModelError) -> [Double] {
        let (tiles, outputs) = (matrix.tiles, offsets.count)
        guard tiles.width - 1 == weights[0].count else {
            throw ModelError(
                .invalidInput,
                "the examples have \(tiles.width - 1) columns, the model was fitted to \(weights[0].count)"
            )
        }
        var coefficients = [Double](repeating: 0, count: outputs * tiles.width)
        for output in 0..<outputs {
            coefficients[output * tiles.width] = offsets[output]
            for position in 1..<Swift.max(tiles.width, 1) {
                let weight = weights[output][tiles.columns[position]]
                coefficients[output * tiles.width + position] = weight * tiles.scales[position]
                coefficients[output * tiles.width] += weight * tiles.means[position]
            }
        }
        var scores = [Double](repeating: 0, count: tiles.tileCount * outputs * LinearTiles.rows)
        LinearProblem.score(tiles, coefficients, outputs: outputs, into: &scores)
        var result = [Double](repeating: 0, count: tiles.rowCount * outputs)
        for row in 0..<tiles.rowCount {
            let position = row / LinearTiles.rows * outputs * LinearTiles.rows + row % LinearTiles.rows
            for output in 0..<outputs { result[row * outputs + output] = scores[position + output * LinearTiles.rows] }
        }
        return result
    }

    /// The predicted class of each example: the first of the highest scores, where class 0 has the score 0.
    package func classes(_ scores: [Double]) -> [Int] {
        let outputs = offsets.count
        return (0..<scores.count / outputs).map { row in
            var (best, highest) = (0, 0.0)
            for output in 0..<outputs where scores[row * outputs + output] > highest {
                (best, highest) = (output + 1, scores[row * outputs + output])
            }
            return best
        }
    }
}

extension LinearModel {
    /// The model in a model file's form, as a regressor.
    package var regressorParameters: SpecGLMRegressor {
        var result = SpecGLMRegressor()
        result.weights = weights.map { row in
            var values = SpecGLMRegressor.DoubleArray()
            values.value = row
            return values
        }
        result.offset = offsets
        result.postEvaluationTransform = .noTransform
        return result
    }

    /// The model in a model file's form, as a classifier with class 0 as the reference class; the caller adds the
    /// labels.
    ///
    /// Support vector classifiers are written in the same form, as in Turi Create: their probabilities are the logistic
    /// function of the score, which ranks examples but is not calibrated.
    package var classifierParameters: SpecGLMClassifier {
        var result = SpecGLMClassifier()
        result.weights = weights.map { row in
            var values = SpecGLMClassifier.DoubleArray()
            values.value = row
            return values
        }
        result.offset = offsets
        result.postEvaluationTransform = .logit
        result.classEncoding = .referenceClass
        return result
    }
}
