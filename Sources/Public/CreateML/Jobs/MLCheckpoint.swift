public import Foundation

/// A saved state of a training session, from which training can be resumed or a model be made.
///
/// `@unchecked Sendable`: metrics are numbers and URLs.
public struct MLCheckpoint: Codable, @unchecked Sendable {
    /// The time at which the checkpoint was saved.
    public var date: Date
    /// The number of iterations of `phase` that were done.
    public var iteration: Int
    /// The metrics known when the checkpoint was saved: numbers, or a `URL` for a stylized image.
    public var metrics: [MLProgress.Metric: Any]
    /// The phase that the session was in.
    public var phase: MLPhase
    /// The checkpoint's file, inside the session directory.
    public var url: URL

    init(url: URL, phase: MLPhase, iteration: Int, date: Date, metrics: [MLProgress.Metric: Any]) {
        self.url = url
        self.phase = phase
        self.iteration = iteration
        self.date = date
        self.metrics = metrics
    }

    private enum Keys: String, CodingKey { case date, iteration, metrics, phase, url }

    /// Decodes a checkpoint.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        date = try container.decode(Date.self, forKey: .date)
        iteration = try container.decode(Int.self, forKey: .iteration)
        metrics = try container.decode(CodedMetrics.self, forKey: .metrics).metrics
        phase = try container.decode(MLPhase.self, forKey: .phase)
        url = try container.decode(URL.self, forKey: .url)
    }

    /// Encodes the checkpoint; throws an error for a metric that is neither a number nor a URL.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(date, forKey: .date)
        try container.encode(iteration, forKey: .iteration)
        try container.encode(CodedMetrics(metrics: metrics), forKey: .metrics)
        try container.encode(phase, forKey: .phase)
        try container.encode(url, forKey: .url)
    }
}
