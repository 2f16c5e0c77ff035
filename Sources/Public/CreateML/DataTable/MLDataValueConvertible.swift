/// A type whose instances can be stored in a table's column.
public protocol MLDataValueConvertible {
    /// Creates the element that typed columns give for a missing value, such as 0 or an empty string.
    init()
    /// Converts a value of a table; `nil` if it is of another type.
    init?(from dataValue: MLDataValue)
    /// The type of the values that `dataValue` gives.
    static var dataValueType: MLDataValue.ValueType { get }
    /// The instance as a value of a table.
    var dataValue: MLDataValue { get }
}

extension Int: MLDataValueConvertible {
    /// Takes the integer out of a value; `nil` if the value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.intValue else { return nil }
        self = value
    }

    /// The type of such values, `.int`.
    public static var dataValueType: MLDataValue.ValueType { .int }

    /// The integer as a value.
    public var dataValue: MLDataValue { .int(self) }
}

extension Int64: MLDataValueConvertible {
    /// Takes the integer out of a value; `nil` if the value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.intValue else { return nil }
        self.init(value)
    }

    /// The type of such values, `.int`.
    public static var dataValueType: MLDataValue.ValueType { .int }

    /// The integer as a value.
    public var dataValue: MLDataValue { .int(Int(self)) }
}

/// Booleans are integers in tables: 0 is false, all others are true.
extension Bool: MLDataValueConvertible {
    /// Takes the truth of an integer out of a value; `nil` if the value is no integer.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.intValue else { return nil }
        self = value != 0
    }

    /// The type of such values, `.int`.
    public static var dataValueType: MLDataValue.ValueType { .int }

    /// The Boolean as the integer 0 or 1.
    public var dataValue: MLDataValue { .int(self ? 1 : 0) }
}

extension Double: MLDataValueConvertible {
    /// Takes the number, an integer included, out of a value; `nil` if the value is no number.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.number else { return nil }
        self = value
    }

    /// The type of such values, `.double`.
    public static var dataValueType: MLDataValue.ValueType { .double }

    /// The number as a value.
    public var dataValue: MLDataValue { .double(self) }
}

extension String: MLDataValueConvertible {
    /// Takes the string out of a value; `nil` if the value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.stringValue else { return nil }
        self = value
    }

    /// The type of such values, `.string`.
    public static var dataValueType: MLDataValue.ValueType { .string }

    /// The string as a value.
    public var dataValue: MLDataValue { .string(self) }
}

extension Array: MLDataValueConvertible where Element: MLDataValueConvertible {
    /// Converts a list element by element; `nil` if the value is no list or an element is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let values = dataValue.sequenceValue else { return nil }
        let elements = values.compactMap { Element(from: $0) }
        guard elements.count == values.count else { return nil }
        self = elements
    }

    /// The type of such values, `.sequence`.
    public static var dataValueType: MLDataValue.ValueType { .sequence }

    /// The array as a list of values.
    public var dataValue: MLDataValue { .sequence(MLDataValue.SequenceType(self)) }
}

extension Dictionary: MLDataValueConvertible where Key: MLDataValueConvertible, Value: MLDataValueConvertible {
    /// Converts a dictionary entry by entry; `nil` if the value, a key or an entry's value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let values = dataValue.dictionaryValue else { return nil }
        var result: [Key: Value] = [:]
        for (key, value) in values {
            guard let key = Key(from: key), let value = Value(from: value) else { return nil }
            result[key] = value
        }
        self = result
    }

    /// The type of such values, `.dictionary`.
    public static var dataValueType: MLDataValue.ValueType { .dictionary }

    /// The dictionary as a value; of keys that become equal values one is kept.
    public var dataValue: MLDataValue {
        .dictionary(
            MLDataValue.DictionaryType(
                [MLDataValue: MLDataValue](map { ($0.key.dataValue, $0.value.dataValue) }, uniquingKeysWith: { $1 })
            )
        )
    }
}
