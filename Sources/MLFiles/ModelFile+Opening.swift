package import MLNumerics
import MLSpecification

extension ModelFile {
    /// The specification inside a compiled folder.
    package static let compiledSpecificationName = "specification.bin"

    /// Opens a `.mlmodel` file, a `.mlpackage` folder or a compiled `.mlmodelc` folder, recognised by what is there.
    package static func open(path: String) throws(ModelError) -> ModelFile {
        switch FileAccess.kind(of: path) {
        case nil: throw ModelError(.io, "There is no such file or folder; check the path.", at: path)
        case .other: throw ModelError(.io, "This is neither a file nor a folder; give the path of a model.", at: path)
        case .file: return try openModel(path)
        case .folder:
            let folder = FileAccess.withoutTrailingSlash(path)
            if FileAccess.kind(of: folder + "/" + PackageManifest.fileName) == .file { return try openPackage(folder) }
            if FileAccess.kind(of: folder + "/" + compiledSpecificationName) == .file {
                return try openCompiled(folder)
            }
            if FileAccess.kind(of: folder + "/" + AppleCompiledFolder.fileName) == .file {
                return try AppleCompiledFolder.open(folder)
            }
            throw ModelError(
                .malformed,
                "The folder is no model: it has neither \(PackageManifest.fileName) (a package) "
                    + "nor \(compiledSpecificationName) (a compiled model).",
                at: path
            )
        }
    }

    private static func openModel(_ path: String) throws(ModelError) -> ModelFile {
        let specification = try decode(path, named: path)
        let weights = WeightFiles(folders: [FileAccess.folder(of: path)])
        return ModelFile(
            path: path,
            form: .model,
            specification: specification,
            weights: weights,
            specificationPath: path
        )
    }

    private static func openCompiled(_ folder: String) throws(ModelError) -> ModelFile {
        let path = folder + "/" + compiledSpecificationName
        let specification = try decode(path, named: folder)
        return ModelFile(
            path: folder,
            form: .compiled,
            specification: specification,
            weights: WeightFiles(folders: [folder]),
            specificationPath: path
        )
    }

    private static func openPackage(_ folder: String) throws(ModelError) -> ModelFile {
        let manifest = try manifest(ofPackage: folder)
        let data = folder + "/" + PackageManifest.dataFolder
        let root = try trailing(folder) { () throws(ModelError) in
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
                "The root model \"\(root.name)\" is no file; save the package again.",
                at: folder,
                PackageManifest.fileName,
                root.identifier
            )
        }
        let specification = try decode(path, named: folder)
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
            foreignItems: try foreignItems(data, manifest)
        )
    }

    /// The manifest of a package folder.
    package static func manifest(ofPackage folder: String) throws(ModelError) -> PackageManifest {
        let path = folder + "/" + PackageManifest.fileName
        let bytes = try FileAccess.read(path)
        return try trailing(folder) { () throws(ModelError) in
            try trailing(PackageManifest.fileName) { () throws(ModelError) in try PackageManifest(json: bytes) }
        }
    }

    private static func decode(_ path: String, named name: String) throws(ModelError) -> SpecModel {
        let file = try MappedFile(path)
        return try trailing(name) { () throws(ModelError) in
            try file.withBytes { (bytes) throws(ModelError) in
                guard !bytes.isEmpty else {
                    throw ModelError(.malformed, "The specification is empty; copy the file again.")
                }
                if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
                    throw ModelError(.malformed, "This is a ZIP archive; unpack it and open what is inside.")
                }
                let model = try SpecificationReader.decode(bytes)
                try SpecificationReader.validate(model)
                return model
            }
        }
    }

    /// The files two levels below `Data` that lie at or below no listed item.
    private static func foreignItems(_ data: String, _ manifest: PackageManifest) throws(ModelError) -> [String] {
        let listed = manifest.items.map { FileAccess.withoutTrailingSlash($0.path) }
        func isKnown(_ path: String) -> Bool {
            listed.contains { $0 == path || $0.hasPrefix(path + "/") || path.hasPrefix($0 + "/") }
        }
        var foreign: [String] = []
        for name in try FileAccess.names(in: data) {
            guard isKnown(name) else {
                foreign.append(name)
                continue
            }
            if listed.contains(name) || FileAccess.kind(of: data + "/" + name) != .folder { continue }
            for inner in try FileAccess.names(in: data + "/" + name) where !isKnown(name + "/" + inner) {
                foreign.append(name + "/" + inner)
            }
        }
        return foreign
    }
}
