import MLDetectionTraining

/// The performance of a detector on annotated pictures.
///
/// The average precision of a label is the area under the curve of precision over recall of its detections by descending
/// confidence; a detection is right if its overlap (intersection over union) with an object of the label in its picture is
/// greater than a threshold.
public struct MLObjectDetectorMetrics: Sendable {
    /// The average precision of each label: at the threshold 0.5, and as the mean over 0.5, 0.55, …, 0.95.
    ///
    /// Labels without objects in the data are left out.
    public let averagePrecision: (variedIoU: [String: Double], IoU50: [String: Double])
    /// The mean over the labels of `averagePrecision`; NaN if the metrics are invalid.
    public let meanAveragePrecision: (variedIoU: Double, IoU50: Double)
    /// The reason why there are no metrics; `nil` if they are valid.
    public let error: (any Error)?

    /// Creates metrics from given values.
    public init(
        averagePrecision: (variedIoU: [String: Double], IoU50: [String: Double]),
        meanAveragePrecision: (variedIoU: Double, IoU50: Double)
    ) {
        self.averagePrecision = averagePrecision
        self.meanAveragePrecision = meanAveragePrecision
        error = nil
    }

    /// Metrics that could not be computed.
    package init(_ error: any Error) {
        averagePrecision = ([:], [:])
        meanAveragePrecision = (.nan, .nan)
        self.error = MLCreateError.translated(error)
    }

    /// Computes metrics.
    ///
    /// - Parameters:
    ///   - pictures: The objects and detections of each picture.
    ///   - labels: The labels by their indices.
    init(_ pictures: [AveragePrecision.Image], labels: [String]) {
        guard pictures.contains(where: { !$0.objects.isEmpty }) else {
            self.init(MLCreateError.generic(reason: "there are no objects to evaluate the detector on"))
            return
        }
        let found = AveragePrecision(pictures, labelCount: labels.count)
        func byLabel(_ values: [Double?]) -> [String: Double] {
            Dictionary(zip(labels, values).compactMap { label, value in value.map { (label, $0) } }) { first, _ in first
            }
        }
        self.init(
            averagePrecision: (byLabel(found.varied), byLabel(found.half)),
            meanAveragePrecision: (found.meanVaried, found.meanHalf)
        )
    }

    /// Whether the metrics could be computed.
    public var isValid: Bool { error == nil }
}

extension MLObjectDetectorMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The mean and each label's average precision, or the reason why there are none.
    public var description: String {
        if let error { return "No metrics: \(error)" }
        var lines = [
            "Mean average precision (IoU 0.5): \(meanAveragePrecision.IoU50)",
            "Mean average precision (IoU 0.5 to 0.95): \(meanAveragePrecision.variedIoU)",
        ]
        for (label, value) in averagePrecision.IoU50.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(label): \(value), \(averagePrecision.variedIoU[label] ?? .nan)")
        }
        return lines.joined(separator: "\n")
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
