/// Fractional numbers, which documents hold as text because canonical JSON has whole numbers only.
enum Decimals {
    /// The double nearest to a text `-?digits[.digits][e[+-]digits]` of at most 32 bytes; `nil` for any other text.
    static func value(_ text: String) -> Double? {
        var remaining = Array(text.utf8)[...]
        guard remaining.count <= 32 else { return nil }
        func digits() -> Int {
            let run = remaining.prefix { (0x30...0x39).contains($0) }
            remaining = remaining.dropFirst(run.count)
            return run.count
        }
        func take(_ characters: String) -> Bool {
            guard let first = remaining.first, characters.utf8.contains(first) else { return false }
            remaining = remaining.dropFirst()
            return true
        }
        _ = take("-")
        guard digits() > 0 else { return nil }
        if take("."), digits() == 0 { return nil }
        if take("eE") {
            _ = take("+-")
            guard (1...3).contains(digits()) else { return nil }
        }
        guard remaining.isEmpty, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The shortest text that reads back as the same number; whole numbers below 2^53 without a fraction.
    static func text(_ value: Double) -> String {
        integer(value).map(String.init) ?? "\(value)"
    }

    /// The value as a whole number; `nil` if it is not one, or not from -(2^53-1) to 2^53-1, which documents can hold.
    static func integer(_ value: Double) -> Int? {
        abs(value) <= Double(Limits.integer) && value.rounded(.towardZero) == value ? Int(value) : nil
    }
}
