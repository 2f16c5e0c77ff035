// A missing value on either side gives a missing result.

extension MLUntypedColumn {
    /// Adds two columns of numbers, or concatenates two columns of strings, row by row.
    ///
    /// Two columns of integers give integers, other numbers give floating-point numbers.
    public static func + (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.add.of(.column(lhs), .column(rhs))
    }
    /// Adds a number to every value, or appends a string to it.
    public static func + (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.add.of(.column(lhs), .value(rhs.dataValue))
    }
    /// Adds every value to a number, or prepends a string to it.
    public static func + (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.add.of(.value(lhs.dataValue), .column(rhs))
    }

    /// Subtracts two columns of numbers row by row.
    ///
    /// Two columns of integers give integers, other numbers give floating-point numbers.
    public static func - (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.subtract.of(.column(lhs), .column(rhs))
    }
    /// Subtracts a number from every value.
    public static func - (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.subtract.of(.column(lhs), .value(rhs.dataValue))
    }
    /// Subtracts every value from a number.
    public static func - (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.subtract.of(.value(lhs.dataValue), .column(rhs))
    }

    /// Multiplies two columns of numbers row by row.
    ///
    /// Two columns of integers give integers, other numbers give floating-point numbers.
    public static func * (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.multiply.of(.column(lhs), .column(rhs))
    }
    /// Multiplies every value by a number.
    public static func * (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.multiply.of(.column(lhs), .value(rhs.dataValue))
    }
    /// Multiplies a number by every value.
    public static func * (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.multiply.of(.value(lhs.dataValue), .column(rhs))
    }

    /// Divides two columns of numbers row by row, giving floating-point numbers even for integers.
    ///
    /// Typed columns differ: dividing `MLDataColumn<Int>` truncates toward zero.
    public static func / (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.divide.of(.column(lhs), .column(rhs))
    }
    /// Divides every value by a number, giving floating-point numbers even for integers.
    public static func / (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.divide.of(.column(lhs), .value(rhs.dataValue))
    }
    /// Divides a number by every value, giving floating-point numbers even for integers.
    public static func / (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.divide.of(.value(lhs.dataValue), .column(rhs))
    }

    /// A mask that is 1 in the rows where the values of two columns are equal, otherwise 0.
    public static func == (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.equal.of(.column(lhs), .column(rhs))
    }
    /// A mask that is 1 in the rows whose value equals the right operand, otherwise 0.
    public static func == (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.equal.of(.column(lhs), .value(rhs.dataValue))
    }
    /// A mask that is 1 in the rows whose value equals the left operand, otherwise 0.
    public static func == (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.equal.of(.value(lhs.dataValue), .column(rhs))
    }

    /// A mask that is 1 in the rows where the values of two columns are different, otherwise 0.
    public static func != (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.notEqual.of(.column(lhs), .column(rhs))
    }
    /// A mask that is 1 in the rows whose value differs from the right operand, otherwise 0.
    public static func != (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.notEqual.of(.column(lhs), .value(rhs.dataValue))
    }
    /// A mask that is 1 in the rows whose value differs from the left operand, otherwise 0.
    public static func != (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.notEqual.of(.value(lhs.dataValue), .column(rhs))
    }

    /// A mask that is 1 in the rows where the left value is less than the right one, otherwise 0.
    ///
    /// Only numbers and strings have an order; the result is invalid for other values.
    public static func < (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.less.of(.column(lhs), .column(rhs))
    }
    /// A mask that is 1 in the rows whose value is less than the right operand, otherwise 0.
    public static func < (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.less.of(.column(lhs), .value(rhs.dataValue))
    }
    /// A mask that is 1 in the rows where the left operand is less than the value, otherwise 0.
    public static func < (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.less.of(.value(lhs.dataValue), .column(rhs))
    }

    /// A mask that is 1 in the rows where the left value is at most the right one, otherwise 0.
    ///
    /// Only numbers and strings have an order; the result is invalid for other values.
    public static func <= (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.lessOrEqual.of(.column(lhs), .column(rhs))
    }
    /// A mask that is 1 in the rows whose value is at most the right operand, otherwise 0.
    public static func <= (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.lessOrEqual.of(.column(lhs), .value(rhs.dataValue))
    }
    /// A mask that is 1 in the rows where the left operand is at most the value, otherwise 0.
    public static func <= (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.lessOrEqual.of(.value(lhs.dataValue), .column(rhs))
    }

    /// A mask that is 1 in the rows where the left value is greater than the right one, otherwise 0.
    ///
    /// Only numbers and strings have an order; the result is invalid for other values.
    public static func > (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greater.of(.column(lhs), .column(rhs))
    }
    /// A mask that is 1 in the rows whose value is greater than the right operand, otherwise 0.
    public static func > (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.greater.of(.column(lhs), .value(rhs.dataValue))
    }
    /// A mask that is 1 in the rows where the left operand is greater than the value, otherwise 0.
    public static func > (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greater.of(.value(lhs.dataValue), .column(rhs))
    }

    /// A mask that is 1 in the rows where the left value is at least the right one, otherwise 0.
    ///
    /// Only numbers and strings have an order; the result is invalid for other values.
    public static func >= (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greaterOrEqual.of(.column(lhs), .column(rhs))
    }
    /// A mask that is 1 in the rows whose value is at least the right operand, otherwise 0.
    public static func >= (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.greaterOrEqual.of(.column(lhs), .value(rhs.dataValue))
    }
    /// A mask that is 1 in the rows where the left operand is at least the value, otherwise 0.
    public static func >= (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greaterOrEqual.of(.value(lhs.dataValue), .column(rhs))
    }

    /// Combines two masks by logical AND, row by row; an integer is true unless it is 0.
    public static func && (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.and.of(.column(lhs), .column(rhs))
    }

    /// Combines two masks by logical OR, row by row; an integer is true unless it is 0.
    public static func || (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.or.of(.column(lhs), .column(rhs))
    }
}
