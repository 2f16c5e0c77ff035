import CoreML
import MLFiles
import TabularData

/// The value of a cell of a table.
public enum MLDataValue: Hashable {
    /// A missing value.
    case invalid
    /// An integer.
    case int(Int)
    /// A floating-point number.
    case double(Double)
    /// A string.
    case string(String)
    /// A list of values.
    case sequence(SequenceType)
    /// Values by keys.
    case dictionary(DictionaryType)
    /// An array of numbers with any number of dimensions.
    case multiArray(MultiArrayType)

    /// The type of the value; `.invalid` for a missing one.
    public var type: ValueType {
        switch self {
        case .invalid: .invalid
        case .int: .int
        case .double: .double
        case .string: .string
        case .sequence: .sequence
        case .dictionary: .dictionary
        case .multiArray: .multiArray
        }
    }

    /// Whether the value is present.
    public var isValid: Bool { type != .invalid }

    /// The integer; `nil` for any other value.
    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    /// The floating-point number; `nil` for any other value, integers included.
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    /// The string; `nil` for any other value.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The list; `nil` for any other value.
    public var sequenceValue: SequenceType? { if case .sequence(let value) = self { value } else { nil } }
    /// The dictionary; `nil` for any other value.
    public var dictionaryValue: DictionaryType? { if case .dictionary(let value) = self { value } else { nil } }
    /// The multi-array; `nil` for any other value.
    public var multiArrayValue: MultiArrayType? { if case .multiArray(let value) = self { value } else { nil } }
}

extension MLDataValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// A string itself; any other value as JSON, `null` for a missing one.
    public var description: String {
        if case .string(let text) = self { text } else { json }
    }

    /// The value as JSON, strings in quotes.
    public var debugDescription: String { json }

    /// The value as JSON: missing values are `null`, dictionary keys are texts in ascending order.
    var json: String {
        switch self {
        case .invalid: "null"
        case .int(let value): String(value)
        case .double(let value): String(value)
        case .string(let text): JSONValue.quoted(text)
        case .sequence(let values): values.json
        case .dictionary(let values): values.json
        case .multiArray(let array): array.description
        }
    }
}

extension MLDataValue {
    /// The integer or floating-point number; `nil` for any other value.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The value converted to another type.
    ///
    /// Floating-point numbers are truncated toward zero, strings are parsed as numbers, and everything but multi-arrays
    /// has a string.
    /// - Parameter type: The type to convert to.
    /// - Returns: `nil` if the value cannot be converted.
    func cast(to type: ValueType) -> MLDataValue? {
        if self.type == type { return self }
        switch (type, self) {
        case (.int, .double(let value)): return Int(exactly: value.rounded(.towardZero)).map { .int($0) }
        case (.int, .string(let text)): return Int(Self.trimmed(text)).map { .int($0) }
        case (.double, .int(let value)): return .double(Double(value))
        case (.double, .string(let text)): return Double(Self.trimmed(text)).map { .double($0) }
        case (.string, .int), (.string, .double), (.string, .sequence), (.string, .dictionary):
            return .string(description)
        case (.sequence, .multiArray(let array)):
            guard array.shape.count == 1 else { return nil }
            return .sequence(SequenceType(array.values))
        case (.multiArray, .sequence(let values)):
            let numbers = values.compactMap(\.number)
            guard numbers.count == values.count else { return nil }
            return .multiArray(MultiArrayType(shape: [numbers.count], values: numbers))
        default: return nil
        }
    }

    private static func trimmed(_ text: String) -> Substring {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) }
        return text[..<(end ?? text.startIndex)].drop(while: \.isWhitespace)
    }

    /// The value of a cell of a data frame or of JSON; `nil` for elements that tables do not hold.
    init?(_ element: Any?) {
        guard let element else {
            self = .invalid
            return
        }
        switch element {
        case let value as MLDataValue: self = value
        case let value as any MLDataValueConvertible: self = value.dataValue
        case let value as any BinaryInteger:
            guard let value = Int(exactly: value) else { return nil }
            self = .int(value)
        case let value as any BinaryFloatingPoint: self = .double(Double(value))
        case let value as MLMultiArray: self = .multiArray(MultiArrayType(value))
        case let value as MLShapedArray<Double>: self = .multiArray(MultiArrayType(MLMultiArray(value)))
        case let value as MLShapedArray<Float>: self = .multiArray(MultiArrayType(MLMultiArray(value)))
        case let value as MLShapedArray<Int32>: self = .multiArray(MultiArrayType(MLMultiArray(value)))
        case let list as [Any?]:
            let values = list.compactMap { MLDataValue($0) }
            guard values.count == list.count else { return nil }
            self = .sequence(SequenceType(values))
        case let array as ShapedData<Double>: self = .multiArray(MultiArrayType(array))
        case let dictionary as [AnyHashable: Any?]:
            var entries: [MLDataValue: MLDataValue] = [:]
            for (key, value) in dictionary {
                guard let key = MLDataValue(key.base), let value = MLDataValue(value) else { return nil }
                entries[key] = value
            }
            self = .dictionary(DictionaryType(entries))
        case let dictionary as [String: Any?]:
            let values = dictionary.compactMapValues { MLDataValue($0) }
            guard values.count == dictionary.count else { return nil }
            self = .dictionary(
                DictionaryType(uniqueKeysWithValues: values.map { (MLDataValue.string($0.key), $0.value) })
            )
        default: return nil
        }
    }
}
