// Arithmetic of columns with missing elements: an element missing on either side is missing in the result, which is
// named after the left side.

extension OptionalColumnProtocol where WrappedElement: AdditiveArithmetic {
    /// The element-wise sums of two columns of equal length, named after the left one.
    ///
    /// An element that is missing on either side is missing in the result; different lengths are a fatal error.
    @inlinable
    public static func + (lhs: Self, rhs: Self) -> Column<WrappedElement> {
        combined(lhs, rhs) { $0 + $1 }
    }

    /// A column of the sums of each element and `rhs`; missing elements stay missing.
    @inlinable
    public static func + (lhs: Self, rhs: WrappedElement) -> Column<WrappedElement> {
        mappedPresent(lhs) { $0 + rhs }
    }

    /// A column of the sums of `lhs` and each element; missing elements stay missing.
    @inlinable
    public static func + (lhs: WrappedElement, rhs: Self) -> Column<WrappedElement> {
        mappedPresent(rhs) { lhs + $0 }
    }

    /// The element-wise differences of two columns of equal length, named after the left one.
    ///
    /// An element that is missing on either side is missing in the result; different lengths are a fatal error.
    @inlinable
    public static func - (lhs: Self, rhs: Self) -> Column<WrappedElement> {
        combined(lhs, rhs) { $0 - $1 }
    }

    /// A column of the differences of each element and `rhs`; missing elements stay missing.
    @inlinable
    public static func - (lhs: Self, rhs: WrappedElement) -> Column<WrappedElement> {
        mappedPresent(lhs) { $0 - rhs }
    }

    /// A column of the differences of `lhs` and each element; missing elements stay missing.
    @inlinable
    public static func - (lhs: WrappedElement, rhs: Self) -> Column<WrappedElement> {
        mappedPresent(rhs) { lhs - $0 }
    }
}

extension OptionalColumnProtocol where WrappedElement: Numeric {
    /// The element-wise products of two columns of equal length, named after the left one.
    ///
    /// An element that is missing on either side is missing in the result; different lengths are a fatal error.
    @inlinable
    public static func * (lhs: Self, rhs: Self) -> Column<WrappedElement> {
        combined(lhs, rhs) { $0 * $1 }
    }

    /// A column of the products of each element and `rhs`; missing elements stay missing.
    @inlinable
    public static func * (lhs: Self, rhs: WrappedElement) -> Column<WrappedElement> {
        mappedPresent(lhs) { $0 * rhs }
    }

    /// A column of the products of `lhs` and each element; missing elements stay missing.
    @inlinable
    public static func * (lhs: WrappedElement, rhs: Self) -> Column<WrappedElement> {
        mappedPresent(rhs) { lhs * $0 }
    }
}

extension OptionalColumnProtocol where WrappedElement: BinaryInteger {
    /// The element-wise integer quotients of two columns of equal length, named after the left one.
    ///
    /// An element that is missing on either side is missing in the result; different lengths are a fatal error.
    @inlinable
    public static func / (lhs: Self, rhs: Self) -> Column<WrappedElement> {
        combined(lhs, rhs) { $0 / $1 }
    }

    /// A column of the integer quotients of each element and `rhs`; missing elements stay missing.
    @inlinable
    public static func / (lhs: Self, rhs: WrappedElement) -> Column<WrappedElement> {
        mappedPresent(lhs) { $0 / rhs }
    }

    /// A column of the integer quotients of `lhs` and each element; missing elements stay missing.
    @inlinable
    public static func / (lhs: WrappedElement, rhs: Self) -> Column<WrappedElement> {
        mappedPresent(rhs) { lhs / $0 }
    }
}

extension OptionalColumnProtocol where WrappedElement: FloatingPoint {
    /// The element-wise floating-point quotients of two columns of equal length, named after the left one.
    ///
    /// An element that is missing on either side is missing in the result; different lengths are a fatal error.
    @inlinable
    public static func / (lhs: Self, rhs: Self) -> Column<WrappedElement> {
        combined(lhs, rhs) { $0 / $1 }
    }

    /// A column of the floating-point quotients of each element and `rhs`; missing elements stay missing.
    @inlinable
    public static func / (lhs: Self, rhs: WrappedElement) -> Column<WrappedElement> {
        mappedPresent(lhs) { $0 / rhs }
    }

    /// A column of the floating-point quotients of `lhs` and each element; missing elements stay missing.
    @inlinable
    public static func / (lhs: WrappedElement, rhs: Self) -> Column<WrappedElement> {
        mappedPresent(rhs) { lhs / $0 }
    }
}

/// Returns the results of `operation` for the pairs of elements; missing where either element is.
@inlinable
func combined<L: OptionalColumnProtocol, R: OptionalColumnProtocol, T>(
    _ lhs: L,
    _ rhs: R,
    _ operation: (T, T) -> T
) -> Column<T> where L.WrappedElement == T, R.WrappedElement == T {
    let count = lhs.count
    require(count == rhs.count, "columns of different length cannot be combined")
    if let left = lhs as? Column<T>, let right = rhs as? Column<T>,
        let a = left.storage.plain, let b = right.storage.plain, a.missing == 0, b.missing == 0
    {
        let result = PlainBuffer<T>(capacity: count)
        let (x, y, z) = (a.values, b.values, result.values)
        for i in 0..<count { z[i] = operation(x[i], y[i]) }
        result.count = count
        withExtendedLifetime((a, b)) {}
        return Column<T>(name: lhs.name, storage: .plain(result))
    }
    var result = Column<T>(name: lhs.name, capacity: count)
    for (x, y) in zip(lhs, rhs) {
        if let x, let y { result.storage.append(operation(x, y)) } else { result.storage.append(nil) }
    }
    return result
}

/// Returns the results of `operation` for the elements that are not missing; missing ones stay missing.
@inlinable
func mappedPresent<C: OptionalColumnProtocol, T>(_ column: C, _ operation: (T) -> T) -> Column<T>
where C.WrappedElement == T {
    let count = column.count
    if let whole = column as? Column<T>, let a = whole.storage.plain, a.missing == 0 {
        let result = PlainBuffer<T>(capacity: count)
        let (x, z) = (a.values, result.values)
        for i in 0..<count { z[i] = operation(x[i]) }
        result.count = count
        withExtendedLifetime(a) {}
        return Column<T>(name: column.name, storage: .plain(result))
    }
    var result = Column<T>(name: column.name, capacity: count)
    for x in column { result.storage.append(x.map(operation)) }
    return result
}
