import CoreML
import CreateML
import Foundation
import MLEngine
import MLFiles
import MLNumerics
import MLPreview
import MLSpecification
import MLUpdating
import Synchronization

/// A loaded model with the state that the page keeps between requests.
final class PreviewSession: Sendable {
    /// The model that predicts: the file's, or the one trained on the page.
    enum Variant: String { case original, taught }

    let file: ModelFile
    let function: String?
    let plan: PreviewPlan
    let engine: any ModelEngine
    /// The model for windows of sounds, samples and key points, and for questions.
    let model: MLModel?
    let vocabulary: PreviewVocabulary?
    let saveFolder: String?
    let loadMilliseconds: Double
    let queue = PredictionQueue(width: 2)

    private struct State {
        var taught: (file: ModelFile, engine: any ModelEngine)?
        var isLearning = false
        /// The states by the names that the page gave them, and when each was last used.
        var states: [String: (state: ModelState, turn: Int)] = [:]
        var turn = 0
    }
    private let shared = Mutex(State())

    init(_ file: ModelFile, function: String?, vocabulary: PreviewVocabulary?, saveFolder: String?) throws {
        let start = ContinuousClock.now
        let subject = ModelSubject(file.specification)
        let series: PreviewPlan.Series? =
            switch subject {
            case .sounds: .sounds
            case .activities: .activities
            case .keypoints: .keypoints
            default: nil
            }
        let plan = PreviewPlan(file.specification, series: series)
        if series != nil || plan.kind == .questionAnswering {
            let configuration = MLModelConfiguration()
            configuration.functionName = function
            let model = try MLModel(file, configuration: configuration)
            self.model = model
            engine = model.engine
        } else {
            model = nil
            engine = try failing { () throws(ModelError) in try EngineLoader.load(file, functionName: function) }
        }
        loadMilliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        self.file = file
        self.function = function
        self.plan = plan
        self.vocabulary = vocabulary
        self.saveFolder = saveFolder
    }

    func engine(_ variant: Variant) throws -> any ModelEngine {
        guard variant == .taught else { return engine }
        guard let taught = shared.withLock({ $0.taught }) else { throw Failure("the model has not been taught yet") }
        return taught.engine
    }

    var taughtFile: ModelFile? { shared.withLock { $0.taught?.file } }

    /// The state of a name; a new one when it is unknown.
    ///
    /// When there are many, the least recently used are dropped.
    func state(_ name: String) -> ModelState {
        shared.withLock { shared in
            shared.turn += 1
            let state = shared.states[name]?.state ?? engine.makeState()
            shared.states[name] = (state, shared.turn)
            if shared.states.count > 8, let oldest = shared.states.min(by: { $0.value.turn < $1.value.turn }) {
                shared.states[oldest.key] = nil
            }
            return state
        }
    }

    func forgetState(_ name: String) { shared.withLock { $0.states[name] = nil } }

    /// Discards the trained model.
    func reset() { shared.withLock { $0.taught = nil } }

    /// Runs `body` unless another training run is in progress.
    func learning<R>(_ body: () throws -> R) throws -> R {
        let isFree = shared.withLock { shared in
            defer { shared.isLearning = true }
            return !shared.isLearning
        }
        guard isFree else { throw Failure("the model is learning; wait until it is done, or stop it") }
        defer { shared.withLock { $0.isLearning = false } }
        return try body()
    }

    func replaceModel(_ file: ModelFile) throws {
        let engine = try failing { () throws(ModelError) in try EngineLoader.load(file) }
        shared.withLock { $0.taught = (file, engine) }
    }
}

/// Lets a few predictions run at a time; the others wait.
final class PredictionQueue: Sendable {
    private let running: Mutex<Int>
    private let width: Int

    init(width: Int) {
        self.width = width
        running = Mutex(0)
    }

    /// - Throws: `.cancelled` when `cancellation` is requested before `body` starts.
    func run<R>(_ cancellation: Cancellation, _ body: () throws -> R) throws -> R {
        while true {
            try failing { () throws(ModelError) in try cancellation.check() }
            let isAdmitted = running.withLock { running in
                guard running < width else { return false }
                running += 1
                return true
            }
            if isAdmitted { break }
            usleep(1000)
        }
        defer { running.withLock { $0 -= 1 } }
        return try Cancellation.$current.withValue(cancellation) { try body() }
    }
}
