public import NaturalLanguage
import TabularData

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
