// A missing value on either side gives a missing result.

extension MLDataColumn where Element == Int {
    /// Adds two columns of integers row by row.
    public static func + (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// Adds an integer to every element.
    public static func + (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// Adds every element to an integer.
    public static func + (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.add.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// Subtracts two columns of integers row by row.
    public static func - (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// Subtracts an integer from every element.
    public static func - (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// Subtracts every element from an integer.
    public static func - (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.subtract.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// Multiplies two columns of integers row by row.
    public static func * (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// Multiplies every element by an integer.
    public static func * (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// Multiplies an integer by every element.
    public static func * (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(untyped: ColumnOperation.multiply.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// Divides two columns row by row, truncating quotients toward zero; invalid if a divisor is 0.
    public static func / (lhs: MLDataColumn<Int>, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(
            untyped: ColumnOperation.divide.of(.column(lhs.untyped), .column(rhs.untyped), integerDivision: true)
        )
    }
    /// Divides every element by an integer, truncating quotients toward zero; invalid if it is 0.
    public static func / (lhs: MLDataColumn<Int>, rhs: Int) -> MLDataColumn<Int> {
        MLDataColumn<Int>(
            untyped: ColumnOperation.divide.of(.column(lhs.untyped), .value(rhs.dataValue), integerDivision: true)
        )
    }
    /// Divides an integer by every element, truncating quotients toward zero; invalid if one is 0.
    public static func / (lhs: Int, rhs: MLDataColumn<Int>) -> MLDataColumn<Int> {
        MLDataColumn<Int>(
            untyped: ColumnOperation.divide.of(.value(lhs.dataValue), .column(rhs.untyped), integerDivision: true)
        )
    }
}

extension MLDataColumn where Element == Double {
    /// Adds two columns of floating-point numbers row by row.
    public static func + (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// Adds a number to every element.
    public static func + (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.add.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// Adds every element to a number.
    public static func + (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.add.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// Subtracts two columns of floating-point numbers row by row.
    public static func - (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// Subtracts a number from every element.
    public static func - (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.subtract.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// Subtracts every element from a number.
    public static func - (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.subtract.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// Multiplies two columns of floating-point numbers row by row.
    public static func * (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// Multiplies every element by a number.
    public static func * (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.multiply.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// Multiplies a number by every element.
    public static func * (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.multiply.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// Divides two columns of floating-point numbers row by row.
    public static func / (lhs: MLDataColumn<Double>, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.divide.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// Divides every element by a number.
    public static func / (lhs: MLDataColumn<Double>, rhs: Double) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.divide.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// Divides a number by every element.
    public static func / (lhs: Double, rhs: MLDataColumn<Double>) -> MLDataColumn<Double> {
        MLDataColumn<Double>(untyped: ColumnOperation.divide.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }
}

extension MLDataColumn {
    /// A mask that is true in the rows where the elements of two columns are equal.
    public static func == (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.equal.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// A mask that is true in the rows whose element equals a value.
    public static func == (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.equal.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// A mask that is true in the rows whose element equals a value.
    public static func == (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.equal.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// A mask that is true in the rows where the elements of two columns are different.
    public static func != (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.notEqual.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// A mask that is true in the rows whose element differs from a value.
    public static func != (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.notEqual.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// A mask that is true in the rows whose element differs from a value.
    public static func != (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.notEqual.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// A mask that is true in the rows where the left element is less than the right one.
    ///
    /// Only integers, floating-point numbers and strings have an order; the result is invalid for other elements.
    public static func < (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.less.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// A mask that is true in the rows whose element is less than a value.
    public static func < (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.less.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// A mask that is true in the rows where a value is less than the element.
    public static func < (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.less.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// A mask that is true in the rows where the left element is at most the right one.
    ///
    /// Only integers, floating-point numbers and strings have an order; the result is invalid for other elements.
    public static func <= (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.lessOrEqual.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// A mask that is true in the rows whose element is at most a value.
    public static func <= (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.lessOrEqual.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// A mask that is true in the rows where a value is at most the element.
    public static func <= (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.lessOrEqual.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// A mask that is true in the rows where the left element is greater than the right one.
    ///
    /// Only integers, floating-point numbers and strings have an order; the result is invalid for other elements.
    public static func > (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greater.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// A mask that is true in the rows whose element is greater than a value.
    public static func > (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greater.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// A mask that is true in the rows where a value is greater than the element.
    public static func > (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greater.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }

    /// A mask that is true in the rows where the left element is at least the right one.
    ///
    /// Only integers, floating-point numbers and strings have an order; the result is invalid for other elements.
    public static func >= (lhs: MLDataColumn<Element>, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greaterOrEqual.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
    /// A mask that is true in the rows whose element is at least a value.
    public static func >= (lhs: MLDataColumn<Element>, rhs: Element) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greaterOrEqual.of(.column(lhs.untyped), .value(rhs.dataValue)))
    }
    /// A mask that is true in the rows where a value is at least the element.
    public static func >= (lhs: Element, rhs: MLDataColumn<Element>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.greaterOrEqual.of(.value(lhs.dataValue), .column(rhs.untyped)))
    }
}

extension MLDataColumn where Element == Bool {
    /// Combines two masks by logical AND, row by row.
    public static func && (lhs: MLDataColumn<Bool>, rhs: MLDataColumn<Bool>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.and.of(.column(lhs.untyped), .column(rhs.untyped)))
    }

    /// Combines two masks by logical OR, row by row.
    public static func || (lhs: MLDataColumn<Bool>, rhs: MLDataColumn<Bool>) -> MLDataColumn<Bool> {
        MLDataColumn<Bool>(untyped: ColumnOperation.or.of(.column(lhs.untyped), .column(rhs.untyped)))
    }
}
