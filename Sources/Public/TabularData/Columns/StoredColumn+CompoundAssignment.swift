// Arithmetic in place on columns and their slices: what is missing on either side is missing in the result.

extension _StoredColumn {
    public static func += (lhs: inout Self, rhs: WrappedElement)
    where WrappedElement: AdditiveArithmetic {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 + $1 })
    }

    public static func += <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: AdditiveArithmetic {
        lhs.combine(rhs, { $0 + $1 })
    }

    public static func += <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: AdditiveArithmetic {
        lhs.combineOptional(rhs, { $0 + $1 })
    }

    public static func -= (lhs: inout Self, rhs: WrappedElement)
    where WrappedElement: AdditiveArithmetic {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 - $1 })
    }

    public static func -= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: AdditiveArithmetic {
        lhs.combine(rhs, { $0 - $1 })
    }

    public static func -= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: AdditiveArithmetic {
        lhs.combineOptional(rhs, { $0 - $1 })
    }

    public static func *= (lhs: inout Self, rhs: WrappedElement) where WrappedElement: Numeric {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 * $1 })
    }

    public static func *= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: Numeric {
        lhs.combine(rhs, { $0 * $1 })
    }

    public static func *= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: Numeric {
        lhs.combineOptional(rhs, { $0 * $1 })
    }

    public static func /= (lhs: inout Self, rhs: WrappedElement) where WrappedElement: BinaryInteger {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 / $1 })
    }

    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: BinaryInteger {
        lhs.combine(rhs, { $0 / $1 })
    }

    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: BinaryInteger {
        lhs.combineOptional(rhs, { $0 / $1 })
    }

    public static func /= (lhs: inout Self, rhs: WrappedElement) where WrappedElement: FloatingPoint {
        lhs.combine(repeatElement(rhs, count: lhs.count), { $0 / $1 })
    }

    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement, WrappedElement: FloatingPoint {
        lhs.combine(rhs, { $0 / $1 })
    }

    public static func /= <R: Collection>(lhs: inout Self, rhs: R)
    where R.Element == WrappedElement?, WrappedElement: FloatingPoint {
        lhs.combineOptional(rhs, { $0 / $1 })
    }

    private mutating func combine(
        _ others: some Collection<WrappedElement>,
        _ operation: (WrappedElement, WrappedElement) -> WrappedElement
    ) {
        let rows = rows(asManyAs: others)
        _withColumn { column in
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
        _withColumn { column in
            for (row, other) in zip(rows, others) {
                guard let value = column.storage[row] else { continue }
                column.storage.replace(row, with: other.map { operation(value, $0) })
            }
        }
    }

    private func rows(asManyAs others: some Collection) -> RowSelection {
        let rows = _values.selection
        require(
            others.count == rows.count,
            "column '\(name)' has \(rows.count) elements, the other side \(others.count)"
        )
        return rows
    }
}
