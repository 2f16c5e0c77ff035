/// The columns of the data frames that `summary()` returns.
public enum SummaryColumnIDs: Sendable {
    /// The name of the summarised column; the column is named `column`.
    public static let columnName = ColumnID("column", String.self)
    /// The arithmetic mean; the column is named `mean`.
    public static let mean = ColumnID("mean", Double.self)
    /// The sample's standard deviation; the column is named `std`.
    public static let standardDeviation = ColumnID("std", Double.self)
    /// The least number; the column is named `min`.
    public static let minimum = ColumnID("min", Double.self)
    /// The greatest number; the column is named `max`.
    public static let maximum = ColumnID("max", Double.self)
    /// The median; the column is named `median`.
    public static let median = ColumnID("median", Double.self)
    /// The 0.25 quantile; the column is named `Q1`.
    public static let firstQuartile = ColumnID("Q1", Double.self)
    /// The 0.75 quantile; the column is named `Q3`.
    public static let thirdQuartile = ColumnID("Q3", Double.self)
    /// The list of the most frequent elements; the column is named `mode`.
    public static let mode = ColumnID("mode", [Any].self)
    /// The number of distinct elements that are not missing; the column is named `uniqueCount`.
    public static let uniqueCount = ColumnID("uniqueCount", Int.self)
    /// The number of missing elements; the column is named `noneCount`.
    public static let noneCount = ColumnID("noneCount", Int.self)
    /// The number of elements that are not missing; the column is named `someCount`.
    public static let someCount = ColumnID("someCount", Int.self)
}
