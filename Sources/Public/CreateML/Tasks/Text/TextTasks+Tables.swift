/// A table of validation examples for a text task; an empty column name stands for that of the training data.
struct ValidationTable {
    var table: MLDataTable
    /// The name of the column of texts or tokens.
    var examples: String
    var labels: String
}

/// Parameters whose validation data may be a table.
protocol TableValidated {
    /// The table of validation examples; `nil` for any other choice.
    ///
    /// Setting `nil` chooses the automatic split of the training data.
    var validationTable: ValidationTable? { get set }
}

extension TableValidated {
    /// Replaces the table and keeps the names of its columns.
    mutating func replaceTable(_ table: MLDataTable?) {
        let old = validationTable
        validationTable = table.map {
            ValidationTable(table: $0, examples: old?.examples ?? "", labels: old?.labels ?? "")
        }
    }

    func column(_ column: KeyPath<ValidationTable, String>) -> String? {
        validationTable.flatMap { $0[keyPath: column].isEmpty ? nil : $0[keyPath: column] }
    }

    mutating func rename(_ column: WritableKeyPath<ValidationTable, String>, _ name: String?) {
        guard var table = validationTable else { return }
        table[keyPath: column] = name ?? ""
        validationTable = table
    }

    /// The same parameters with names for the columns that have none.
    func naming(_ examples: String, _ labels: String) -> Self {
        var result = self
        if column(\.examples) == nil { result.rename(\.examples, examples) }
        if column(\.labels) == nil { result.rename(\.labels, labels) }
        return result
    }
}
