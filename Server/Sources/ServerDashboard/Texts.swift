import Foundation
import ServerCore

/// The spelling of numbers, sizes and times on pages.
enum Texts {
    static func bytes(_ count: Int) -> String {
        guard count >= 1000 else { return "\(count) B" }
        var (value, unit) = (Double(count), 0)
        let units = ["B", "kB", "MB", "GB", "TB"]
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return String(format: value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value) + " " + units[unit]
    }

    /// A number with thin spaces between thousands.
    static func number(_ value: Int) -> String {
        let digits = String(value.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "\u{202F}" }
            result.append(digit)
        }
        return (value < 0 ? "−" : "") + result
    }

    /// A share of one as a percentage.
    static func percent(_ share: Double) -> String {
        let value = share * 100
        let text = String(format: value == 0 || value >= 10 ? "%.0f" : value >= 1 ? "%.1f" : "%.2f", value)
        return text + " %"
    }

    /// A percentage with three decimals at most, without trailing zeros.
    static func trimmed(_ value: Double) -> String {
        var text = String(format: "%.3f", value)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    static func count(_ count: Int, _ one: String, _ many: String) -> String {
        "\(number(count)) \(count == 1 ? one : many)"
    }

    /// A time such as `2026-11-23T14:00:00Z`.
    static func exact(_ date: Date) -> String { date.formatted(.iso8601) }

    /// A time such as `23 Nov 2026, 14:00`, in UTC.
    static func moment(_ date: Date) -> String {
        let parts = utc.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        return String(
            format: "%d %@ %d, %02d:%02d",
            parts.day ?? 0,
            months[(parts.month ?? 1) - 1],
            parts.year ?? 0,
            parts.hour ?? 0,
            parts.minute ?? 0
        )
    }

    static func day(_ date: Date) -> String {
        let parts = utc.dateComponents([.month, .day], from: date)
        return "\(parts.day ?? 0) \(months[(parts.month ?? 1) - 1])"
    }

    static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// A time relative to another: `3 minutes ago`, `in 5 days`.
    static func distance(_ date: Date, from now: Date = Date()) -> String {
        let seconds = date.timeIntervalSince(now)
        let text: String
        switch seconds.magnitude {
        case ..<45: return seconds > 0 ? "in a moment" : "just now"
        case ..<5400: text = count(max(1, Int((seconds.magnitude / 60).rounded())), "minute", "minutes")
        case ..<129_600: text = count(Int((seconds.magnitude / 3600).rounded()), "hour", "hours")
        default: text = count(Int((seconds.magnitude / 86_400).rounded()), "day", "days")
        }
        return seconds > 0 ? "in \(text)" : "\(text) ago"
    }

    /// The first digits of a hash.
    static func short(_ hash: String) -> String { String(hash.prefix(12)) }
}

/// A time as pages show it: relative as text, exact on demand.
struct Moment {
    let text: String
    let exact: String
    let title: String

    init(_ date: Date, from now: Date = Date()) {
        text = Texts.distance(date, from: now)
        exact = Texts.exact(date)
        title = Texts.moment(date) + " UTC"
    }
}

/// The name of a state, and its colour.
struct StateChip {
    let word: String
    let colour: String

    init(_ state: Deployment.State) {
        switch state {
        case .draft: (word, colour) = ("Draft", "plain")
        case .approved: (word, colour) = ("Approved", "info")
        case .scheduled: (word, colour) = ("Scheduled", "info")
        case .active: (word, colour) = ("Live", "good")
        case .paused: (word, colour) = ("Paused", "warn")
        case .halted: (word, colour) = ("Halted", "bad")
        case .rolledBack: (word, colour) = ("Rolled back", "bad")
        case .replaced: (word, colour) = ("Replaced", "plain")
        }
    }
}
