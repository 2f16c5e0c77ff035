/// The phase of a training session.
public enum MLPhase: String, Codable, Hashable, Sendable {
    /// Nothing has been done yet.
    case initialized
    /// Features are extracted from the examples.
    case extractingFeatures
    /// The model is trained.
    case training
    /// The trained model is evaluated on the training and validation data.
    case evaluating
    /// The trained model makes predictions; no task here reports this phase.
    case inferencing
}
