public import NaturalLanguage
import TabularData

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
