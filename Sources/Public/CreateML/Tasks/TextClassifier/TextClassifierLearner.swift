import Foundation
import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
import MLTrainingCore
import NaturalLanguage

/// The training of a text classifier.
struct TextClassifierLearner: TextLearner {
    static var defaultPasses: Int { TextClassifierSettings().passes }

    private let trainer: TextClassifierTrainer
    private let validation: MLTextClassifier.Examples?

    init(
        _ training: MLTextClassifier.Examples,
        validation: MLTextClassifier.Examples?,
        _ parameters: MLTextClassifier.ModelParameters
    ) throws {
        let positions = LabelIndices(training.labels + (validation?.labels ?? []))
        self.validation = validation
        trainer = try TextClassifierTrainer(
            texts: training.texts,
            targets: training.labels.map { positions[$0] },
            labels: positions.labels,
            settings: try parameters.settings()
        )
    }

    var passes: Int { trainer.iteration }
    var isFinished: Bool { trainer.isFinished }

    func limit(passes: Int) { trainer.limit(passes: passes) }

    func step(measuresValidation: Bool) throws -> [MLProgress.Metric: Double] {
        trainer.step()
        var metrics: [MLProgress.Metric: Double] = [.loss: trainer.loss, .accuracy: trainer.accuracy]
        if measuresValidation, let validation, !validation.texts.isEmpty {
            let model = trainer.model(isCalibrated: false)
            var right = 0
            for (text, label) in zip(validation.texts, validation.labels) {
                let row = try model.probabilities(of: text)
                if let best = row.indices.max(by: { row[$0] < row[$1] }), model.labels[best] == label { right += 1 }
            }
            metrics[.validationAccuracy] = Double(right) / Double(validation.texts.count)
        }
        return metrics
    }

    func specification() throws -> SpecModel { TextModelFiles.classifier(trainer.model()) }

    var state: [UInt8] { trainer.state }

    func resume(_ state: [UInt8]) throws { try trainer.restore(state) }
}

extension MLTextClassifier.Examples: TextExamples {
    func write(to writer: inout CheckpointWriter) {
        writer.write(texts)
        writer.write(labels)
    }

    init(from reader: inout CheckpointReader) throws {
        texts = try reader.readStrings()
        labels = try reader.readStrings()
        guard texts.count == labels.count else { throw reader.damaged("the numbers of labels and texts differ") }
    }
}

extension MLTextClassifier.ModelParameters: TextParameters {
    package init(_ options: TextOptions) throws {
        let algorithm: MLTextClassifier.ModelAlgorithmType
        switch options.algorithm {
        case .crf: algorithm = .crf(revision: options.revision)
        case .maxEnt: algorithm = .maxEnt(revision: options.revision)
        case .transferLearning:
            guard let embedding = options.embedding else {
                throw MLCreateError.generic(reason: "the word embedding is not named")
            }
            algorithm = .transferLearning(
                .customEmbedding(URL(fileURLWithPath: embedding)),
                revision: options.revision
            )
        }
        self.init(algorithm: algorithm, language: options.language.map { NLLanguage($0) })
        maxIterations = options.maxIterations
    }

    package var options: TextOptions {
        var options: TextOptions
        switch algorithm {
        case .crf(let revision): options = TextOptions(algorithm: .crf, revision: revision)
        case .maxEnt(let revision): options = TextOptions(algorithm: .maxEnt, revision: revision)
        case .transferLearning(let extractor, let revision):
            options = TextOptions(algorithm: .transferLearning, revision: revision)
            if case .customEmbedding(let url) = extractor { options.embedding = url.path }
        }
        options.language = language?.rawValue
        options.maxIterations = maxIterations
        return options
    }
}
