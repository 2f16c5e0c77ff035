import CoreML
import Foundation
import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import TabularData

extension TaskModel {
    /// The engine of the current model.
    /// - Throws: `MLCreateError.type` if the caller set a model of another kind.
    func engine<Engine>(_ type: Engine.Type) throws -> Engine { try Self.engine(of: model, type) }

    static func engine<Engine>(of model: MLModel, _ type: Engine.Type) throws -> Engine {
        guard let engine = model.engine as? Engine else {
            throw MLCreateError.type(
                reason: "the model is \(Swift.type(of: model.engine)), not \(type); give one of the same task"
            )
        }
        return engine
    }
}

extension DataFrame {
    /// The values of a column by row.
    /// - Throws: `MLCreateError` naming the column, and the row that has no value.
    func values<Element>(
        of name: String,
        for role: String,
        _ wanted: String,
        _ convert: (Any) -> Element?
    ) throws -> [Element] {
        guard let index = indexOfColumn(name) else {
            throw MLCreateError.generic(
                reason: "there is no \(role) column '\(name)'; the columns are "
                    + columns.map { "'\($0.name)'" }.joined(separator: ", ")
            )
        }
        return try columns[index].enumerated().map { row, value in
            guard let value else {
                throw MLCreateError.generic(
                    reason: "the \(role) column '\(name)' has no value in row \(row); remove the row or fill it in"
                )
            }
            guard let element = convert(value) else {
                throw MLCreateError.type(
                    reason: "the \(role) column '\(name)' has the \(type(of: value)) '\(value)' in row \(row); it must "
                        + "be \(wanted)"
                )
            }
            return element
        }
    }

    func strings(_ name: String, for role: String) throws -> [String] {
        try values(of: name, for: role, "a column of strings") { value in
            switch value {
            case let text as String: text
            case let number as Int: String(number)
            case let flag as Bool: String(flag)
            default: nil
            }
        }
    }

    /// A column of arrays of strings, as JSON files have them.
    func stringLists(_ name: String, for role: String) throws -> [[String]] {
        try values(of: name, for: role, "a column of arrays of strings, such as a JSON file's") { value in
            if let list = value as? [String] { return list }
            guard let list = value as? [Any?] else { return nil }
            let texts = list.compactMap { $0 as? String }
            return texts.count == list.count ? texts : nil
        }
    }
}

/// The index of each label in their sorted list.
struct LabelIndices {
    let labels: [String]
    private let positions: [String: Int]

    init(_ labels: some Sequence<String>) {
        self.labels = Set(labels).sorted()
        positions = Dictionary(uniqueKeysWithValues: self.labels.enumerated().map { ($1, $0) })
    }

    /// - Precondition: the label is one of them.
    subscript(label: String) -> Int { positions[label]! }
}

/// The confusion matrix of labels.
func counted(_ truth: [String], _ predictions: [String], labels: [String]) -> ConfusionCounts {
    let positions = LabelIndices(labels + truth + predictions)
    return ConfusionCounts(
        strings: positions.labels,
        truth: truth.map { positions[$0] },
        predictions: predictions.map { positions[$0] }
    )
}

/// Checks the revision of an algorithm.
/// - Throws: `MLCreateError` for a revision that does not exist.
func checkRevision(_ revision: Int?, of algorithm: String) throws {
    guard revision == nil || revision == 1 else {
        throw MLCreateError.generic(
            reason: "there is no revision \(revision ?? 0) of \(algorithm) here; give 1, or nil for the newest"
        )
    }
}

extension MLSplitStrategy {
    var text: String {
        switch self {
        case .automatic: "automatic split"
        case .fixed(let ratio, let seed): "split \(ratio)" + (seed.map { ", seed \($0)" } ?? "")
        }
    }
}
