import CoreML
import Foundation
import TabularData

extension DataFrame {
    /// The column `name`, or an error that lists the existing ones.
    func seriesColumn(_ name: String, for purpose: String) throws -> AnyColumn {
        guard containsColumn(name) else {
            let names = columns.map { "'\($0.name)'" }.joined(separator: ", ")
            throw MLCreateError.generic(
                reason: "the table has no column '\(name)' (\(purpose)); it has \(names.isEmpty ? "none" : names)"
            )
        }
        return self[name]
    }

    /// Some columns, or an error that names a missing one.
    func seriesColumns(_ names: [String]) throws -> DataFrame {
        for name in names { _ = try seriesColumn(name, for: "of files and what they show") }
        return selecting(columnNames: names)
    }

    /// The numbers of a column.
    /// - Throws: `MLCreateError.type` for a column of other elements, `.generic` for a number that is missing or not
    ///   finite.
    func seriesNumbers(_ name: String) throws -> [Float] {
        let column = try seriesColumn(name, for: "a feature column")
        let numbers: [Float?]
        // Elements of a known type need no box each.
        if column.wrappedElementType == Double.self {
            numbers = column.assumingType(Double.self).map { $0.map { Float($0) } }
        } else if column.wrappedElementType == Int.self {
            numbers = column.assumingType(Int.self).map { $0.map { Float($0) } }
        } else {
            numbers = try (0..<column.count).map { row in
                switch column[row] {
                case let value as Double: return Float(value)
                case let value as Int: return Float(value)
                case let value as Float: return value
                case nil: return nil
                case let value?:
                    throw MLCreateError.type(
                        reason: "row \(row) of the column '\(name)' is '\(value)' (\(type(of: value))); "
                            + "feature columns hold numbers"
                    )
                }
            }
        }
        return try numbers.enumerated().map { row, number in
            guard let number, number.isFinite else {
                throw MLCreateError.generic(
                    reason: "row \(row) of the column '\(name)' is \(number.map { "\($0)" } ?? "empty"); "
                        + "fill it or remove the row"
                )
            }
            return number
        }
    }

    /// A column of labels or names; integers count as text.
    func seriesTexts(_ name: String, for purpose: String) throws -> [String] {
        let column = try seriesColumn(name, for: purpose)
        let texts: [String?]
        if column.wrappedElementType == String.self {
            texts = Array(column.assumingType(String.self))
        } else if column.wrappedElementType == Int.self {
            texts = column.assumingType(Int.self).map { $0.map { String($0) } }
        } else {
            texts = try (0..<column.count).map { row in
                switch column[row] {
                case let value as String: return value
                case let value as Int: return String(value)
                case let value as Bool: return String(value)
                case nil: return nil
                case let value?:
                    throw MLCreateError.type(
                        reason: "row \(row) of the column '\(name)' (\(purpose)) is '\(value)' (\(type(of: value))); "
                            + "it must be text or an integer"
                    )
                }
            }
        }
        return try texts.enumerated().map { row, text in
            guard let text else {
                throw MLCreateError.generic(
                    reason: "row \(row) of the column '\(name)' (\(purpose)) is empty; fill it or remove the row"
                )
            }
            return text
        }
    }

    /// A column of arrays of numbers.
    func seriesArrays(_ name: String) throws -> [[Float]] {
        let column = try seriesColumn(name, for: "key points or features")
        return try (0..<column.count).map { row in
            switch column[row] {
            case let value as [Double]: return value.map { Float($0) }
            case let value as [Float]: return value
            case let value as [Int]: return value.map { Float($0) }
            case let value as MLShapedArray<Float>: return Array(value.scalars)
            case let value as MLShapedArray<Double>: return value.scalars.map { Float($0) }
            case let value as MLMultiArray: return (0..<value.count).map { value[$0].floatValue }
            case let value as [Any?]:
                return try value.map { element in
                    switch element {
                    case let number as Double: return Float(number)
                    case let number as Int: return Float(number)
                    default:
                        throw MLCreateError.type(
                            reason: "row \(row) of the column '\(name)' holds values that are not numbers"
                        )
                    }
                }
            case nil:
                throw MLCreateError.generic(reason: "row \(row) of the column '\(name)' is empty; remove the row")
            case let value?:
                throw MLCreateError.type(
                    reason: "row \(row) of the column '\(name)' is of type \(type(of: value)); "
                        + "it must hold arrays of numbers or multi-arrays"
                )
            }
        }
    }

    /// A table of a CSV or JSON file.
    static func seriesTable(at url: URL) throws -> DataFrame {
        do {
            switch url.pathExtension.lowercased() {
            case "csv", "tsv", "txt": return try DataFrame(contentsOfCSVFile: url)
            case "json": return try DataFrame(contentsOfJSONFile: url)
            case let other:
                throw MLCreateError.io(
                    reason: "\(url.path) is of type '\(other)'; tables are read from csv and json files"
                )
            }
        } catch let error as MLCreateError {
            throw error
        } catch {
            throw MLCreateError.io(reason: "\(url.path): \(error)")
        }
    }
}

/// The rows of each name, in the order of their first rows.
struct RowGroups {
    let names: [String]
    let rows: [[Int]]

    init(_ keys: [String]) {
        var positions: [String: Int] = [:]
        var names: [String] = []
        var rows: [[Int]] = []
        for (row, key) in keys.enumerated() {
            if let position = positions[key] {
                rows[position].append(row)
            } else {
                positions[key] = names.count
                names.append(key)
                rows.append([row])
            }
        }
        self.names = names
        self.rows = rows
    }
}

/// Labels in alphabetical order, and the index of each.
struct LabelNumbers {
    let labels: [String]
    private let numbers: [String: Int]

    init(_ texts: some Sequence<String>) {
        labels = Set(texts).sorted()
        numbers = Dictionary(uniqueKeysWithValues: labels.enumerated().map { ($1, $0) })
    }

    /// The index of a label.
    /// - Throws: `MLCreateError.generic` for a label that the training data lack.
    func number(of label: String) throws -> Int {
        guard let number = numbers[label] else {
            throw MLCreateError.generic(
                reason: "the label '\(label)' of the validation data is not one of the training data: \(labels)"
            )
        }
        return number
    }
}
