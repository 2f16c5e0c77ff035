import DeploymentClient
import DeploymentPolicy
import MLEngine
import MLFiles
import MLNumerics
import MLTestVectors

/// Shows that the models of a release work on this device, before the app gets them.
enum ReleaseTest {
    /// Loads each model, and compares what it answers with what the release says it has to.
    @Sendable static func run(_ use: CollectionStore.Use, _ store: CollectionStore) async throws(DeploymentError) {
        guard let hash = use.installed.release, let release = try store.release(hash) else { return }
        for model in release.models {
            guard let path = use.models[model.name] else { continue }
            do throws(ModelError) {
                try await ModelVaults.fetchKey(for: path)
                let engine = try EngineLoader.load(try ModelFile.open(path: path, for: .prediction), functionName: nil)
                guard let test = model.selfTest else { continue }
                try compare(engine, with: store.vectorsPath(test.vectors.sha256), test.tolerance, model.name)
            } catch {
                throw DeploymentError(error.code == mismatch ? .selfTest : .load, model.name, error.description)
            }
        }
    }

    private static let mismatch = ModelError.Code("self test")

    private static func compare(
        _ engine: any ModelEngine,
        with path: String,
        _ tolerance: Double?,
        _ name: String
    ) throws(ModelError) {
        let vectors = try VectorReader(engine.interface).read(path)
        let table = ToleranceTable(all: tolerance.map { Tolerance(absolute: $0, relative: $0) })
        let run = VectorRun(engine, vectors, tolerances: table)
        for test in vectors.cases {
            let result = run.result(of: test)
            switch result.outcome {
            case .passed: continue
            case .broken(let message): throw ModelError(mismatch, message, at: test.name)
            case .failed(let deviations):
                let first = deviations.first.map { "\($0.deviation.output): \($0.deviation.message)" } ?? ""
                throw ModelError(mismatch, "The model does not answer as its publisher says. \(first)", at: test.name)
            }
        }
    }
}
