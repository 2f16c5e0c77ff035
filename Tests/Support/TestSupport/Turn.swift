/// Serializes tests that change state of the whole process.
package actor Turn {
    /// The process's key service for encrypted models.
    package static let keyService = Turn()

    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init() {}

    private func begin() async {
        guard isTaken else { return isTaken = true }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func end() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }

    /// Runs `body` while no other test has the turn.
    package nonisolated func take<R>(_ body: () async throws -> R) async throws -> R {
        await begin()
        let result: Result<R, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await end()
        return try result.get()
    }
}
