import CoreGraphics
package import CoreML
import Foundation
import MLExtractors
package import MLImages
import MLNumerics

/// The answers of a model for labelled picture files.
package struct ImageEvaluation: Sendable {
    /// The metrics; files that cannot be read do not count.
    package let metrics: MLClassifierMetrics
    /// The pictures whose label was predicted wrongly, the most confident first.
    package let misclassified: [MLImageClassifier.MisclassifiedImage]
    /// The files that cannot be read.
    package let skipped: [MLImageClassifier.SkippedImage]

    private enum Answer: Sendable {
        case prediction(label: String, confidence: Double)
        case unreadable(String)
        case failure(String)
    }

    /// Asks a classifier with one picture as its input, on all threads.
    ///
    /// - Parameters:
    ///   - model: The classifier.
    ///   - files: The files and their labels.
    ///   - labels: The labels of the model in their order, if they are known.
    /// - Throws: `MLCreateError` if no file can be read, or the model fails.
    package init(of model: MLModel, _ files: [(label: String, path: String)], labels: [String]) throws {
        _ = try Self.input(of: model)
        let answers = ImageReader.map(files.count) { index -> Answer in
            do throws(ModelError) {
                let picture = try ImageReader.read(files[index].path)
                do {
                    let found = try Self.prediction(of: model, picture.bitmap)
                    return .prediction(label: found.label, confidence: found.confidence)
                } catch { return .failure("\(files[index].path): \(error)") }
            } catch { return .unreadable(ImageReader.reason(error)) }
        }
        var (truth, predictions): ([String], [String]) = ([], [])
        var wrong: [MLImageClassifier.MisclassifiedImage] = []
        var skipped: [MLImageClassifier.SkippedImage] = []
        for (file, answer) in zip(files, answers) {
            let url = URL(fileURLWithPath: file.path)
            switch answer {
            case .failure(let text): throw MLCreateError.generic(reason: text)
            case .unreadable(let reason): skipped.append(.init(url: url, label: file.label, reason: reason))
            case .prediction(let label, let confidence):
                truth.append(file.label)
                predictions.append(label)
                guard label != file.label else { continue }
                wrong.append(.init(url: url, label: file.label, prediction: label, confidence: confidence))
            }
        }
        guard !truth.isEmpty else {
            let example = skipped.first.map { ": \($0.url.path): \($0.reason)" } ?? ""
            throw MLCreateError.generic(reason: "none of \(files.count) images can be read\(example)")
        }
        metrics = MLClassifierMetrics(counted(truth, predictions, labels: labels))
        misclassified = wrong.sorted { $0.confidence > $1.confidence }
        self.skipped = skipped
    }

    /// The name and constraint of a model's picture.
    private static func input(of model: MLModel) throws -> (name: String, constraint: MLImageConstraint) {
        let inputs = model.modelDescription.inputDescriptionsByName.filter { !$0.value.isOptional }
        guard inputs.count == 1, let (name, input) = inputs.first, let constraint = input.imageConstraint else {
            throw MLCreateError.generic(
                reason: "the model takes \(inputs.keys.sorted().joined(separator: ", ")), not one image"
            )
        }
        return (name, constraint)
    }

    static func prediction(of model: MLModel, fileAt url: URL) throws -> (label: String, confidence: Double) {
        try prediction(of: model, ImageReader.bitmap(at: url))
    }

    /// The most probable label of an upright picture, and its probability; 1 for a model without probabilities.
    static func prediction(of model: MLModel, _ picture: Bitmap) throws -> (label: String, confidence: Double) {
        let (label, probabilities) = try answer(of: model, picture)
        return (label, probabilities[label] ?? 1)
    }

    /// The most probable label of an upright picture, and the probabilities of all labels, if the model gives them.
    package static func answer(
        of model: MLModel,
        _ picture: Bitmap
    ) throws -> (label: String, probabilities: [String: Double]) {
        let (name, constraint) = try input(of: model)
        let value = try MLFeatureValue(
            cgImage: CGImage(picture, isOpaque: true),
            constraint: constraint,
            options: [.cropAndScale: NSNumber(value: ImageFeatureEncoder.fitting.rawValue)]
        )
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [name: value]))
        let description = model.modelDescription
        guard let feature = description.predictedFeatureName, let answer = output.featureValue(for: feature) else {
            throw MLCreateError.generic(reason: "the model predicts no label; it is not a classifier")
        }
        let label = answer.type == .int64 ? "\(answer.int64Value)" : answer.stringValue
        let probabilities = description.predictedProbabilitiesName.flatMap { output.featureValue(for: $0) }?
            .dictionaryValue
        return (label, (probabilities ?? [:]).reduce(into: [:]) { $0["\($1.key)"] = $1.value.doubleValue })
    }
}
