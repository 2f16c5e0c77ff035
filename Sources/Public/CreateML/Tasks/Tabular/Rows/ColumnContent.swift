import CoreML
import Foundation
import MLNumerics
import MLTrainingCore
import TabularData

/// A column of a data frame in the form that tabular tasks take.
///
/// | elements | content |
/// |---|---|
/// | integers, `Double`, `Float`, `Bool` | numbers; false is 0, true 1 |
/// | `String` | texts |
/// | dictionaries from `String` or `Int` to numbers | dictionaries |
/// | arrays of numbers, `MLMultiArray`, `MLShapedArray` | arrays |
enum ColumnContent: Sendable {
    /// NaN where a value is missing.
    case numbers(NumberColumn)
    case texts([String?])
    case dictionaries([[String: Double]?])
    case integerDictionaries([[Int64: Double]?])
    case arrays([ArrayValue?])

    struct ArrayValue: Sendable {
        var shape: [Int]
        /// The elements in row-major order.
        var values: [Double]
    }

    /// Reads a column.
    /// - Throws: `MLCreateError.type` for elements of other types, `.generic` for numbers that are infinite.
    init(_ column: AnyColumn) throws {
        func of<T, R>(_ type: T.Type, _ transform: (T) throws -> R) rethrows -> [R?] {
            try column.assumingType(type).map { element in try element.map(transform) }
        }
        func list(_ values: [Double]) -> ArrayValue { ArrayValue(shape: [values.count], values: values) }
        switch column.wrappedElementType {
        case is String.Type: self = .texts(column.assumingType(String.self).map { $0 })
        case is [String: Double].Type: self = .dictionaries(of([String: Double].self) { $0 })
        case is [String: Float].Type: self = .dictionaries(of([String: Float].self) { $0.mapValues(Double.init) })
        case is [String: Int].Type: self = .dictionaries(of([String: Int].self) { $0.mapValues(Double.init) })
        case is [Int: Double].Type:
            self = .integerDictionaries(
                of([Int: Double].self) { $0.reduce(into: [:]) { $0[Int64($1.key)] = $1.value } }
            )
        case is [Int64: Double].Type: self = .integerDictionaries(of([Int64: Double].self) { $0 })
        case is [Int: Int].Type:
            self = .integerDictionaries(
                of([Int: Int].self) { $0.reduce(into: [:]) { $0[Int64($1.key)] = Double($1.value) } }
            )
        case is [Double].Type: self = .arrays(of([Double].self, list))
        case is [Float].Type: self = .arrays(of([Float].self) { list($0.map(Double.init)) })
        case is [Int].Type: self = .arrays(of([Int].self) { list($0.map(Double.init)) })
        case is MLMultiArray.Type: self = .arrays(of(MLMultiArray.self, Self.value))
        case is MLShapedArray<Double>.Type: self = .arrays(of(MLShapedArray<Double>.self, Self.value))
        case is MLShapedArray<Float>.Type: self = .arrays(of(MLShapedArray<Float>.self, Self.value))
        case is MLShapedArray<Int32>.Type: self = .arrays(of(MLShapedArray<Int32>.self, Self.value))
        default:
            if let numbers = NumberColumn(column) {
                self = .numbers(numbers)
                break
            }
            throw MLCreateError.type(
                reason: "the column '\(column.name)' holds elements of type \(column.wrappedElementType), which is no "
                    + "feature; features are numbers, Bool, String, dictionaries from String or Int to numbers, and "
                    + "arrays of numbers: convert it, or leave it out of featureColumns"
            )
        }
        try checkFinite(column.name)
    }

    private static func value(_ array: MLMultiArray) -> ArrayValue {
        let tensor = array.tensor(as: .float64)
        return ArrayValue(
            shape: array.shape.map(\.intValue),
            values: tensor.withElements(of: Double.self) { Array($0) }
        )
    }

    private static func value<Scalar: MLShapedArrayScalar & BinaryFloatingPoint>(
        _ array: MLShapedArray<Scalar>
    ) -> ArrayValue {
        ArrayValue(shape: array.shape, values: array.scalars.map { Double($0) })
    }

    private static func value(_ array: MLShapedArray<Int32>) -> ArrayValue {
        ArrayValue(shape: array.shape, values: array.scalars.map { Double($0) })
    }

    private func checkFinite(_ name: String) throws {
        func fail(_ row: Int, _ value: Double, _ position: String = "") -> MLCreateError {
            .generic(
                reason:
                    "the column '\(name)' is \(value) in row \(row)\(position); replace the value, or remove the row"
            )
        }
        switch self {
        case .numbers(let values):
            if values.canBeInfinite, let (row, value) = values.first(where: \.isInfinite) { throw fail(row, value) }
        case .texts: break
        case .dictionaries(let values):
            for (row, value) in values.enumerated() {
                for (key, number) in value ?? [:] where !number.isFinite { throw fail(row, number, ", key '\(key)'") }
            }
        case .integerDictionaries(let values):
            for (row, value) in values.enumerated() {
                for (key, number) in value ?? [:] where !number.isFinite { throw fail(row, number, ", key \(key)") }
            }
        case .arrays(let values):
            for (row, value) in values.enumerated() {
                if let number = value?.values.first(where: \.isInfinite) { throw fail(row, number) }
            }
        }
    }

    /// - Throws: `.type` for arrays that differ in shape.
    func checkShapes(_ name: String) throws {
        guard case .arrays(let values) = self, let first = values.lazy.compactMap({ $0 }).first else { return }
        for (row, value) in values.enumerated() {
            if let value, value.shape != first.shape {
                throw MLCreateError.type(
                    reason:
                        "the column '\(name)' holds an array of the shape \(value.shape) in row \(row) and others of "
                        + "the shape \(first.shape); all must have one shape"
                )
            }
        }
    }

    /// Checks that no number is missing, for models that have no place for one.
    /// - Throws: `MLCreateError.generic` naming the first missing one.
    func checkPresence(_ name: String, _ use: String = "") throws {
        let row: Int? =
            switch self {
            case .numbers(let values): values.first(where: \.isNaN)?.row
            case .arrays(let values):
                values.firstIndex { value in value.map { $0.values.contains(where: \.isNaN) } ?? true }
            case .texts, .dictionaries, .integerDictionaries: nil
            }
        guard let row else { return }
        throw MLCreateError.generic(
            reason:
                "the \(use)column '\(name)' has no value in row \(row), and linear models need all: fill the column, "
                + "remove such rows, or use an algorithm that grows trees"
        )
    }

    var count: Int {
        switch self {
        case .numbers(let values): values.count
        case .texts(let values): values.count
        case .dictionaries(let values): values.count
        case .integerDictionaries(let values): values.count
        case .arrays(let values): values.count
        }
    }

    /// The type of the elements, for messages.
    var kind: String {
        switch self {
        case .numbers: "numbers"
        case .texts: "strings"
        case .dictionaries: "dictionaries with String keys"
        case .integerDictionaries: "dictionaries with Int keys"
        case .arrays: "arrays"
        }
    }

    /// Some rows; numbers stay where they are.
    func rows(_ rows: [Int]) -> ColumnContent {
        switch self {
        case .numbers(let values): .numbers(values.viewing(rows))
        case .texts(let values): .texts(rows.map { values[$0] })
        case .dictionaries(let values): .dictionaries(rows.map { values[$0] })
        case .integerDictionaries(let values): .integerDictionaries(rows.map { values[$0] })
        case .arrays(let values): .arrays(rows.map { values[$0] })
        }
    }
}

extension Fingerprint {
    mutating func add(_ name: String, _ content: ColumnContent) {
        add(name)
        add(content.kind)
        add(content.count)
        switch content {
        case .numbers(let values): values.withValues { add($0.bytes) }
        case .texts(let values): for text in values { add(text ?? "\u{0}") }
        case .dictionaries(let values):
            for value in values {
                add(value?.count ?? -1)
                for (key, number) in (value ?? [:]).sorted(by: { $0.key < $1.key }) {
                    add(key)
                    add(number)
                }
            }
        case .integerDictionaries(let values):
            for value in values {
                add(value?.count ?? -1)
                for (key, number) in (value ?? [:]).sorted(by: { $0.key < $1.key }) {
                    add(Int(key))
                    add(number)
                }
            }
        case .arrays(let values):
            for value in values {
                add(value?.values.count ?? -1)
                let own = value?.values ?? []
                add(own.span.bytes)
            }
        }
    }
}
