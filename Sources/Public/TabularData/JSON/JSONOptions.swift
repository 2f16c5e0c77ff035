public import Foundation

/// How a JSON file is to be understood.
public struct JSONReadingOptions {
    /// What makes dates of strings; the first that gives one counts.  Without others there is one for ISO 8601.
    public var dateParsers: [(String) -> Date?] = [iso8601Date]

    public init() {}

    public mutating func addDateParseStrategy<T: ParseStrategy>(_ strategy: T)
    where T.ParseInput == String, T.ParseOutput == Date {
        dateParsers.append { try? strategy.parse($0) }
    }
}

/// How a JSON file is to be written.
public struct JSONWritingOptions {
    /// Whether keys are in the order of their letters; else they are in that of the columns.
    public var sortKeys = false
    /// Whether rows and values stand on lines of their own.
    public var prettyPrint = false
    /// What writes dates.  Without another it is ISO 8601 in UTC.
    public var dateFormatter: (Date) -> String = iso8601Text

    public init() {}
}
