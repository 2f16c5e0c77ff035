import MLNumerics
import MLSpecification

/// A `.mlmodelc` folder that Apple's compiler wrote.
///
/// Its `coremldata.bin` begins with the number of the model's kind (its field number in the specification, 32 bits),
/// three version numbers (64 bits each), and the name of the compiler's method for that kind, after its length (64
/// bits). Models that are neither networks nor pipelines have the name `spec`: 32 further bytes are followed by the
/// unchanged specification. All others are compiled into formats that are not published. All numbers are little-endian.
/// Inferred from folders in public repositories; see Documentation/Behaviour.md.
enum AppleCompiledFolder {
    static let fileName = "coremldata.bin"

    /// Opens a folder whose `coremldata.bin` holds a specification.
    ///
    /// It throws `.unsupported` for all other kinds, which it names, and `.malformed` for damaged files.
    static func open(_ folder: String) throws(ModelError) -> ModelFile {
        let file = try MappedFile(folder + "/" + fileName)
        let specification = try withErrorContext(file.path) { () throws(ModelError) in
            try file.withBytes { (bytes) throws(ModelError) in
                guard let start = specificationStart(bytes) else { return nil as SpecModel? }
                let model = try SpecificationReader.decode(UnsafeRawBufferPointer(rebasing: bytes[start...]))
                try SpecificationReader.validate(model)
                return model
            }
        }
        guard let specification else {
            throw ModelError(
                .unsupported,
                "This folder was compiled by Apple's tools and holds \(kind(in: folder)), whose compiled format is not "
                    + "published; open the .mlmodel or .mlpackage that it was made from.",
                at: folder
            )
        }
        return ModelFile(
            path: folder,
            form: .compiled,
            specification: specification,
            weights: WeightFiles(folders: [folder])
        )
    }

    private static let nameStart = 36
    private static let bytesAfterName = 32

    /// The offset of the specification; `nil` when the file holds none.
    private static func specificationStart(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let name = Array("spec".utf8)
        let start = nameStart + name.count + bytesAfterName
        guard bytes.count > start,
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: nameStart - 8, as: UInt64.self)) == name.count,
            bytes[nameStart..<nameStart + name.count].elementsEqual(name)
        else { return nil }
        return start
    }

    /// The kind of model in the folder, as text: from its metadata, otherwise from the files that exist.
    private static func kind(in folder: String) -> String {
        let path = folder + "/metadata.json"
        if FileAccess.kind(of: path) == .file, let bytes = try? FileAccess.read(path),
            case .array(let models)? = try? JSONReader.read(bytes),
            let name = models.first?["modelType"]?["name"]?.string, name.hasPrefix(modelTypePrefix)
        {
            return "a model of the kind \(name.dropFirst(modelTypePrefix.count))"
        }
        func has(_ name: String) -> Bool { FileAccess.kind(of: folder + "/" + name) != nil }
        if has("model0") { return "a pipeline" }
        if has("model.espresso.net") { return "a neural network" }
        if has("model.mil") { return "an ML program" }
        return "a model of an unknown kind"
    }

    /// The prefix of the kinds in `metadata.json`.
    static let modelTypePrefix = "MLModelType_"
}
