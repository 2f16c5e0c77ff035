import CreateML
import Foundation
import NaturalLanguage
import TabularData

/// Training of tasks on texts.
enum TextTasks {
    private static let (textColumn, labelColumn) = ("text", "label")

    // MARK: Text classifier

    static func classifier(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let (text, label) = (try options.text("text") ?? textColumn, try options.text("label") ?? labelColumn)
        let folder = try options.text("folder")
        let frame = try texts(request.frame, folder, text, label, request.task)
        var parameters = try MLTextClassifier.ModelParameters(settings(request, .maxEnt))
        parameters.validation = try request.validation(
            none: .none,
            split: { .split(strategy: $0) },
            data: { frame, provided in
                .dataFrame(
                    try texts(frame, try provided.text("folder"), text, label, "validation"),
                    textColumn: text,
                    labelColumn: label
                )
            }
        )
        try options.finish()
        let chosen = parameters
        let model = try training.result {
            try MLTextClassifier.train(
                trainingData: frame,
                textColumn: text,
                labelColumn: label,
                parameters: chosen,
                sessionParameters: request.session
            )
        }
        var facts = ModelFacts(task: request.task, features: [text], target: label, description: "\(model)")
        facts.training = MetricsFacts(model.trainingMetrics)
        facts.validation = MetricsFacts(model.validationMetrics)
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                let folder = try input.options.text("folder")
                try input.options.finish()
                let frame = try texts(input.frame, folder, text, label, "evaluation")
                return MetricsFacts(model.evaluation(on: frame, textColumn: text, labelColumn: label))
            },
            predict: { input in
                let texts = try input.frame.required("prediction").texts(text)
                let wantsProbabilities = try input.options.flag("probabilities") ?? false
                try input.options.finish()
                if wantsProbabilities {
                    return DataFrame(probabilities: try model.predictionsWithConfidence(from: texts))
                }
                let labels = texts.isEmpty ? [] : try model.predictions(from: texts)
                return DataFrame(Column<String>(name: label, contents: labels).eraseToAnyColumn())
            },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    /// The texts of a table, or of a folder with a folder of texts for each label.
    private static func texts(
        _ frame: DataFrame?,
        _ folder: String?,
        _ text: String,
        _ label: String,
        _ use: String
    ) throws -> DataFrame {
        guard let folder else { return try frame.required(use) }
        let source = MLTextClassifier.DataSource.labeledDirectories(at: URL(fileURLWithPath: folder))
        let rows = try source.labeledTexts().sorted { $0.key < $1.key }.flatMap { label, texts in
            texts.map { (label, $0) }
        }
        return DataFrame(columns: [
            Column<String>(name: text, contents: rows.map(\.1)).eraseToAnyColumn(),
            Column<String>(name: label, contents: rows.map(\.0)).eraseToAnyColumn(),
        ])
    }

    private static func settings(_ request: TrainingRequest, _ standard: TextOptions.Algorithm) throws -> TextOptions {
        var settings = TextOptions(algorithm: standard, revision: 1)
        guard let provided = try request.options.options("parameters") else { return settings }
        if let name = try provided.text("algorithm") {
            let allowed: [String] = standard == .crf ? ["crf"] : ["maxEnt", "crf", "transferLearning"]
            guard allowed.contains(name), let algorithm = TextOptions.Algorithm(rawValue: name) else {
                throw TrainingError(
                    "algorithm of \(request.task) is '\(name)'; it is one of \(allowed.joined(separator: ", "))"
                )
            }
            settings.algorithm = algorithm
        }
        if standard != .crf { settings.embedding = try provided.text("embedding") }
        guard (settings.algorithm == .transferLearning) == (settings.embedding != nil) else {
            throw TrainingError(
                "embedding, the path of a word embedding, and the algorithm transferLearning go together"
            )
        }
        settings.language = try provided.text("language")
        settings.maxIterations = try provided.integer("maxIterations")
        if let count = settings.maxIterations, count < 1 {
            throw TrainingError("maxIterations of \(request.task) is \(count); it must be at least 1")
        }
        try provided.finish()
        return settings
    }

    // MARK: Word tagger

    static func tagger(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let (tokens, labels) = (try options.text("tokens") ?? "tokens", try options.text("labels") ?? "labels")
        let sentences = try MLWordTagger.sequences(request.table(), tokens, labels)
        var parameters = try MLWordTagger.ModelParameters(settings(request, .crf))
        parameters.validation = try request.validation(
            none: .none,
            split: { .split(strategy: $0) },
            data: { frame, _ in .tuples(try MLWordTagger.sequences(frame.required("validation"), tokens, labels)) }
        )
        try options.finish()
        let chosen = parameters
        let model = try training.result {
            try MLWordTagger.train(
                trainingData: sentences,
                parameters: chosen,
                sessionParameters: request.session
            )
        }
        var facts = ModelFacts(task: request.task, features: [tokens], target: labels, description: "\(model)")
        facts.training = MetricsFacts(model.trainingMetrics.counted)
        facts.validation = MetricsFacts(model.validationMetrics.counted)
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                try input.options.finish()
                let frame = try input.frame.required("evaluation")
                return MetricsFacts(
                    model.evaluation(on: frame, tokenColumn: tokens, labelColumn: labels).counted
                )
            },
            predict: { try tags($0, model, tokens, labels) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    /// The labels of tokens; of texts both tokens and labels.
    private static func tags(
        _ input: TrainedModel.Input,
        _ model: MLWordTagger,
        _ tokens: String,
        _ labels: String
    ) throws -> DataFrame {
        try input.options.finish()
        let frame = try input.frame.required("prediction")
        guard frame.containsColumn(tokens, [String].self) else {
            var result = try model.predictions(from: frame.texts(tokens))
            if tokens != "tokens" { result.renameColumn("tokens", to: tokens) }
            if labels != "labels" { result.renameColumn("labels", to: labels) }
            return result
        }
        let predicted = try frame[tokens, [String].self].map { try $0.map { try model.prediction(from: $0) } }
        return DataFrame(Column<[String]>(name: labels, contents: predicted).eraseToAnyColumn())
    }

    // MARK: Word embedding

    static func embedding(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let (word, vector) = (try options.text("word") ?? "word", try options.text("vector") ?? "vector")
        let provided = try options.options("parameters")
        let language = try provided?.text("language")
        try provided?.finish()
        try withoutSession(request)
        let frame = try request.table()
        var dictionary: [String: [Double]] = [:]
        for (row, (word, vector)) in zip(try frame.texts(word), try vectors(frame, vector)).enumerated() {
            guard dictionary.updateValue(vector, forKey: word) == nil else {
                throw TrainingError("the word '\(word)' of row \(row) has a vector already; give it one")
            }
        }
        let words = dictionary
        let model = try training.finished({
            try MLWordEmbedding(
                dictionary: words,
                parameters: MLWordEmbedding.ModelParameters(language: language.map { NLLanguage($0) })
            )
        })
        var facts = ModelFacts(task: request.task, features: [word], description: "\(model)")
        facts.counts = ["dimension": model.dimension, "vocabularySize": model.vocabularySize]
        return TrainedModel(
            facts: facts,
            evaluate: { _ in throw TrainingError("a word embedding has no metrics") },
            predict: { try neighbors($0, model, word, vector) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    private static func vectors(_ frame: DataFrame, _ name: String) throws -> [[Double]] {
        guard frame.containsColumn(name) else {
            throw TrainingError("there is no column '\(name)' of the words' vectors")
        }
        return try frame[name].enumerated().map { row, cell in
            switch cell {
            case let list as [Double]: return list
            case let list as [Float]: return list.map { Double($0) }
            case let list as [Int]: return list.map { Double($0) }
            default: throw TrainingError("the column '\(name)' holds no list of numbers in row \(row)")
            }
        }
    }

    /// The nearest words of each word, or with the option `vectors` the words' own vectors.
    private static func neighbors(
        _ input: TrainedModel.Input,
        _ model: MLWordEmbedding,
        _ word: String,
        _ vector: String
    ) throws -> DataFrame {
        let texts = try input.frame.required("prediction").texts(word)
        let wantsVectors = try input.options.flag("vectors") ?? false
        let count = try input.options.integer("maxCount") ?? 10
        let distance = try input.options.number("maxDistance") ?? 2
        try input.options.finish()
        guard count >= 0 else { throw TrainingError("max_count is \(count); it must be 0 or more") }
        if wantsVectors {
            let vectors: [[Double]?] = texts.map { model.vector(for: $0) }
            return DataFrame(Column<[Double]>(name: vector, contents: vectors).eraseToAnyColumn())
        }
        var (words, others, distances): ([String], [String], [Double]) = ([], [], [])
        for text in texts {
            for found in try model.prediction(from: text, maxCount: count, maxDistance: distance) {
                words.append(text)
                others.append(found.text)
                distances.append(found.distance)
            }
        }
        return DataFrame(columns: [
            Column<String>(name: word, contents: words).eraseToAnyColumn(),
            Column<String>(name: "neighbor", contents: others).eraseToAnyColumn(),
            Column<Double>(name: "distance", contents: distances).eraseToAnyColumn(),
        ])
    }

    // MARK: Gazetteer

    static func gazetteer(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let (text, label) = (try options.text("text") ?? textColumn, try options.text("label") ?? labelColumn)
        let provided = try options.options("parameters")
        let language = try provided?.text("language")
        try provided?.finish()
        try withoutSession(request)
        let frame = try request.table()
        var terms: [String: [String]] = [:]
        for (text, label) in zip(try frame.texts(text), try frame.texts(label)) {
            terms[label, default: []].append(text)
        }
        let dictionary = terms
        let model = try training.finished({
            try MLGazetteer(
                dictionary: dictionary,
                parameters: MLGazetteer.ModelParameters(language: language.map { NLLanguage($0) })
            )
        })
        var facts = ModelFacts(task: request.task, features: [text], target: label, description: "\(model)")
        facts.labels = terms.keys.sorted().map { .text($0) }
        return TrainedModel(
            facts: facts,
            evaluate: { _ in throw TrainingError("a gazetteer has no metrics") },
            predict: { input in
                let texts = try input.frame.required("prediction").texts(text)
                try input.options.finish()
                let labels = try model.predictions(from: texts)
                return DataFrame(Column<String>(name: label, contents: labels).eraseToAnyColumn())
            },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    /// Checks that no session or validation is requested, and that all options are known.
    private static func withoutSession(_ request: TrainingRequest) throws {
        guard request.session.sessionDirectory == nil else {
            throw TrainingError("\(request.task) is made in one go, without checkpoints; leave out session")
        }
        try request.options.finish()
    }
}
