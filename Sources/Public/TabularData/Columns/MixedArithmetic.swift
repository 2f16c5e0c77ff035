// Arithmetic of a column with missing elements and one without; the result is named after the left side.

/// The element-wise sums of two columns; the right one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func + <L: ColumnProtocol, R: OptionalColumnProtocol>(lhs: L, rhs: R) -> Column<L.Element>
where L.Element: AdditiveArithmetic, L.Element == R.WrappedElement {
    combinedMixed(rhs, lhs, name: lhs.name) { $1 + $0 }
}

/// The element-wise sums of two columns; the left one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func + <L: OptionalColumnProtocol, R: ColumnProtocol>(lhs: L, rhs: R) -> Column<R.Element>
where L.WrappedElement: AdditiveArithmetic, L.WrappedElement == R.Element {
    combinedMixed(lhs, rhs, name: lhs.name) { $0 + $1 }
}

/// The element-wise differences of two columns; the right one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func - <L: ColumnProtocol, R: OptionalColumnProtocol>(lhs: L, rhs: R) -> Column<L.Element>
where L.Element: AdditiveArithmetic, L.Element == R.WrappedElement {
    combinedMixed(rhs, lhs, name: lhs.name) { $1 - $0 }
}

/// The element-wise differences of two columns; the left one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func - <L: OptionalColumnProtocol, R: ColumnProtocol>(lhs: L, rhs: R) -> Column<R.Element>
where L.WrappedElement: AdditiveArithmetic, L.WrappedElement == R.Element {
    combinedMixed(lhs, rhs, name: lhs.name) { $0 - $1 }
}

/// The element-wise products of two columns; the right one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func * <L: ColumnProtocol, R: OptionalColumnProtocol>(lhs: L, rhs: R) -> Column<L.Element>
where L.Element: Numeric, L.Element == R.WrappedElement {
    combinedMixed(rhs, lhs, name: lhs.name) { $1 * $0 }
}

/// The element-wise products of two columns; the left one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func * <L: OptionalColumnProtocol, R: ColumnProtocol>(lhs: L, rhs: R) -> Column<R.Element>
where L.WrappedElement: Numeric, L.WrappedElement == R.Element {
    combinedMixed(lhs, rhs, name: lhs.name) { $0 * $1 }
}

/// The element-wise integer quotients of two columns; the right one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func / <L: ColumnProtocol, R: OptionalColumnProtocol>(lhs: L, rhs: R) -> Column<L.Element>
where L.Element: BinaryInteger, L.Element == R.WrappedElement {
    combinedMixed(rhs, lhs, name: lhs.name) { $1 / $0 }
}

/// The element-wise integer quotients of two columns; the left one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func / <L: OptionalColumnProtocol, R: ColumnProtocol>(lhs: L, rhs: R) -> Column<R.Element>
where L.WrappedElement: BinaryInteger, L.WrappedElement == R.Element {
    combinedMixed(lhs, rhs, name: lhs.name) { $0 / $1 }
}

/// The element-wise floating-point quotients of two columns; the right one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func / <L: ColumnProtocol, R: OptionalColumnProtocol>(lhs: L, rhs: R) -> Column<L.Element>
where L.Element: FloatingPoint, L.Element == R.WrappedElement {
    combinedMixed(rhs, lhs, name: lhs.name) { $1 / $0 }
}

/// The element-wise floating-point quotients of two columns; the left one may have missing elements.
///
/// Its missing elements are missing in the result; columns of different lengths are a fatal error.
@inlinable
public func / <L: OptionalColumnProtocol, R: ColumnProtocol>(lhs: L, rhs: R) -> Column<R.Element>
where L.WrappedElement: FloatingPoint, L.WrappedElement == R.Element {
    combinedMixed(lhs, rhs, name: lhs.name) { $0 / $1 }
}

/// Returns the results of `operation` for the pairs of elements; missing where the optional one is.
@inlinable
func combinedMixed<O: OptionalColumnProtocol, C: ColumnProtocol, T>(
    _ optional: O,
    _ column: C,
    name: String,
    _ operation: (T, T) -> T
) -> Column<T> where O.WrappedElement == T, C.Element == T {
    require(optional.count == column.count, "columns of different length cannot be combined")
    var result = Column<T>(name: name, capacity: column.count)
    for (x, y) in zip(optional, column) { result.storage.append(x.map { operation($0, y) }) }
    return result
}
