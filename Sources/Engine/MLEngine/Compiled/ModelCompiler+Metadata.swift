package import MLFiles
package import MLNumerics

extension ModelCompiler {
    /// The `metadata.json` of a model: the existing file of a compiled folder, otherwise the one that compiling would
    /// write.
    ///
    /// `name` is the name of the model without an extension.
    package static func metadata(of file: ModelFile, named name: String) throws(ModelError) -> String {
        let written = file.path + "/metadata.json"
        guard file.form == .compiled, FileAccess.kind(of: written) == .file else {
            return CompiledMetadata.json(file.specification, named: name).text
        }
        let bytes = try FileAccess.read(written)
        _ = try withErrorContext(written) { () throws(ModelError) in try JSONReader.read(bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
