package import MLFiles
package import MLNumerics

extension ModelCompiler {
    /// What `metadata.json` says of a model: of a compiled folder the file that is there, else what compiling would write.
    ///
    /// - Parameter name: the name of the model without an ending.
    package static func metadata(of file: ModelFile, named name: String) throws(ModelError) -> String {
        let written = file.path + "/metadata.json"
        guard file.form == .compiled, FileAccess.kind(of: written) == .file else {
            return CompiledMetadata.json(file.specification, named: name).text
        }
        let bytes = try FileAccess.read(written)
        _ = try trailing(written) { () throws(ModelError) in try JSONReader.read(bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
