import Dispatch
package import MLFiles
import MLNumerics
import MLSpecification

/// A model that is not loaded yet: in memory or on disk.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLModelAsset: NSObject, @unchecked Sendable {
    private enum Source: Sendable {
        case memory(ModelFile)
        case file(URL)
    }

    private let source: Source

    private init(_ source: Source) { self.source = source }

    /// The source of the model: "in memory" or its path.
    open override var description: String {
        switch source {
        case .memory: "MLModelAsset (in memory)"
        case .file(let url): "MLModelAsset (\(url.path))"
        }
    }

    /// Makes an asset in memory from a specification that holds its weights.
    ///
    /// - Parameter specificationData: The content of a `.mlmodel` file.
    /// - Throws: `MLModelError` when the data are no specification.
    public convenience init(specification specificationData: Data) throws {
        try self.init(specification: specificationData, blobMapping: [:])
    }

    /// Makes an asset in memory from a specification and its weight files.
    ///
    /// - Parameters:
    ///   - specificationData: The content of a `.mlmodel` file.
    ///   - blobMapping: The contents of weight files by the paths under which the specification names them, relative to
    ///     the model: `weights/weight.bin`.
    /// - Throws: `MLModelError` when the data are no specification.
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

    /// Makes an asset of a model on disk, which is read when it is used.
    ///
    /// - Parameter compiledModelURL: A compiled folder, a package or a model file.
    /// - Throws: `MLModelError.io` when nothing exists there.
    public convenience init(url compiledModelURL: URL) throws {
        guard FileManager.default.fileExists(atPath: compiledModelURL.path) else {
            throw MLModelError(.io, "There is no model at \(compiledModelURL.path); check the path.")
        }
        self.init(.file(compiledModelURL))
    }

    /// Opens the model's file.
    package func file() throws -> ModelFile {
        switch source {
        case .memory(let file): file
        case .file(let url): try translatingErrors { () throws(ModelError) in try ModelFile.open(path: url.path) }
        }
    }

    /// Fetches the key of an encrypted model to the place where `file` finds it.
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

    /// The names of the model's functions; empty for a model with a single, unnamed function.
    ///
    /// Reading them throws `MLModelError` when the model cannot be read.
    public var functionNames: [String] {
        get async throws {
            try await fetchKey()
            return try await runBlocking { try self.file().specification.functionNames }
        }
    }

    /// The interface of the model's default function.
    ///
    /// Reading it throws `MLModelError` when the model cannot be read.
    public var modelDescription: MLModelDescription {
        get async throws {
            try await fetchKey()
            return try await runBlocking { try self.description(of: nil) }
        }
    }

    /// The interface of a function of the model.
    ///
    /// - Parameter functionName: The name of the function.
    /// - Returns: Its interface.
    /// - Throws: `MLModelError`: `generic` when there is no such function; another code when the model cannot be read.
    public func modelDescription(of functionName: String) async throws -> MLModelDescription {
        try await fetchKey()
        return try await runBlocking { try self.description(of: functionName) }
    }

    /// Reads the names of the model's functions; the handler is called once, on a background thread.
    public func functionNames(completionHandler handler: @escaping ([String]?, (any Error)?) -> Void) {
        deliver({ try self.file().specification.functionNames }, handler)
    }

    /// Reads the interface of the model's default function; the handler is called once, on a background thread.
    public func modelDescription(completionHandler handler: @escaping (MLModelDescription?, (any Error)?) -> Void) {
        deliver({ try self.description(of: nil) }, handler)
    }

    /// Reads the interface of a function of the model.
    ///
    /// - Parameters:
    ///   - functionName: The name of the function.
    ///   - handler: Called once, on a background thread, with the interface or an `MLModelError`.
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
        // Called once; Apple's declarations do not mark handlers as sendable.
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
    /// The functions in the description's order; those of the program when the description lists none.
    var functionNames: [String] {
        let described = description_p.functions.map { $0.name }
        if described.isEmpty, case .mlProgram(let program)? = type { return program.functions.keys.sorted() }
        return described
    }
}
