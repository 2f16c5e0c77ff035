/// A problem of a model file.
package struct ModelFinding: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable {
        /// The model is rejected, fails, or behaves differently from its description.
        case error
        /// It works here, but may not on other systems, in later versions or in an app.
        case warning
    }

    package let severity: Severity
    /// The location from the outside in: model of a pipeline, function, layer, field.
    package let location: [String]
    /// The problem and, where possible, the remedy.
    package let message: String

    package var description: String {
        "\(severity.rawValue): " + (location.isEmpty ? "" : location.joined(separator: " › ") + ": ") + message
    }
}
