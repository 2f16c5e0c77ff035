package import DeploymentClient
import DeploymentPolicy
import MLEngine
import MLFiles
import MLNumerics
import MLTestVectors

/// Tests that the models of a release work on this device before the app gets them.
package enum ReleaseTest {
    /// Loads each model, compares its results with the release's test vectors, and its time with that of its
    /// predecessor.
    @Sendable package static func run(
        _ use: CollectionStore.Use,
        _ store: CollectionStore
    ) async throws(DeploymentError) {
        guard let hash = use.installed.release, let release = try store.release(hash) else { return }
        for model in release.models {
            guard let path = use.models[model.name] else { continue }
            do throws(ModelError) {
                let engine = try await load(path)
                guard let test = model.selfTest else { continue }
                let vectors = try VectorReader(engine.interface).read(store.vectorsPath(test.vectors.sha256))
                try compare(engine, with: vectors, test.tolerance)
                guard let maximumRatio = test.slowdown,
                    let previousModel = try await previousModel(model.name, use, store)
                else {
                    continue
                }
                try compare(engine, with: previousModel, vectors, atMost: maximumRatio)
            } catch {
                throw DeploymentError(code(of: error), model.name, error.description)
            }
        }
    }

    private static let (mismatch, slow) = (ModelError.Code("self test"), ModelError.Code("slow"))

    private static func code(of error: ModelError) -> DeploymentError.Code {
        switch error.code {
        case mismatch: .selfTest
        case slow: .slow
        default: .load
        }
    }

    private static func load(_ path: String) async throws(ModelError) -> any ModelEngine {
        try await ModelVaults.fetchKey(for: path)
        return try EngineLoader.load(try ModelFile.open(path: path, for: .prediction), functionName: nil)
    }

    private static func compare(
        _ engine: any ModelEngine,
        with vectors: TestVectors,
        _ tolerance: Double?
    ) throws(ModelError) {
        let table = ToleranceTable(all: tolerance.map { Tolerance(absolute: $0, relative: $0) })
        let run = VectorRun(engine, vectors, tolerances: table)
        for test in vectors.cases {
            let result = run.result(of: test)
            switch result.outcome {
            case .passed: continue
            case .error(let message): throw ModelError(mismatch, message, at: test.name)
            case .failed(let deviations):
                let first = deviations.first.map { "\($0.deviation.output): \($0.deviation.message)" } ?? ""
                throw ModelError(
                    mismatch,
                    "The model's outputs differ from its publisher's test vectors. \(first)",
                    at: test.name
                )
            }
        }
    }

    // MARK: Speed

    /// The model of a name that the app falls back to; `nil` where none can be loaded, so that times cannot be
    /// compared.
    private static func previousModel(
        _ name: String,
        _ use: CollectionStore.Use,
        _ store: CollectionStore
    ) async throws(ModelError) -> (any ModelEngine)? {
        guard let release = use.previousRelease, let path = (try? store.models(of: release))?[name] else { return nil }
        return try? await load(path)
    }

    private static func compare(
        _ engine: any ModelEngine,
        with previousModel: any ModelEngine,
        _ vectors: TestVectors,
        atMost maximumRatio: Double
    ) throws(ModelError) {
        guard let comparison = SpeedComparison(engine, previousModel, vectors, limit: maximumRatio),
            comparison.isNoticeable, comparison.ratio > maximumRatio
        else { return }
        throw ModelError(slow, "The model takes \(comparison), which is more than \(maximumRatio) times as long.")
    }
}
