public import Foundation

/// How tables are printed.
public struct FormattingOptions {
    /// The most characters of a line; columns that do not fit are left out.
    public var maximumLineWidth: Int
    /// The most characters of a cell; longer ones end in `…`.
    public var maximumCellWidth: Int
    /// The most rows; further ones are left out.
    public var maximumRowCount: Int
    /// Whether the types stand below the names.
    public var includesColumnTypes: Bool
    public var includesRowAndColumnCounts = true
    public var includesRowIndices = true

    /// The language of numbers and dates.
    public var locale: Locale {
        didSet {
            integerFormatStyle = integerFormatStyle.locale(locale)
            floatingPointFormatStyle = floatingPointFormatStyle.locale(locale)
            dateStyle = dateStyle?.locale(locale)
        }
    }

    public var integerFormatStyle: IntegerFormatStyle<Int>
    public var floatingPointFormatStyle: FloatingPointFormatStyle<Double>

    /// Without another, dates are printed as `2022-01-04 15:30:12 +0000`.
    public var dateFormatStyle: Date.FormatStyle {
        get { dateStyle ?? Date.FormatStyle(date: .numeric, time: .standard, locale: locale) }
        set { dateStyle = newValue }
    }

    private(set) var dateStyle: Date.FormatStyle?

    public init() { self.init(locale: .current) }

    public init(locale: Locale) {
        maximumLineWidth = 200
        maximumCellWidth = 50
        maximumRowCount = 20
        includesColumnTypes = true
        self.locale = locale
        integerFormatStyle = IntegerFormatStyle<Int>(locale: locale)
        floatingPointFormatStyle = FloatingPointFormatStyle<Double>(locale: locale).precision(.fractionLength(1...6))
    }

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
