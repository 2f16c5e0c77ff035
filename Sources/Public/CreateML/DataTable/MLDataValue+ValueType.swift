extension MLDataValue {
    /// The type of the values of a column.
    public enum ValueType: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
        /// Integers.
        case int
        /// Floating-point numbers.
        case double
        /// Strings.
        case string
        /// Lists of values.
        case sequence
        /// Dictionaries from values to values.
        case dictionary
        /// Arrays of numbers with any number of dimensions.
        case multiArray
        /// No type: all values are missing.
        case invalid

        /// The type's name, such as `Int` or `MultiArray`.
        public var description: String {
            switch self {
            case .int: "Int"
            case .double: "Double"
            case .string: "String"
            case .sequence: "Sequence"
            case .dictionary: "Dictionary"
            case .multiArray: "MultiArray"
            case .invalid: "Invalid"
            }
        }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }
}

/// The element type of a table's column: one Swift type for each `ValueType`.
typealias Cell = MLDataValueConvertible & Hashable

/// The element type of columns that have no values.
struct EmptyCell: Cell {
    init() {}

    init?(from dataValue: MLDataValue) { nil }

    static var dataValueType: MLDataValue.ValueType { .invalid }

    var dataValue: MLDataValue { .invalid }
}

extension MLDataValue.ValueType {
    /// The element type of columns of such values.
    var cell: any Cell.Type {
        switch self {
        case .int: Int.self
        case .double: Double.self
        case .string: String.self
        case .sequence: MLDataValue.SequenceType.self
        case .dictionary: MLDataValue.DictionaryType.self
        case .multiArray: MLDataValue.MultiArrayType.self
        case .invalid: EmptyCell.self
        }
    }

    /// The value type of columns with such elements; `nil` if there is none.
    init?(cell: any Any.Type) {
        switch cell {
        case is Int.Type: self = .int
        case is Double.Type: self = .double
        case is String.Type: self = .string
        case is MLDataValue.SequenceType.Type: self = .sequence
        case is MLDataValue.DictionaryType.Type: self = .dictionary
        case is MLDataValue.MultiArrayType.Type: self = .multiArray
        case is EmptyCell.Type: self = .invalid
        default: return nil
        }
    }
}
