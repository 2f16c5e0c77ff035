package import MLFeatures
package import MLNumerics
package import MLSpecification

/// A generalised linear classifier.
///
/// With a reference class, the first label has the score 0 and no weights, and probabilities are the softmax of all
/// scores (for two classes and probit the normal distribution's). With one-versus-rest each label has weights, its
/// probability is the transformed score, and they are normalised to the sum 1; two classes share one row of weights,
/// for the second label.
package struct GLMClassifier: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: VectorInput
    private let linear: LinearScores
    private let isProbit: Bool
    private let isOneVsRest: Bool
    private let output: ClassOutput

    package init(_ parameters: SpecGLMClassifier, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        linear = try LinearScores(weights: parameters.weights.map(\.value), offsets: parameters.offset)
        input = try VectorInput(interface, width: linear.width)
        let labels: LabelList
        switch parameters.classLabels {
        case .stringClassLabels(let list)?: labels = .strings(list.vector)
        case .int64ClassLabels(let list)?: labels = .integers(list.vector)
        case nil: throw ModelError(.invalidModel, "the classifier has no class labels")
        }
        output = try ClassOutput(labels, interface)
        switch parameters.postEvaluationTransform {
        case .logit: isProbit = false
        case .probit: isProbit = true
        case .UNRECOGNIZED(let value):
            throw ModelError(.unsupported, "the transform \(value) of the scores is not known")
        }
        let rows: Int
        switch parameters.classEncoding {
        case .referenceClass:
            isOneVsRest = false
            rows = labels.count - 1
        case .oneVsRest:
            isOneVsRest = true
            rows = labels.count == 2 ? 1 : labels.count
        case .UNRECOGNIZED(let value):
            throw ModelError(.unsupported, "the encoding \(value) of the classes is not known")
        }
        guard linear.rows == rows else {
            throw ModelError(
                .invalidModel,
                "\(labels.count) classes need \(rows) rows of weights in this encoding, but there are \(linear.rows)"
            )
        }
        guard !isProbit || labels.count == 2 else {
            throw ModelError(.invalidModel, "probit is for two classes, but there are \(labels.count)")
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let scores = linear.scores(try input.matrix(batch))
        let (rows, width) = (linear.rows, output.labels.count)
        var probabilities = [Double](repeating: 0, count: batch.count * width)
        scores.withElements(of: Double.self) { scores in
            probabilities.withUnsafeMutableBufferPointer { probabilities in
                guard let scores = scores.baseAddress, let target = probabilities.baseAddress else { return }
                // Scores are only read; each range writes its own examples.
                nonisolated(unsafe) let (source, result) = (scores, target)
                inParallel(batch.count, work: 8 * width) { range in
                    for example in range {
                        probability(
                            source + example * rows,
                            UnsafeMutableBufferPointer(start: result + example * width, count: width)
                        )
                    }
                }
            }
        }
        return try output.columns(probabilities)
    }

    /// The probabilities of one example from its scores.
    private func probability(_ scores: UnsafePointer<Double>, _ result: UnsafeMutableBufferPointer<Double>) {
        let width = result.count
        if width == 2 {
            result[1] = isProbit ? normalCDF(scores[0]) : logistic(scores[0])
            result[0] = 1 - result[1]
        } else if isOneVsRest {
            var sum = 0.0
            for index in 0..<width {
                result[index] = logistic(scores[index])
                sum += result[index]
            }
            for index in 0..<width { result[index] = sum > 0 ? result[index] / sum : 1 / Double(width) }
        } else {
            result[0] = 0
            for index in 1..<width { result[index] = scores[index - 1] }
            softmax(result)
        }
    }
}
