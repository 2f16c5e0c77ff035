public import Foundation

/// Options for printing data frames and columns as tables.
public struct FormattingOptions {
    /// The greatest number of characters in a line, 200 by default; columns that do not fit are left out.
    public var maximumLineWidth: Int
    /// The greatest number of characters in a cell, 50 by default; longer texts are cut and end in `…`.
    public var maximumCellWidth: Int
    /// The greatest number of rows, 20 by default; further ones are left out.
    public var maximumRowCount: Int
    /// Whether element types are printed below the column names; true by default.
    public var includesColumnTypes: Bool
    /// Whether a line below the table gives the numbers of rows and columns; true by default.
    public var includesRowAndColumnCounts = true
    /// Whether the first column of the table shows the row numbers; true by default.
    public var includesRowIndices = true

    /// The locale of numbers and dates; setting it changes the format styles.
    public var locale: Locale {
        didSet {
            integerFormatStyle = integerFormatStyle.locale(locale)
            floatingPointFormatStyle = floatingPointFormatStyle.locale(locale)
            dateStyle = dateStyle?.locale(locale)
        }
    }

    /// The format of integers; the default depends on the locale only.
    public var integerFormatStyle: IntegerFormatStyle<Int>
    /// The format of floating-point numbers; by default they have one to six fraction digits.
    public var floatingPointFormatStyle: FloatingPointFormatStyle<Double>

    /// The format of dates; until it is set they are printed as `2022-01-04 15:30:12 +0000`.
    public var dateFormatStyle: Date.FormatStyle {
        get { dateStyle ?? Date.FormatStyle(date: .numeric, time: .standard, locale: locale) }
        set { dateStyle = newValue }
    }

    private(set) var dateStyle: Date.FormatStyle?

    /// Creates the default options for the current locale.
    public init() { self.init(locale: .current) }

    /// Creates the default options for a locale.
    public init(locale: Locale) {
        maximumLineWidth = 200
        maximumCellWidth = 50
        maximumRowCount = 20
        includesColumnTypes = true
        self.locale = locale
        integerFormatStyle = IntegerFormatStyle<Int>(locale: locale)
        floatingPointFormatStyle = FloatingPointFormatStyle<Double>(locale: locale).precision(.fractionLength(1...6))
    }

    /// Creates options for the current locale with the given limits.
    ///
    /// - Parameters:
    ///   - maximumLineWidth: The greatest number of characters in a line.
    ///   - maximumCellWidth: The greatest number of characters in a cell.
    ///   - maximumRowCount: The greatest number of rows.
    ///   - includesColumnTypes: Whether element types are printed below the column names.
    public init(
        maximumLineWidth: Int,
        maximumCellWidth: Int = 50,
        maximumRowCount: Int = 20,
        includesColumnTypes: Bool = true
    ) {
        self.init()
        self.maximumLineWidth = maximumLineWidth
        self.maximumCellWidth = maximumCellWidth
        self.maximumRowCount = maximumRowCount
        self.includesColumnTypes = includesColumnTypes
    }
}
