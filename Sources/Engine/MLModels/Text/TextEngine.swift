import MLFeatures
import MLNumerics
import MLSpecification

extension SpecModelDescription {
    /// The name of the only input, which is a string.
    func textInput() throws(ModelError) -> String {
        let feature = try soleInput()
        guard case .stringType? = feature.type.type else { throw feature.mismatch("a string") }
        return feature.name
    }

    /// The name of the output that is a string: the predicted feature, or the only output.
    func textOutput() throws(ModelError) -> String {
        let feature = try regressionOutput()
        guard case .stringType? = feature.type.type else { throw feature.mismatch("a string") }
        return feature.name
    }
}

extension FeatureBatch {
    /// The texts of an input.
    func texts(_ name: String) throws(ModelError) -> [String] {
        let column = try column(name)
        guard case .strings(let texts) = column else {
            throw ModelError(
                .invalidInput,
                "the input '\(name)' is \(column.value(at: 0).kind); the model takes a string"
            )
        }
        return texts
    }
}
