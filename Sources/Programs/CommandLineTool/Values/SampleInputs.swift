import MLEngine
import MLFeatureFiles
import MLNumerics
import MLSpecification

/// Generates inputs for measuring a model when none are given: the same in every run.
enum SampleInputs {
    static func features(_ interface: SpecModelDescription, _ arguments: [String]) throws -> [String: FeatureData] {
        if !arguments.isEmpty { return try InputReader(interface: interface).features(arguments) }
        return try SampleFeatures.features(of: interface)
    }
}
