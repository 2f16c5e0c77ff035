import Glibc
import MLFiles
package import MLNumerics
package import MLSpecification
import MLTrainingCore
package import MLZipFiles

/// The folder of installed feature extractors: for each a folder with its Core ML model and the model's fingerprint.
package struct ExtractorStore: Sendable {
    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// A store in place of the user's, for the tasks of tests.
    @TaskLocal package static var replacement: ExtractorStore?

    /// The user's store: `COREML_EXTRACTORS`, else `swift-coreml/extractors` in `XDG_DATA_HOME` or `~/.local/share`.
    package static var user: ExtractorStore {
        if let replacement { return replacement }
        func variable(_ name: String) -> String? {
            guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
            return value
        }
        if let folder = variable("COREML_EXTRACTORS") { return ExtractorStore(folder: folder) }
        let home = variable("HOME") ?? getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) } ?? "."
        let data = variable("XDG_DATA_HOME") ?? home + "/.local/share"
        return ExtractorStore(folder: data + "/swift-coreml/extractors")
    }

    /// The folder of an extractor.
    package func path(of extractor: Extractor) -> String { folder + "/" + extractor.name }

    /// The names of an extractor's models, with which those of their files begin.
    private static func models(of extractor: Extractor) -> [String] {
        extractor.parts.isEmpty ? ["model"] : extractor.parts.map(\.name)
    }

    private static func modelFile(_ name: String) -> String { "/\(name).mlmodel" }
    private static func fingerprintFile(_ name: String) -> String {
        name == "model" ? "/fingerprint" : "/\(name).fingerprint"
    }

    private func vocabularyPath(_ extractor: Extractor) -> String { path(of: extractor) + "/vocab.txt" }

    /// Whether an extractor is installed.
    package func contains(_ extractor: Extractor) -> Bool {
        Self.models(of: extractor).allSatisfy {
            FileAccess.kind(of: path(of: extractor) + Self.modelFile($0)) == .file
        }
    }

    /// The size of an installed extractor's models in bytes; `nil` if it is not installed.
    package func byteCount(of extractor: Extractor) -> Int? {
        var sum = 0
        for name in Self.models(of: extractor) {
            guard let count = FileAccess.byteCount(of: path(of: extractor) + Self.modelFile(name)) else { return nil }
            sum += count
        }
        return sum
    }

    // MARK: Installing

    /// Converts an extractor's weights and stores the model, replacing an installed one.
    ///
    /// The folder is complete or as it was before: the model is written under another name and renamed.
    /// - Parameters:
    ///   - extractor: The extractor.
    ///   - file: The bytes of its package's file, or of the weights that the file holds.
    ///   - path: The name of the file, for errors.
    ///   - sha256: Computes a SHA-256. The bytes are compared with the package's known one before anything is read.
    /// - Throws: `.malformed` for another file than the known one, `.io` if the store cannot be written.
    package func install(
        _ extractor: Extractor,
        from file: [UInt8],
        path: String,
        sha256: ([UInt8]) -> String
    ) throws(ModelError) {
        let found = sha256(file)
        guard found == extractor.source.sha256 else {
            throw ModelError(
                .malformed,
                "this is not \(extractor.source.file): its SHA-256 is \(found), not \(extractor.source.sha256); fetch the "
                    + "package \(extractor.source.package) \(extractor.source.version) again",
                at: path
            )
        }
        let archive = try ZipArchive(file, path: path)
        guard extractor.parts.isEmpty else {
            return try install(extractor.specifications(in: archive, path: path), as: extractor)
        }
        let weights = try archive.content(of: extractor.source.member, limit: PyTorchWeights.byteLimit)
        let vocabulary = try extractor.source.vocabulary.map { (name) throws(ModelError) in
            try archive.content(of: name, limit: Self.vocabularyLimit)
        }
        try install(
            extractor.specification(weights: extractor.tensors(weights, path: path), precision: .float16),
            vocabulary: vocabulary,
            as: extractor
        )
    }

    /// Stores a model as that of an extractor, replacing an installed one.
    ///
    /// - Parameters:
    ///   - specification: The model.
    ///   - vocabulary: The text of its vocabulary, one piece a line, for extractors of sentences.
    ///   - extractor: The extractor.
    /// - Throws: `.io` if the store cannot be written.
    package func install(
        _ specification: SpecModel,
        vocabulary: [UInt8]? = nil,
        as extractor: Extractor
    ) throws(ModelError) {
        try install(["model": specification], vocabulary: vocabulary, as: extractor)
    }

    /// Stores models by their names, and a vocabulary, as those of an extractor, replacing installed ones.
    ///
    /// - Throws: `.invalidInput` if one of the extractor's models is missing, `.io` if the store cannot be written.
    package func install(
        _ models: [String: SpecModel],
        vocabulary: [UInt8]? = nil,
        as extractor: Extractor
    ) throws(ModelError) {
        var files: [(name: String, bytes: [UInt8])] = []
        for name in Self.models(of: extractor) {
            guard let model = models[name] else {
                throw ModelError(.invalidInput, "the extractor '\(extractor.name)' needs the model '\(name)'")
            }
            files.append((name, try SpecificationReader.encode(model)))
        }
        try FileAccess.replaceFolder(self.path(of: extractor)) { (folder) throws(ModelError) in
            if let vocabulary { try FileAccess.write(vocabulary, to: folder + "/vocab.txt") }
            for file in files {
                try FileAccess.write(file.bytes, to: folder + Self.modelFile(file.name))
                let fingerprint = Self.fingerprint(file.bytes, vocabulary)
                try FileAccess.write(fingerprint, to: folder + Self.fingerprintFile(file.name))
            }
        }
    }

    /// Vocabularies may have at most this many bytes.
    private static let vocabularyLimit = 1 << 24

    /// The fingerprint of a model's file, and in a second line that of the vocabulary, if there is one.
    private static func fingerprint(_ model: [UInt8], _ vocabulary: [UInt8]?) -> String {
        [model, vocabulary].compactMap { $0 }
            .map { String(Fingerprint.of($0, .wideProduct), radix: 16) + "\n" }.joined()
    }

    // MARK: Loading

    /// The error of an extractor that is not installed.
    package func missing(_ extractor: Extractor) -> ModelError {
        ModelError(
            .io,
            "the feature extractor '\(extractor.name)' is not installed; run: \(extractor.command)",
            at: path(of: extractor)
        )
    }

    /// The model of an installed extractor that has one.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing; `.malformed` if its file was changed.
    package func load(_ extractor: Extractor) throws(ModelError) -> ExtractorModel {
        ExtractorModel(extractor: extractor, specification: try load(extractor, model: "model"))
    }

    /// A model of an installed extractor that has several.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing; `.malformed` if its file was changed.
    package func load(_ extractor: Extractor, model name: String) throws(ModelError) -> SpecModel {
        try SpecificationReader.decode(try files(extractor, name).model)
    }

    /// Checks that an extractor is installed and its files are as they were stored.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing; `.malformed` if a file was changed.
    package func check(_ extractor: Extractor) throws(ModelError) {
        for name in Self.models(of: extractor) { _ = try files(extractor, name) }
    }

    /// The vocabulary of an installed extractor of sentences: the pieces by identifier.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing; `.malformed` if its file was changed.
    package func vocabulary(of extractor: Extractor) throws(ModelError) -> [String] {
        guard let vocabulary = try files(extractor, "model").vocabulary,
            let text = String(validating: vocabulary, as: UTF8.self)
        else { throw ModelError(.malformed, "the vocabulary is not UTF-8", at: vocabularyPath(extractor)) }
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.last == "\r" ? line.dropLast() : line)
        }
        return lines.last == "" ? lines.dropLast() : lines
    }

    /// The bytes of an extractor's model and of its vocabulary, if it has one, compared with their fingerprints.
    private func files(
        _ extractor: Extractor,
        _ name: String
    ) throws(ModelError) -> (model: [UInt8], vocabulary: [UInt8]?) {
        guard contains(extractor) else { throw missing(extractor) }
        let folder = path(of: extractor)
        let model = try FileAccess.read(folder + Self.modelFile(name))
        var vocabulary: [UInt8]?
        if extractor.source.vocabulary != nil, FileAccess.kind(of: vocabularyPath(extractor)) == .file {
            vocabulary = try FileAccess.read(vocabularyPath(extractor))
        }
        let fingerprint = folder + Self.fingerprintFile(name)
        let stated = FileAccess.kind(of: fingerprint) == .file ? try FileAccess.read(fingerprint) : []
        let isWhole = extractor.source.vocabulary == nil || vocabulary != nil
        guard isWhole, stated == Array(Self.fingerprint(model, vocabulary).utf8) else {
            throw ModelError(
                .malformed,
                "the installed feature extractor is damaged; install it again: \(extractor.command)",
                at: folder + Self.modelFile(name)
            )
        }
        return (model, vocabulary)
    }
}

extension Extractor {
    /// The tensors in a file of weights: one that PyTorch saved, or of the form "safetensors".
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - path: Its name, for errors.
    /// - Returns: The tensors by name.
    /// - Throws: `.malformed` for files that are damaged or hold anything but tensors.
    package func tensors(_ bytes: [UInt8], path: String) throws(ModelError) -> [String: Tensor] {
        SafeTensors.hasSignature(bytes)
            ? try SafeTensors.read(bytes, path: path) : try PyTorchWeights.read(bytes, path: path)
    }

    /// The Core ML model of weights: an image in, `features` out; or the tokens of a sentence in, `sentence_embedding`
    /// out.
    ///
    /// - Parameters:
    ///   - weights: The tensors of the original.
    ///   - precision: The scalars in which weights are stored.
    /// - Returns: The model, with its notice in the metadata.
    /// - Throws: `.malformed` if a tensor is missing or of another shape.
    package func specification(
        weights: [String: Tensor],
        precision: NetworkLayers.Precision
    ) throws(ModelError) -> SpecModel {
        var model: SpecModel
        switch architecture {
        case .efficientNetLite0: model = try EfficientNetLite0(weights).specification(precision)
        case .joints: throw ModelError(.unsupported, "the networks of '\(name)' are not a file of PyTorch")
        case .miniLM: model = try SentenceNetwork(weights, .miniLM).specification(precision)
        }
        let what = if case .sentences = subject { "a sentence" } else { "an image" }
        describe(&model, "\(title): \(featureCount) features of \(what).")
        return model
    }

    /// The Core ML models of the networks in a package, by the names of their parts.
    ///
    /// - Throws: `.malformed` for files that are damaged, `.unsupported` for operators that are not converted.
    package func specifications(in archive: ZipArchive, path: String) throws(ModelError) -> [String: SpecModel] {
        var models: [String: SpecModel] = [:]
        for part in parts {
            let member = source.member + "/" + part.member
            let bytes = try archive.content(of: member, limit: PyTorchWeights.byteLimit)
            models[part.name] = try specification(of: part, bytes, path: path + ": " + member)
        }
        return models
    }

    /// The Core ML model of one of several networks.
    ///
    /// - Parameters:
    ///   - part: The network.
    ///   - bytes: Its TensorFlow Lite file, whose weights are float16 and are stored so.
    ///   - path: The file's name, for errors.
    /// - Returns: The model, with its notice in the metadata.
    /// - Throws: `.malformed` for a file that is damaged, `.unsupported` for operators that are not converted.
    package func specification(of part: Part, _ bytes: [UInt8], path: String) throws(ModelError) -> SpecModel {
        var model = try TFLiteConverter.specification(
            bytes,
            path: path,
            interface: part.interface,
            precision: .float16
        )
        describe(&model, "\(title): the network '\(part.name)'.")
        return model
    }

    private func describe(_ model: inout SpecModel, _ about: String) {
        model.description_p.metadata.shortDescription = about
        model.description_p.metadata.license = license
        model.description_p.metadata.author = "swift-coreml"
        model.description_p.metadata.versionString = source.version
        for (key, value) in noticeMetadata { model.description_p.metadata.userDefined[key] = value }
    }

    /// The metadata that every model with these weights carries.
    package var noticeMetadata: [String: String] {
        ["featureExtractor": name, "featureExtractorNotice": notice, "featureExtractorLicense": license]
    }
}
