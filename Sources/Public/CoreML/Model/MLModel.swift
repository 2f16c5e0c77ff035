import Dispatch
package import MLEngine
package import MLFiles
import MLNumerics
import MLSpecification

/// A loaded model, ready for predictions.
///
/// Any number of threads may use one at the same time. `@unchecked Sendable`: everything that it holds is immutable.
open class MLModel: NSObject, @unchecked Sendable {
    /// The model's interface: its inputs, outputs, states and metadata.
    public let modelDescription: MLModelDescription
    /// A copy of the configuration that the model was loaded with; changing it has no effect on this model.
    public var configuration: MLModelConfiguration { loadedConfiguration.copy() as! MLModelConfiguration }

    package let engine: any ModelEngine
    /// Whether array inputs may carry the sequence and batch axes of old neural networks.
    let allowsLegacyRanks: Bool
    private let loadedConfiguration: MLModelConfiguration
    let parameters: LoadedParameters

    /// The devices that models run on here: the processor.
    public static var availableComputeDevices: [MLComputeDevice] { MLComputeDevice.allComputeDevices }

    package init(_ file: ModelFile, configuration: MLModelConfiguration) throws {
        let file = try file.withWeights(configuration.parameters ?? [:])
        let loadingOptions = try configuration.loadingOptions()
        engine = try translatingErrors { () throws(ModelError) in
            try EngineLoader.load(file, functionName: configuration.functionName, loadingOptions: loadingOptions)
        }
        parameters = try LoadedParameters(file, configuration.parameters ?? [:])
        modelDescription = MLModelDescription(file.specification, functionName: configuration.functionName)
        allowsLegacyRanks = file.specification.hasLegacyRanks
        loadedConfiguration = configuration.copy() as! MLModelConfiguration
    }

    /// Makes a model with an engine that was made for it before, and parameters that were checked before.
    init(_ file: ModelFile, configuration: MLModelConfiguration, engine: any ModelEngine) {
        self.engine = engine
        parameters = (try? LoadedParameters(file, configuration.parameters ?? [:])) ?? LoadedParameters(of: file)
        modelDescription = MLModelDescription(file.specification, functionName: configuration.functionName)
        allowsLegacyRanks = file.specification.hasLegacyRanks
        loadedConfiguration = configuration.copy() as! MLModelConfiguration
    }

    /// Loads a compiled folder, a package or a model file, with the default configuration.
    ///
    /// The key of an encrypted model must be on the machine: beside the model or in the key store. `load` can also
    /// fetch it from a key service.
    ///
    /// - Parameter url: The model.
    /// - Throws: `MLModelError`: `io` when the model cannot be read, `modelDecryptionKeyFetch` or `modelDecryption`
    ///   when it cannot be decrypted, otherwise mostly `generic`.
    public convenience init(contentsOf url: URL) throws {
        try self.init(contentsOf: url, configuration: MLModelConfiguration())
    }

    /// Loads a compiled folder, a package or a model file.
    ///
    /// The key of an encrypted model must be on the machine: beside the model or in the key store. `load` can also
    /// fetch it from a key service.
    ///
    /// - Parameters:
    ///   - url: The model.
    ///   - configuration: The function to load, and parameters. The model keeps a copy.
    /// - Throws: `MLModelError`: `io` when the model cannot be read, `parameters` when it does not allow a parameter,
    ///   `modelDecryptionKeyFetch` or `modelDecryption` when it cannot be decrypted, otherwise mostly `generic`.
    public convenience init(contentsOf url: URL, configuration: MLModelConfiguration) throws {
        let isChanged = !(configuration.parameters ?? [:]).isEmpty
        let file = try translatingErrors { () throws(ModelError) in
            try ModelFile.open(path: url.path, for: isChanged ? .inspection : .prediction)
        }
        try self.init(file, configuration: configuration)
    }

    /// Loads a compiled folder, a package or a model file on another thread.
    ///
    /// - Parameters:
    ///   - url: The model.
    ///   - configuration: The function to load, and parameters. The model keeps a copy.
    /// - Returns: The loaded model.
    /// - Throws: `MLModelError`: `io` when the model cannot be read, `parameters` when it does not allow a parameter,
    ///   `modelDecryptionKeyFetch` or `modelDecryption` when it cannot be decrypted, otherwise mostly `generic`.
    public class func load(
        contentsOf url: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> MLModel {
        // Nobody else has the copy.
        nonisolated(unsafe) let copy = configuration.copy() as! MLModelConfiguration
        try await fetchKey(for: url)
        return try await runBlocking { try MLModel(contentsOf: url, configuration: copy) }
    }

    /// Loads a compiled folder, a package or a model file on another thread and calls a handler.
    ///
    /// - Parameters:
    ///   - url: The model.
    ///   - configuration: The function to load, and parameters. The model keeps a copy.
    ///   - handler: Called once, on a background thread, with the model or an `MLModelError`.
    public class func load(
        contentsOf url: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Result<MLModel, any Error>) -> Void
    ) {
        // Nobody else has the copy. Handlers are called once; Apple's declarations do not mark them as sendable.
        nonisolated(unsafe) let copy = configuration.copy() as! MLModelConfiguration
        nonisolated(unsafe) let handler = handler
        Task.detached {
            do { try await fetchKey(for: url) } catch { return handler(.failure(error)) }
            DispatchQueue.global(qos: .userInitiated).async {
                handler(Result { try MLModel(contentsOf: url, configuration: copy) })
            }
        }
    }

    /// Loads an asset on another thread.
    ///
    /// - Parameters:
    ///   - asset: The model.
    ///   - configuration: The function to load, and parameters. The model keeps a copy.
    /// - Returns: The loaded model.
    /// - Throws: `MLModelError`, as `load(contentsOf:configuration:)` does.
    public class func load(asset: MLModelAsset, configuration: MLModelConfiguration) async throws -> MLModel {
        // Nobody else has the copy.
        nonisolated(unsafe) let copy = configuration.copy() as! MLModelConfiguration
        try await asset.fetchKey()
        return try await runBlocking { try MLModel(asset.file(), configuration: copy) }
    }

    /// Loads an asset on another thread and calls a handler.
    ///
    /// - Parameters:
    ///   - asset: The model.
    ///   - configuration: The function to load, and parameters. The model keeps a copy.
    ///   - handler: Called once, on a background thread, with the model or an `MLModelError`.
    public class func load(
        _ asset: MLModelAsset,
        configuration: MLModelConfiguration,
        completionHandler handler: @escaping (MLModel?, (any Error)?) -> Void
    ) {
        // Nobody else has the copy. Handlers are called once; Apple's declarations do not mark them as sendable.
        nonisolated(unsafe) let copy = configuration.copy() as! MLModelConfiguration
        nonisolated(unsafe) let handler = handler
        Task.detached {
            do { try await asset.fetchKey() } catch { return handler(nil, error) }
            DispatchQueue.global(qos: .userInitiated).async {
                do { handler(try MLModel(asset.file(), configuration: copy), nil) } catch { handler(nil, error) }
            }
        }
    }

    /// Compiles a model file or package into a new temporary folder.
    ///
    /// - Parameter modelURL: The `.mlmodel` file or `.mlpackage` folder.
    /// - Returns: The compiled folder (`.mlmodelc`), which the caller moves to its final place.
    /// - Throws: `MLModelError`: `io` when files cannot be read or written, otherwise mostly `generic`.
    public class func compileModel(at modelURL: URL) throws -> URL {
        let path = try translatingErrors { () throws(ModelError) in try ModelCompiler.compile(path: modelURL.path) }
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Compiles a model file or package into a new temporary folder, on another thread.
    ///
    /// - Parameter modelURL: The `.mlmodel` file or `.mlpackage` folder.
    /// - Returns: The compiled folder (`.mlmodelc`), which the caller moves to its final place.
    /// - Throws: `MLModelError`: `io` when files cannot be read or written, otherwise mostly `generic`.
    public class func compileModel(at modelURL: URL) async throws -> URL {
        try await runBlocking { () throws -> URL in try MLModel.compileModel(at: modelURL) }
    }

    /// Compiles a model file or package into a new temporary folder, on another thread, and calls a handler.
    ///
    /// - Parameters:
    ///   - url: The `.mlmodel` file or `.mlpackage` folder.
    ///   - handler: Called once, on a background thread, with the compiled folder or an `MLModelError`. The caller
    ///     moves the folder to its final place.
    public class func compileModel(
        at url: URL,
        completionHandler handler: @escaping (Result<URL, any Error>) -> Void
    ) {
        // Called once; Apple's declarations do not mark handlers as sendable.
        nonisolated(unsafe) let handler = handler
        DispatchQueue.global(qos: .userInitiated).async {
            handler(Result { () throws -> URL in try MLModel.compileModel(at: url) })
        }
    }

    /// The model's interface, as `modelDescription` describes it.
    open override var description: String { modelDescription.description }

    /// Whether both models use the same loaded copy of some linked model.
    package func sharesModels(with other: MLModel) -> Bool {
        !engine.sharedModels.isDisjoint(with: other.engine.sharedModels)
    }
}

extension SpecModel {
    /// Whether arrays may have ranks that differ from the stated ones: networks without the exact rank mapping.
    fileprivate var hasLegacyRanks: Bool {
        switch type {
        case .neuralNetwork(let network)?: network.arrayInputShapeMapping == .rank5ArrayMapping
        case .neuralNetworkClassifier(let network)?: network.arrayInputShapeMapping == .rank5ArrayMapping
        case .neuralNetworkRegressor(let network)?: network.arrayInputShapeMapping == .rank5ArrayMapping
        case .pipeline(let pipeline)?: pipeline.models.first?.hasLegacyRanks ?? false
        case .pipelineClassifier(let pipeline)?: pipeline.pipeline.models.first?.hasLegacyRanks ?? false
        case .pipelineRegressor(let pipeline)?: pipeline.pipeline.models.first?.hasLegacyRanks ?? false
        default: false
        }
    }
}
