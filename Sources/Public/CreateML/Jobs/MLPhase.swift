/// What a training session is doing.
public enum MLPhase: String, Codable, Hashable, Sendable {
    /// Nothing was done yet.
    case initialized
    /// Examples become features.
    case extractingFeatures
    case training
    /// The finished model is held against training and validation data.
    case evaluating
    /// The finished model predicts.
    case inferencing
}
