// Values that are missing on either side give missing ones.

extension MLUntypedColumn {
    public static func + (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.add.of(.column(lhs), .column(rhs))
    }
    public static func + (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.add.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func + (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.add.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func - (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.subtract.of(.column(lhs), .column(rhs))
    }
    public static func - (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.subtract.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func - (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.subtract.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func * (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.multiply.of(.column(lhs), .column(rhs))
    }
    public static func * (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.multiply.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func * (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.multiply.of(.value(lhs.dataValue), .column(rhs))
    }

    /// Numbers with fractions, of integers too.
    public static func / (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.divide.of(.column(lhs), .column(rhs))
    }
    public static func / (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.divide.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func / (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.divide.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func == (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.equal.of(.column(lhs), .column(rhs))
    }
    public static func == (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.equal.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func == (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.equal.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func != (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.notEqual.of(.column(lhs), .column(rhs))
    }
    public static func != (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.notEqual.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func != (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.notEqual.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func < (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.less.of(.column(lhs), .column(rhs))
    }
    public static func < (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.less.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func < (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.less.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func <= (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.lessOrEqual.of(.column(lhs), .column(rhs))
    }
    public static func <= (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.lessOrEqual.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func <= (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.lessOrEqual.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func > (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greater.of(.column(lhs), .column(rhs))
    }
    public static func > (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.greater.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func > (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greater.of(.value(lhs.dataValue), .column(rhs))
    }

    public static func >= (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greaterOrEqual.of(.column(lhs), .column(rhs))
    }
    public static func >= (lhs: MLUntypedColumn, rhs: any MLDataValueConvertible) -> MLUntypedColumn {
        ColumnOperation.greaterOrEqual.of(.column(lhs), .value(rhs.dataValue))
    }
    public static func >= (lhs: any MLDataValueConvertible, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.greaterOrEqual.of(.value(lhs.dataValue), .column(rhs))
    }

    /// Of integers, which are true unless they are 0.
    public static func && (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.and.of(.column(lhs), .column(rhs))
    }

    /// Of integers, which are true unless they are 0.
    public static func || (lhs: MLUntypedColumn, rhs: MLUntypedColumn) -> MLUntypedColumn {
        ColumnOperation.or.of(.column(lhs), .column(rhs))
    }
}
