/// What can stand in a column of a table.
public protocol MLDataValueConvertible {
    /// What typed columns give for a value that is missing.
    init()
    /// - Returns: `nil` when the value is of another type.
    init?(from dataValue: MLDataValue)
    /// The type of the values that `dataValue` gives.
    static var dataValueType: MLDataValue.ValueType { get }
    var dataValue: MLDataValue { get }
}

extension Int: MLDataValueConvertible {
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.intValue else { return nil }
        self = value
    }

    public static var dataValueType: MLDataValue.ValueType { .int }

    public var dataValue: MLDataValue { .int(self) }
}

extension Int64: MLDataValueConvertible {
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.intValue else { return nil }
        self.init(value)
    }

    public static var dataValueType: MLDataValue.ValueType { .int }

    public var dataValue: MLDataValue { .int(Int(self)) }
}

/// Booleans are integers in tables: 0 is false, all others are true.
extension Bool: MLDataValueConvertible {
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.intValue else { return nil }
        self = value != 0
    }

    public static var dataValueType: MLDataValue.ValueType { .int }

    public var dataValue: MLDataValue { .int(self ? 1 : 0) }
}

extension Double: MLDataValueConvertible {
    /// Integers are numbers, too.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.number else { return nil }
        self = value
    }

    public static var dataValueType: MLDataValue.ValueType { .double }

    public var dataValue: MLDataValue { .double(self) }
}

extension String: MLDataValueConvertible {
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.stringValue else { return nil }
        self = value
    }

    public static var dataValueType: MLDataValue.ValueType { .string }

    public var dataValue: MLDataValue { .string(self) }
}

extension Array: MLDataValueConvertible where Element: MLDataValueConvertible {
    /// - Returns: `nil` when an element is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let values = dataValue.sequenceValue else { return nil }
        let elements = values.compactMap { Element(from: $0) }
        guard elements.count == values.count else { return nil }
        self = elements
    }

    public static var dataValueType: MLDataValue.ValueType { .sequence }

    public var dataValue: MLDataValue { .sequence(MLDataValue.SequenceType(self)) }
}

extension Dictionary: MLDataValueConvertible where Key: MLDataValueConvertible, Value: MLDataValueConvertible {
    /// - Returns: `nil` when a key or a value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let values = dataValue.dictionaryValue else { return nil }
        var result: [Key: Value] = [:]
        for (key, value) in values {
            guard let key = Key(from: key), let value = Value(from: value) else { return nil }
            result[key] = value
        }
        self = result
    }

    public static var dataValueType: MLDataValue.ValueType { .dictionary }

    public var dataValue: MLDataValue {
        .dictionary(
            MLDataValue.DictionaryType(
                [MLDataValue: MLDataValue](map { ($0.key.dataValue, $0.value.dataValue) }, uniquingKeysWith: { $1 })
            )
        )
    }
}
