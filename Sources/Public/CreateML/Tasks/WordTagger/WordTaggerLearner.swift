import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
import MLTrainingCore
import NaturalLanguage

/// The training of a word tagger.
struct WordTaggerLearner: TextLearner {
    static var defaultPasses: Int { SequenceSettings().passes }

    private let trainer: CRFTrainer
    private let features: TaggerFeatures
    private let validation: TaggedSentences?

    init(
        _ training: TaggedSentences,
        validation: TaggedSentences?,
        _ parameters: MLWordTagger.ModelParameters
    ) throws {
        features = try TaggerFeatures(language: parameters.language?.tag ?? "")
        self.validation = validation
        let settings = try parameters.settings()
        trainer = try CRFTrainer(SequenceTable(training.sentences, features), settings: settings)
    }

    var passes: Int { trainer.iteration }
    var isFinished: Bool { trainer.isFinished }

    func limit(passes: Int) { trainer.limit(passes: passes) }

    func step(measuresValidation: Bool) throws -> [MLProgress.Metric: Double] {
        trainer.step()
        var metrics: [MLProgress.Metric: Double] = [.loss: trainer.loss / Double(trainer.tokenCount)]
        if measuresValidation, let validation {
            let model = trainer.model(features)
            var (right, count) = (0, 0)
            for (tokens, labels) in validation.sentences {
                for (tag, label) in zip(model.best(tokens), labels) where model.tags[tag] == label { right += 1 }
                count += labels.count
            }
            if count > 0 { metrics[.validationAccuracy] = Double(right) / Double(count) }
        }
        return metrics
    }

    func specification() throws -> SpecModel { TextModelFiles.tagger(trainer.model(features)) }

    var state: [UInt8] { trainer.state }

    func resume(_ state: [UInt8]) throws { try trainer.restore(state) }
}

/// Sentences: their tokens, and as many labels.
struct TaggedSentences: TextExamples {
    var sentences: [MLWordTagger.Sentence]

    init(_ sentences: [MLWordTagger.Sentence]) { self.sentences = sentences }

    func write(to writer: inout CheckpointWriter) {
        writer.write(UInt64(sentences.count))
        for sentence in sentences {
            writer.write(sentence.tokens)
            writer.write(sentence.labels)
        }
    }

    init(from reader: inout CheckpointReader) throws {
        let count = try reader.readInt(in: 0...1 << 40, "the number of sentences")
        sentences = []
        for _ in 0..<count { sentences.append((try reader.readStrings(), try reader.readStrings())) }
    }
}

extension MLWordTagger.ModelParameters: TextParameters {
    package init(_ options: TextOptions) throws {
        guard options.algorithm == .crf else {
            throw MLCreateError.generic(reason: "taggers are not \(options.algorithm.rawValue) models")
        }
        self.init(algorithm: .crf(revision: options.revision), language: options.language.map { NLLanguage($0) })
        maxIterations = options.maxIterations
    }

    package var options: TextOptions {
        var options: TextOptions
        switch algorithm {
        case .crf(let revision): options = TextOptions(algorithm: .crf, revision: revision)
        case .transferLearning(_, let revision):
            options = TextOptions(algorithm: .transferLearning, revision: revision)
        }
        options.language = language?.rawValue
        options.maxIterations = maxIterations
        return options
    }
}
