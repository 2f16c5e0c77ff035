// Arithmetic and comparison of columns without missing elements; the result is named after the left side.

extension ColumnProtocol where Element: Comparable {
    @inlinable
    public static func == (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 == rhs } }

    @inlinable
    public static func == (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs == $0 } }

    @inlinable
    public static func != (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 != rhs } }

    @inlinable
    public static func != (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs != $0 } }

    @inlinable
    public static func < (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 < rhs } }

    @inlinable
    public static func < (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs < $0 } }

    @inlinable
    public static func <= (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 <= rhs } }

    @inlinable
    public static func <= (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs <= $0 } }

    @inlinable
    public static func > (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 > rhs } }

    @inlinable
    public static func > (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs > $0 } }

    @inlinable
    public static func >= (lhs: Self, rhs: Element) -> [Bool] { lhs.map { $0 >= rhs } }

    @inlinable
    public static func >= (lhs: Element, rhs: Self) -> [Bool] { rhs.map { lhs >= $0 } }
}

extension ColumnProtocol where Element: AdditiveArithmetic {
    @inlinable
    public static func + (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 + $1 }
    }

    @inlinable
    public static func + (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 + rhs }
    }

    @inlinable
    public static func + (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs + $0 }
    }

    @inlinable
    public static func - (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 - $1 }
    }

    @inlinable
    public static func - (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 - rhs }
    }

    @inlinable
    public static func - (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs - $0 }
    }
}

extension ColumnProtocol where Element: Numeric {
    @inlinable
    public static func * (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 * $1 }
    }

    @inlinable
    public static func * (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 * rhs }
    }

    @inlinable
    public static func * (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs * $0 }
    }
}

extension ColumnProtocol where Element: BinaryInteger {
    @inlinable
    public static func / (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 / $1 }
    }

    @inlinable
    public static func / (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 / rhs }
    }

    @inlinable
    public static func / (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs / $0 }
    }
}

extension ColumnProtocol where Element: FloatingPoint {
    @inlinable
    public static func / (lhs: Self, rhs: Self) -> Column<Element> {
        combinedPresent(lhs, rhs) { $0 / $1 }
    }

    @inlinable
    public static func / (lhs: Self, rhs: Element) -> Column<Element> {
        mappedAll(lhs) { $0 / rhs }
    }

    @inlinable
    public static func / (lhs: Element, rhs: Self) -> Column<Element> {
        mappedAll(rhs) { lhs / $0 }
    }
}

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

@inlinable
func mappedAll<C: ColumnProtocol, T>(_ column: C, _ operation: (T) -> T) -> Column<T> where C.Element == T {
    var result = Column<T>(name: column.name, capacity: column.count)
    for x in column { result.storage.append(operation(x)) }
    return result
}
