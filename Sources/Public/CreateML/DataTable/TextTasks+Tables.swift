public import NaturalLanguage
import TabularData

extension MLDataColumn {
    /// All elements.
    /// - Throws: The column's error if it is invalid, or `MLCreateError.generic` naming a row without an element.
    func present(_ role: String) throws -> [Element] {
        if let error { throw error }
        return try elements.enumerated().map { row, element in
            guard let element else {
                throw MLCreateError.generic(
                    reason: "the \(role) column has no value in row \(row); remove the row or fill it in"
                )
            }
            return element
        }
    }
}

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

// MARK: Texts

extension MLTextClassifier {
    /// Trains on the labelled texts of a table.
    /// - Parameters:
    ///   - trainingData: A row for each text.
    ///   - textColumn: The name of the column of texts, of strings.
    ///   - labelColumn: The name of the column of labels: strings, or integers, which are converted to strings.
    ///   - parameters: The parameters of training.
    /// - Throws: The table's error if it is invalid, and `MLCreateError` for columns that cannot be used and parameters
    ///   out of range.
    public init(
        trainingData: MLDataTable,
        textColumn: String,
        labelColumn: String,
        parameters: ModelParameters = ModelParameters(validationData: nil)
    ) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            textColumn: textColumn,
            labelColumn: labelColumn,
            parameters: parameters.naming(textColumn, labelColumn)
        )
    }

    /// Evaluates the model on the labelled texts of a table; an error is in the metrics.
    public func evaluation(on labeledTexts: MLDataTable, textColumn: String, labelColumn: String) -> MLClassifierMetrics
    {
        do {
            return evaluation(on: try labeledTexts.dataFrame(), textColumn: textColumn, labelColumn: labelColumn)
        } catch { return MLClassifierMetrics(error) }
    }

    /// Evaluates the model on a table with the column names of the training data; an error is in the metrics.
    ///
    /// A classifier that was not trained on a table takes the columns `text` and `label`.
    public func evaluation(on labeledTexts: MLDataTable) -> MLClassifierMetrics {
        evaluation(on: labeledTexts, textColumn: columns.text, labelColumn: columns.label)
    }

    /// Predicts the label of every text of a column; throws an error for missing texts.
    public func predictions(from texts: MLDataColumn<String>) throws -> MLDataColumn<String> {
        MLDataColumn(try predictions(from: texts.present("text")))
    }

    /// Predicts the probability of every label for each text of a column; throws an error for missing texts.
    public func predictionsWithConfidence(
        from texts: MLDataColumn<String>
    ) throws -> MLDataColumn<[String: Double]> {
        MLDataColumn(try predictionsWithConfidence(from: texts.present("text")))
    }
}

extension MLTextClassifier.DataSource {
    /// Returns the texts in a table with a column `partition` that divides those of each label by proportions.
    ///
    /// The column holds 0 for the first proportion, 1 for the second, and so on.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - seed: The seed of the assignment; taken from the clock by default.
    ///   - labelColumn: The name of the column of labels.
    ///   - textColumn: The name of the column of texts.
    /// - Returns: The table.
    /// - Throws: `MLCreateError` for texts that cannot be read and proportions out of range.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        labelColumn: String,
        textColumn: String
    ) throws -> MLDataTable {
        let examples = MLTextClassifier.Examples(try labeledTexts())
        let table = try MLDataTable(columns: [
            (textColumn, MLUntypedColumn(examples.texts)), (labelColumn, MLUntypedColumn(examples.labels)),
        ])
        return try table.stratifiedSplit(proportions: proportions, on: labelColumn, seed: seed)
    }
}

extension MLTextClassifier.ModelParameters {
    /// Creates training parameters with a table of validation texts.
    /// - Parameters:
    ///   - validationData: A table of labelled texts; the automatic split of the training data if `nil`.
    ///   - algorithm: The algorithm.
    ///   - language: The language whose rules divide texts into words; `nil` for none in particular.
    ///   - textColumnValidationData: The name of the table's column of texts; that of the training data if `nil`.
    ///   - labelColumnValidationData: The name of the table's column of labels; that of the training data if `nil`.
    @_disfavoredOverload
    public init(
        validationData: MLDataTable? = nil,
        algorithm: MLTextClassifier.ModelAlgorithmType = .maxEnt(revision: 1),
        language: NLLanguage? = nil,
        textColumnValidationData: String? = nil,
        labelColumnValidationData: String? = nil
    ) {
        self.init(validation: .split(strategy: .automatic), algorithm: algorithm, language: language)
        self.validationData = validationData
        self.textColumnValidationData = textColumnValidationData
        self.labelColumnValidationData = labelColumnValidationData
    }

    /// The table of validation texts; `nil` for any other choice.
    ///
    /// Setting `nil` chooses the automatic split of the training data.
    public var validationData: MLDataTable? {
        get { validationTable?.table }
        set { replaceTable(newValue) }
    }

    /// The name of the validation table's column of texts; `nil` for that of the training data.
    ///
    /// Setting it has no effect without a table.
    public var textColumnValidationData: String? {
        get { column(\.examples) }
        set { rename(\.examples, newValue) }
    }

    /// The name of the validation table's column of labels; `nil` for that of the training data.
    ///
    /// Setting it has no effect without a table.
    public var labelColumnValidationData: String? {
        get { column(\.labels) }
        set { rename(\.labels, newValue) }
    }
}

extension MLTextClassifier.ModelParameters: TableValidated {
    var validationTable: ValidationTable? {
        get {
            guard case .table(let table, let text, let label) = validation else { return nil }
            return ValidationTable(table: table, examples: text, labels: label)
        }
        set {
            validation =
                newValue.map { .table($0.table, textColumn: $0.examples, labelColumn: $0.labels) }
                ?? .split(strategy: .automatic)
        }
    }
}

// MARK: Words

extension MLWordTagger {
    /// Trains on the labelled sentences of a table.
    /// - Parameters:
    ///   - trainingData: A row for each sentence.
    ///   - tokenColumn: The name of the column of tokens, sequences of strings.
    ///   - labelColumn: The name of the column of labels, sequences of as many strings.
    ///   - parameters: The parameters of training.
    /// - Throws: The table's error if it is invalid, and `MLCreateError` for columns that cannot be used and parameters
    ///   out of range.
    public init(
        trainingData: MLDataTable,
        tokenColumn: String,
        labelColumn: String,
        parameters: ModelParameters = ModelParameters(validationData: nil)
    ) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            tokenColumn: tokenColumn,
            labelColumn: labelColumn,
            parameters: parameters.naming(tokenColumn, labelColumn)
        )
    }

    /// Evaluates the model on the labelled sentences of a table; an error is in the metrics.
    public func evaluation(
        on labeledTokens: MLDataTable,
        tokenColumn: String,
        labelColumn: String
    ) -> MLWordTaggerMetrics {
        do {
            return evaluation(on: try labeledTokens.dataFrame(), tokenColumn: tokenColumn, labelColumn: labelColumn)
        } catch { return MLWordTaggerMetrics(error) }
    }

    /// Tags the texts of a column: a table of the sequences `tokens` and `labels`, with a row for each text.
    public func predictions(from texts: MLDataColumn<String>) throws -> MLDataTable {
        let frame: DataFrame = try predictions(from: texts.present("text"))
        return try MLDataTable(converting: frame)
    }
}

extension MLWordTagger.ModelParameters {
    /// Creates training parameters with a table of validation sentences.
    /// - Parameters:
    ///   - validationData: A table of labelled sentences; the automatic split of the training data if `nil`.
    ///   - algorithm: The algorithm.
    ///   - language: The language whose rules divide texts into tokens; `nil` for none in particular.
    ///   - tokenColumnValidationData: The name of the table's column of tokens; that of the training data if `nil`.
    ///   - labelColumnValidationData: The name of the table's column of labels; that of the training data if `nil`.
    public init(
        validationData: MLDataTable?,
        algorithm: MLWordTagger.ModelAlgorithmType = .crf(revision: 1),
        language: NLLanguage? = nil,
        tokenColumnValidationData: String? = nil,
        labelColumnValidationData: String? = nil
    ) {
        self.init(validation: .split(strategy: .automatic), algorithm: algorithm, language: language)
        self.validationData = validationData
        self.tokenColumnValidationData = tokenColumnValidationData
        self.labelColumnValidationData = labelColumnValidationData
    }

    /// The table of validation sentences; `nil` for any other choice.
    ///
    /// Setting `nil` chooses the automatic split of the training data.
    public var validationData: MLDataTable? {
        get { validationTable?.table }
        set { replaceTable(newValue) }
    }

    /// The name of the validation table's column of tokens; `nil` for that of the training data.
    ///
    /// Setting it has no effect without a table.
    public var tokenColumnValidationData: String? {
        get { column(\.examples) }
        set { rename(\.examples, newValue) }
    }

    /// The name of the validation table's column of labels; `nil` for that of the training data.
    ///
    /// Setting it has no effect without a table.
    public var labelColumnValidationData: String? {
        get { column(\.labels) }
        set { rename(\.labels, newValue) }
    }
}

extension MLWordTagger.ModelParameters: TableValidated {
    var validationTable: ValidationTable? {
        get {
            guard case .table(let table, let token, let label) = validation else { return nil }
            return ValidationTable(table: table, examples: token, labels: label)
        }
        set {
            validation =
                newValue.map { .table($0.table, tokenColumn: $0.examples, labelColumn: $0.labels) }
                ?? .split(strategy: .automatic)
        }
    }
}

// MARK: Terms

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
