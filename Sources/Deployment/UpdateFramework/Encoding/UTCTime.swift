import Glibc

/// A time in UTC to the second, written `2026-11-23T14:00:00Z` (TUF specification, section 4.2.1).
public struct UTCTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Seconds since the beginning of 1970, without leap seconds.
    public let secondsSince1970: Int64

    /// Creates a time from seconds since the beginning of 1970.
    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// The time of the system's clock.
    public static var now: UTCTime { UTCTime(secondsSince1970: Int64(time(nil))) }

    /// Reads the only spelling that the specification allows; `nil` for any other text, and for days that do not exist.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == pattern.count else { return nil }
        for (byte, expected) in zip(bytes, pattern) {
            guard expected == 0x30 ? (0x30...0x39).contains(byte) : byte == expected else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard year >= 1, 1...12 ~= month, 1...Self.days(in: month, of: year) ~= day else { return nil }
        guard hour < 24, minute < 60, second < 60 else { return nil }
        secondsSince1970 = Self.days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// The time as metadata spells it; times outside the years 1 to 9999 as the nearest one inside.
    public var description: String {
        let seconds = min(max(secondsSince1970, -62_135_596_800), 253_402_300_799)
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let (year, month, day) = Self.date(days)
        let remaining = seconds - days * 86_400
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
            + "T\(Self.padded(remaining / 3_600, 2)):\(Self.padded(remaining / 60 % 60, 2)):\(Self.padded(remaining % 60, 2))Z"
    }

    /// Whether the first time is the earlier one.
    public static func < (first: UTCTime, second: UTCTime) -> Bool {
        first.secondsSince1970 < second.secondsSince1970
    }

    /// The time some seconds later, clamped to what can be counted.
    public static func + (time: UTCTime, seconds: Int64) -> UTCTime {
        let (sum, isTooLarge) = time.secondsSince1970.addingReportingOverflow(seconds)
        return UTCTime(secondsSince1970: isTooLarge ? (seconds > 0 ? .max : .min) : sum)
    }

    /// The number of seconds in a number of days.
    public static func days(_ count: Int) -> Int64 { Int64(clamping: count) &* 86_400 }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 to a date of the Gregorian calendar; years begin in March here, so that a leap day is the
    /// last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date a number of days after 1970-01-01.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
