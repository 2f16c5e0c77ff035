import Glibc

/// Dates as text: `2026-11-23T08:00:00Z`, always in UTC and to the second, so that the order of texts is that of dates.
package enum Dates {
    /// The current date.
    package static var now: String { text(time(nil)) }

    /// The date some days ahead.
    package static func inDays(_ days: Int) -> String { text(time(nil) + days * 86_400) }

    /// The date some seconds after the beginning of 1970.
    package static func text(_ seconds: Int) -> String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + Int(parts.tm_year))-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    static func isDate(_ text: String) -> Bool {
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        return text.utf8.count == pattern.count
            && zip(text.utf8, pattern).allSatisfy { $1 == 0x30 ? (0x30...0x39).contains($0) : $0 == $1 }
    }
}
