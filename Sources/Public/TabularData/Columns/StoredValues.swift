/// The elements of selected rows of a column, which statistics and transformations read.
///
/// Clients get it as `StoredColumn.storedValues`; it has no public members.
public struct StoredValues<Wrapped> {
    @usableFromInline let storage: ColumnStorage<Wrapped>
    @usableFromInline let selection: RowSelection

    @inlinable
    init(storage: ColumnStorage<Wrapped>, selection: RowSelection) {
        self.storage = storage
        self.selection = selection
    }

    @usableFromInline
    var missingCount: Int {
        if storage.missing == 0 { return 0 }
        if case .range(let range) = selection, range.count == storage.count { return storage.missing }
        var absent = 0
        for row in selection where storage.isMissing(row) { absent += 1 }
        return absent
    }

    /// Calls `body` with the row number and value of each element that is not missing.
    @inlinable
    func forEachPresent(_ body: (Int, Wrapped) throws -> Void) rethrows {
        if let plain = storage.plain {
            let elements = plain.values
            if plain.missing == 0 {
                switch selection {
                case .range(let range): for row in range { try body(row, elements[row]) }
                case .rows(let rows): for row in rows { try body(Int(row), elements[Int(row)]) }
                }
            } else {
                for row in selection where !plain.isMissing(row) { try body(row, elements[row]) }
            }
            withExtendedLifetime(plain) {}
        } else {
            for row in selection { if let value = storage[row] { try body(row, value) } }
        }
    }

    @inlinable
    func map<T>(_ transform: (Wrapped?) throws -> T?) rethrows -> ColumnStorage<T> {
        switch ColumnStorage<T>(capacity: selection.count) {
        case .plain(let result):
            if let plain = storage.plain, plain.missing == 0, case .range(let range) = selection {
                for row in range { result.append(try transform(plain.values[row])) }
                withExtendedLifetime(plain) {}
            } else {
                for row in selection { result.append(try transform(storage[row])) }
            }
            return .plain(result)
        case .text(let result):
            for row in selection { result.append(ColumnStorage<T>.string(try transform(storage[row]))) }
            return .text(result)
        case .boxed(var result):
            for row in selection { result.append(try transform(storage[row])) }
            return .boxed(result)
        }
    }

    @inlinable
    func filter(_ isIncluded: (Wrapped?) throws -> Bool) rethrows -> RowSelection {
        if let plain = storage.plain, plain.missing == 0 {
            let elements = plain.values
            defer { withExtendedLifetime(plain) {} }
            return try selection.keeping { try isIncluded(elements[$0]) }
        }
        return try selection.keeping { try isIncluded(storage[$0]) }
    }
}

extension StoredValues where Wrapped: AdditiveArithmetic {
    @inlinable
    func sum() -> Wrapped {
        var total = Wrapped.zero
        forEachPresent { total += $1 }
        return total
    }
}

extension StoredValues where Wrapped: FloatingPoint {
    /// Returns the sum by several independent chains of additions, which need not wait for each other.
    @inlinable
    func sum() -> Wrapped {
        guard let plain = storage.plain, plain.missing == 0, case .range(let range) = selection else {
            var total = Wrapped.zero
            forEachPresent { total += $1 }
            return total
        }
        let elements = plain.values + range.lowerBound
        if Wrapped.self == Double.self {
            let memory = UnsafeRawPointer(elements)
            var sums = (SIMD8<Double>.zero, SIMD8<Double>.zero)
            var done = 0
            while done &+ 16 <= range.count {
                sums.0 += memory.loadUnaligned(fromByteOffset: done &* 8, as: SIMD8<Double>.self)
                sums.1 += memory.loadUnaligned(fromByteOffset: done &* 8 &+ 64, as: SIMD8<Double>.self)
                done &+= 16
            }
            var total = (sums.0 + sums.1).sum()
            while done < range.count {
                total += memory.load(fromByteOffset: done &* 8, as: Double.self)
                done &+= 1
            }
            withExtendedLifetime(plain) {}
            return unsafeBitCast(total, to: Wrapped.self)
        }
        var (a, b, c, d) = (Wrapped.zero, Wrapped.zero, Wrapped.zero, Wrapped.zero)
        var i = 0
        while i &+ 4 <= range.count {
            a += elements[i]
            b += elements[i &+ 1]
            c += elements[i &+ 2]
            d += elements[i &+ 3]
            i &+= 4
        }
        while i < range.count {
            a += elements[i]
            i &+= 1
        }
        withExtendedLifetime(plain) {}
        return (a + b) + (c + d)
    }

    @inlinable
    func mean() -> Wrapped? {
        let present = selection.count - missingCount
        return present == 0 ? nil : sum() / Wrapped(present)
    }

    @inlinable
    func standardDeviation(_ deltaDegreesOfFreedom: Int) -> Wrapped? {
        let present = selection.count - missingCount
        guard present > deltaDegreesOfFreedom, let mean = mean() else { return nil }
        var squares = Wrapped.zero
        forEachPresent { squares += ($1 - mean) * ($1 - mean) }
        return (squares / Wrapped(present - deltaDegreesOfFreedom)).squareRoot()
    }
}

extension StoredValues where Wrapped: BinaryInteger {
    /// Returns the mean of the values as doubles, or nil when there are none.
    @inlinable
    func mean() -> Double? {
        let present = selection.count - missingCount
        if present == 0 { return nil }
        var total = 0.0
        forEachPresent { total += Double($1) }
        return total / Double(present)
    }

    @inlinable
    func standardDeviation(_ deltaDegreesOfFreedom: Int) -> Double? {
        let present = selection.count - missingCount
        guard present > deltaDegreesOfFreedom, let mean = mean() else { return nil }
        var squares = 0.0
        forEachPresent { squares += (Double($1) - mean) * (Double($1) - mean) }
        return (squares / Double(present - deltaDegreesOfFreedom)).squareRoot()
    }
}

extension StoredValues where Wrapped: Comparable {
    /// Returns the first row with the least value, ignoring values not equal to themselves (NaN).
    @inlinable
    func argmin() -> Int? {
        var best: (row: Int, value: Wrapped)?
        forEachPresent { row, value in
            if let found = best {
                if value < found.value { best = (row, value) }
            } else if value == value {
                best = (row, value)
            }
        }
        return best?.row
    }

    @inlinable
    func argmax() -> Int? {
        var best: (row: Int, value: Wrapped)?
        forEachPresent { row, value in
            if let found = best {
                if value > found.value { best = (row, value) }
            } else if value == value {
                best = (row, value)
            }
        }
        return best?.row
    }
}
