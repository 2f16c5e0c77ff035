import MLEngine
import MLFiles
import MLNumerics
import MLSpecification
import Synchronization

/// A model at some point of an update, whose engine is loaded when it first predicts.
///
/// `@unchecked Sendable`: it adds an immutable file to `MLModel`.
final class UpdatedModel: MLModel, MLWritable, @unchecked Sendable {
    /// The file, or the reason why the update cannot provide it.
    private let content: Result<ModelFile, ModelError>

    /// Makes the result of an update.
    ///
    /// - Parameters:
    ///   - content: The updated model; predictions and `write` throw its failure.
    ///   - original: The model before the update, which has the same interface.
    ///   - configuration: The configuration of the update.
    ///   - loadingOptions: The settings to load the engine with.
    init(
        _ content: Result<ModelFile, ModelError>,
        of original: ModelFile,
        configuration: MLModelConfiguration,
        loadingOptions: LoadingOptions
    ) {
        self.content = content
        super.init(
            (try? content.get()) ?? original,
            configuration: configuration,
            engine: DeferredEngine(content, original.specification.description_p, loadingOptions)
        )
    }

    package override init(_ file: ModelFile, configuration: MLModelConfiguration) throws {
        content = .success(file)
        try super.init(file, configuration: configuration)
    }

    override init(_ file: ModelFile, configuration: MLModelConfiguration, engine: any ModelEngine) {
        content = .success(file)
        super.init(file, configuration: configuration, engine: engine)
    }

    /// Writes a `.mlmodel` file or a package when the name says so, otherwise a compiled folder.
    ///
    /// An existing model stays intact until the new one is complete, and is then replaced.
    ///
    /// - Parameter url: A file URL.
    /// - Throws: `MLModelError`: `io` when the URL is no file URL or writing fails; otherwise the failure of the
    ///   update.
    func write(to url: URL) throws {
        guard url.isFileURL else {
            throw MLModelError(.io, "A model is written to a file URL, not to \(url.absoluteString).")
        }
        try translatingErrors { () throws(ModelError) in try ModelCompiler.save(try content.get(), to: url.path) }
    }
}

/// An engine that is loaded when it is first used.
final class DeferredEngine: ModelEngine {
    let interface: SpecModelDescription
    private let loaded = Mutex<Result<any ModelEngine, ModelError>?>(nil)
    private let file: Result<ModelFile, ModelError>
    private let loadingOptions: LoadingOptions

    init(_ file: Result<ModelFile, ModelError>, _ interface: SpecModelDescription, _ loadingOptions: LoadingOptions) {
        self.file = file
        self.interface = interface
        self.loadingOptions = loadingOptions
    }

    private func engine() throws(ModelError) -> any ModelEngine {
        let result = loaded.withLock { loaded in
            if let loaded { return loaded }
            let result = Result { () throws(ModelError) in
                try EngineLoader.load(try file.get(), loadingOptions: loadingOptions)
            }
            loaded = result
            return result
        }
        return try result.get()
    }

    var prefersBatches: Bool { (try? engine())?.prefersBatches ?? false }

    func makeState() -> ModelState { (try? engine())?.makeState() ?? ModelState([:]) }

    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        try engine().prediction(from: inputs, backings: backings, state: state)
    }

    func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch {
        try engine().predictions(from: batch)
    }

    func results(of examples: [[String: FeatureData]]) -> [Result<[String: FeatureData], ModelError>] {
        do { return try engine().results(of: examples) } catch { return examples.map { _ in .failure(error) } }
    }
}
