extension MLDataValue {
    /// What the values of a column are.
    public enum ValueType: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
        case int
        case double
        case string
        case sequence
        case dictionary
        case multiArray
        /// Of a column without any value.
        case invalid

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

        public var debugDescription: String { description }
    }
}

/// What columns of tables hold: one type for each `ValueType`.
typealias Cell = MLDataValueConvertible & Hashable

/// The element type of columns that have no values.
struct AbsentCell: Cell {
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
        case .invalid: AbsentCell.self
        }
    }

    /// The type whose columns have such elements.
    init?(cell: any Any.Type) {
        switch cell {
        case is Int.Type: self = .int
        case is Double.Type: self = .double
        case is String.Type: self = .string
        case is MLDataValue.SequenceType.Type: self = .sequence
        case is MLDataValue.DictionaryType.Type: self = .dictionary
        case is MLDataValue.MultiArrayType.Type: self = .multiArray
        case is AbsentCell.Type: self = .invalid
        default: return nil
        }
    }
}
