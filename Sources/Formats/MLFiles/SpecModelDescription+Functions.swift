package import MLSpecification

extension SpecModelDescription {
    /// The description with the interface of one function, for a model with several.
    ///
    /// `nil` stands for the default function. The description itself when it lists no such function.
    package func interface(of functionName: String?) -> SpecModelDescription {
        let name = functionName ?? (defaultFunctionName.isEmpty ? "main" : defaultFunctionName)
        guard let function = functions.first(where: { $0.name == name }) else { return self }
        var result = self
        result.input = function.input
        result.output = function.output
        result.state = function.state
        result.predictedFeatureName = function.predictedFeatureName
        result.predictedProbabilitiesName = function.predictedProbabilitiesName
        return result
    }
}
