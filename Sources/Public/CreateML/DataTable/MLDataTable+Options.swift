extension MLDataTable {
    /// Which rows without a partner a join keeps.
    public enum JoinType: Hashable, Sendable {
        case inner, left, outer, right
    }

    /// What the values of a row are packed into.
    public enum PackType: Hashable, Sendable {
        /// By the columns' names.
        case dictionary
        case sequence
    }

    /// What is computed of a column's values in each group of rows.
    public struct Aggregator: Sendable {
        public enum Operations: Sendable {
            /// The rows of the group, those with a missing value too.
            case count
            /// Different values.
            case distinctCount
            case max
            case mean
            case min
            /// A value of the group, chosen by chance; the same one every time.
            case randomlySelectOne
            /// The values as a sequence, in the order of the rows.
            case sequenceMerge
            /// The standard deviation of all values, not of a sample.
            case stdev
            case sum
            case variance
            /// The value of another column in the row of the greatest value.
            case argmax(outputColumn: String)
            /// The value of another column in the row of the least value.
            case argmin(outputColumn: String)
            /// The values of another column by those of this one; of equal ones the last counts.
            case dictionaryMerge(valueColumn: String)
        }

        public var operations: [Operations]
        public var columnName: String

        public init(operations: Operations..., of columnNamed: String) {
            self.operations = operations
            columnName = columnNamed
        }
    }

    /// How a CSV file is to be understood.
    public struct ParsingOptions: Sendable {
        /// Whether the first line names the columns.
        public var containsHeader: Bool
        /// What stands between cells.
        public var delimiter: String
        /// What stands before text that is no part of the table, up to the end of the line; nothing when empty.
        public var comment: String
        /// The character before one that stands for itself; none when empty.
        public var escape: String
        /// Whether a quote in quotes is written as two.
        public var doubleQuote: Bool
        /// The character around cells that hold delimiters; none when empty.
        public var quote: String
        /// Whether spaces after delimiters do not count.
        public var skipInitialSpaces: Bool
        /// Cells that stand for a missing value, beside empty ones.
        public var missingValues: [String]
        /// What ends lines; `"\n"` stands for what Windows writes, too.
        public var lineTerminator: String
        /// The columns to read, in that order; all when `nil`.
        public var selectColumns: [String]?
        /// How many rows to read at most.
        public var maxRows: Int?
        /// How many lines to leave out at the beginning of the file.
        public var skipRows: Int

        public init(
            containsHeader: Bool = true,
            delimiter: String = ",",
            comment: String = "",
            escape: String = "\\",
            doubleQuote: Bool = true,
            quote: String = "\"",
            skipInitialSpaces: Bool = true,
            missingValues: [String] = ["NA"],
            lineTerminator: String = "\n",
            selectColumns: [String]? = nil,
            maxRows: Int? = nil,
            skipRows: Int = 0
        ) {
            self.containsHeader = containsHeader
            self.delimiter = delimiter
            self.comment = comment
            self.escape = escape
            self.doubleQuote = doubleQuote
            self.quote = quote
            self.skipInitialSpaces = skipInitialSpaces
            self.missingValues = missingValues
            self.lineTerminator = lineTerminator
            self.selectColumns = selectColumns
            self.maxRows = maxRows
            self.skipRows = skipRows
        }
    }
}
