import CoreML
import Foundation

/// One version of a model, ready for requests.
///
/// A request that found it keeps it until its answer: a newer one can take its place at any time.
package final class LoadedModel: Sendable {
    /// The model's name in addresses.
    package let name: String
    /// The version's number, as text.
    package let version: String
    /// The model's inputs and outputs.
    package let interface: ModelInterface
    package let queue: PredictionQueue
    let counts: ModelCounts
    private let pool: PredictionPool

    /// Loads a model.
    ///
    /// - Parameters:
    ///   - name: its name in addresses.
    ///   - version: its version.
    ///   - path: the model file or folder.
    ///   - options: how its examples are gathered.
    ///   - pool: the threads that predict.
    ///   - counts: its counters, which those of earlier loads continue.
    /// - Throws: `MLModelError` when it cannot be loaded.
    init(
        name: String,
        version: String,
        path: String,
        options: BatchOptions,
        pool: PredictionPool,
        counts: ModelCounts
    ) throws {
        self.name = name
        self.version = version
        self.pool = pool
        self.counts = counts
        let model = try MLModel(contentsOf: URL(fileURLWithPath: path))
        interface = ModelInterface(model.modelDescription)
        let (form, rows) = BatchProbe.form(of: model, options)
        queue = PredictionQueue(Predictor(model: model, form: form), maximumRowCount: rows, options: options)
    }

    /// The number of requests that wait for a prediction.
    package var waiting: Int { pool.waiting(queue) }

    /// The most examples that are predicted together; 0 when they are predicted one by one, as Triton states it.
    package var maximumBatchSize: Int { queue.predictor.form == .single ? 0 : queue.maximumRowCount }

    /// Predicts, and gives the outputs that a request wants.
    ///
    /// - Throws: `ServingError` that names what does not fit.
    func outputs(_ request: InferenceRequest) async throws -> [(Tensor, isBinary: Bool)] {
        try refuseSequences(request)
        try interface.check(request)
        let example = try interface.example(request.inputs)
        let rows = queue.predictor.form == .stacked ? request.inputs.first?.shape.first ?? 1 : 1
        let job = Job(example, rows: max(rows, 1), arrived: pool.clock.now)
        let answer = try await pool.predict(job, queue)
        counts.computed(answer)
        return try interface.tensors(answer.outputs, for: request)
    }

    /// Answers a request over HTTP.
    ///
    /// - Throws: `ServingError` that names what does not fit.
    func answer(_ request: InferenceRequest) async throws -> AnswerBody {
        try AnswerBody(model: name, version: version, id: request.id, outputs: try await outputs(request))
    }

    /// Calls `body` and counts its answer, or its failure by status, in the model's statistics.
    func counting<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        let start = ContinuousClock.now
        do {
            let answer = try await body()
            counts.answered(200, ContinuousClock.now - start)
            return answer
        } catch {
            counts.answered((error as? ServingError)?.status ?? 500, ContinuousClock.now - start)
            throw error
        }
    }

    private func refuseSequences(_ request: InferenceRequest) throws {
        if interface.hasStates {
            throw ServingError.invalid(
                "The model \"\(name)\" keeps a state between predictions; this server does not support such models."
            )
        }
        if request.sequence != nil {
            throw ServingError.invalid(
                "The request belongs to a sequence (\"sequence_id\"), but the model \"\(name)\" keeps no state."
            )
        }
    }
}
