import MLFiles
import MLInspection

/// The differences between two models, as text and as JSON.
struct ComparisonText {
    private let comparison: ModelComparison
    private let before: String
    private let after: String

    init(_ comparison: ModelComparison, _ before: String, _ after: String) {
        (self.comparison, self.before, self.after) = (comparison, before, after)
    }

    // MARK: Text

    /// The differences as text.
    ///
    /// - Parameter limit: The maximum number of differences of a kind to show.
    /// - Returns: The text, with a section for each kind of difference.
    func text(limit: Int) -> String {
        var lines = ["\(before) → \(after)"]
        func section(_ title: String, _ entries: [String]) {
            guard !entries.isEmpty else { return }
            lines.append("\n\(title)")
            lines += entries.prefix(limit).map { "  \($0)" }
            if entries.count > limit { lines.append("  … and \(entries.count - limit) more") }
        }
        section("Interface", comparison.interface.map(Self.line))
        section("Metadata", comparison.metadata.map(Self.line))
        section("Structure", Self.grouped(comparison.structure) + comparison.fields.map(Self.line))
        let moved = comparison.moved
        if !moved.isEmpty {
            var table = Table(rightAligned: [0, 1, 2])
            table.add("relative", "largest", "cosine", "tensor", "stored as")
            for weight in moved.prefix(limit) {
                let name = weight.name == weight.otherName ? weight.name : "\(weight.name) → \(weight.otherName)"
                let storage =
                    weight.storage == weight.otherStorage
                    ? "\(weight.storage)" : "\(weight.storage) → \(weight.otherStorage)"
                table.add(
                    Self.number(weight.relativeDistance),
                    Self.number(weight.largestDifference),
                    Self.cosine(weight.cosine),
                    "\(name) \(weight.shape)",
                    storage
                )
            }
            lines.append("\nWeights that changed, \(comparison.weights.count - moved.count) did not")
            lines.append(table.text())
            if moved.count > limit { lines.append("  … and \(moved.count - limit) more") }
        }
        let repacked = comparison.weights.filter { !$0.hasMoved && $0.storage != $0.otherStorage }
        section(
            "Weights stored differently, with the same values",
            repacked.map { "~ \($0.otherName): \($0.storage) → \($0.otherStorage)" }
        )
        section("Weights without a counterpart", comparison.unpaired.map(Self.line))
        section("Weights that cannot be decoded", comparison.failures.map { "\($0)" })
        lines.append((lines.count > 1 ? "\n" : "") + comparison.summary)
        return lines.joined(separator: "\n")
    }

    private static func line(_ change: ModelChange) -> String {
        let attribute = change.attribute.isEmpty ? "" : ": \(change.attribute)"
        switch change.kind {
        case .added: return "+ \(change.location)\(attribute)" + (change.after.map { " \(short($0))" } ?? "")
        case .removed: return "- \(change.location)\(attribute)" + (change.before.map { " \(short($0))" } ?? "")
        case .changed:
            return "~ \(change.location)\(attribute) \(shown(change.before)) → \(shown(change.after))"
        }
    }

    /// Combines the same change of many operations in one line.
    private static func grouped(_ changes: [ModelChange]) -> [String] {
        struct Same: Hashable {
            let attribute: String
            let before: String?
            let after: String?
        }
        func key(_ change: ModelChange) -> Same? {
            guard change.kind == .changed, !change.attribute.isEmpty, !change.attribute.hasSuffix("comes from") else {
                return nil
            }
            return Same(attribute: change.attribute, before: change.before, after: change.after)
        }
        var counts: [Same: Int] = [:]
        for change in changes { if let key = key(change) { counts[key, default: 0] += 1 } }
        var said: Set<Same> = []
        return changes.compactMap { change in
            guard let key = key(change), let count = counts[key], count > 3 else { return line(change) }
            guard said.insert(key).inserted else { return nil }
            return "~ \(count) times: \(change.attribute) \(shown(change.before)) → \(shown(change.after)), "
                + "first at \(change.location)"
        }
    }

    private static func line(_ entry: (location: String, change: FieldChange)) -> String {
        let change = entry.change
        var parts: [String] = []
        if change.changed > 0 {
            parts.append(change.count == 1 ? "changed" : "\(change.changed) of \(change.count) changed")
        }
        if change.added > 0 { parts.append("\(change.added) added") }
        if change.removed > 0 { parts.append("\(change.removed) removed") }
        if let largest = change.largestDifference, change.count > 1 { parts.append("by \(number(largest)) at most") }
        return "~ \(entry.location)\(change.path): \(parts.joined(separator: ", ")); "
            + "\(change.example): \(shown(change.before)) → \(shown(change.after))"
    }

    private static func shown(_ value: String?) -> String { value.map { $0.isEmpty ? "none" : short($0) } ?? "none" }

    private static func short(_ text: String) -> String {
        let line = text.split(separator: "\n").joined(separator: " ")
        return line.count > 80 ? line.prefix(79) + "…" : line
    }

    /// Three significant digits.
    private static func number(_ value: Double) -> String {
        guard value != 0, value.isFinite else { return value == 0 ? "0" : "\(value)" }
        var (scale, magnitude) = (1.0, abs(value))
        while magnitude < 100 { (magnitude, scale) = (magnitude * 10, scale * 10) }
        while magnitude >= 1000 { (magnitude, scale) = (magnitude / 10, scale / 10) }
        return JSONWriter.text(Double(Float((value * scale).rounded() / scale).description) ?? value)
    }

    /// Enough digits to distinguish values near 1 from 1.
    private static func cosine(_ value: Double) -> String {
        value.isFinite ? JSONWriter.text((value * 1e6).rounded() / 1e6) : "–"
    }

    // MARK: JSON

    var object: [String: Any] {
        [
            "before": before, "after": after, "identical": comparison.isIdentical, "summary": comparison.summary,
            "interface": comparison.interface.map(Self.object), "metadata": comparison.metadata.map(Self.object),
            "structure": comparison.structure.map(Self.object),
            "fields": comparison.fields.map { entry -> [String: Any] in
                var object: [String: Any] = [
                    "path": entry.location + entry.change.path, "changed": entry.change.changed,
                    "added": entry.change.added, "removed": entry.change.removed, "count": entry.change.count,
                    "example": entry.change.example,
                ]
                object["largest_difference"] = entry.change.largestDifference
                object["before"] = entry.change.before
                object["after"] = entry.change.after
                return object
            },
            "weights": comparison.weights.map { weight -> [String: Any] in
                [
                    "name": weight.name, "other_name": weight.otherName, "shape": weight.shape,
                    "relative_distance": weight.relativeDistance, "largest_difference": weight.largestDifference,
                    "cosine": weight.cosine, "moved": weight.hasMoved, "storage": weight.storage.description,
                    "other_storage": weight.otherStorage.description,
                ]
            },
            "unpaired": comparison.unpaired.map(Self.object),
            "failures": comparison.failures.map { "\($0)" },
        ]
    }

    private static func object(_ change: ModelChange) -> [String: Any] {
        var object: [String: Any] = ["kind": change.kind.rawValue, "place": change.location]
        if !change.attribute.isEmpty { object["attribute"] = change.attribute }
        object["before"] = change.before
        object["after"] = change.after
        return object
    }
}
