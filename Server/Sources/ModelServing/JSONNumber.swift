import Foundation

/// A decimal number: mantissa × 10^exponent, with its text for the cases where that does not suffice.
package struct JSONNumber {
    /// The significant digits; those that do not fit are left out and make the number inexact.
    package private(set) var mantissa: UInt64 = 0
    var exponent = 0
    var isNegative = false
    /// Whether there is neither a point nor an exponent.
    var isInteger = true
    private var isExact = true
    var text = UnsafeRawBufferPointer(start: nil, count: 0)

    /// 10⁰ to 10²², the powers that a double holds exactly.
    private static let powers = (0...22).map { Double("1e\($0)") ?? .nan }

    mutating func append(_ digit: UInt8, isFraction: Bool) {
        if mantissa < 1_000_000_000_000_000_000 {
            mantissa = mantissa * 10 + UInt64(digit)
            if isFraction { exponent -= 1 }
        } else {
            isExact = false
            if !isFraction { exponent += 1 }
        }
    }

    /// The nearest double; infinity when the number is too large.
    package var double: Double {
        // A product or quotient of two exact doubles is rounded once.
        if isExact, mantissa <= 1 << 53, abs(exponent) <= 22 { return scaled }
        return Double(String(decoding: text, as: UTF8.self)) ?? .nan
    }

    /// The nearest single-precision number; infinity when the number is too large.
    package var float: Float {
        if isExact, abs(exponent) <= 22 {
            // Off by two units in the last place of a double at most, which decides the rounding to single precision
            // only close to the middle between two neighbours. Numbers below the normal ones have other neighbours.
            let value = scaled
            let remaining = Int64(value.bitPattern & 0x1FFF_FFFF)
            if mantissa == 0 || abs(remaining - 0x1000_0000) > 4, mantissa == 0 || abs(value) > 1e-37, abs(value) < 1e38
            {
                return Float(value)
            }
        }
        return Float(String(decoding: text, as: UTF8.self)) ?? .nan
    }

    private var scaled: Double {
        let digits = Double(mantissa)
        let value = exponent < 0 ? digits / Self.powers[-exponent] : digits * Self.powers[exponent]
        return isNegative ? -value : value
    }

    /// The number as an integer; `nil` when it has a fraction or exponent, or does not fit.
    package func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        guard isInteger else { return nil }
        guard isExact, exponent == 0 else { return T(String(decoding: text, as: UTF8.self)) }
        if !isNegative { return T(exactly: mantissa) }
        if mantissa == 1 << 63 { return T(exactly: Int64.min) }
        return Int64(exactly: mantissa).flatMap { T(exactly: -$0) }
    }
}
