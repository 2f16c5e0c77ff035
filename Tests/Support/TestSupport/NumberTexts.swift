import Glibc

/// Repeatable decimal texts of all sorts: the shortest digits of any double and of any float, 17 digits, up to 40
/// digits with and without exponent, subnormals, numbers exactly between two doubles and a little beside, few decimals,
/// and the ends of the range, of both signs; all finite.
package struct NumberTexts: Sequence, IteratorProtocol {
    private var state: UInt64
    private var left: Int

    package init(_ count: Int, seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        left = count
    }

    /// The C library's `strtod` of a text.
    package static func reference(_ text: String) -> Double { strtod(text, nil) }

    /// A random double that is finite; every sign, exponent and fraction is as likely as others.
    package mutating func double() -> Double {
        while true {
            let value = Double(bitPattern: random())
            if value.isFinite { return value }
        }
    }

    package mutating func next() -> String? {
        guard left > 0 else { return nil }
        left -= 1
        switch left % 8 {
        case 0: return double().description
        case 1: return scientific(double(), decimals: 16)
        case 2: return digits(1 + below(40))
        case 3:
            while true {
                // Some are greater than a double can be, which JSON refuses.
                let text = digits(1 + below(40)) + exponent()
                if Self.reference(text).isFinite { return text }
            }
        case 4:
            let subnormal = Double(bitPattern: random() & 0x800F_FFFF_FFFF_FFFF)
            return scientific(subnormal, decimals: below(40))
        case 5: return tie()
        case 6: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: random()) & 0xBFFF_FFFF)).description
        default:
            if below(50) == 0 { return Self.ends[below(Self.ends.count)] }
            return "\(Double(Int64(bitPattern: random()) >> Int64(24 + below(32))) / 100)"
        }
    }

    private static let ends = [
        "0", "-0", "0.0", "-0.0", "0e999", "-0e-999", "1e-400", "-1e-400", "4.9406564584124654e-324",
        "2.4703282292062327e-324", "2.4703282292062328e-324", "-2.4703282292062328e-324", "2.2250738585072014e-308",
        "2.2250738585072011e-308", "1.7976931348623157e308", "-1.7976931348623158e+308", "9007199254740993",
        "-9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "18446744073709551616", "30.020000457763672", "0.1", "1E5", "123456789012345678901234567890",
    ]

    private mutating func random() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }

    private mutating func below(_ bound: Int) -> Int { Int(random() >> 33) % bound }

    private mutating func exponent() -> String {
        (below(2) == 0 ? "e" : "E") + ["", "-", "+", "-"][below(4)] + "\(below(below(4) == 0 ? 307 : 40))"
    }

    /// As many digits, with a point among them or none, no zeros before them that JSON forbids.
    private mutating func digits(_ count: Int) -> String {
        var text: [UInt8] = below(2) == 0 ? [] : [UInt8(ascii: "-")]
        let point = 1 + below(count)
        for place in 0..<count {
            if place == point { text.append(UInt8(ascii: ".")) }
            let digit = UInt8(ascii: "0") + UInt8(below(10))
            text.append(place == 0 && point > 1 && digit == UInt8(ascii: "0") ? UInt8(ascii: "7") : digit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// All digits of a number exactly between two doubles, sometimes with one digit more far behind.
    private mutating func tie() -> String {
        let odd = UInt128(random() >> 10 | 1 << 53 | 1)
        let fractions = below(25)
        var power: UInt128 = 1
        for _ in 0..<fractions { power *= 5 }
        var text = "\(odd * power)"
        if fractions > 0 {
            if text.count <= fractions { text = String(repeating: "0", count: fractions - text.count + 1) + text }
            text.insert(".", at: text.index(text.endIndex, offsetBy: -fractions))
        }
        guard below(3) == 0 else { return text }
        return text + (fractions > 0 ? "" : ".") + String(repeating: "0", count: below(30)) + "1"
    }

    private func scientific(_ value: Double, decimals: Int) -> String {
        var bytes = [CChar](repeating: 0, count: 64)
        let count = withVaList([Int32(decimals), value]) { vsnprintf(&bytes, bytes.count, "%.*e", $0) }
        return String(decoding: bytes.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
