public import Foundation

/// How far a job is.
public struct MLProgress: Codable {
    /// What is measured while training.
    public enum Metric: String, CaseIterable, Codable, Hashable, Sendable {
        case accuracy
        case contentLoss
        case loss
        case maximumError
        case rootMeanSquaredError
        case styleLoss
        case stylizedImageURL
        case validationAccuracy
        case validationLoss
        case validationMaximumError
        case validationRootMeanSquaredError
    }

    public static let accuracyKey = Metric.accuracy.progressKey
    public static let contentLossKey = Metric.contentLoss.progressKey
    public static let elapsedTimeKey = ProgressUserInfoKey(rawValue: "MLProgressElapsedTimeKey")
    public static let itemCountKey = ProgressUserInfoKey(rawValue: "MLProgressItemCountKey")
    public static let lossKey = Metric.loss.progressKey
    public static let maximumErrorKey = Metric.maximumError.progressKey
    public static let phaseKey = ProgressUserInfoKey(rawValue: "MLProgressPhaseKey")
    public static let rootMeanSquaredErrorKey = Metric.rootMeanSquaredError.progressKey
    public static let styleLossKey = Metric.styleLoss.progressKey
    public static let stylizedImageKey = Metric.stylizedImageURL.progressKey
    public static let totalItemCountKey = ProgressUserInfoKey(rawValue: "MLProgressTotalItemCountKey")
    public static let validationAccuracyKey = Metric.validationAccuracy.progressKey
    public static let validationLossKey = Metric.validationLoss.progressKey
    public static let validationMaximumErrorKey = Metric.validationMaximumError.progressKey
    public static let validationRootMeanSquaredErrorKey = Metric.validationRootMeanSquaredError.progressKey

    /// Seconds since the job began.
    public var elapsedTime: TimeInterval = 0
    /// Items of the phase that are done: iterations of training, examples of feature extraction.
    public var itemCount = 0
    /// Numbers; a `URL` for the stylised image.
    public var metrics: [Metric: Any] = [:]
    public var phase: MLPhase
    /// Items of the phase; `nil` when it is not known.
    public var totalItemCount: Int?

    public init(phase: MLPhase) { self.phase = phase }

    /// What a job's progress says; `nil` for the progress of something else.
    public init?(progress: Progress) {
        let info = progress.userInfo
        guard let phase = info[Self.phaseKey] as? MLPhase else { return nil }
        self.init(phase: phase)
        elapsedTime = info[Self.elapsedTimeKey] as? TimeInterval ?? 0
        itemCount = info[Self.itemCountKey] as? Int ?? 0
        totalItemCount = info[Self.totalItemCountKey] as? Int
        for metric in Metric.allCases { metrics[metric] = info[metric.progressKey] }
    }

    private enum Keys: String, CodingKey { case elapsedTime, itemCount, metrics, phase, totalItemCount }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        elapsedTime = try container.decode(TimeInterval.self, forKey: .elapsedTime)
        itemCount = try container.decode(Int.self, forKey: .itemCount)
        metrics = try container.decode(CodedMetrics.self, forKey: .metrics).metrics
        phase = try container.decode(MLPhase.self, forKey: .phase)
        totalItemCount = try container.decodeIfPresent(Int.self, forKey: .totalItemCount)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(elapsedTime, forKey: .elapsedTime)
        try container.encode(itemCount, forKey: .itemCount)
        try container.encode(CodedMetrics(metrics: metrics), forKey: .metrics)
        try container.encode(phase, forKey: .phase)
        try container.encodeIfPresent(totalItemCount, forKey: .totalItemCount)
    }
}

extension MLProgress.Metric {
    /// Where a job's progress keeps the metric.
    var progressKey: ProgressUserInfoKey {
        let name = self == .stylizedImageURL ? "stylizedImage" : rawValue
        return ProgressUserInfoKey(rawValue: "MLProgress" + name.prefix(1).uppercased() + name.dropFirst() + "Key")
    }
}

/// Metrics as an archive holds them: numbers, or the text of a URL.
///
/// Numbers that are not finite, which JSON does not know, are written as text.
struct CodedMetrics: Codable {
    var metrics: [MLProgress.Metric: Any]

    init(metrics: [MLProgress.Metric: Any]) { self.metrics = metrics }

    private enum Value: Codable {
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number) where number.isFinite: try container.encode(number)
            case .number(let number): try container.encode("\(number)")
            case .text(let text): try container.encode(text)
            }
        }
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: Value].self)
        metrics = [:]
        for (name, value) in values {
            guard let metric = MLProgress.Metric(rawValue: name) else { continue }
            switch value {
            case .number(let number): metrics[metric] = number
            case .text(let text) where metric == .stylizedImageURL: metrics[metric] = URL(string: text)
            case .text(let text): metrics[metric] = Double(text)
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values: [String: Value] = [:]
        for (metric, value) in metrics {
            switch value {
            case let number as Double: values[metric.rawValue] = .number(number)
            case let number as Float: values[metric.rawValue] = .number(Double(number))
            case let number as Int: values[metric.rawValue] = .number(Double(number))
            case let url as URL: values[metric.rawValue] = .text(url.absoluteString)
            default:
                let context = EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "the metric \(metric.rawValue) is a \(type(of: value)), not a number or a URL"
                )
                throw EncodingError.invalidValue(value, context)
            }
        }
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}
