import CoreGraphics
import CreateML
import Foundation
import Vision

/// Training of networks that draw in the style of a picture.
enum StyleTasks {
    private enum Algorithm: String, CaseIterable { case cnn, cnnLite }
    private enum Fitting: String, CaseIterable {
        case centerCrop, scaleFit, scaleFill
        /// The picture keeps its proportions.
        case none

        var option: VNImageCropAndScaleOption? {
            switch self {
            case .centerCrop: .centerCrop
            case .scaleFit: .scaleFit
            case .scaleFill: .scaleFill
            case .none: nil
            }
        }
    }

    static func transfer(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        guard let style = try options.text("styleImage"), let contents = try options.text("contentDirectory") else {
            throw TrainingError(
                "\(request.task) needs style_image, an image, and content_directory, a folder of images"
            )
        }
        let fitting = try options.choice("processingOption", Fitting.self) ?? .centerCrop
        var parameters = MLStyleTransfer.ModelParameters()
        if let picture = try options.text("validationImage") {
            parameters.validation = .content(URL(fileURLWithPath: picture))
        }
        if let given = try options.options("parameters") {
            if let choice = try given.choice("algorithm", Algorithm.self) {
                parameters.algorithm = choice == .cnn ? .cnn : .cnnLite
            }
            if let count = try given.integer("maxIterations") { parameters.maxIterations = count }
            if let strength = try given.integer("styleStrength") { parameters.styleStrength = strength }
            if let density = try given.integer("textelDensity") { parameters.textelDensity = density }
            if let medium = try given.choice("medium", MLStyleTransfer.ModelParameters.Medium.self) {
                parameters.medium = medium
            }
            if let path = try given.text("featureExtractor") {
                parameters.featureExtractor = .custom(URL(fileURLWithPath: path))
            }
            try given.finish()
        }
        try options.finish()
        let chosen = parameters
        let model = try training.result {
            try MLStyleTransfer.train(
                trainingData: .images(
                    styleImage: URL(fileURLWithPath: style),
                    contentDirectory: URL(fileURLWithPath: contents, isDirectory: true),
                    processingOption: fitting.option
                ),
                parameters: chosen,
                sessionParameters: request.session
            )
        }
        return trained(model, request.task)
    }

    static func resumeTransfer(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        trained(try training.resumed(MLStyleTransfer.self, request), request.task)
    }

    private static func trained(_ model: MLStyleTransfer, _ task: String) -> TrainedModel {
        var facts = ModelFacts(task: task, features: ["image"], target: "stylizedImage", description: "\(model)")
        facts.skipped = model.skipped.map { SkippedPicture(image: $0.name, reason: $0.reason) }
        return TrainedModel(
            facts: facts,
            evaluate: { _ in throw TrainingError("a style has no metrics; look at what stylize draws") },
            predict: { _ in throw TrainingError("a style predicts no table; stylize draws images") },
            write: { try model.write(to: $0, metadata: $1) },
            stylize: { picture in
                guard let drawn = try model.stylize(image: CGImage(picture, isOpaque: true)) else {
                    throw TrainingError("the model drew no image")
                }
                return drawn.bitmap
            }
        )
    }
}
