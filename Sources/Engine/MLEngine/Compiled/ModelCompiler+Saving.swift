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
        if path.hasSuffix(".mlmodel") {
            if let name = file.specification.weightFileNames.sorted().first {
                throw ModelError(
                    .invalidInput,
                    "The model has the weight file '\(name)', which a .mlmodel file cannot hold; use .mlpackage.",
                    at: path
                )
            }
            try FileAccess.makeFolder(FileAccess.folder(of: path))
            return try ModelFile.writeModel(file.specification, to: path)
        }
        if path.hasSuffix(".mlpackage") {
            var weights: [String: ModelFile.WeightSource] = [:]
            for name in file.specification.weightFileNames {
                let relative = try file.weights.relativeName(name)
                let key = relative.hasPrefix("weights/") ? String(relative.dropFirst("weights/".count)) : relative
                if let source = try file.weights.path(name) {
                    weights[key] = .path(source)
                } else {
                    let contents = try file.weights.file(name)
                    weights[key] = .bytes(contents.storage.withBytes { [UInt8]($0) })
                }
            }
            return try ModelFile.writePackage(file.specification, weights: weights, to: path)
        }
        let last = FileAccess.name(of: path)
        let name = last.hasSuffix(".mlmodelc") ? String(last.dropLast(".mlmodelc".count)) : last
        try FileAccess.replaceFolder(path) { (temporary) throws(ModelError) in
            try withErrorContext(file.path) { () throws(ModelError) in try build(file, named: name, in: temporary) }
        }
    }
}
