public import Foundation

/// Options for reading CSV files.
public struct CSVReadingOptions {
    /// Whether the first line names the columns, which are otherwise `Column 0`, `Column 1`, …; true by default.
    public var hasHeaderRow: Bool
    /// The cells that stand for a missing value, such as an empty one, `NA` or `null`.
    public var nilEncodings: Set<String>
    /// The cells that stand for true: `1`, `True`, `TRUE` and `true` by default.
    public var trueEncodings: Set<String>
    /// The cells that stand for false: `0`, `False`, `FALSE` and `false` by default.
    public var falseEncodings: Set<String>
    /// The type of inferred columns of numbers with fractions: `.double`, the default, or `.float`.
    public var floatingPointType: CSVType
    /// Whether empty lines are skipped; true by default.
    public var ignoresEmptyLines: Bool
    /// Whether cells may be in double quotes, within which a double quote is written twice; true by default.
    public var usesQuoting: Bool
    /// Whether the character after an escape character stands for itself; false by default.
    public var usesEscaping: Bool
    /// The character between the cells of a line: a comma by default.
    public private(set) var delimiter: Character
    /// The escape character, when `usesEscaping` is true: a backslash by default.
    public private(set) var escapeCharacter: Character

    /// The functions that read dates from cells; the first result that is not nil counts.
    ///
    /// By default there is one for ISO 8601: a date and time with a time zone and, in columns whose type is given as
    /// `.date`, a date alone. Setting the parsers removes it.
    public var dateParsers: [(String) -> Date?] {
        get { (parsesISO8601 ? [iso8601Date] : []) + otherDateParsers }
        set {
            parsesISO8601 = false
            otherDateParsers = newValue
        }
    }

    /// Whether the parser for ISO 8601 precedes the others.
    private(set) var parsesISO8601 = true
    private(set) var otherDateParsers: [(String) -> Date?] = []
    /// The greatest number of bytes of a row, whose cells' places have 32 bits.
    ///
    /// Tests make it smaller.
    package var maximumByteCount = Int(UInt32.max)

    /// Creates options.
    ///
    /// - Parameters:
    ///   - hasHeaderRow: Whether the first line names the columns.
    ///   - nilEncodings: The cells that stand for a missing value.
    ///   - trueEncodings: The cells that stand for true.
    ///   - falseEncodings: The cells that stand for false.
    ///   - floatingPointType: The type of inferred columns of numbers with fractions: `.double` or `.float`; others
    ///     are a fatal error.
    ///   - ignoresEmptyLines: Whether empty lines are skipped.
    ///   - usesQuoting: Whether cells may be in double quotes.
    ///   - usesEscaping: Whether the character after an escape character stands for itself.
    ///   - delimiter: The character between the cells of a line.
    ///   - escapeCharacter: The escape character.
    public init(
        hasHeaderRow: Bool = true,
        nilEncodings: Set<String> = ["", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "NULL", "n/a", "nil", "null"],
        trueEncodings: Set<String> = ["1", "True", "TRUE", "true"],
        falseEncodings: Set<String> = ["0", "False", "FALSE", "false"],
        floatingPointType: CSVType = .double,
        ignoresEmptyLines: Bool = true,
        usesQuoting: Bool = true,
        usesEscaping: Bool = false,
        delimiter: Character = Character(","),
        escapeCharacter: Character = Character("\\")
    ) {
        require(
            floatingPointType == .double || floatingPointType == .float,
            "the floating-point type is .double or .float"
        )
        self.hasHeaderRow = hasHeaderRow
        self.nilEncodings = nilEncodings
        self.trueEncodings = trueEncodings
        self.falseEncodings = falseEncodings
        self.floatingPointType = floatingPointType
        self.ignoresEmptyLines = ignoresEmptyLines
        self.usesQuoting = usesQuoting
        self.usesEscaping = usesEscaping
        self.delimiter = delimiter
        self.escapeCharacter = escapeCharacter
    }

    /// Adds a strategy for reading dates, which is tried after those that are there.
    public mutating func addDateParseStrategy<T: ParseStrategy>(_ strategy: T)
    where T.ParseInput == String, T.ParseOutput == Date {
        otherDateParsers.append { try? strategy.parse($0) }
    }
}
