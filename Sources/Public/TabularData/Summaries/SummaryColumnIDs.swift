/// The columns of a frame that `summary()` makes.
public enum SummaryColumnIDs: Sendable {
    public static let columnName = ColumnID("column", String.self)
    public static let mean = ColumnID("mean", Double.self)
    public static let standardDeviation = ColumnID("std", Double.self)
    public static let minimum = ColumnID("min", Double.self)
    public static let maximum = ColumnID("max", Double.self)
    public static let median = ColumnID("median", Double.self)
    public static let firstQuartile = ColumnID("Q1", Double.self)
    public static let thirdQuartile = ColumnID("Q3", Double.self)
    public static let mode = ColumnID("mode", [Any].self)
    public static let uniqueCount = ColumnID("uniqueCount", Int.self)
    public static let noneCount = ColumnID("noneCount", Int.self)
    public static let someCount = ColumnID("someCount", Int.self)
}
