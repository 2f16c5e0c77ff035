import ArgumentParser
import CoreML
import CreateML
import Foundation
import MLEngine
import MLFiles
import MLKernels
import MLModels
import MLNumerics
import MLSpecification
import TabularData

struct Evaluate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Evaluate a model on labelled data.",
        discussion: """
            Examples:
              coreml evaluate Houses.mlmodel sold.csv
              coreml evaluate Mail.mlmodel mail.csv --text body --label folder \\
                --report mail.html
              coreml evaluate Tagger.mlmodel tokens.csv --text token --label tag \\
                --sentence number
              coreml evaluate Birds.mlmodel recordings/
              coreml evaluate Activities.mlmodel motion.csv --label activity \\
                --recording session --json
              coreml evaluate Stickers.mlmodel pictures/
              coreml evaluate Cards.mlmodel held-out/ --report cards.html
              coreml evaluate Shop.mlmodel later.csv --observed earlier.csv \\
                --user customer --item product

            DATA depends on the kind of model:
              texts, words,   as for 'coreml train text', 'sound' and 'activity'; results
              sounds,         are counted by text, token, window and sample
              activities
              an image input  also a folder with a folder of images for each label, as
                              for 'coreml update'; the report lists misclassified images
                              of models from 'coreml train image', and continues after
                              files that cannot be read
              a detector      as for 'coreml train object'; the report has the average
                              precision of each label, and images with correct, wrong
                              and missed detections
              a recommender   a table of users' choices; items are recommended from those
                              in --observed, a table of their earlier choices
              all others      a .csv file or an SFrame with columns for the inputs and for
                              the predicted feature; an empty cell of a number is a missing
                              value

            The report of a classifier has accuracy, confusion matrix, precision and recall; that of a regressor its errors, \
            R², predicted against true values, and residuals. Both have the permutation importance of the columns: how much \
            worse the predictions become when a column is shuffled.

            Exit status: 0 success, 1 failure (the model or the data are wrong), 64 wrong usage.
            """
    )

    @OptionGroup var source: RunOptions
    @Argument(
        help:
            "A .csv file or an SFrame; a folder of labelled images; for texts, words, sounds and activities the training command's DATA."
    )
    var data: String
    @Option(
        name: [.customLong("target"), .customLong("label")],
        help:
            "The column of the true values; by default the feature that the model predicts, or the training command's default."
    )
    var target: String?
    @Option(help: "Texts and words: the column of the texts or tokens.")
    var text: String?
    @Option(help: "Words: the column whose value changes from sentence to sentence in a table of tokens.")
    var sentence: String?
    @Option(help: "Sounds: the column of the files.")
    var file: String?
    @OptionGroup var cutting: WindowOptions
    @OptionGroup(title: "Detectors") var annotations: BoxOptions
    @Option(help: "Recommenders: the table of the users' earlier choices.")
    var observed: String?
    @Option(help: "Recommenders: the column of the users, 'user' by default.")
    var user: String?
    @Option(help: "Recommenders: the column of the items, 'item' by default.")
    var item: String?
    @Option(help: "Recommenders: the column of the ratings in --observed; without it every choice counts 1.")
    var rating: String?
    @Option(
        help: ArgumentHelp(
            "Recommenders: the numbers of recommendations at which precision and recall are measured; 1,2,3,4,5 by default.",
            valueName: "n,…"
        )
    )
    var cutoffs: Cutoffs?
    @OptionGroup var cells: DelimiterOption
    @Option(help: "The number of worker threads; all cores by default.")
    var threads: Int?
    @Option(help: "Write the report to this file: an .html page, or an image: .png, .svg or .pdf.")
    var report: String?
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard threads ?? 1 > 0 else { throw ValidationError("--threads takes numbers from 1") }
        try ReportFile.validate(report)
    }

    /// The kind of a model's prediction; it determines the form of the data.
    private enum Kind {
        case text, words, sound, activity, choices, objects, other

        init(_ engine: any ModelEngine, _ model: SpecModel) {
            let inputs = engine.interface.input
            if MLModelDescription(model).detectorLabels?.isEmpty == false,
                inputs.contains(where: { if case .imageType? = $0.type.type { true } else { false } })
            {
                self = .objects
            } else if engine is TextClassifier {
                self = .text
            } else if engine is WordTagger {
                self = .words
            } else if engine is ItemSimilarityRecommender {
                self = .choices
            } else if inputs.count == 1, inputs[0].name == "audioSamples",
                !engine.interface.predictedFeatureName.isEmpty
            {
                self = .sound
            } else if SensorInputs(engine.interface) != nil {
                self = .activity
            } else {
                self = .other
            }
        }

        /// The options that only this kind has.
        var options: Set<String> {
            switch self {
            case .text: ["--text"]
            case .words: ["--text", "--sentence"]
            case .sound: ["--file", "--overlap"]
            case .activity: ["--recording", "--features"]
            case .choices: ["--observed", "--user", "--item", "--rating", "--cutoffs"]
            case .objects: ["--images", "--units", "--origin", "--anchor"]
            case .other: []
            }
        }
    }

    func run() throws {
        if let threads { Workers.limit(to: threads) }
        let opened = try source.open()
        let engine = try source.engine(of: opened)
        let kind = Kind(engine, opened.specification)
        var given: [(String, Bool)] =
            [
                ("--text", text != nil), ("--sentence", sentence != nil), ("--file", file != nil),
                ("--observed", observed != nil), ("--user", user != nil), ("--item", item != nil),
                ("--rating", rating != nil), ("--cutoffs", cutoffs != nil),
            ]
        given += cutting.given
        given += annotations.given
        if let option = given.first(where: { $0.1 && !kind.options.contains($0.0) }) {
            throw Failure("\(option.0) does not apply to this model's data; see 'coreml evaluate --help'")
        }
        var report = TrainingReport(title: "\(source.model) on \(data)")
        let count: Int
        switch kind {
        case .other where TableFile.isFolderOfFiles(data): count = try evaluatePictures(engine, opened, &report)
        case .other: count = try evaluateRows(engine, &report)
        case .objects: count = try evaluateObjects(opened, &report)
        case .choices: count = try evaluateRecommendations(engine, opened.specification, &report)
        case .text, .words, .sound, .activity:
            count = try evaluate(kind, try MLModel(opened, configuration: MLModelConfiguration()), &report)
        }
        if let file = self.report { try ReportFile.write(report, to: file) }
        guard json else {
            print(report.text)
            return
        }
        var object = report.json
        object["rows"] = count
        object["scores"] = object.removeValue(forKey: "validation") ?? [String: Any]()
        print(try JSONFeature.text(object))
    }

    /// - Returns: The number of examples.
    private func evaluate(_ kind: Kind, _ model: MLModel, _ report: inout TrainingReport) throws -> Int {
        let metrics: MLClassifierMetrics
        let unit: String
        switch kind {
        case .text, .words:
            var isOfWords = false
            if case .words = kind { isOfWords = true }
            let reader = TextData(isOfTagger: isOfWords, text: text, label: target, sentence: sentence, cells)
            if isOfWords {
                metrics = MLWordTagger.evaluation(of: model, on: try reader.sentences(data))
                unit = "tokens"
            } else {
                metrics = MLTextClassifier.evaluation(
                    of: model,
                    on: try reader.texts(data),
                    textColumn: reader.textColumn,
                    labelColumn: reader.labelColumn
                )
                unit = "texts"
            }
        case .sound:
            let reader = LabelledFiles(
                fileColumn: file ?? "file",
                labelColumn: target ?? "label",
                delimiter: cells.delimiter,
                kind: "sounds"
            )
            metrics = MLSoundClassifier.evaluation(
                of: model,
                on: .filesByLabel(try reader.files(data)),
                overlapFactor: cutting.overlapFactor
            )
            unit = "windows"
        case .activity, .choices, .objects, .other:
            let reader = SensorData(
                labelColumn: target ?? "label",
                recordingColumn: cutting.recordingColumn,
                delimiter: cells.delimiter
            )
            let columns = cutting.featureColumns
            let sensors = try SensorInputs(of: model).columns(columns)
            metrics = MLActivityClassifier.evaluation(
                of: model,
                on: try reader.recordings(data, features: sensors).source,
                featureColumns: columns,
                labelColumn: reader.labelColumn,
                recordingFileColumn: reader.recordingColumn
            )
            unit = "samples"
        }
        guard let counts = metrics.counts else {
            throw Failure("\(data): \(metrics.error.map { "\($0)" } ?? "nothing was counted")")
        }
        report.facts = [(unit, "\(counts.total)")]
        report.add(training: nil, validation: metrics)
        return counts.total
    }

    /// - Returns: The number of rows.
    private func evaluateRows(_ engine: any ModelEngine, _ report: inout TrainingReport) throws -> Int {
        let interface = engine.interface
        let predicted = try predictedFeature(interface)
        let column = target ?? predicted.name
        let reader = InputReader(interface: interface)
        let table = try reader.table(ofCSV: data, delimiter: cells.delimiter, others: [column])
        guard table.containsColumn(column) else {
            throw Failure("\(data) has no column '\(column)'; name the one with the truth with --target")
        }
        let rows = try reader.rows(of: table, data)
        guard !rows.isEmpty else { throw Failure("\(data) has a header but no rows") }
        let truth: [String] = table[column, String.self].map { $0 ?? "" }
        let outputs = try predictions(engine, rows).map { try prediction($0, predicted.name) }
        report.facts = [("rows", "\(rows.count)"), ("predicted", predicted.name)]
        let measure = try score(predicted, truth, outputs, &report)
        report.add(try importance(measure, engine, rows, truth, predicted), rows: "all rows")
        return rows.count
    }

    /// Adds the scores of predictions to the report.
    ///
    /// - Returns: The measure that was used.
    @discardableResult
    func score(
        _ feature: SpecFeatureDescription,
        _ truth: [String],
        _ outputs: [FeatureData],
        _ report: inout TrainingReport
    ) throws -> PermutationImportance.Measure {
        switch try scored(feature, truth, outputs) {
        case .numbers(let rows):
            report.add(
                training: nil,
                validation: MLRegressorMetrics(truth: rows.truth, predictions: rows.predictions)
            )
            return .rootMeanSquaredError
        case .labels(let counts):
            report.add(training: nil, validation: MLClassifierMetrics(counts))
            return .classificationError
        }
    }

    /// The class label, or the only number or label among the outputs.
    func predictedFeature(_ interface: SpecModelDescription) throws -> SpecFeatureDescription {
        if let feature = interface.output.first(where: { $0.name == interface.predictedFeatureName }) { return feature }
        let candidates = interface.output.filter { output in
            switch output.type.type {
            case .doubleType?, .int64Type?, .stringType?: true
            case .multiArrayType(let array)?: array.shape.reduce(1, *) == 1
            default: false
            }
        }
        guard let feature = candidates.first, candidates.count == 1 else {
            throw Failure(
                "the model gives \(candidates.isEmpty ? "neither a label nor a number" : "several labels or numbers"); "
                    + "evaluate models that predict one"
            )
        }
        return feature
    }

    private func predictions(
        _ engine: any ModelEngine,
        _ rows: [[String: FeatureData]]
    ) throws -> [[String: FeatureData]] {
        if engine.prefersBatches, rows.count > 1, let batch = FeatureBatch(rows) {
            let results = try failing { () throws(ModelError) in try engine.predictions(from: batch) }
            return (0..<results.count).map { results.features(at: $0) }
        }
        return try engine.results(of: rows).enumerated().map { index, result in
            try failing { () throws(ModelError) in
                do throws(ModelError) { return try result.get() } catch { throw error.at("row \(index)") }
            }
        }
    }

    func prediction(_ outputs: [String: FeatureData], _ name: String) throws -> FeatureData {
        guard let value = outputs[name] else { throw Failure("the model did not output '\(name)'") }
        return value
    }

    /// The permutation importance of each column for a tabular model.
    private func importance(
        _ measure: PermutationImportance.Measure,
        _ engine: any ModelEngine,
        _ rows: [[String: FeatureData]],
        _ truth: [String],
        _ feature: SpecFeatureDescription
    ) throws -> PermutationImportance? {
        try PermutationImportance(
            measure,
            of: engine.interface,
            on: rows,
            predictsBatches: engine.prefersBatches
        ) { numbers, rows in
            let outputs = try predictions(engine, rows).map { try prediction($0, feature.name) }
            switch try scored(feature, numbers.map { truth[$0] }, outputs) {
            case .numbers(let rows): return rows.rootMeanSquaredError
            case .labels(let counts): return 1 - counts.accuracy
            }
        }
    }

    /// Predictions together with the true values.
    private enum Scored {
        case numbers(RegressionRows)
        case labels(ConfusionCounts)
    }

    private func scored(
        _ feature: SpecFeatureDescription,
        _ truth: [String],
        _ outputs: [FeatureData]
    ) throws -> Scored {
        var labels: [String] = []
        var numbers: [Double] = []
        for output in outputs {
            switch output {
            case .string(let label): labels.append(label)
            case .int64(let label): labels.append("\(label)")
            case .double(let number): numbers.append(number)
            case .tensor(let tensor) where tensor.values.count == 1: numbers.append(tensor.values[0])
            default: throw Failure("'\(feature.name)' is neither a label nor a number")
            }
        }
        if numbers.count == outputs.count {
            let expected = try truth.enumerated().map { index, cell in
                guard let number = Double(cell) else {
                    throw Failure("\(data): row \(index) has '\(cell)' where a number is expected")
                }
                return number
            }
            return .numbers(RegressionRows(truth: expected, predictions: numbers))
        } else {
            let all = Set(labels).union(truth).sorted { left, right in
                if let first = Int(left), let second = Int(right) { return first < second }
                return left < right
            }
            let locations = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1, $0) })
            return .labels(
                ConfusionCounts(
                    strings: all,
                    truth: truth.compactMap { locations[$0] },
                    predictions: labels.compactMap { locations[$0] }
                )
            )
        }
    }
}
