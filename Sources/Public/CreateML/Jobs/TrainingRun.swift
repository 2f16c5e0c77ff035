/// A training from its data to its product, step by step, which gives a task jobs, sessions and checkpoints.
///
/// A run is used by one thread at a time. A run restored from `encodedData` and `encodedState` continues exactly as
/// the run that wrote them would have, so that a resumed session gives the same model.
package protocol TrainingRun<Product> {
    /// The public type of the task.
    associatedtype Product

    /// The name in the session's folder; sessions of other tasks are not restored.
    static var taskName: String { get }
    /// The parameters, as text, that must not change when a session is resumed.
    var parameters: [SessionParameter] { get }
    /// The fingerprint of the data that the caller passed.
    var fingerprint: UInt64 { get }

    /// The phase of the next step: `.extractingFeatures` or `.training`.
    var phase: MLPhase { get }
    /// The number of steps of `phase` that were done.
    var iteration: Int { get }
    /// The numbers of steps of all phases in their order, where the task's own parameters limit them.
    var plan: [PlannedPhase] { get }
    /// Whether training ended before the plan did, by early stopping.
    var isFinished: Bool { get }

    /// Does one step and returns its metrics.
    ///
    /// Long steps may check `cancellation`; they then throw `MLCreateError.cancelled` and leave the run as it was
    /// before.
    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double]
    /// Takes over from a run with other parameters those that may differ, such as the limit of iterations.
    mutating func takeLimits(of other: Self)
    /// A picture of the progress as a PNG file, which is made with every checkpoint; `nil` for tasks without one.
    func stylizedPicture() throws -> [UInt8]?
    /// Evaluates the model and makes the product.
    mutating func finish() throws -> Product

    /// The examples or features, and the parameters, for `init(data:)`.
    ///
    /// They are written when a session begins and whenever `phase` changes.
    func encodedData() throws -> [UInt8]
    /// Restores a run from encoded data.
    /// - Throws: For bytes that `encodedData` did not write; never traps.
    init(data: [UInt8]) throws
    /// The state that changes from step to step.
    func encodedState() throws -> [UInt8]
    /// Restores the state that a run with the same data wrote.
    /// - Throws: For bytes that `encodedState` did not write; never traps.
    mutating func restore(state: [UInt8]) throws
}

/// A parameter that a session compares with the value that it began with.
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
    package func stylizedPicture() throws -> [UInt8]? { nil }
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
