// Values that are missing on either side give missing ones.

extension MLDataColumn where Element == Int {
    public static func + (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func + (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func + (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.add.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func - (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func - (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func - (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.subtract.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func * (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func * (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func * (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.multiply.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// Without remainders.  Not valid when a divisor is 0.
    public static func / (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(
            untyped: ColumnOperation.divide.of(.column(lhs.untyped), .column(rhs.untyped), integerDivision: true)
        )
    }
    public static func / (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(
            untyped: ColumnOperation.divide.of(.column(lhs.untyped), .value(rhs.dataValue), integerDivision: true)
        )
    }
    public static func / (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(
            untyped: ColumnOperation.divide.of(.value(lhs.dataValue), .column(rhs.untyped), integerDivision: true)
        )
    }
}

extension MLDataColumn where Element == Double {
    public static func + (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func + (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func + (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.add.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func - (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func - (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func - (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.subtract.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func * (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func * (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func * (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.multiply.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func / (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.divide.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func / (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.divide.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func / (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.divide.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }
}

extension MLDataColumn {
    public static func == (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.equal.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func == (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.equal.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func == (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.equal.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func != (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.notEqual.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func != (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.notEqual.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func != (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.notEqual.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func < (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.less.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func < (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.less.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func < (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.less.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func <= (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.lessOrEqual.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func <= (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.lessOrEqual.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func <= (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.lessOrEqual.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func > (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greater.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func > (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greater.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func > (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greater.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    public static func >= (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greaterOrEqual.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    public static func >= (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greaterOrEqual.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    public static func >= (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greaterOrEqual.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }
}

extension MLDataColumn where Element == Bool {
    public static func && (lhs: MLDataColumn<Bool>, rhs: MLDataColumn<Bool>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.and.of(.column(lhs.untyped), .column(rhs.untyped)))
    }

    public static func || (lhs: MLDataColumn<Bool>, rhs: MLDataColumn<Bool>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.or.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
}
