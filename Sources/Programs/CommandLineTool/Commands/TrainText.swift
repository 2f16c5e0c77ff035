import ArgumentParser
import CreateML
import Foundation
import TabularData

struct TrainText: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "text",
        abstract: "Train a text classifier or a word tagger.",
        discussion: """
            Examples:
              coreml train text mail.csv --text body --label folder -o Mail.mlmodel
              coreml train text reviews/ --language en --report reviews.html
              coreml train text topics.tsv --algorithm transfer --embedding Words.mlmodel
              coreml train text names.json --kind tagger --validation-share 0.2
              coreml train text tokens.csv --kind tagger --text token --label tag \\
                --sentence number

            For a classifier DATA is a .csv, .tsv or .json table or an SFrame (a folder that Turi Create or Create ML wrote) \
            with a text and a label in each row, or a folder with a folder of UTF-8 text files for each label. For a tagger \
            it is a .json file or an SFrame whose rows have an array of tokens and an equally long one of labels, or a table with a \
            token in each row, where --sentence names the column whose value changes from sentence to sentence. The model \
            takes a string 'text'.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case classifier, tagger
    }

    enum Algorithm: String, CaseIterable, ExpressibleByArgument {
        case maximumEntropy = "maximum-entropy"
        case crf
        case transfer

        var option: TextOptions.Algorithm {
            switch self {
            case .maximumEntropy: .maxEnt
            case .crf: .crf
            case .transfer: .transferLearning
            }
        }
    }

    @Argument(help: "A .csv, .tsv or .json table, an SFrame, or a folder with a folder of texts for each label.")
    var data: String
    @Option(help: "The kind of model: classifier or tagger.")
    var kind = Kind.classifier
    @OptionGroup var columns: TextColumnOptions
    @Option(
        help: """
            For a classifier maximum-entropy (the default), crf, or transfer, which also uses the vectors of --embedding; \
            for a tagger crf.
            """
    )
    var algorithm: Algorithm?
    @Option(help: "The word embedding for transfer learning: a .mlmodel file written by MLWordEmbedding.")
    var embedding: String?
    @Option(help: "The language of the texts, for word boundaries, such as en or zh-Hant.")
    var language: String?
    @Option(help: "The maximum number of passes over the texts; by default 15 for a classifier, 8 for a tagger.")
    var iterations: Int?
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    func validate() throws {
        guard iterations ?? 1 > 0 else { throw ValidationError("--iterations takes numbers from 1") }
        guard kind == .classifier || algorithm ?? .crf == .crf else {
            throw ValidationError("a tagger is a conditional random field: omit --algorithm, or pass crf")
        }
        guard kind == .tagger || columns.sentence == nil else {
            throw ValidationError("--sentence is for taggers; give --kind tagger")
        }
        guard (algorithm == .transfer) == (embedding != nil) else {
            throw ValidationError("--algorithm transfer and --embedding go together")
        }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("reading \(data)")
        var options = TextOptions(algorithm: algorithm?.option ?? (kind == .tagger ? .crf : .maxEnt), revision: 1)
        options.embedding = embedding
        options.language = language
        options.maxIterations = iterations
        try flow.finish(
            try kind == .classifier ? classifier(options, flow) : tagger(options, flow),
            name: TableFile.name(data)
        )
    }

    private func classifier(_ options: TextOptions, _ flow: TrainingFlow) throws -> TrainingFlow.Outcome {
        let reader = columns.reader(.classifier)
        let frame = try reader.texts(data)
        var parameters = try MLTextClassifier.ModelParameters(options)
        parameters.validation = try held.choice(none: .none, split: { .split(strategy: $0) }) {
            .dataFrame(try reader.texts($0), textColumn: reader.textColumn, labelColumn: reader.labelColumn)
        }
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLTextClassifier.train(
                trainingData: frame,
                textColumn: reader.textColumn,
                labelColumn: reader.labelColumn,
                parameters: parameters,
                sessionParameters: session
            )
        }
        return outcome(
            (algorithm ?? .maximumEntropy).rawValue + " text classifier",
            (model.trainingMetrics, model.validationMetrics),
            curves,
            (frame.shape.rows, "texts")
        ) { try model.write(toFile: $0) }
    }

    private func tagger(_ options: TextOptions, _ flow: TrainingFlow) throws -> TrainingFlow.Outcome {
        let reader = columns.reader(.tagger)
        let sentences = try reader.sentences(data)
        var parameters = try MLWordTagger.ModelParameters(options)
        parameters.validation = try held.choice(none: .none, split: { .split(strategy: $0) }) {
            .tuples(try reader.sentences($0))
        }
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLWordTagger.train(trainingData: sentences, parameters: parameters, sessionParameters: session)
        }
        return outcome(
            "word tagger",
            (model.trainingMetrics.counted, model.validationMetrics.counted),
            curves,
            (sentences.count, "sentences")
        ) { try model.write(toFile: $0) }
    }

    private func outcome(
        _ name: String,
        _ metrics: (training: MLClassifierMetrics, validation: MLClassifierMetrics),
        _ curves: [LearningCurve],
        _ examples: (count: Int, unit: String),
        _ write: @escaping (String) throws -> Void
    ) -> TrainingFlow.Outcome {
        var facts = [("data", "\(data), \(examples.count) \(examples.unit)")]
        if let language { facts.append(("language", language)) }
        return TrainingFlow.outcome(
            of: name,
            metrics,
            curves: curves,
            facts: facts,
            json: [examples.unit: examples.count],
            write: write
        )
    }
}

/// The options for the columns of texts and labels in a table.
struct TextColumnOptions: ParsableArguments {
    @Option(
        help: "The column of the texts, 'text' by default; for a tagger's tokens 'tokens' (with --sentence 'token')."
    )
    var text: String?
    @Option(help: "The column of the labels, 'label' by default; for a tagger 'labels' (with --sentence 'label').")
    var label: String?
    @Option(help: "Taggers: the column whose value changes from sentence to sentence in a table of tokens.")
    var sentence: String?
    @OptionGroup var cells: DelimiterOption

    func reader(_ kind: TrainText.Kind) -> TextData {
        TextData(isOfTagger: kind == .tagger, text: text, label: label, sentence: sentence, cells)
    }
}
