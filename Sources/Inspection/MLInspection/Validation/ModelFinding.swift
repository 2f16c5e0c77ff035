/// Something that is wrong with a model file, or worth a look.
package struct ModelFinding: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable {
        /// The model is refused, fails, or answers other than it says.
        case error
        /// It works here; elsewhere, later or in an app's hands it may not.
        case warning
    }

    package let severity: Severity
    /// From the outside in: model of a pipeline, function, layer, field.
    package let place: [String]
    /// What is wrong and, where it can be said, what to do.
    package let message: String

    package var description: String {
        "\(severity.rawValue): " + (place.isEmpty ? "" : place.joined(separator: " › ") + ": ") + message
    }
}
