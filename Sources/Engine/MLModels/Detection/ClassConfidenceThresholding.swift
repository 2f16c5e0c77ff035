package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Maps confidences [C] to [2, C]: the confidences, and 1 for every class, as the specification says.
package struct ClassConfidenceThresholding: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let output: String
    private let scalarType: ScalarType

    package init(_ parameters: SpecClassConfidenceThresholding, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let source = try interface.soleInput()
        guard case .multiArrayType(let array)? = source.type.type else { throw source.mismatch("a multi-array") }
        let target = try interface.soleOutput()
        guard case .multiArrayType(let result)? = target.type.type else { throw target.mismatch("a multi-array") }
        input = source.name
        output = target.name
        scalarType = result.scalarType
        let curves = parameters.precisionRecallCurves
        if let count = array.fixedCount, !curves.isEmpty, curves.count != count {
            throw ModelError(.invalidModel, "there are \(curves.count) precision-recall curves for \(count) classes")
        }
        for (index, curve) in curves.enumerated() {
            let pairs = [
                ("precision", curve.precisionValues.vector, curve.precisionConfidenceThresholds.vector),
                ("recall", curve.recallValues.vector, curve.recallConfidenceThresholds.vector),
            ]
            for (name, values, thresholds) in pairs {
                guard !values.isEmpty, values.count == thresholds.count else {
                    throw ModelError(
                        .invalidModel,
                        "curve \(index) has \(values.count) \(name) values for \(thresholds.count) thresholds"
                    )
                }
                guard (values + thresholds).allSatisfy({ $0.isFinite && $0 >= 0 }) else {
                    throw ModelError(.invalidModel, "the \(name) of curve \(index) holds values that are not fractions")
                }
            }
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let rows = try batch.column(input).rows(named: input)
        let width = rows.shape[1]
        let values = rows.values
        var result = [Double](repeating: 1, count: batch.count * 2 * width)
        for row in 0..<batch.count {
            for index in 0..<width { result[row * 2 * width + index] = values[row * width + index] }
        }
        let tensor = Tensor(values: result, scalarType: scalarType, shape: [batch.count, 2, width])
        return [output: .arrays(tensor)]
    }
}
