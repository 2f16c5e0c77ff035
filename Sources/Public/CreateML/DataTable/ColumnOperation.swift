import TabularData

/// An operator applied to two columns row by row, or to a column and a value.
enum ColumnOperation: String {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case and = "&&"
    case or = "||"

    enum Operand {
        case column(MLUntypedColumn)
        case value(MLDataValue)

        var type: MLDataValue.ValueType {
            switch self {
            case .column(let column): column.type
            case .value(let value): value.type
            }
        }

        /// The element of each row; the operand is of that type.
        func elements<T: Cell>(_: T.Type) -> (Int) -> T? {
            switch self {
            case .column(let column):
                guard let typed = column.typed(T.self) else { return { _ in nil } }
                return { typed[$0] }
            case .value(let value):
                let element = T(from: value)
                return { _ in element }
            }
        }

        /// The number in each row; the operand must hold integers or floating-point numbers.
        var numbers: (Int) -> Double? {
            if type == .int {
                let integers = elements(Int.self)
                return { integers($0).map { Double($0) } }
            }
            return elements(Double.self)
        }
    }

    /// Applies the operator to two operands.
    /// - Parameters:
    ///   - lhs: The left operand.
    ///   - rhs: The right operand.
    ///   - integerDivision: Whether integers are divided with truncation toward zero, not as floating-point numbers.
    /// - Returns: For comparisons and logical operators a column of 0 and 1; an invalid column if the operands differ
    ///   in length, if there is no such operator for their types, or if an integer result overflows.
    func of(_ lhs: Operand, _ rhs: Operand, integerDivision: Bool = false) -> MLUntypedColumn {
        MLUntypedColumn(catching: {
            let count = try Self.count(lhs, rhs)
            switch (lhs.type, rhs.type) {
            case (.invalid, _), (_, .invalid):
                return MLUntypedColumn(values: Array(repeating: .invalid, count: count))
            case (.int, .int):
                if self == .divide && !integerDivision { fallthrough }
                return try integers(count, lhs.elements(Int.self), rhs.elements(Int.self))
            case (.int, .double), (.double, .int), (.double, .double):
                return try numbers(count, lhs.numbers, rhs.numbers)
            case (.string, .string): return try texts(count, lhs.elements(String.self), rhs.elements(String.self))
            case (let type, let other) where type == other:
                func compared<T: Cell>(_: T.Type) throws -> MLUntypedColumn {
                    try equality(type, count, lhs.elements(T.self), rhs.elements(T.self))
                }
                return try compared(type.cell)
            case (let type, let other):
                throw MLCreateError.type(reason: "there is no \(rawValue) of a \(type) and a \(other)")
            }
        })
    }

    private static func count(_ lhs: Operand, _ rhs: Operand) throws -> Int {
        switch (lhs, rhs) {
        case (.column(let first), .column(let second)):
            let counts = (try first.cells().count, try second.cells().count)
            guard counts.0 == counts.1 else {
                throw MLCreateError.generic(
                    reason:
                        "the columns have \(counts.0) and \(counts.1) rows; columns that are combined need the same number of rows"
                )
            }
            return counts.0
        case (.column(let column), .value), (.value, .column(let column)): return try column.cells().count
        case (.value, .value): return 1
        }
    }

    private func build<A, R: Cell>(
        _ count: Int,
        _ lhs: (Int) -> A?,
        _ rhs: (Int) -> A?,
        _ body: (Int, A, A) throws -> R
    ) rethrows -> MLUntypedColumn {
        var result = Column<R>(name: "", capacity: count)
        for row in 0..<count {
            if let left = lhs(row), let right = rhs(row) {
                result.append(try body(row, left, right))
            } else {
                result.append(nil as R?)
            }
        }
        return MLUntypedColumn(result)
    }

    /// The result of a comparison; `nil` for other operators.
    private func compared<T: Comparable>(
        _ count: Int,
        _ lhs: (Int) -> T?,
        _ rhs: (Int) -> T?
    ) -> MLUntypedColumn? {
        switch self {
        case .equal: build(count, lhs, rhs) { $1 == $2 ? 1 : 0 }
        case .notEqual: build(count, lhs, rhs) { $1 != $2 ? 1 : 0 }
        case .less: build(count, lhs, rhs) { $1 < $2 ? 1 : 0 }
        case .lessOrEqual: build(count, lhs, rhs) { $1 <= $2 ? 1 : 0 }
        case .greater: build(count, lhs, rhs) { $1 > $2 ? 1 : 0 }
        case .greaterOrEqual: build(count, lhs, rhs) { $1 >= $2 ? 1 : 0 }
        case .add, .subtract, .multiply, .divide, .and, .or: nil
        }
    }

    private func integers(_ count: Int, _ lhs: (Int) -> Int?, _ rhs: (Int) -> Int?) throws -> MLUntypedColumn {
        if let result = compared(count, lhs, rhs) { return result }
        switch self {
        case .and: return build(count, lhs, rhs) { $1 != 0 && $2 != 0 ? 1 : 0 }
        case .or: return build(count, lhs, rhs) { $1 != 0 || $2 != 0 ? 1 : 0 }
        default: break
        }
        return try build(count, lhs, rhs) { row, left, right -> Int in
            let result =
                switch self {
                case .add: left.addingReportingOverflow(right)
                case .subtract: left.subtractingReportingOverflow(right)
                case .multiply: left.multipliedReportingOverflow(by: right)
                default: left.dividedReportingOverflow(by: right)
                }
            guard !result.overflow else {
                throw MLCreateError.generic(
                    reason: "row \(row): \(left) \(rawValue) \(right) is not an integer; convert the columns to Double"
                )
            }
            return result.partialValue
        }
    }

    private func numbers(_ count: Int, _ lhs: (Int) -> Double?, _ rhs: (Int) -> Double?) throws -> MLUntypedColumn {
        if let result = compared(count, lhs, rhs) { return result }
        switch self {
        case .add: return build(count, lhs, rhs) { $1 + $2 }
        case .subtract: return build(count, lhs, rhs) { $1 - $2 }
        case .multiply: return build(count, lhs, rhs) { $1 * $2 }
        case .divide: return build(count, lhs, rhs) { $1 / $2 }
        default: throw MLCreateError.type(reason: "there is no \(rawValue) of numbers; compare them first")
        }
    }

    private func texts(_ count: Int, _ lhs: (Int) -> String?, _ rhs: (Int) -> String?) throws -> MLUntypedColumn {
        if let result = compared(count, lhs, rhs) { return result }
        guard self == .add else { throw MLCreateError.type(reason: "there is no \(rawValue) of strings") }
        return build(count, lhs, rhs) { $1 + $2 }
    }

    private func equality<T: Cell>(
        _ type: MLDataValue.ValueType,
        _ count: Int,
        _ lhs: (Int) -> T?,
        _ rhs: (Int) -> T?
    ) throws -> MLUntypedColumn {
        switch self {
        case .equal: return build(count, lhs, rhs) { $1 == $2 ? 1 : 0 }
        case .notEqual: return build(count, lhs, rhs) { $1 != $2 ? 1 : 0 }
        default: throw MLCreateError.type(reason: "there is no \(rawValue) of values of the type \(type)")
        }
    }
}
