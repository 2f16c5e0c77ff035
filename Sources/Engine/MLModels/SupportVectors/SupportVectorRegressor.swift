package import MLFeatures
import MLKernels
package import MLNumerics
package import MLSpecification

/// A support vector regressor: Σ alpha[i] · K(x, vector[i]) − rho.
package struct SupportVectorRegressor: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: VectorInput
    private let vectors: SupportVectors
    private let coefficients: [Double]
    private let rho: Double
    private let output: NumericOutput

    package init(_ parameters: SpecSupportVectorRegressor, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let width = try VectorInput(interface).width
        switch parameters.supportVectors {
        case .denseSupportVectors(let list)?:
            vectors = try SupportVectors(dense: list.vectors, parameters.kernel, width: width)
        case .sparseSupportVectors(let list)?:
            vectors = try SupportVectors(sparse: list.vectors, parameters.kernel, width: width)
        case nil: throw ModelError(.invalidModel, "the support vector machine has no support vectors")
        }
        input = try VectorInput(interface, width: vectors.width)
        coefficients = parameters.coefficients.alpha
        guard coefficients.count == vectors.count else {
            throw ModelError(
                .invalidModel,
                "there are \(coefficients.count) coefficients for \(vectors.count) support vectors"
            )
        }
        rho = parameters.rho
        output = try NumericOutput(interface.regressionOutput())
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let matrix = try input.matrix(batch)
        var result = Tensor(uninitialized: .float64, shape: [batch.count, 1], zeroed: true)
        result.withMutableElements(of: Double.self) { target in
            guard let target = target.baseAddress else { return }
            // Each call writes its own rows.
            nonisolated(unsafe) let y = target
            coefficients.withUnsafeBufferPointer { coefficients in
                guard let coefficients = coefficients.baseAddress else { return }
                // Only read.
                nonisolated(unsafe) let alpha = coefficients
                vectors.forEach(matrix) { first, rows, kernels in
                    DoubleKernel.dotProducts(kernels, rows: rows, alpha, rows: 1, terms: vectors.count, into: y + first)
                }
            }
            for row in 0..<batch.count { y[row] -= rho }
        }
        return [output.name: try output.column(result)]
    }
}
