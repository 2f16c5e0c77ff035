package import MLNumerics

/// A training, or a part of one, whose state can be saved as bytes and restored later, in another process too.
package protocol ResumableTraining {
    /// Everything that changes from step to step, for `restore`.
    var state: [UInt8] { get throws(ModelError) }

    /// Continues from the state of a training of the same data and settings, exactly as if it had been reached here.
    ///
    /// - Throws: `.malformed` for bytes that are not such a state, `.invalidInput` where the state is recognised as one of
    ///   other data or settings. Never traps.
    mutating func restore(_ state: [UInt8]) throws(ModelError)
}

/// A training that works step by step, and can be stopped, saved and reported on between two steps.
package protocol IterativeTraining: ResumableTraining {
    /// The report of a step.
    associatedtype Report

    /// The number of iterations that are done: rounds of boosting, steps of an optimiser, passes over texts, epochs.
    var iteration: Int { get }

    /// Whether nothing is left to do: converged, stopped early, or at the maximum number of iterations.
    var isFinished: Bool { get }

    /// Works until training can be stopped next, which is one iteration or a part of one.
    ///
    /// - Throws: Errors of the computation; the training must then not be continued, unless the error is `.cancelled`.
    @discardableResult mutating func step() throws(ModelError) -> Report
}

extension IterativeTraining {
    /// Trains until nothing is left to do.
    ///
    /// - Parameter isCancelled: Called before every step.
    /// - Throws: `.cancelled`, with the progress until then kept; the errors of the steps.
    package mutating func train(isCancelled: () -> Bool = { Task.isCancelled }) throws(ModelError) {
        try finish(&self, isCancelled)
    }
}

extension IterativeTraining where Self: AnyObject {
    /// Trains until nothing is left to do.
    ///
    /// - Parameter isCancelled: Called before every step.
    /// - Throws: `.cancelled`, with the progress until then kept; the errors of the steps.
    package func train(isCancelled: () -> Bool = { Task.isCancelled }) throws(ModelError) {
        var training = self
        try finish(&training, isCancelled)
    }
}

private func finish(_ training: inout some IterativeTraining, _ isCancelled: () -> Bool) throws(ModelError) {
    while !training.isFinished {
        guard !isCancelled() else {
            throw ModelError(.cancelled, "the training was cancelled after \(training.iteration) iterations")
        }
        try training.step()
    }
}
