import CoreML
import CreateML
import MLEngine
import MLFiles
import MLNumerics
import MLSpecification

extension Evaluate {
    /// Evaluates a model with one image input on a folder that contains a folder of images for each label.
    ///
    /// - Returns: The number of images.
    func evaluatePictures(
        _ engine: any ModelEngine,
        _ opened: ModelFile,
        _ report: inout TrainingReport
    ) throws -> Int {
        let interface = engine.interface
        let needed = interface.input.filter { !$0.type.isOptional }
        guard needed.count == 1, case .imageType(let type)? = needed[0].type.type else {
            throw Failure(
                "'\(data)' is a folder; a folder of images for each label is for models that take one image\n"
                    + InputReader(interface: interface).inputList
            )
        }
        let predicted = try predictedFeature(interface)
        let files = try LabelledImages.files(inFolder: data)
        if interface.cropsPictures {
            // As in training: files that cannot be read are listed, and images are center-cropped.
            let model = try MLModel(opened, configuration: MLModelConfiguration())
            let found = try ImageEvaluation(of: model, files, labels: [])
            report.facts = [("pictures", "\(files.count)"), ("predicted", predicted.name)]
            report.add(training: nil, validation: found.metrics)
            report.pictures = PicturesPart(
                rows: "all images",
                misclassified: found.misclassified,
                skipped: found.skipped
            )
            return files.count
        }
        let outputs = try files.map { file in
            let picture = try ImageInput.read(file.path, type)
            return try failing { () throws(ModelError) in
                do throws(ModelError) { return try engine.prediction(from: [needed[0].name: picture]) } catch {
                    throw error.at(file.path)
                }
            }
        }
        report.facts = [("pictures", "\(files.count)"), ("predicted", predicted.name)]
        try score(predicted, files.map(\.label), try outputs.map { try prediction($0, predicted.name) }, &report)
        return files.count
    }
}
