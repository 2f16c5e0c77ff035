import CreateML
import Foundation
import MLExtractors
import MLImages
import TabularData

/// Training of classifiers of pictures.
enum ImageTasks {
    /// The columns of a table of picture files.
    private struct Columns: Sendable {
        let image: String
        let label: String

        init(_ options: Options) throws {
            image = try options.text("image") ?? "image"
            label = try options.text("label") ?? "label"
        }
    }

    private static let augmentations: [(String, MLImageClassifier.ImageAugmentationOptions)] = [
        ("flip", .flip), ("crop", .crop), ("rotation", .rotation), ("exposure", .exposure), ("blur", .blur),
        ("noise", .noise),
    ]

    static func classifier(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let columns = try Columns(options)
        let source = try pictures(request.frame, options, columns, request.task)
        var parameters = MLImageClassifier.ModelParameters(
            validation: try request.validation(
                none: .none,
                split: { .split(strategy: $0) },
                data: { .dataSource(try pictures($0, $1, columns, "validation")) }
            )
        )
        if let given = try options.options("parameters") {
            if let count = try given.integer("maxIterations") { parameters.maxIterations = count }
            if let chosen = try given.augmentations(augmentations) { parameters.augmentationOptions = chosen }
            if let extractor = try extractor(given) { parameters.featureExtractor = extractor }
            if let layers = try given.integers("layerSizes") {
                parameters.algorithm = .transferLearning(
                    featureExtractor: parameters.featureExtractor,
                    classifier: .multilayerPerceptron(layerSizes: layers)
                )
            }
            try given.finish()
        }
        try options.finish()
        let chosen = parameters
        let model = try training.result {
            try MLImageClassifier.train(trainingData: source, parameters: chosen, sessionParameters: request.session)
        }
        return trained(model, request.task, columns)
    }

    static func resumeClassifier(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        return trained(try training.resumed(MLImageClassifier.self, request), request.task, columns)
    }

    /// The extractor of features: an installed one by name, a model's path, or `learned`.
    private static func extractor(_ options: Options) throws -> MLImageClassifier.FeatureExtractorType? {
        let output = try options.text("featureExtractorOutput")
        let name = try options.text("featureExtractor")
        if let blocks = try options.integer("fineTunedBlocks") {
            guard name == nil || name == Extractor.efficientNetLite0.name, output == nil else {
                throw TrainingError(
                    "fine_tuned_blocks is for \(Extractor.efficientNetLite0.name), not for another feature_extractor"
                )
            }
            return .efficientNetLite0(fineTunedBlocks: blocks)
        }
        guard let name else {
            guard output == nil else {
                throw TrainingError("feature_extractor_output is for a model of your own: name it by feature_extractor")
            }
            return nil
        }
        if name == "learned" { return .learned }
        if name.contains("/") || name.contains(".") {
            return .custom(.init(modelPath: URL(fileURLWithPath: name), outputName: output))
        }
        do { _ = try Extractor.named(name, in: Extractor.ofImages) } catch { throw TrainingError("\(error)") }
        return .efficientNetLite0
    }

    /// The picture files of a table, or of a folder.
    private static func pictures(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: Columns,
        _ use: String
    ) throws -> MLImageClassifier.DataSource {
        if let path = try options.text("folder") {
            let url = URL(fileURLWithPath: path)
            return try FolderForm.hasLabels(url) ? .labeledDirectories(at: url) : .labeledFiles(at: url)
        }
        return try .frame(
            try frame.required(use),
            imageColumn: columns.image,
            labelColumn: columns.label,
            relativeTo: try options.text("relativeTo").map { URL(fileURLWithPath: $0, isDirectory: true) }
        )
    }

    private static func trained(_ model: MLImageClassifier, _ task: String, _ columns: Columns) -> TrainedModel {
        var facts = ModelFacts(
            task: task,
            features: [columns.image],
            target: columns.label,
            description: "\(model)"
        )
        facts.training = MetricsFacts(model.trainingMetrics, wrong: model.misclassifiedTrainingImages)
        facts.validation = MetricsFacts(model.validationMetrics, wrong: model.misclassifiedValidationImages)
        facts.warnings = model.warnings
        facts.skipped = model.skippedImages.map { SkippedPicture(image: $0.url.path, reason: $0.reason) }
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                let source = try pictures(input.frame, input.options, columns, "evaluation")
                try input.options.finish()
                let found = try model.evaluationDetails(on: source)
                return MetricsFacts(found.metrics, wrong: found.misclassified, skipped: found.skipped)
            },
            predict: { input in
                let frame = try input.frame.required("prediction")
                    .resolving(columns.image, in: try input.options.text("relativeTo"))
                let files = try frame.texts(columns.image).map { URL(fileURLWithPath: $0) }
                return try predictions(of: model, files.count, input.options, columns) {
                    try ImageReader.bitmap(at: files[$0])
                }
            },
            write: { try model.write(to: $0, metadata: $1) },
            predictPictures: { pictures, options in
                try predictions(of: model, pictures.count, options, columns) { pictures[$0] }
            }
        )
    }

    /// The label of each picture, or with the option `probabilities` the probability of each label.
    private static func predictions(
        of model: MLImageClassifier,
        _ count: Int,
        _ options: Options,
        _ columns: Columns,
        _ picture: @Sendable (Int) throws -> Bitmap
    ) throws -> DataFrame {
        let wantsProbabilities = try options.flag("probabilities") ?? false
        try options.finish()
        let model = model.model
        let answers = try ImageReader.map(count) { index in
            Result { try ImageEvaluation.answer(of: model, picture(index)) }
        }.map { try $0.get() }
        if wantsProbabilities { return DataFrame(probabilities: answers.map(\.probabilities)) }
        return DataFrame(Column<String>(name: columns.label, contents: answers.map(\.label)).eraseToAnyColumn())
    }
}

extension MetricsFacts {
    /// The performance of a classifier of pictures, with what it took for something else.
    init(
        _ metrics: MLClassifierMetrics,
        wrong: [MLImageClassifier.MisclassifiedImage],
        skipped: [MLImageClassifier.SkippedImage]? = nil
    ) {
        self.init(metrics)
        guard case .classifier(var facts) = self else { return }
        facts.kind = "pictures"
        facts.misclassified = wrong.map {
            Misclassified(image: $0.url.path, label: $0.label, prediction: $0.prediction, confidence: $0.confidence)
        }
        facts.skipped = skipped?.map { SkippedPicture(image: $0.url.path, reason: $0.reason) }
        self = .classifier(facts)
    }
}
