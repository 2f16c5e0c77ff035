import MLKernels
package import MLNumerics
import Synchronization

/// An engine that may call code of the app, which then is called on the thread that predicts, for one example at a
/// time.
package protocol AppCalling {
    var callsApp: Bool { get }
}

/// Work on many examples, spread over the workers.
package enum ParallelExamples {
    /// Computes a result for each index.
    ///
    /// As many indices as there are workers are computed at the same time, each on one thread, because kernels that
    /// share a prediction's work wait for each other at every step. The remainder, for which some workers would have
    /// nothing to do, follows one by one, and kernels divide its work.
    ///
    /// - Parameters:
    ///   - indices: The indices of the examples.
    ///   - onWorkers: Whether workers take part; otherwise the examples follow one another on the caller's thread.
    ///   - compute: Computes one; called on several threads, with the caller's `Cancellation`.
    /// - Returns: The results in the order of `indices`; `.cancelled` for those that a cancelled task did not reach.
    package static func results<Value>(
        of indices: Range<Int>,
        onWorkers: Bool = true,
        _ compute: (Int) throws(ModelError) -> Value
    ) -> [Result<Value, ModelError>] {
        let workers = Workers.count
        let spread = onWorkers && indices.count >= workers ? indices.count - indices.count % workers : 0
        let cancellation = Cancellation.current
        // Workers may take all examples before the caller's thread takes one.
        let isCancelled = Atomic(Task.isCancelled)
        var results = [Result<Value, ModelError>?](repeating: nil, count: indices.count)
        results.withUnsafeMutableBufferPointer { results in
            // Each element is written by one worker.
            nonisolated(unsafe) let results = results
            func fill(_ position: Int) {
                // The caller's thread, which takes part, sees the task.
                if Task.isCancelled { isCancelled.store(true, ordering: .relaxed) }
                results[position] = Cancellation.$current.withValue(cancellation) {
                    Result { () throws(ModelError) in
                        if isCancelled.load(ordering: .relaxed) { throw Cancellation.error }
                        try Cancellation.check()
                        return try compute(indices.lowerBound + position)
                    }
                }
            }
            Workers.parallelFor(spread) { position, _ in fill(position) }
            for position in spread..<indices.count { fill(position) }
        }
        return results.compactMap { $0 }
    }
}
