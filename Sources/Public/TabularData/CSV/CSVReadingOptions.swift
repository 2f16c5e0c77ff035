public import Foundation

/// How a CSV file is to be understood.
public struct CSVReadingOptions {
    /// Whether the first line names the columns.
    public var hasHeaderRow: Bool
    /// Cells that stand for a missing value.
    public var nilEncodings: Set<String>
    public var trueEncodings: Set<String>
    public var falseEncodings: Set<String>
    /// The type of columns of numbers with fractions: `.double` or `.float`.
    public var floatingPointType: CSVType
    public var ignoresEmptyLines: Bool
    /// Whether cells may be in double quotes, in which a double quote is written twice.
    public var usesQuoting: Bool
    /// Whether a character after the escape character stands for itself.
    public var usesEscaping: Bool
    public private(set) var delimiter: Character
    public private(set) var escapeCharacter: Character

    /// What makes dates of cells; the first that gives one counts.
    ///
    /// Without others there is one for ISO 8601: a date and time with a zone, and, in columns whose type is given as
    /// `.date`, a date alone.
    public var dateParsers: [(String) -> Date?] {
        get { (parsesISO8601 ? [iso8601Date] : []) + otherDateParsers }
        set {
            parsesISO8601 = false
            otherDateParsers = newValue
        }
    }

    /// Whether the parser for ISO 8601 stands before the others.
    private(set) var parsesISO8601 = true
    private(set) var otherDateParsers: [(String) -> Date?] = []

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

    public mutating func addDateParseStrategy<T: ParseStrategy>(_ strategy: T)
    where T.ParseInput == String, T.ParseOutput == Date {
        otherDateParsers.append { try? strategy.parse($0) }
    }
}
