public import Foundation

/// Options for writing CSV files.
public struct CSVWritingOptions {
    /// Whether the first line names the columns; true by default.
    public var includesHeader: Bool
    /// The cell written for a missing value; empty by default.
    public var nilEncoding: String
    /// The cell written for true: `true` by default.
    public var trueEncoding: String
    /// The cell written for false: `false` by default.
    public var falseEncoding: String
    /// The end of each line: a line feed by default.
    public var newline: String
    /// The character between the cells of a line: a comma by default.
    public var delimiter: Character

    /// A `DateFormatter` pattern for dates, in the locale `en_US_POSIX` and the local time zone; nil by default.
    ///
    /// Setting it replaces `dateFormatter`, nil by the default one.
    public var dateFormat: String? {
        didSet { customDateFormatter = dateFormat.map(Self.formatter) }
    }

    /// The function that writes dates; ISO 8601 in UTC by default.
    public var dateFormatter: (Date) -> String {
        get { customDateFormatter ?? iso8601Text }
        set { customDateFormatter = newValue }
    }

    private(set) var customDateFormatter: ((Date) -> String)?

    /// Creates the default options.
    public init() { self.init(includesHeader: true) }

    /// Creates options under which dates are written in ISO 8601.
    ///
    /// - Parameters:
    ///   - includesHeader: Whether the first line names the columns.
    ///   - nilEncoding: The cell written for a missing value.
    ///   - trueEncoding: The cell written for true.
    ///   - falseEncoding: The cell written for false.
    ///   - newline: The end of each line.
    ///   - delimiter: The character between the cells of a line.
    public init(
        includesHeader: Bool = true,
        nilEncoding: String = "",
        trueEncoding: String = "true",
        falseEncoding: String = "false",
        newline: String = "\n",
        delimiter: Character = ","
    ) {
        self.init(
            includesHeader: includesHeader,
            dateFormat: nil,
            nilEncoding: nilEncoding,
            trueEncoding: trueEncoding,
            falseEncoding: falseEncoding,
            newline: newline,
            delimiter: delimiter
        )
    }

    /// Creates options under which dates are written by a `DateFormatter` pattern.
    ///
    /// - Parameters:
    ///   - includesHeader: Whether the first line names the columns.
    ///   - dateFormat: The pattern, in the locale `en_US_POSIX` and the local time zone; nil for ISO 8601 in UTC.
    ///   - nilEncoding: The cell written for a missing value.
    ///   - trueEncoding: The cell written for true.
    ///   - falseEncoding: The cell written for false.
    ///   - newline: The end of each line.
    ///   - delimiter: The character between the cells of a line.
    public init(
        includesHeader: Bool = true,
        dateFormat: String?,
        nilEncoding: String = "",
        trueEncoding: String = "true",
        falseEncoding: String = "false",
        newline: String = "\n",
        delimiter: Character = ","
    ) {
        self.includesHeader = includesHeader
        self.nilEncoding = nilEncoding
        self.trueEncoding = trueEncoding
        self.falseEncoding = falseEncoding
        self.newline = newline
        self.delimiter = delimiter
        self.dateFormat = dateFormat
        customDateFormatter = dateFormat.map(Self.formatter)
    }

    private static func formatter(_ format: String) -> (Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = format
        return { formatter.string(from: $0) }
    }
}

/// Returns a date in ISO 8601, in UTC, with milliseconds when they are not zero.
func iso8601Text(_ date: Date) -> String {
    var bytes: [UInt8] = []
    appendISO8601(date, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}

func appendISO8601(_ date: Date, to bytes: inout [UInt8]) {
    let seconds = date.timeIntervalSince1970
    guard seconds.isFinite, abs(seconds) < 1e14 else {
        bytes.append(contentsOf: String(describing: date).utf8)
        return
    }
    var milliseconds = Int((seconds * 1000).rounded())
    let days = (milliseconds >= 0 ? milliseconds : milliseconds - 86_399_999) / 86_400_000
    milliseconds -= days * 86_400_000
    // The civil date by years that start in March.
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let ofEra = z - era * 146_097
    let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * ofYear + 2) / 153
    let day = ofYear - (153 * shifted + 2) / 5 + 1
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func append(_ value: Int, _ width: Int) {
        let text = String(abs(value))
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        for _ in 0..<Swift.max(0, width - text.utf8.count) { bytes.append(UInt8(ascii: "0")) }
        bytes.append(contentsOf: text.utf8)
    }
    append(year, 4)
    bytes.append(UInt8(ascii: "-"))
    append(month, 2)
    bytes.append(UInt8(ascii: "-"))
    append(day, 2)
    bytes.append(UInt8(ascii: "T"))
    append(milliseconds / 3_600_000, 2)
    bytes.append(UInt8(ascii: ":"))
    append(milliseconds / 60_000 % 60, 2)
    bytes.append(UInt8(ascii: ":"))
    append(milliseconds / 1000 % 60, 2)
    if milliseconds % 1000 != 0 {
        bytes.append(UInt8(ascii: "."))
        append(milliseconds % 1000, 3)
    }
    bytes.append(UInt8(ascii: "Z"))
}
