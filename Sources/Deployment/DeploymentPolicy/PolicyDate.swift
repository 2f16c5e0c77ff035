/// A date to the second in UTC, spelled `2026-11-23T14:00:00Z` (RFC 3339 without fractions and offsets).
public struct PolicyDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Seconds since the beginning of 1970 without leap seconds, within the years 0 to 9999.
    public let secondsSince1970: Int

    private static let first = -62_167_219_200
    private static let last = 253_402_300_799

    /// Creates a date from seconds since the beginning of 1970, clamped to the years 0 to 9999.
    public init(secondsSince1970: Int) {
        self.secondsSince1970 = min(max(secondsSince1970, Self.first), Self.last)
    }

    /// Creates the date that a text spells; `nil` for any other text, also for February 30.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == pattern.count else { return nil }
        for (byte, requested) in zip(bytes, pattern) {
            guard requested == 0x30 ? (0x30...0x39).contains(byte) : byte == requested else { return nil }
        }
        func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        secondsSince1970 = Self.dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// The date some seconds later, clamped to the years 0 to 9999.
    public func adding(seconds: Int) -> PolicyDate {
        let (sum, overflow) = secondsSince1970.addingReportingOverflow(seconds)
        return PolicyDate(secondsSince1970: overflow ? (seconds < 0 ? Self.first : Self.last) : sum)
    }

    /// Whether the first date is the earlier one.
    public static func < (a: PolicyDate, b: PolicyDate) -> Bool { a.secondsSince1970 < b.secondsSince1970 }

    /// The date as documents spell it.
    public var description: String {
        let (day, time) = secondsSince1970.quotientAndRemainderFloored(by: 86_400)
        let (year, month, date) = Self.date(ofDay: day)
        func digits(_ value: Int, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(date, 2))T\(digits(time / 3600, 2))"
            + ":\(digits(time / 60 % 60, 2)):\(digits(time % 60, 2))Z"
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(of month: Int, in year: Int) -> Int {
        month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar; years begin in March, so that the leap day is last.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (day + 719_468).quotientAndRemainderFloored(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int {
    /// The quotient rounded down, and the remainder in `0..<divisor`.
    fileprivate func quotientAndRemainderFloored(by divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
