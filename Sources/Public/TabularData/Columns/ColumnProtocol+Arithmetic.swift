// Arithmetic and comparison of columns without missing elements; the result is named after the left side.

extension ColumnProtocol where Element: Comparable {
    /// A mask that is true where an element equals `rhs`.
    @inlinable
    public static func == (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 == rhs } }

    /// A mask that is true where `lhs` equals the element.
    @inlinable
    public static func == (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs == $0 } }

    /// A mask that is true where an element does not equal `rhs`.
    @inlinable
    public static func != (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 != rhs } }

    /// A mask that is true where `lhs` does not equal the element.
    @inlinable
    public static func != (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs != $0 } }

    /// A mask that is true where an element is less than `rhs`.
    @inlinable
    public static func < (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 < rhs } }

    /// A mask that is true where `lhs` is less than the element.
    @inlinable
    public static func < (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs < $0 } }

    /// A mask that is true where an element is at most `rhs`.
    @inlinable
    public static func <= (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 <= rhs } }

    /// A mask that is true where `lhs` is at most the element.
    @inlinable
    public static func <= (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs <= $0 } }

    /// A mask that is true where an element is greater than `rhs`.
    @inlinable
    public static func > (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 > rhs } }

    /// A mask that is true where `lhs` is greater than the element.
    @inlinable
    public static func > (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs > $0 } }

    /// A mask that is true where an element is at least `rhs`.
    @inlinable
    public static func >= (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 >= rhs } }

    /// A mask that is true where `lhs` is at least the element.
    @inlinable
    public static func >= (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs >= $0 } }
}

extension ColumnProtocol where Element: AdditiveArithmetic {
    /// The element-wise sums of two columns of equal length, named after the left one.
    ///
    /// Columns of different lengths are a fatal error.
    @inlinable
    public static func + (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 + $1 }
    }

    /// A column of the sums of each element and `rhs`.
    @inlinable
    public static func + (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 + rhs }
    }

    /// A column of the sums of `lhs` and each element.
    @inlinable
    public static func + (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs + $0 }
    }

    /// The element-wise differences of two columns of equal length, named after the left one.
    ///
    /// Columns of different lengths are a fatal error.
    @inlinable
    public static func - (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 - $1 }
    }

    /// A column of the differences of each element and `rhs`.
    @inlinable
    public static func - (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 - rhs }
    }

    /// A column of the differences of `lhs` and each element.
    @inlinable
    public static func - (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs - $0 }
    }
}

extension ColumnProtocol where Element: Numeric {
    /// The element-wise products of two columns of equal length, named after the left one.
    ///
    /// Columns of different lengths are a fatal error.
    @inlinable
    public static func * (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 * $1 }
    }

    /// A column of the products of each element and `rhs`.
    @inlinable
    public static func * (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 * rhs }
    }

    /// A column of the products of `lhs` and each element.
    @inlinable
    public static func * (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs * $0 }
    }
}

extension ColumnProtocol where Element: BinaryInteger {
    /// The element-wise integer quotients of two columns of equal length, named after the left one.
    ///
    /// Columns of different lengths are a fatal error.
    @inlinable
    public static func / (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 / $1 }
    }

    /// A column of the integer quotients of each element and `rhs`.
    @inlinable
    public static func / (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 / rhs }
    }

    /// A column of the integer quotients of `lhs` and each element.
    @inlinable
    public static func / (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs / $0 }
    }
}

extension ColumnProtocol where Element: FloatingPoint {
    /// The element-wise floating-point quotients of two columns of equal length, named after the left one.
    ///
    /// Columns of different lengths are a fatal error.
    @inlinable
    public static func / (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 / $1 }
    }

    /// A column of the floating-point quotients of each element and `rhs`.
    @inlinable
    public static func / (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 / rhs }
    }

    /// A column of the floating-point quotients of `lhs` and each element.
    @inlinable
    public static func / (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs / $0 }
    }
}

/// Returns the results of `operation` for the pairs of elements of two columns of equal length.
@inlinable
func combinedPresent<L: ColumnProtocol, R: ColumnProtocol, T>(
    _ lhs: L,
    _ rhs: R,
    _ operation: (T, T) -> T
) -> Column<T> where L.Element == T, R.Element == T {
    require(lhs.count == rhs.count, "columns of different length cannot be combined")
    var result = Column<T>(name: lhs.name, capacity: lhs.count)
    for (x, y) in zip(lhs, rhs) { result.storage.append(operation(x, y)) }
    return result
}

/// Returns the results of `operation` for all elements.
@inlinable
func mappedAll<C: ColumnProtocol, T>(_ column: C, _ operation: (T) -> T) -> Column<T> where C.Element == T {
    var result = Column<T>(name: column.name, capacity: column.count)
    for x in column { result.storage.append(operation(x)) }
    return result
}
