// Arithmetic in place on columns and their slices: an element missing on either side is missing in the result.

extension StoredColumn {
    /// Adds `rhs` to each element; missing elements stay missing.
    public static func += (lhs: inout Self, rhs: WrappedElement)
    where WrappedElement: AdditiveArithmetic {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 + $1 })
    }

    /// Adds the elements of `rhs` to those of the column, row by row.
    ///
    /// Missing elements stay missing; a collection of a different length is a fatal error.
    public static func += <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: AdditiveArithmetic {
        lhs.combine(rhs, { $0 + $1 })
    }

    /// Adds the elements of `rhs` to those of the column, row by row.
    ///
    /// An element that is missing on either side becomes missing; a collection of a different length is a fatal error.
    public static func += <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: AdditiveArithmetic {
        lhs.combineOptional(rhs, { $0 + $1 })
    }

    /// Subtracts `rhs` from each element; missing elements stay missing.
    public static func -= (lhs: inout Self, rhs: WrappedElement)
    where WrappedElement: AdditiveArithmetic {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 - $1 })
    }

    /// Subtracts the elements of `rhs` from those of the column, row by row.
    ///
    /// Missing elements stay missing; a collection of a different length is a fatal error.
    public static func -= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: AdditiveArithmetic {
        lhs.combine(rhs, { $0 - $1 })
    }

    /// Subtracts the elements of `rhs` from those of the column, row by row.
    ///
    /// An element that is missing on either side becomes missing; a collection of a different length is a fatal error.
    public static func -= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: AdditiveArithmetic {
        lhs.combineOptional(rhs, { $0 - $1 })
    }

    /// Multiplies each element by `rhs`; missing elements stay missing.
    public static func *= (lhs: inout Self, rhs: WrappedElement) where WrappedElement: Numeric {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 * $1 })
    }

    /// Multiplies the elements of the column by those of `rhs`, row by row.
    ///
    /// Missing elements stay missing; a collection of a different length is a fatal error.
    public static func *= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: Numeric {
        lhs.combine(rhs, { $0 * $1 })
    }

    /// Multiplies the elements of the column by those of `rhs`, row by row.
    ///
    /// An element that is missing on either side becomes missing; a collection of a different length is a fatal error.
    public static func *= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: Numeric {
        lhs.combineOptional(rhs, { $0 * $1 })
    }

    /// Divides each integer by `rhs`, rounding toward zero; missing elements stay missing.
    public static func /= (lhs: inout Self, rhs: WrappedElement) where WrappedElement: BinaryInteger {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 / $1 })
    }

    /// Divides the integers of the column by the elements of `rhs`, rounding toward zero, row by row.
    ///
    /// Missing elements stay missing; a collection of a different length is a fatal error.
    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: BinaryInteger {
        lhs.combine(rhs, { $0 / $1 })
    }

    /// Divides the integers of the column by the elements of `rhs`, rounding toward zero, row by row.
    ///
    /// An element that is missing on either side becomes missing; a collection of a different length is a fatal error.
    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: BinaryInteger {
        lhs.combineOptional(rhs, { $0 / $1 })
    }

    /// Divides each floating-point element by `rhs`; missing elements stay missing.
    public static func /= (lhs: inout Self, rhs: WrappedElement) where WrappedElement: FloatingPoint {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 / $1 })
    }

    /// Divides the floating-point elements of the column by the elements of `rhs`, row by row.
    ///
    /// Missing elements stay missing; a collection of a different length is a fatal error.
    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: FloatingPoint {
        lhs.combine(rhs, { $0 / $1 })
    }

    /// Divides the floating-point elements of the column by the elements of `rhs`, row by row.
    ///
    /// An element that is missing on either side becomes missing; a collection of a different length is a fatal error.
    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: FloatingPoint {
        lhs.combineOptional(rhs, { $0 / $1 })
    }

    private mutating func combine(
        _ others: some Collection<WrappedElement>,
        _ operation: (WrappedElement, WrappedElement) -> WrappedElement
    ) {
        let rows = rows(asManyAs: others)
        modifyWholeColumn { column in
            for (row, other) in zip(rows, others) {
                if let value = column.storage[row] { column.storage.replace(row, with: operation(value, other)) }
            }
        }
    }

    private mutating func combineOptional(
        _ others: some Collection<WrappedElement?>,
        _ operation: (WrappedElement, WrappedElement) -> WrappedElement
    ) {
        let rows = rows(asManyAs: others)
        modifyWholeColumn { column in
            for (row, other) in zip(rows, others) {
                guard let value = column.storage[row] else { continue }
                column.storage.replace(row, with: other.map { operation(value, $0) })
            }
        }
    }

    private func rows(asManyAs others: some Collection) -> RowSelection {
        let rows = storedValues.selection
        require(
            others.count == rows.count,
            "column '\(name)' has \(rows.count) elements, the other side \(others.count)"
        )
        return rows
    }
}
