public import Foundation

/// How a CSV file is to be written.
public struct CSVWritingOptions {
    /// Whether the first line names the columns.
    public var includesHeader: Bool
    /// What stands for a missing value.
    public var nilEncoding: String
    public var trueEncoding: String
    public var falseEncoding: String
    public var newline: String
    public var delimiter: Character

    /// A format of `DateFormatter`; setting it replaces `dateFormatter`.
    public var dateFormat: String? {
        didSet { customDateFormatter = dateFormat.map(Self.formatter) }
    }

    /// What writes dates.  Without another it is ISO 8601 in UTC.
    public var dateFormatter: (Date) -> String {
        get { customDateFormatter ?? iso8601Text }
        set { customDateFormatter = newValue }
    }

    private(set) var customDateFormatter: ((Date) -> String)?

    public init() { self.init(includesHeader: true) }

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

/// A date in ISO 8601, in UTC, with milliseconds where there are any.
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
