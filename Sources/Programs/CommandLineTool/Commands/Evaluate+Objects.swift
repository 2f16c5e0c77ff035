import CoreML
import CreateML
import MLFiles

extension Evaluate {
    /// Evaluates a detector on annotated pictures, in the form of 'coreml train object'.
    ///
    /// - Returns: The number of pictures.
    func evaluateObjects(_ opened: ModelFile, _ report: inout TrainingReport) throws -> Int {
        let model = try MLModel(opened, configuration: MLModelConfiguration())
        let found = try ObjectEvaluation(of: model, on: annotations.source(data), annotationType: annotations.type)
        report.facts = [("pictures", "\(found.pictures.count)")]
        report.add(training: nil, validation: found.metrics)
        report.objects = ObjectsPart(
            rows: "all images",
            metrics: found.metrics,
            pictures: found.pictures,
            skipped: found.skipped
        )
        return found.pictures.count
    }
}
