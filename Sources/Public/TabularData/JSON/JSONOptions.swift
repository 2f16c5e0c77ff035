public import Foundation

/// Options for reading JSON files.
public struct JSONReadingOptions {
    /// The functions that read dates from strings; the first result that is not nil counts.
    ///
    /// By default there is one for ISO 8601: a date and time with a time zone.
    public var dateParsers: [(String) -> Date?] = [iso8601Date]

    /// Creates the default options.
    public init() {}

    /// Adds a strategy for reading dates, which is tried after those that are there.
    public mutating func addDateParseStrategy<T: ParseStrategy>(_ strategy: T)
    where T.ParseInput == String, T.ParseOutput == Date {
        dateParsers.append { try? strategy.parse($0) }
    }
}

/// Options for writing JSON files.
public struct JSONWritingOptions {
    /// Whether keys are sorted; false, the default, leaves them in the order of the columns.
    public var sortKeys = false
    /// Whether rows and values are on lines of their own; false by default.
    public var prettyPrint = false
    /// The function that writes dates; ISO 8601 in UTC by default.
    public var dateFormatter: (Date) -> String = iso8601Text

    /// Creates the default options.
    public init() {}
}
