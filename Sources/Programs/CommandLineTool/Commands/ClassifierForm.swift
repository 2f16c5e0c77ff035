import ArgumentParser
import MLFiles
import MLNumerics

/// The form of a classifier's file that contains an extractor of the user's.
enum ClassifierForm {
    /// The extension of the classifier's file: a package if the extractor keeps its weights in a file, as ML programs do.
    ///
    /// - Parameters:
    ///   - extractor: The path of the extractor; `nil` for none.
    ///   - output: The path to write the classifier to; `nil` if it is made of the extension.
    /// - Returns: `mlmodel` or `mlpackage`.
    /// - Throws: `ValidationError` if `output` has another form, before the training; the error of opening the extractor.
    static func fileExtension(extractor: String?, output: String?) throws -> String {
        guard let extractor, [".mlpackage", ".mlmodelc"].contains(where: extractor.hasSuffix) else { return "mlmodel" }
        let file = try failing { () throws(ModelError) in try ModelFile.open(path: extractor) }
        guard !file.specification.weightFileNames.isEmpty else { return "mlmodel" }
        if let output, !output.hasSuffix(".mlpackage") {
            throw ValidationError(
                "\(extractor) keeps its weights in a file of its own; name a .mlpackage as the output"
            )
        }
        return "mlpackage"
    }
}
