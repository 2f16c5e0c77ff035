import CreateML
import Foundation
import MLDrawing
import MLEngine

/// The permutation importance of a tabular model's features.
struct ImportancePart {
    /// The rows on which it was measured, as in "validation".
    let rows: String
    private let importance: PermutationImportance

    /// The maximum number of features that are drawn and printed.
    private static let maximumFeatureCount = 12

    init(_ importance: PermutationImportance, rows: String) { (self.importance, self.rows) = (importance, rows) }

    private var shown: ArraySlice<PermutationImportance.Feature> {
        importance.features.prefix(Self.maximumFeatureCount)
    }

    /// A note on the features that are not shown.
    private var rest: String? {
        let count = importance.features.count - shown.count
        return count > 0 ? "and \(count) more, less important" : nil
    }

    /// The method of measurement.
    private var explanation: String {
        let measure =
            switch importance.measure {
            case .rootMeanSquaredError: "growth of the RMSE"
            case .classificationError: "loss of accuracy"
            }
        let times = importance.repetitions == 1 ? "once" : "\(importance.repetitions) times"
        return "\(measure) when a feature is shuffled, \(times) among \(importance.rowCount) rows"
    }

    private func label(_ value: Double) -> String {
        switch importance.measure {
        case .rootMeanSquaredError: String(format: "%.3g", value)
        case .classificationError: String(format: "%.1f %%", value * 100)
        }
    }

    /// The length of a feature's bar, 0 to 1.
    private func share(_ feature: PermutationImportance.Feature) -> Double {
        guard let maximum = importance.features.first?.increase, maximum > 0, feature.increase > 0 else { return 0 }
        return min(feature.increase / maximum, 1)
    }

    var text: String {
        var table = Table(rightAligned: [1])
        for feature in shown { table.add(feature.name, label(feature.increase), bar(share(feature))) }
        var lines = ["permutation importance (\(rows)): \(explanation)", table.text()]
        if let rest { lines.append("  \(rest)") }
        return lines.joined(separator: "\n")
    }

    var json: [String: Any] {
        [
            "measure": importance.measure.rawValue, "rows": rows, "count": importance.rowCount,
            "repetitions": importance.repetitions,
            "features": importance.features.map { feature -> [String: Any] in
                [
                    "feature": feature.name, "increase": JSONFeature.json(.double(feature.increase)),
                    "deviation": JSONFeature.json(.double(feature.deviation)),
                ]
            },
        ]
    }

    var drawing: Drawing {
        let title = "permutation importance"
        return Drawing(title: title) { canvas, x, y, width in
            var line = Drawing.head(canvas, title, rows, x: x, y: y, width)
            canvas.write(explanation, x: x, y: line + 8, size: 11, .grey, width: width)
            line += 20
            let names = min(shown.map { canvas.width($0.name, size: 12) }.max() ?? 0, width * 0.4)
            let values = shown.map { canvas.width(label($0.increase), size: 12) }.max() ?? 0
            let (left, room) = (x + names + 10, width - names - 10 - values - 10)
            for feature in shown {
                canvas.write(
                    feature.name,
                    x: left - 10,
                    y: line + 14,
                    size: 12,
                    alignment: .right,
                    width: names + 1,
                    ellipsis: .middle
                )
                let length = max(share(feature) * room, 1)
                canvas.fill(x: left, y: line + 3, width: length, height: 14, .blue)
                canvas.write(label(feature.increase), x: left + length + 8, y: line + 14, size: 12, .grey)
                line += 20
            }
            if let rest {
                canvas.write(rest, x: x, y: line + 14, size: 11, .grey, width: width)
                line += 20
            }
            return line + 4
        }
    }
}
