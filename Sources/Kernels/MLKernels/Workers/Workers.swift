import CMLKernels

/// The threads that share the work of one kernel; one pool per process.
package enum Workers {
    /// The number of threads in a job, including the caller: `COREML_THREADS`, or as many as the process may use.
    package static var count: Int { Int(cml_worker_count()) }

    /// Limits jobs to at most `count` threads from now on; 0 restores the default.
    ///
    /// For benchmarks and tests.
    package static func limit(to count: Int) { cml_worker_limit(Int32(count)) }

    /// Records that a prediction begins on this thread.
    ///
    /// While as many predictions run as a job has threads, jobs run on their callers' threads alone: workers would take the
    /// processors from the other callers. `predictionEnds` follows.
    package static func predictionBegins() { cml_prediction_begins() }
    package static func predictionEnds() { cml_prediction_ends() }

    /// Runs `body(index, worker)` for every index in `0..<count` and returns when all are done.
    ///
    /// The caller takes part. Worker `w` (in `0..<Workers.count`) starts with the w-th contiguous slice of the indices,
    /// then helps the others. While the pool executes another caller's job, or inside a body, everything runs on the
    /// calling thread as worker 0.
    package static func parallelFor(_ count: Int, _ body: (_ index: Int, _ worker: Int) -> Void) {
        withoutActuallyEscaping(body) { body in
            var escaped = body
            withUnsafeMutablePointer(to: &escaped) { context in
                cml_parallel_for(
                    count,
                    { context, index, worker in
                        let body = context!.assumingMemoryBound(to: ((Int, Int) -> Void).self)
                        body.pointee(index, Int(worker))
                    },
                    UnsafeMutableRawPointer(context)
                )
            }
        }
    }
}
