import Glibc
import MLEncryption

/// A time to the second, from 1970 to the year 9999, as messages and leases use it.
public struct ServiceTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Seconds since the beginning of 1970 in UTC, without leap seconds.
    public let seconds: Int

    /// The last second of the year 9999.
    private static let last = 253_402_300_799

    /// Creates a time from seconds since the beginning of 1970, clamped to the range.
    public init(seconds: Int) { self.seconds = min(max(seconds, 0), Self.last) }

    /// The time of the system's clock.
    public static var now: ServiceTime { ServiceTime(seconds: time(nil)) }

    /// Creates the time that a text such as `2026-11-23T08:00:00Z` spells.
    ///
    /// `nil` for any other text, and for days that do not exist.
    public init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 20 else { return nil }
        for (index, byte) in digits.enumerated() where !(0x30...0x39).contains(byte) {
            guard byte == Array("0000-00-00T00:00:00Z".utf8)[index], byte != 0x30 else { return nil }
        }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + Int($1) - 0x30 } }
        guard digits.indices.allSatisfy({ [4, 7, 10, 13, 16, 19].contains($0) != (0x30...0x39).contains(digits[$0]) })
        else { return nil }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard year >= 1970, 1...12 ~= month, day >= 1, hour < 24, minute < 60, second < 60 else { return nil }
        // Days since 0000-03-01, whose years end with February.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        guard description == text else { return nil }
    }

    /// The time as messages spell it.
    public var description: String { Dates.text(seconds) }

    /// The time some seconds later, clamped to the range.
    public func advanced(by interval: Int) -> ServiceTime {
        let (sum, overflow) = seconds.addingReportingOverflow(interval)
        return ServiceTime(seconds: overflow ? (interval > 0 ? Self.last : 0) : sum)
    }

    /// The seconds from this time to `other`; negative where `other` is earlier.
    public func distance(to other: ServiceTime) -> Int { other.seconds - seconds }

    /// Whether the first time is the earlier one.
    public static func < (left: ServiceTime, right: ServiceTime) -> Bool { left.seconds < right.seconds }
}
