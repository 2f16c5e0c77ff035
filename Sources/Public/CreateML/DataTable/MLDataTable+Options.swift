extension MLDataTable {
    /// The rows that a join keeps beside pairs of matching rows.
    public enum JoinType: Hashable, Sendable {
        /// None, those of the left table, those of both tables, or those of the right table.
        case inner, left, outer, right
    }

    /// The kind of value into which the values of a row are packed.
    public enum PackType: Hashable, Sendable {
        /// A dictionary whose keys are the names of the columns.
        case dictionary
        /// A sequence in the order of the columns.
        case sequence
    }

    /// Operations that are applied to a column's values in each group of rows.
    public struct Aggregator: Sendable {
        /// An operation on the values of a group; all but `count` ignore missing values.
        public enum Operations: Sendable {
            /// The number of rows in the group, those with a missing value included.
            case count
            /// The number of distinct values.
            case distinctCount
            /// The greatest value.
            case max
            /// The arithmetic mean.
            case mean
            /// The least value.
            case min
            /// A random value of the group, chosen with a fixed seed.
            case randomlySelectOne
            /// The values as a sequence, in the order of the rows.
            case sequenceMerge
            /// The standard deviation of the values as a whole population: the divisor is their number.
            case stdev
            /// The sum; an integer for integers, unless it overflows, which makes the result invalid.
            case sum
            /// The variance of the values as a whole population: the divisor is their number.
            case variance
            /// The value of another column in the row with the greatest value.
            case argmax(outputColumn: String)
            /// The value of another column in the row with the least value.
            case argmin(outputColumn: String)
            /// A dictionary from this column's values to those of another column; the last of equal keys counts.
            case dictionaryMerge(valueColumn: String)
        }

        /// The operations, each of which gives a column of results.
        public var operations: [Operations]
        /// The name of the column whose values are aggregated.
        public var columnName: String

        /// Creates an aggregator that applies operations to a column.
        /// - Parameters:
        ///   - operations: The operations, each of which gives a column of results.
        ///   - columnNamed: The name of the column whose values are aggregated.
        public init(operations: Operations..., of columnNamed: String) {
            self.operations = operations
            columnName = columnNamed
        }
    }

    /// The dialect of a CSV file, and the selection of columns and rows to read.
    public struct ParsingOptions: Sendable {
        /// Whether the first line holds the names of the columns; `true` by default.
        public var containsHeader: Bool
        /// The text that separates cells; a comma by default.
        public var delimiter: String
        /// The text that begins a comment, which reaches to the end of the line; none by default, which is empty.
        public var comment: String
        /// The character that makes the next one literal; a backslash by default, none if empty.
        public var escape: String
        /// Whether two quotes in a quoted cell stand for one; `true` by default.
        public var doubleQuote: Bool
        /// The character around cells that hold delimiters; a double quote by default, none if empty.
        public var quote: String
        /// Whether spaces at the start of a cell are ignored; `true` by default.
        public var skipInitialSpaces: Bool
        /// The cells that stand for a missing value beside empty ones; `NA` by default.
        public var missingValues: [String]
        /// The text that ends a line; `"\n"`, the default, includes a carriage return before it.
        public var lineTerminator: String
        /// The names of the columns to read, in that order; `nil`, the default, reads all.
        public var selectColumns: [String]?
        /// The maximum number of rows to read, at least 0; `nil`, the default, reads all.
        public var maxRows: Int?
        /// The number of lines to skip at the beginning of the file; 0 by default.
        public var skipRows: Int

        /// Creates options for reading a table; see the properties of the same names.
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
