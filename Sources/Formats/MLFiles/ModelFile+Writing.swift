package import MLNumerics
package import MLSpecification

extension ModelFile {
    /// A file of a package other than the specification.
    package enum WeightSource: Sendable {
        /// Its contents.
        case bytes([UInt8])
        /// An existing file or folder, which is linked or copied.
        case path(String)
    }

    /// Writes a `.mlmodel` file.
    package static func writeModel(_ specification: SpecModel, to path: String) throws(ModelError) {
        try FileAccess.write(try SpecificationReader.encode(specification), to: path)
    }

    /// Writes the model to a `.mlpackage` with its weight files if `path` has that extension, else to a `.mlmodel` file.
    ///
    /// The model must be whole. An existing model is replaced when the new one is complete.
    ///
    /// - Throws: An error for a secret model, for weight files that a `.mlmodel` file cannot hold, and those of the file
    ///   system.
    package func write(to path: String) throws(ModelError) {
        try requireUnprotected("writing")
        let names = specification.weightFileNames.sorted()
        guard path.hasSuffix(".mlpackage") else {
            if let name = names.first {
                throw ModelError(
                    .invalidInput,
                    "The model has the weight file '\(name)', which a .mlmodel file cannot hold; use .mlpackage.",
                    at: path
                )
            }
            return try Self.writeModel(specification, to: path)
        }
        var sources: [String: WeightSource] = [:]
        for name in names {
            let inner = try nameInWeights(name)
            if let source = try weights.path(name) {
                sources[inner] = .path(source)
            } else {
                sources[inner] = .bytes(try weights.file(name).storage.withBytes { [UInt8]($0) })
            }
        }
        try Self.writePackage(specification, weights: sources, to: path)
    }

    /// Writes a `.mlpackage` folder, replacing an existing one; `weights` has files by their names within `weights`.
    package static func writePackage(
        _ specification: SpecModel,
        weights: [String: WeightSource] = [:],
        to path: String
    ) throws(ModelError) {
        let author = "com.apple.CoreML"
        var items = [
            PackageManifest.Item(
                identifier: PackageManifest.makeIdentifier(),
                name: "model.mlmodel",
                author: author,
                description: "CoreML Model Specification",
                path: author + "/model.mlmodel"
            )
        ]
        if !weights.isEmpty {
            items.append(
                PackageManifest.Item(
                    identifier: PackageManifest.makeIdentifier(),
                    name: "weights",
                    author: author,
                    description: "CoreML Model Weights",
                    path: author + "/weights"
                )
            )
        }
        let manifest = PackageManifest(items: items, rootIdentifier: items[0].identifier)
        for name in weights.keys where !PackageManifest.isInside(name) {
            throw ModelError(.invalidInput, "The weight file name \"\(name)\" leads out of the package.", at: path)
        }
        try FileAccess.replaceFolder(path) { (folder) throws(ModelError) in
            let data = folder + "/" + PackageManifest.dataFolder + "/"
            try FileAccess.makeFolder(data + author)
            try writeModel(specification, to: data + items[0].path)
            for (name, source) in weights {
                let target = data + author + "/weights/" + name
                try FileAccess.makeFolder(FileAccess.folder(of: target))
                switch source {
                case .bytes(let bytes): try FileAccess.write(bytes, to: target)
                case .path(let path): try FileAccess.linkOrCopyTree(path, to: target)
                }
            }
            try FileAccess.write(manifest.json, to: folder + "/" + PackageManifest.fileName)
        }
    }

    /// Reads a model and writes it again: a `.mlmodel` file to a `.mlmodel` file, a package to a package.
    ///
    /// The weight files of a package are read blob by blob and written again, so that readers and writers of both
    /// formats are exercised.
    package static func reserialize(path: String, to target: String) throws(ModelError) {
        guard FileAccess.kind(of: path) == .folder else {
            let file = try MappedFile(path)
            let specification = try withErrorContext(path) { () throws(ModelError) in
                try file.withBytes { (bytes) throws(ModelError) in try SpecificationReader.decode(bytes) }
            }
            return try writeModel(specification, to: target)
        }
        let file = try open(path: path)
        guard file.form == .package, let folder = file.folder else {
            throw ModelError(.invalidInput, "Only model files and packages can be written again.", at: path)
        }
        let scratch = try FileAccess.makeTemporaryFolder("reserialize")
        defer { try? FileAccess.remove(scratch) }
        var weights: [String: WeightSource] = [:]
        let source = folder + "/weights"
        for name in FileAccess.kind(of: source) == .folder ? try FileAccess.names(in: source) : [] {
            let copy = scratch + "/" + name
            try rewrite(try WeightFile(path: source + "/" + name), to: copy)
            weights[name] = .path(copy)
        }
        try writePackage(file.specification, weights: weights, to: target)
    }

    private static func rewrite(_ file: WeightFile, to path: String) throws(ModelError) {
        let writer = try WeightFileWriter(path: path)
        for offset in try file.blobOffsets() {
            let blob = try file.blob(at: offset)
            try blob.storage.withBytes { (bytes) throws(ModelError) in
                let elements = bytes.bytes.extracting(blob.byteOffset..<blob.byteOffset + blob.byteCount)
                _ = try writer.append(blob.dataType, elementCount: blob.elementCount, elements)
            }
        }
        try writer.finish()
    }
}
