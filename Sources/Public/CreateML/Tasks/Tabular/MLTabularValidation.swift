public import TabularData

/// The choice of rows on which a tabular task is validated.
///
/// `@unchecked Sendable`: a shared data frame or table is never modified.
public enum MLTabularValidation: @unchecked Sendable {
    /// No validation.
    case none
    /// A part of the training data.
    case split(strategy: MLSplitStrategy)
    /// The rows of a data frame with the columns of the training data.
    case dataFrame(DataFrame)
    /// The rows of a table with the columns of the training data.
    case table(MLDataTable)
}

extension MLTabularValidation: CustomStringConvertible {
    /// The choice in a few words, such as `automatic split` or the number of rows.
    public var description: String {
        switch self {
        case .none: "none"
        case .split(.automatic): "automatic split"
        case .split(.fixed(let ratio, let seed)): "split \(ratio)" + (seed.map { ", seed \($0)" } ?? "")
        case .dataFrame(let frame): "\(frame.shape.rows) rows"
        case .table(let table): "\(table.size.rows) rows"
        }
    }
}

extension MLTabularValidation {
    /// The rows of a table, or the automatic split of the training data without one.
    init(_ table: MLDataTable?) { self = table.map { .table($0) } ?? .split(strategy: .automatic) }
}
