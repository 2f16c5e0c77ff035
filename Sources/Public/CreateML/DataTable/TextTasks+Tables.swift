public import NaturalLanguage
import TabularData

extension MLDataColumn {
    /// All elements.
    /// - Throws: why the column is not valid, or `.generic` naming a row without an element.
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

/// A table that validates a text task; a column without a name is that of the training data.
struct ValidationTable {
    var table: MLDataTable
    /// The column of what is labelled.
    var examples: String
    var labels: String
}

/// Parameters of which a table may be what validates.
protocol TableValidated {
    /// `nil` when something else validates.  Setting `nil` has a part of the training data validate.
    var validationTable: ValidationTable? { get set }
}

extension TableValidated {
    /// Puts another table in the place of the one, whose columns' names stay.
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

    /// The same with names for the columns that have none.
    func naming(_ examples: String, _ labels: String) -> Self {
        var result = self
        if column(\.examples) == nil { result.rename(\.examples, examples) }
        if column(\.labels) == nil { result.rename(\.labels, labels) }
        return result
    }
}

// MARK: Texts

extension MLTextClassifier {
    /// - Parameters:
    ///   - textColumn: strings.
    ///   - labelColumn: strings (or integers, whose digits are the labels).
    /// - Throws: why the table is not valid, and `MLCreateError` naming what is missing or cannot be used.
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

    /// How well labelled texts are recognised; what cannot be used is in the metrics' `error`.
    public func evaluation(on labeledTexts: MLDataTable, textColumn: String, labelColumn: String) -> MLClassifierMetrics
    {
        do {
            return evaluation(on: try labeledTexts.dataFrame(), textColumn: textColumn, labelColumn: labelColumn)
        } catch { return MLClassifierMetrics(error) }
    }

    /// How well labelled texts are recognised that lie in columns of the same names as those that were trained on: the
    /// form of 2018.  A classifier that was not trained on a table takes the columns `text` and `label`.
    public func evaluation(on labeledTexts: MLDataTable) -> MLClassifierMetrics {
        evaluation(on: labeledTexts, textColumn: columns.text, labelColumn: columns.label)
    }

    public func predictions(from texts: MLDataColumn<String>) throws -> MLDataColumn<String> {
        MLDataColumn(try predictions(from: texts.present("text")))
    }

    /// The probability of every label.
    public func predictionsWithConfidence(
        from texts: MLDataColumn<String>
    ) throws -> MLDataColumn<[String: Double]> {
        MLDataColumn(try predictionsWithConfidence(from: texts.present("text")))
    }
}

extension MLTextClassifier.DataSource {
    /// The texts and labels in two columns, and a column `partition` that shares out the texts of each label by
    /// proportions: 0 for the first, 1 for the second, and so on.
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
    /// - Parameters:
    ///   - validationData: a table of labelled texts; without one a part of the training data validates.
    ///   - textColumnValidationData: the table's column of texts; that of the training data when `nil`.
    ///   - labelColumnValidationData: the table's column of labels; that of the training data when `nil`.
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

    /// The table that validates; `nil` when it is something else.  Setting `nil` has a part of the training data validate.
    public var validationData: MLDataTable? {
        get { validationTable?.table }
        set { replaceTable(newValue) }
    }

    /// The column of texts of the table that validates; `nil` for that of the training data.  Has no effect without a
    /// table.
    public var textColumnValidationData: String? {
        get { column(\.examples) }
        set { rename(\.examples, newValue) }
    }

    /// The column of labels of the table that validates; `nil` for that of the training data.  Has no effect without a
    /// table.
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
    /// - Parameters:
    ///   - tokenColumn: sequences of strings, a sentence in each row.
    ///   - labelColumn: sequences of as many strings.
    /// - Throws: why the table is not valid, and `MLCreateError` naming what is missing or cannot be used.
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

    /// How well labelled sentences are tagged; what cannot be used is in the metrics' `error`.
    public func evaluation(
        on labeledTokens: MLDataTable,
        tokenColumn: String,
        labelColumn: String
    ) -> MLWordTaggerMetrics {
        do {
            return evaluation(on: try labeledTokens.dataFrame(), tokenColumn: tokenColumn, labelColumn: labelColumn)
        } catch { return MLWordTaggerMetrics(error) }
    }

    /// Columns `tokens` and `labels`: sequences of strings, a row for each text.
    public func predictions(from texts: MLDataColumn<String>) throws -> MLDataTable {
        let frame: DataFrame = try predictions(from: texts.present("text"))
        return try MLDataTable(converting: frame)
    }
}

extension MLWordTagger.ModelParameters {
    /// - Parameters:
    ///   - validationData: a table of labelled sentences; without one a part of the training data validates.
    ///   - tokenColumnValidationData: the table's column of tokens; that of the training data when `nil`.
    ///   - labelColumnValidationData: the table's column of labels; that of the training data when `nil`.
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

    /// The table that validates; `nil` when it is something else.  Setting `nil` has a part of the training data validate.
    public var validationData: MLDataTable? {
        get { validationTable?.table }
        set { replaceTable(newValue) }
    }

    /// The column of tokens of the table that validates; `nil` for that of the training data.  Has no effect without a
    /// table.
    public var tokenColumnValidationData: String? {
        get { column(\.examples) }
        set { rename(\.examples, newValue) }
    }

    /// The column of labels of the table that validates; `nil` for that of the training data.  Has no effect without a
    /// table.
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
    /// - Parameters:
    ///   - labeledData: a row for each term.
    ///   - textColumn: the terms, strings.
    ///   - labelColumn: their labels, strings.
    /// - Throws: why the table is not valid, and `MLCreateError` naming what is missing or cannot be used.
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

    /// The labels of terms, empty for those that are not there.
    public func predictions(from texts: MLDataColumn<String>) throws -> MLDataColumn<String> {
        MLDataColumn(try predictions(from: texts.present("text")))
    }
}
