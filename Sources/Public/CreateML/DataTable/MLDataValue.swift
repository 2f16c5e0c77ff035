import CoreML
import MLFiles
import TabularData

/// One cell of a table.
public enum MLDataValue: Hashable {
    /// A value that is missing.
    case invalid
    case int(Int)
    case double(Double)
    case string(String)
    case sequence(SequenceType)
    case dictionary(DictionaryType)
    case multiArray(MultiArrayType)

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

    public var isValid: Bool { type != .invalid }

    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var sequenceValue: SequenceType? { if case .sequence(let value) = self { value } else { nil } }
    public var dictionaryValue: DictionaryType? { if case .dictionary(let value) = self { value } else { nil } }
    public var multiArrayValue: MultiArrayType? { if case .multiArray(let value) = self { value } else { nil } }
}

extension MLDataValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// Numbers and strings as they are, sequences and dictionaries as JSON.
    public var description: String {
        if case .string(let text) = self { text } else { json }
    }

    public var debugDescription: String { json }

    /// The value as JSON; missing values are `null`, keys of dictionaries texts in ascending order.
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
    /// The number that it is.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The value as one of another type: numbers lose their fractions, texts are read as numbers, everything has a text.
    /// - Returns: `nil` when there is none.
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

    /// The value of a cell of a data frame or of JSON; `nil` for what tables do not hold.
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
