import Dispatch
package import MLFiles
import MLNumerics
import MLSpecification

/// A model that is not loaded yet: bytes in memory, or a file.
open class MLModelAsset: NSObject, @unchecked Sendable {
    private enum Source: Sendable {
        case memory(ModelFile)
        case file(URL)
    }

    private let source: Source

    private init(_ source: Source) { self.source = source }

    open override var description: String {
        switch source {
        case .memory: "MLModelAsset (in memory)"
        case .file(let url): "MLModelAsset (\(url.path))"
        }
    }

    /// A model whose specification holds its weights.
    public convenience init(specification specificationData: Data) throws {
        try self.init(specification: specificationData, blobMapping: [:])
    }

    /// A model in memory with its weight files, by the paths under which the specification names them, relative to
    /// the model: `weights/weight.bin`.
    public convenience init(specification specificationData: Data, blobMapping: [URL: Data]) throws {
        var blobs: [String: [UInt8]] = [:]
        for (url, data) in blobMapping {
            var name = url.relativePath
            while name.hasPrefix("/") || name.hasPrefix("./") { name.removeFirst(name.hasPrefix("/") ? 1 : 2) }
            blobs[name.hasPrefix("@model_path/") ? name : "@model_path/" + name] = [UInt8](data)
        }
        let file = try translatingErrors { () throws(ModelError) in
            try ModelFile(specification: [UInt8](specificationData), blobs: blobs)
        }
        self.init(.memory(file))
    }

    /// A model on disk.
    public convenience init(url compiledModelURL: URL) throws {
        guard FileManager.default.fileExists(atPath: compiledModelURL.path) else {
            throw MLModelError(.io, "There is no model at \(compiledModelURL.path); check the path.")
        }
        self.init(.file(compiledModelURL))
    }

    package func file() throws -> ModelFile {
        switch source {
        case .memory(let file): file
        case .file(let url): try translatingErrors { () throws(ModelError) in try ModelFile.open(path: url.path) }
        }
    }

    /// Gets the key of an encrypted model to where `file` finds it.
    func fetchKey() async throws {
        if case .file(let url) = source { try await CoreML.fetchKey(for: url) }
    }

    private func description(of functionName: String?) throws -> MLModelDescription {
        let specification = try file().specification
        if let functionName, !specification.functionNames.contains(functionName) {
            throw MLModelError(
                .generic,
                "The model has no function \"\(functionName)\"; it has "
                    + specification.functionNames.joined(separator: ", ") + "."
            )
        }
        return MLModelDescription(specification, functionName: functionName)
    }

    /// The names of the model's functions; empty for a model that has one only, without a name.
    public var functionNames: [String] {
        get async throws {
            try await fetchKey()
            return try await offPool { try self.file().specification.functionNames }
        }
    }

    public var modelDescription: MLModelDescription {
        get async throws {
            try await fetchKey()
            return try await offPool { try self.description(of: nil) }
        }
    }

    public func modelDescription(of functionName: String) async throws -> MLModelDescription {
        try await fetchKey()
        return try await offPool { try self.description(of: functionName) }
    }

    public func functionNames(completionHandler handler: @escaping ([String]?, (any Error)?) -> Void) {
        deliver({ try self.file().specification.functionNames }, handler)
    }

    public func modelDescription(completionHandler handler: @escaping (MLModelDescription?, (any Error)?) -> Void) {
        deliver({ try self.description(of: nil) }, handler)
    }

    public func modelDescription(
        ofFunctionNamed functionName: String,
        completionHandler handler: @escaping (MLModelDescription?, (any Error)?) -> Void
    ) {
        deliver({ try self.description(of: functionName) }, handler)
    }

    private func deliver<R>(
        _ body: @escaping @Sendable () throws -> R,
        _ handler: @escaping (R?, (any Error)?) -> Void
    ) {
        nonisolated(unsafe) let handler = handler
        Task.detached {
            do { try await self.fetchKey() } catch { return handler(nil, error) }
            DispatchQueue.global(qos: .userInitiated).async {
                do { handler(try body(), nil) } catch { handler(nil, error) }
            }
        }
    }
}

extension SpecModel {
    /// In the order of the description; those of the program when the description lists none.
    var functionNames: [String] {
        let described = description_p.functions.map { $0.name }
        if described.isEmpty, case .mlProgram(let program)? = type { return program.functions.keys.sorted() }
        return described
    }
}
