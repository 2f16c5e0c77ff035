import TabularData

extension MLGazetteer {
    /// Creates a gazetteer of the terms of a table.
    /// - Parameters:
    ///   - labeledData: A row for each term.
    ///   - textColumn: The name of the column of terms, of strings.
    ///   - labelColumn: The name of the column of labels, of strings.
    ///   - parameters: The parameters of the gazetteer.
    /// - Throws: The table's error if it is invalid; `MLCreateError` for columns that cannot be used, a term with two
    ///   labels, and a table without terms.
    public init(
        labeledData: MLDataTable,
        textColumn: String,
        labelColumn: String,
        parameters: ModelParameters = ModelParameters()
    ) throws {
        let examples = try MLTextClassifier.Examples(labeledData.dataFrame(), textColumn, labelColumn)
        var terms: [String: [String]] = [:]
        for (text, label) in zip(examples.texts, examples.labels) { terms[label, default: []].append(text) }
        try self.init(dictionary: terms, parameters: parameters)
    }

    /// Looks up the labels of a column of terms, empty for those that are not in the gazetteer.
    public func predictions(from texts: MLDataColumn<String>) throws -> MLDataColumn<String> {
        MLDataColumn(try predictions(from: texts.present("text")))
    }
}
