package import MLFeatures
import MLKernels
package import MLNumerics
package import MLSpecification

/// A tree ensemble whose sums are class scores.
///
/// With one dimension and two labels the transformed sum is the score of the second label; the first label's is 1 minus
/// it. The higher score wins. When both are one half, the first label wins where the score is a plain sum over the
/// trees, as in a random forest, and the second where a logistic function or a base value is applied.
package struct TreeEnsembleClassifier: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: VectorInput
    private let forest: Forest
    private let transform: TreeTransform
    private let output: ClassOutput
    private let isBinary: Bool
    /// The least score at which the second of two labels wins.
    private let threshold: Double

    package init(_ parameters: SpecTreeEnsembleClassifier, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        input = try VectorInput(interface)
        forest = try Forest(parameters.treeEnsemble, width: input.width)
        transform = try TreeTransform(parameters.postEvaluationTransform)
        let labels: LabelList
        switch parameters.classLabels {
        case .stringClassLabels(let list)?: labels = .strings(list.vector)
        case .int64ClassLabels(let list)?: labels = .integers(list.vector)
        case nil: throw ModelError(.invalidModel, "the classifier has no class labels")
        }
        output = try ClassOutput(labels, interface)
        isBinary = labels.count == 2 && forest.outputs == 1
        // A sum of votes that is exactly one half is computed with at most one rounding error per addition.
        let isPlainSum = transform == .none && parameters.treeEnsemble.basePredictionValue.allSatisfy { $0 == 0 }
        threshold = isPlainSum ? (0.5 + Double(forest.treeCount) * 0x1p-53).nextUp : 0.5
        let hasZeroClass = labels.count > 2 && forest.outputs == labels.count - 1
        guard isBinary || forest.outputs == labels.count || (hasZeroClass && transform == .softmaxWithZero) else {
            throw ModelError(
                .invalidModel,
                "the trees have \(forest.outputs) prediction dimensions for \(labels.count) class labels"
            )
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let sums = try forest.sums(try input.matrix(batch))
        let (count, width, provided) = (batch.count, output.labels.count, forest.outputs)
        var scores = [Double](repeating: 0, count: count * width)
        var winners: [Int]?
        sums.withElements(of: Double.self) { sums in
            scores.withUnsafeMutableBufferPointer { scores in
                if isBinary {
                    winners = (0..<count).map { row in
                        let second = transform == .none ? sums[row] : logistic(sums[row])
                        scores[2 * row] = 1 - second
                        scores[2 * row + 1] = second
                        return second >= threshold ? 1 : 0
                    }
                    return
                }
                for row in 0..<count {
                    let shift = width - provided
                    for column in 0..<provided { scores[row * width + shift + column] = sums[row * provided + column] }
                    switch transform {
                    case .none: break
                    case .logistic:
                        for index in row * width..<(row + 1) * width { scores[index] = logistic(scores[index]) }
                    case .softmax, .softmaxWithZero:
                        softmax(UnsafeMutableBufferPointer(rebasing: scores[row * width..<(row + 1) * width]))
                    }
                }
            }
        }
        return try output.columns(scores, winners: winners)
    }
}
