public import Foundation

/// The progress of a job in detail.
public struct MLProgress: Codable {
    /// A quantity that is measured during training.
    public enum Metric: String, CaseIterable, Codable, Hashable, Sendable {
        /// The share of training examples that are classified correctly.
        case accuracy
        /// The content loss of a style transfer: the distance of drawn pictures from the content of their originals.
        case contentLoss
        /// The loss on the training data.
        ///
        /// Linear models report their objective: the sum of the losses, plus the penalties.
        case loss
        /// The largest absolute error of a regressor on the training data.
        case maximumError
        /// The root mean squared error of a regressor on the training data.
        case rootMeanSquaredError
        /// The style loss of a style transfer: how far drawn pictures are from the style.
        case styleLoss
        /// The file of a picture that a style transfer drew at its last checkpoint.
        case stylizedImageURL
        /// The share of validation examples that are classified correctly.
        case validationAccuracy
        /// The loss on the validation data.
        case validationLoss
        /// The largest absolute error of a regressor on the validation data.
        case validationMaximumError
        /// The root mean squared error of a regressor on the validation data.
        case validationRootMeanSquaredError
    }

    /// The key of `Metric.accuracy` in a progress's user info.
    public static let accuracyKey = Metric.accuracy.progressKey
    /// The key of `Metric.contentLoss` in a progress's user info.
    public static let contentLossKey = Metric.contentLoss.progressKey
    /// The key of `elapsedTime` in a progress's user info.
    public static let elapsedTimeKey = ProgressUserInfoKey(rawValue: "MLProgressElapsedTimeKey")
    /// The key of `itemCount` in a progress's user info.
    public static let itemCountKey = ProgressUserInfoKey(rawValue: "MLProgressItemCountKey")
    /// The key of `Metric.loss` in a progress's user info.
    public static let lossKey = Metric.loss.progressKey
    /// The key of `Metric.maximumError` in a progress's user info.
    public static let maximumErrorKey = Metric.maximumError.progressKey
    /// The key of `phase` in a progress's user info.
    public static let phaseKey = ProgressUserInfoKey(rawValue: "MLProgressPhaseKey")
    /// The key of `Metric.rootMeanSquaredError` in a progress's user info.
    public static let rootMeanSquaredErrorKey = Metric.rootMeanSquaredError.progressKey
    /// The key of `Metric.styleLoss` in a progress's user info.
    public static let styleLossKey = Metric.styleLoss.progressKey
    /// The key of `Metric.stylizedImageURL` in a progress's user info.
    public static let stylizedImageKey = Metric.stylizedImageURL.progressKey
    /// The key of `totalItemCount` in a progress's user info.
    public static let totalItemCountKey = ProgressUserInfoKey(rawValue: "MLProgressTotalItemCountKey")
    /// The key of `Metric.validationAccuracy` in a progress's user info.
    public static let validationAccuracyKey = Metric.validationAccuracy.progressKey
    /// The key of `Metric.validationLoss` in a progress's user info.
    public static let validationLossKey = Metric.validationLoss.progressKey
    /// The key of `Metric.validationMaximumError` in a progress's user info.
    public static let validationMaximumErrorKey = Metric.validationMaximumError.progressKey
    /// The key of `Metric.validationRootMeanSquaredError` in a progress's user info.
    public static let validationRootMeanSquaredErrorKey = Metric.validationRootMeanSquaredError.progressKey

    /// The time since the job was started, in seconds.
    public var elapsedTime: TimeInterval = 0
    /// The number of items of the phase that are done: iterations of training, or examples of feature extraction.
    public var itemCount = 0
    /// The latest value of each metric: a number, or a `URL` for a stylized image.
    public var metrics: [Metric: Any] = [:]
    /// The phase that the job is in.
    public var phase: MLPhase
    /// The number of items of the phase; `nil` if it is not known.
    public var totalItemCount: Int?

    /// Creates a progress at the beginning of a phase.
    public init(phase: MLPhase) { self.phase = phase }

    /// Reads the details of a job's progress; `nil` for a progress that belongs to no job.
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

    /// Decodes a progress.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        elapsedTime = try container.decode(TimeInterval.self, forKey: .elapsedTime)
        itemCount = try container.decode(Int.self, forKey: .itemCount)
        metrics = try container.decode(CodedMetrics.self, forKey: .metrics).metrics
        phase = try container.decode(MLPhase.self, forKey: .phase)
        totalItemCount = try container.decodeIfPresent(Int.self, forKey: .totalItemCount)
    }

    /// Encodes the progress; throws an error for a metric that is neither a number nor a URL.
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
    /// The key of the metric in a progress's user info.
    var progressKey: ProgressUserInfoKey {
        let name = self == .stylizedImageURL ? "stylizedImage" : rawValue
        return ProgressUserInfoKey(rawValue: "MLProgress" + name.prefix(1).uppercased() + name.dropFirst() + "Key")
    }
}

/// Metrics in their coded form: numbers, or the text of a URL.
///
/// JSON has no numbers that are not finite; they are written as text.
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
