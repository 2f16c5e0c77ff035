package import MLFiles
package import MLNumerics
import MLSpecification

extension ModelCompiler {
    /// Writes a model in the form that the name of `path` selects: a `.mlmodel` file, a `.mlpackage`, or a compiled
    /// folder.
    ///
    /// An existing model stays intact until the new one is complete, and is then replaced at once, whatever happens.
    package static func save(_ file: ModelFile, to path: String) throws(ModelError) {
        let path = FileAccess.withoutTrailingSlash(path)
        try file.requireUnprotected("saving")
        let file = try file.whole()
        if path.hasSuffix(".mlmodel") || path.hasSuffix(".mlpackage") {
            try FileAccess.makeFolder(FileAccess.folder(of: path))
            return try file.write(to: path)
        }
        let last = FileAccess.name(of: path)
        let name = last.hasSuffix(".mlmodelc") ? String(last.dropLast(".mlmodelc".count)) : last
        try FileAccess.replaceFolder(path) { (temporary) throws(ModelError) in
            try withErrorContext(file.path) { () throws(ModelError) in try build(file, named: name, in: temporary) }
        }
    }
}
