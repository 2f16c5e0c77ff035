import CreateML
import Foundation
import MLExtractors
import MLImages
import TabularData

/// Training of object detectors.
enum ObjectTasks {
    private enum Units: String, CaseIterable { case pixel, normalized }
    private enum Origin: String, CaseIterable { case topLeft, bottomLeft }
    private enum FeatureExtractor: String, CaseIterable {
        case efficientNetLite0 = "efficientnet-lite0"
        case learned
    }
    private enum Anchor: String, CaseIterable { case center, topLeft, bottomLeft }

    /// The columns of a table of annotated pictures.
    private struct Columns: Sendable {
        let image: String
        let annotations: String

        init(_ options: Options) throws {
            image = try options.text("image") ?? "image"
            annotations = try options.text("annotations") ?? "annotations"
        }
    }

    static func detector(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let columns = try Columns(options)
        let source = try pictures(request.frame, options, columns, request.task)
        let type = try annotationType(options)
        var parameters = MLObjectDetector.ModelParameters(
            validation: try request.validation(
                none: .none,
                split: { .split(strategy: $0) },
                data: { .dataSource(try pictures($0, $1, columns, "validation")) }
            ),
            algorithm: .transferLearning(.objectPrint(revision: 1))
        )
        if let given = try options.options("parameters") {
            if let size = try given.integer("batchSize") { parameters.batchSize = size }
            if let count = try given.integer("maxIterations") { parameters.maxIterations = count }
            if let mirrors = try given.flag("mirrorImages") { parameters.mirrorsImages = mirrors }
            if let turns = try given.flag("turnImages") { parameters.turnsImages = turns }
            if let extractor = try given.choice("featureExtractor", FeatureExtractor.self) {
                switch extractor {
                case .learned: parameters.learnsFeatures = true
                case .efficientNetLite0:
                    // Named, it has to be installed.
                    do { _ = try ExtractorStore.user.load(.efficientNetLite0) } catch {
                        throw TrainingError("\(error)")
                    }
                }
            }
            try given.finish()
        }
        try options.finish()
        let chosen = parameters
        let model = try training.result {
            try MLObjectDetector.train(
                trainingData: source,
                annotationType: type,
                parameters: chosen,
                sessionParameters: request.session
            )
        }
        return trained(model, request.task, columns)
    }

    static func resumeDetector(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        return trained(try training.resumed(MLObjectDetector.self, request), request.task, columns)
    }

    private static func annotationType(_ options: Options) throws -> MLObjectDetector.AnnotationType {
        let anchor: MLBoundingBoxAnchor =
            switch try options.choice("anchor", Anchor.self) {
            case .center, nil: .center
            case .topLeft: .topLeft
            case .bottomLeft: .bottomLeft
            }
        return .boundingBox(
            units: try options.choice("units", Units.self) == .normalized ? .normalized : .pixel,
            origin: try options.choice("origin", Origin.self) == .bottomLeft ? .bottomLeft : .topLeft,
            anchor: anchor
        )
    }

    /// Annotated pictures: of a table; of a folder of them with annotations; or of a file or folder of annotations, with the
    /// pictures in the folder `images` or beside the file.
    private static func pictures(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: Columns,
        _ use: String
    ) throws -> MLObjectDetector.DataSource {
        let images = try options.text("images").map { URL(fileURLWithPath: $0, isDirectory: true) }
        if let path = try options.text("folder") {
            let url = URL(fileURLWithPath: path, isDirectory: true)
            guard let images else { return .directoryWithImagesAndJsonAnnotation(at: url) }
            return .directoryWithImages(at: images, annotationFile: url)
        }
        if let path = try options.text("annotationFile") {
            let url = URL(fileURLWithPath: path)
            return .directoryWithImages(at: images ?? url.deletingLastPathComponent(), annotationFile: url)
        }
        return .frame(
            try frame.required(use).resolving(columns.image, in: images?.path),
            imageColumn: columns.image,
            annotationColumn: columns.annotations
        )
    }

    private static func trained(_ model: MLObjectDetector, _ task: String, _ columns: Columns) -> TrainedModel {
        var facts = ModelFacts(
            task: task,
            features: [columns.image],
            target: columns.annotations,
            labels: model.labels.map { .text($0) },
            description: "\(model)"
        )
        facts.training = MetricsFacts(model.trainingMetrics)
        facts.validation = MetricsFacts(model.validationMetrics)
        facts.warnings = model.warnings
        facts.skipped = model.skippedImages.map { SkippedPicture($0) }
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                let source = try pictures(input.frame, input.options, columns, "evaluation")
                try input.options.finish()
                let found = try model.evaluationDetails(on: source)
                return MetricsFacts(found.metrics, skipped: found.skipped.map { SkippedPicture($0) })
            },
            predict: { input in
                let frame = try input.frame.required("prediction")
                    .resolving(columns.image, in: try input.options.text("relativeTo"))
                try input.options.finish()
                return table(
                    try model.predictions(from: try frame.texts(columns.image).map { URL(fileURLWithPath: $0) })
                )
            },
            write: { try model.write(to: $0, metadata: $1) },
            predictPictures: { pictures, options in
                try options.finish()
                return table(
                    try ImageReader.map(pictures.count) { index in
                        Result { try model.detections(in: pictures[index]) }
                    }.map { try $0.get() }
                )
            }
        )
    }

    /// A row for each object: the number of its picture, its label and confidence, and its box.
    private static func table(_ found: [MLObjectDetector.DetectedObjects]) -> DataFrame {
        let rows = found.enumerated().flatMap { picture, objects in objects.map { (picture: picture, object: $0) } }
        func column<Value>(_ name: String, _ value: (MLObjectDetector.ObjectAnnotation) -> Value) -> AnyColumn {
            Column<Value>(name: name, contents: rows.map { value($0.object) }).eraseToAnyColumn()
        }
        return DataFrame(columns: [
            Column<Int>(name: "picture", contents: rows.map(\.picture)).eraseToAnyColumn(),
            column("label", \.label), column("confidence", \.confidence),
            column("x") { Double($0.boundingBox.origin.x) }, column("y") { Double($0.boundingBox.origin.y) },
            column("width") { Double($0.boundingBox.size.width) },
            column("height") { Double($0.boundingBox.size.height) },
        ])
    }
}

extension SkippedPicture {
    init(_ skipped: MLObjectDetector.SkippedImage) {
        self.init(image: skipped.url.path, reason: skipped.reason, isUsed: skipped.isUsed)
    }
}

extension MetricsFacts {
    init(_ metrics: MLObjectDetectorMetrics, skipped: [SkippedPicture]? = nil) {
        if let error = metrics.error {
            self = .error("\(error)")
            return
        }
        let (mean, labels) = (metrics.meanAveragePrecision, metrics.averagePrecision)
        self = .detector(
            Detector(
                meanAveragePrecision: .init(variedIoU: mean.variedIoU, IoU50: mean.IoU50),
                averagePrecision: .init(variedIoU: labels.variedIoU, IoU50: labels.IoU50),
                skipped: skipped
            )
        )
    }
}
