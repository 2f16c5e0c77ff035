import Foundation

// Elements as whole numbers or bit patterns, for tables that know nothing of types.

extension StoredValues {
    /// The least and greatest value of a column of integers or Booleans that fit in a signed 64-bit integer.
    func integerRange() -> ClosedRange<Int64>? {
        var minimum = Int64.max
        var maximum = Int64.min
        guard hasIntegers else { return nil }
        forEachInteger { _, _, value in
            guard let value else { return }
            minimum = Swift.min(minimum, value)
            maximum = Swift.max(maximum, value)
        }
        return minimum <= maximum ? minimum...maximum : 0...0
    }

    var hasIntegers: Bool {
        switch Wrapped.self {
        case is Int.Type, is Int64.Type, is Int32.Type, is Int16.Type, is Int8.Type, is Bool.Type, is UInt8.Type,
            is UInt16.Type, is UInt32.Type:
            true
        default: false
        }
    }

    /// Whether elements are equal if and only if their canonical bits are.
    var hasBits: Bool {
        switch Wrapped.self {
        case is Double.Type, is Float.Type, is Date.Type, is UInt64.Type, is UInt.Type: true
        default: hasIntegers
        }
    }

    /// Calls `body` with the position in the selection, the row, and the value or nil when it is missing.
    @inline(__always)
    func forEachInteger(_ body: (Int, Int, Int64?) -> Void) {
        switch Wrapped.self {
        case is Int.Type: forEach(as: Int.self) { body($0, $1, $2.map { Int64($0) }) }
        case is Int64.Type: forEach(as: Int64.self, body)
        case is Bool.Type: forEach(as: Bool.self) { body($0, $1, $2.map { $0 ? 1 : 0 }) }
        case is Int32.Type: forEach(as: Int32.self) { body($0, $1, $2.map { Int64($0) }) }
        case is Int16.Type: forEach(as: Int16.self) { body($0, $1, $2.map { Int64($0) }) }
        case is Int8.Type: forEach(as: Int8.self) { body($0, $1, $2.map { Int64($0) }) }
        case is UInt8.Type: forEach(as: UInt8.self) { body($0, $1, $2.map { Int64($0) }) }
        case is UInt16.Type: forEach(as: UInt16.self) { body($0, $1, $2.map { Int64($0) }) }
        case is UInt32.Type: forEach(as: UInt32.self) { body($0, $1, $2.map { Int64($0) }) }
        default: fatalError("elements are not whole numbers")
        }
    }

    /// Calls `body` with the position in the selection, the row, and bits that are equal for equal values.
    ///
    /// Both zeros have the same bits, and so have all NaN.
    @inline(__always)
    func forEachBits(_ body: (Int, Int, UInt64?) -> Void) {
        func bits(_ value: Double) -> UInt64 { value == 0 ? 0 : value.isNaN ? Double.nan.bitPattern : value.bitPattern }
        switch Wrapped.self {
        case is Double.Type: forEach(as: Double.self) { body($0, $1, $2.map(bits)) }
        case is Float.Type: forEach(as: Float.self) { body($0, $1, $2.map { bits(Double($0)) }) }
        case is Date.Type:
            forEach(as: Date.self) { body($0, $1, $2.map { bits($0.timeIntervalSinceReferenceDate) }) }
        case is UInt64.Type: forEach(as: UInt64.self, body)
        case is UInt.Type: forEach(as: UInt.self) { body($0, $1, $2.map { UInt64($0) }) }
        default: forEachInteger { body($0, $1, $2.map { UInt64(bitPattern: $0) }) }
        }
    }

    @inline(__always)
    private func forEach<T>(as type: T.Type, _ body: (Int, Int, T?) -> Void) {
        guard let storage = storage as? ColumnStorage<T>, let plain = storage.plain else { return }
        let elements = plain.values
        switch selection {
        case .range(let range):
            if plain.missing == 0 {
                var position = 0
                for row in range {
                    body(position, row, elements[row])
                    position &+= 1
                }
            } else {
                var position = 0
                for row in range {
                    body(position, row, plain.isMissing(row) ? nil : elements[row])
                    position &+= 1
                }
            }
        case .rows(let rows):
            var position = 0
            for row in rows {
                body(position, Int(row), plain.isMissing(Int(row)) ? nil : elements[Int(row)])
                position &+= 1
            }
        }
        withExtendedLifetime(plain) {}
    }
}
