import Dispatch

/// Runs `body` on a thread of Dispatch, so that long work does not block one of the few threads that tasks share.
func runBlocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .userInitiated).async {
            continuation.resume(with: Result { try body() })
        }
    }
}
