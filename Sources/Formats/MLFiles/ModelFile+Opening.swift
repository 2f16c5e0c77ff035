package import MLNumerics
import MLSpecification

extension ModelFile {
    /// The name of the specification in a compiled folder.
    package static let compiledSpecificationName = "specification.bin"

    /// The purpose that a model is opened for.
    package enum Purpose: Sendable {
        /// Any purpose: the whole specification is decoded.
        case inspection
        /// Predictions alone.
        ///
        /// The specification of a compiled model with graphs lacks layers and programs; large weights of a neural
        /// network that is not updatable stay in the file.
        case prediction
    }

    /// Opens a `.mlmodel` file, a `.mlpackage` folder or a compiled `.mlmodelc` folder; the content decides which.
    package static func open(path: String, for purpose: Purpose = .inspection) throws(ModelError) -> ModelFile {
        switch FileAccess.kind(of: path) {
        case nil: throw ModelError(.io, "There is no such file or folder; check the path.", at: path)
        case .other: throw ModelError(.io, "This is neither a file nor a folder; give the path of a model.", at: path)
        case .file: return try openModel(path, purpose)
        case .folder:
            let folder = FileAccess.withoutTrailingSlash(path)
            if FileAccess.kind(of: folder + "/" + ModelVaults.encryptionName) != nil {
                let vault = try ModelVaults.vault(for: path, "an encrypted model")
                return try openCompiled(try vault.encryptedFolder(folder), in: folder, named: folder, for: purpose)
            }
            if FileAccess.kind(of: folder + "/" + PackageManifest.fileName) == .file { return try openPackage(folder) }
            if FileAccess.kind(of: folder + "/" + compiledSpecificationName) == .file {
                return try openCompiled(PlainFolder(folder), in: folder, named: folder, for: purpose)
            }
            if FileAccess.kind(of: folder + "/" + AppleCompiledFolder.fileName) == .file {
                return try AppleCompiledFolder.open(folder)
            }
            throw ModelError(
                .malformed,
                "The folder is not a model: it has neither \(PackageManifest.fileName) (a package) "
                    + "nor \(compiledSpecificationName) (a compiled model).",
                at: path
            )
        }
    }

    private static func openModel(_ path: String, _ purpose: Purpose) throws(ModelError) -> ModelFile {
        let file = try MappedFile(path)
        if file.withBytes({ $0.starts(with: ModelVaults.archiveMagic) }) {
            let vault = try ModelVaults.vault(for: path, "a model archive")
            let folder = FileAccess.folder(of: path)
            return try openCompiled(try vault.archive(path), in: folder, named: path, for: purpose)
        }
        let weights = WeightFiles(folders: [FileAccess.folder(of: path)])
        if purpose == .prediction, let slim = InPlaceWeightDecoder.strippedOfWeights(file.storage),
            let specification = try? SpecificationReader.decode(slim), !specification.isUpdatable
        {
            try withErrorContext(path) { () throws(ModelError) in try SpecificationReader.validate(specification) }
            file.storage.releasePages(from: 0, count: file.storage.byteCount)
            return ModelFile(
                path: path,
                form: .model,
                specification: specification,
                weights: weights,
                specificationPath: path,
                source: file
            )
        }
        return ModelFile(
            path: path,
            form: .model,
            specification: try decode(file.storage, named: path),
            weights: weights,
            specificationPath: path
        )
    }

    /// Opens a compiled model whose files are `contents`, wherever they are stored.
    ///
    /// Other files that the model names are searched in `folder`; `name` stands for the model in messages.
    package static func openCompiled(
        _ contents: any FolderContents,
        in folder: String,
        named name: String,
        for purpose: Purpose = .inspection
    ) throws(ModelError) -> ModelFile {
        let weights = WeightFiles(contents: contents, folder: folder)
        if purpose == .prediction, let compiled = try CompiledModel.open(contents, named: name) {
            return ModelFile(
                path: name,
                form: .compiled,
                specification: try compiled.interface(),
                weights: weights,
                contents: contents,
                specificationPath: contents.path(of: compiledSpecificationName),
                compiled: compiled
            )
        }
        guard let bytes = try contents.contents(of: compiledSpecificationName) else {
            throw ModelError(
                .malformed,
                "The compiled model has no \(compiledSpecificationName); compile it again.",
                at: name
            )
        }
        return ModelFile(
            path: name,
            form: .compiled,
            specification: try decode(bytes, named: name),
            weights: weights,
            contents: contents,
            specificationPath: contents.path(of: compiledSpecificationName)
        )
    }

    private static func openPackage(_ folder: String) throws(ModelError) -> ModelFile {
        let manifest = try manifest(ofPackage: folder)
        let data = folder + "/" + PackageManifest.dataFolder
        let root = try withErrorContext(folder) { () throws(ModelError) in
            let root = try manifest.root()
            for item in manifest.items where FileAccess.kind(of: data + "/" + item.path) == nil {
                throw ModelError(
                    .io,
                    "The item \"\(item.name)\" is missing: nothing is at "
                        + "\(PackageManifest.dataFolder)/\(item.path); copy the whole package again.",
                    at: PackageManifest.fileName,
                    item.identifier
                )
            }
            return root
        }
        let path = data + "/" + root.path
        guard FileAccess.kind(of: path) == .file else {
            throw ModelError(
                .malformed,
                "The root model \"\(root.name)\" is not a file; save the package again.",
                at: folder,
                PackageManifest.fileName,
                root.identifier
            )
        }
        let specification = try decode(try MappedFile(path).storage, named: folder)
        var folders = [FileAccess.folder(of: path)]
        for item in manifest.items where item.identifier != root.identifier {
            let holder = FileAccess.folder(of: data + "/" + item.path)
            if !folders.contains(holder) { folders.append(holder) }
        }
        return ModelFile(
            path: folder,
            form: .package,
            specification: specification,
            weights: WeightFiles(folders: folders),
            specificationPath: path,
            unlistedItems: try unlistedItems(data, manifest)
        )
    }

    /// Reads the manifest of a package folder.
    package static func manifest(ofPackage folder: String) throws(ModelError) -> PackageManifest {
        let path = folder + "/" + PackageManifest.fileName
        let bytes = try FileAccess.read(path)
        return try withErrorContext(folder) { () throws(ModelError) in
            try withErrorContext(PackageManifest.fileName) { () throws(ModelError) in try PackageManifest(json: bytes) }
        }
    }

    private static func decode(_ storage: TensorStorage, named name: String) throws(ModelError) -> SpecModel {
        let model: SpecModel
        do throws(ModelError) { model = try decodeWhole(storage, named: name) } catch {
            try storage.checkWhole()
            throw error
        }
        try storage.checkWhole()
        return model
    }

    private static func decodeWhole(_ storage: TensorStorage, named name: String) throws(ModelError) -> SpecModel {
        try withErrorContext(name) { () throws(ModelError) in
            try storage.withBytes { (bytes) throws(ModelError) in
                guard !bytes.isEmpty else {
                    throw ModelError(.malformed, "The specification is empty; copy the file again.")
                }
                if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
                    throw ModelError(.malformed, "This is a ZIP archive; unpack it and open its contents.")
                }
                let model = try SpecificationReader.decode(bytes)
                try SpecificationReader.validate(model)
                return model
            }
        }
    }

    /// The files up to two levels below `Data` that are not at or below a listed item.
    private static func unlistedItems(_ data: String, _ manifest: PackageManifest) throws(ModelError) -> [String] {
        let listed = manifest.items.map { FileAccess.withoutTrailingSlash($0.path) }
        func isKnown(_ path: String) -> Bool {
            listed.contains { $0 == path || $0.hasPrefix(path + "/") || path.hasPrefix($0 + "/") }
        }
        var unlisted: [String] = []
        for name in try FileAccess.names(in: data) {
            guard isKnown(name) else {
                unlisted.append(name)
                continue
            }
            if listed.contains(name) || FileAccess.kind(of: data + "/" + name) != .folder { continue }
            for inner in try FileAccess.names(in: data + "/" + name) where !isKnown(name + "/" + inner) {
                unlisted.append(name + "/" + inner)
            }
        }
        return unlisted
    }
}
