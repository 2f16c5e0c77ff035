/// A training from its data to its product, step by step: all that a task writes to have jobs, sessions and
/// checkpoints.
///
/// A run is used by one thread at a time.  What is restored from `encodedData` and `encodedState` goes on exactly as the
/// run would have that wrote them, so that a resumed session gives the same model.
package protocol TrainingRun<Product> {
    /// The public type of the task.
    associatedtype Product

    /// Written into the session's folder; sessions of other tasks are not restored.
    static var taskName: String { get }
    /// The parameters that must stay the same for a session to be gone on with, as text.
    var parameters: [SessionParameter] { get }
    /// Of the data that were passed by the caller; other data give other fingerprints.
    var fingerprint: UInt64 { get }

    /// What the next step does: `.extractingFeatures` or `.training`.
    var phase: MLPhase { get }
    /// Steps of `phase` that were done.
    var iteration: Int { get }
    /// The steps of all phases in their order, as far as the task's own parameters limit them.
    var plan: [PlannedPhase] { get }
    /// Whether training has ended before the plan has: it was stopped early.
    var isFinished: Bool { get }

    /// One step; what was measured by it.  `cancellation` may be asked within long steps, which then throw
    /// `MLCreateError.cancelled` and leave the run as it was before them.
    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double]
    /// Takes over from a run with other parameters those that may differ, such as a limit of iterations.
    mutating func takeLimits(of other: Self)
    /// Holds the model against the data, and makes the product.
    mutating func finish() throws -> Product

    /// What `init(data:)` needs: examples or features, and parameters.  Written when a session begins and whenever
    /// `phase` changes.
    func encodedData() throws -> [UInt8]
    /// - Throws: for bytes that `encodedData` did not write; never traps.
    init(data: [UInt8]) throws
    /// What changes from step to step.
    func encodedState() throws -> [UInt8]
    /// Takes the state that a run with the same data wrote.
    /// - Throws: for bytes that `encodedState` did not write; never traps.
    mutating func restore(state: [UInt8]) throws
}

/// A parameter that a session compares with that of its begin.
package struct SessionParameter: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: some Any) {
        self.name = name
        self.value = "\(value)"
    }
}

/// A phase of a run and the number of its steps; `nil` when only the session limits them.
package struct PlannedPhase: Sendable {
    package var phase: MLPhase
    package var count: Int?

    package init(_ phase: MLPhase, _ count: Int?) {
        self.phase = phase
        self.count = count
    }
}

extension TrainingRun {
    package var isFinished: Bool { false }
    package mutating func takeLimits(of other: Self) {}

    /// The steps of a phase under the limit of a session.
    func count(of phase: MLPhase, limit: Int) -> Int? {
        let planned = plan.first { $0.phase == phase }?.count
        return phase == .training ? min(planned ?? limit, limit) : planned
    }

    /// Whether there is nothing left to iterate.
    func isComplete(limit: Int) -> Bool {
        if isFinished { return true }
        guard phase == .training, let count = count(of: .training, limit: limit) else { return false }
        return iteration >= count
    }

    /// Trains to the end on this thread, without a session.
    package mutating func run() throws -> Product {
        try MLCreateError.translating {
            let cancellation = JobCancellation()
            while !isComplete(limit: .max) {
                if _Concurrency.Task.isCancelled { throw MLCreateError.cancelled }
                _ = try iterate(cancellation)
            }
            return try finish()
        }
    }
}
