public import Foundation

/// A moment of a training session that was saved; a session goes on from it, and a task is made of it.
///
/// `@unchecked Sendable`: metrics are numbers and URLs.
public struct MLCheckpoint: Codable, @unchecked Sendable {
    public var date: Date
    /// Iterations of `phase` that were done.
    public var iteration: Int
    /// Numbers; a `URL` for a stylised image.
    public var metrics: [MLProgress.Metric: Any]
    public var phase: MLPhase
    /// The file, within the directory of the session.
    public var url: URL

    init(url: URL, phase: MLPhase, iteration: Int, date: Date, metrics: [MLProgress.Metric: Any]) {
        self.url = url
        self.phase = phase
        self.iteration = iteration
        self.date = date
        self.metrics = metrics
    }

    private enum Keys: String, CodingKey { case date, iteration, metrics, phase, url }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        date = try container.decode(Date.self, forKey: .date)
        iteration = try container.decode(Int.self, forKey: .iteration)
        metrics = try container.decode(CodedMetrics.self, forKey: .metrics).metrics
        phase = try container.decode(MLPhase.self, forKey: .phase)
        url = try container.decode(URL.self, forKey: .url)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(date, forKey: .date)
        try container.encode(iteration, forKey: .iteration)
        try container.encode(CodedMetrics(metrics: metrics), forKey: .metrics)
        try container.encode(phase, forKey: .phase)
        try container.encode(url, forKey: .url)
    }
}
