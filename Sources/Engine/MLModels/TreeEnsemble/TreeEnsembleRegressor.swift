package import MLFeatures
import MLKernels
package import MLNumerics
package import MLSpecification

/// A tree ensemble regressor: the transformed sum of the leaves' values, for each prediction dimension.
package struct TreeEnsembleRegressor: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: VectorInput
    private let forest: Forest
    private let transform: TreeTransform
    private let output: NumericOutput

    package init(_ parameters: SpecTreeEnsembleRegressor, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        input = try VectorInput(interface)
        forest = try Forest(parameters.treeEnsemble, width: input.width)
        transform = try TreeTransform(parameters.postEvaluationTransform)
        output = try NumericOutput(interface.regressionOutput())
        guard !output.isScalar || forest.outputs == 1 else {
            throw ModelError(
                .invalidModel,
                "the output '\(output.name)' is one number, but the trees have \(forest.outputs) prediction dimensions"
            )
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        var sums = try forest.sums(try input.matrix(batch))
        let width = forest.outputs
        sums.withMutableElements(of: Double.self) { values in
            switch transform {
            case .none: break
            case .logistic: for index in values.indices { values[index] = logistic(values[index]) }
            case .softmax, .softmaxWithZero:
                for start in stride(from: 0, to: values.count, by: width) {
                    softmax(UnsafeMutableBufferPointer(rebasing: values[start..<start + width]))
                }
            }
        }
        return [output.name: try output.column(sums)]
    }
}

extension Forest {
    /// The sums [examples, outputs] of examples [count, width]; features that the trees do not use are ignored.
    func sums(_ examples: Tensor) throws(ModelError) -> Tensor {
        let (count, provided) = (examples.shape[0], examples.shape[1])
        guard provided >= width else {
            throw ModelError(.invalidInput, "the inputs have \(provided) elements, but the trees use \(width)")
        }
        var result = Tensor(uninitialized: .float64, shape: [count, outputs])
        result.withMutableElements(of: Double.self) { target in
            guard let target = target.baseAddress else { return }
            examples.withElements(of: Double.self) { source in
                guard let source = source.baseAddress else { return }
                if provided == width {
                    sums(source, rows: count, into: target)
                    return
                }
                var narrow = [Double](repeating: 0, count: count * width)
                for row in 0..<count {
                    for column in 0..<width { narrow[row * width + column] = source[row * provided + column] }
                }
                narrow.withUnsafeBufferPointer { sums($0.baseAddress ?? source, rows: count, into: target) }
            }
        }
        return result
    }
}
