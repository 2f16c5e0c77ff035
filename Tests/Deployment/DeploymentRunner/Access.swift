import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Synchronization

/// Accesses a collection in many threads: begins, looks at the models, ends, and checks at times, as apps do that were written by
/// several people.
/// - Returns: 0 when every model that was handed out stayed whole while it was used.
func access(_ folder: String, store: String, threads: Int, iterations: Int) async throws -> Int32 {
    let configuration = try DeploymentConfiguration(contentsOf: folder + "/ModelDeployment.json")
    let place = try CollectionStore(folder: store)
    let transport = CountingTransport(FolderTransport(folder: folder))
    let updater = Updater(
        configuration: configuration,
        store: place,
        transport: transport,
        attributes: { DeviceAttributes() },
        now: now
    )
    let client = CollectionClient(store: place, updater: updater, test: { (_, _) throws(DeploymentError) in })
    let collection = SampleDeployment.collection
    let tally = Tally()
    await withTaskGroup(of: Void.self) { group in
        for thread in 0..<threads {
            group.addTask {
                for iteration in 0..<iterations / threads {
                    do {
                        let isChecking = (thread + iteration) % 97 == 0
                        tally.add(hadModels: try await accessOnce(client, isChecking: isChecking))
                        if iterations > threads { _ = try await client.end(collection) }
                    } catch {
                        tally.add(error)
                    }
                }
            }
        }
    }
    let (uses, failures) = tally.counts
    print("uses \(uses), archives \(transport.archives), failures \(failures.count)")
    for failure in failures.prefix(5) { print("failure \(failure)") }
    return failures.isEmpty ? 0 : 1
}

/// Looks at the models while they are used.
/// - Returns: whether there are any.
private func accessOnce(_ client: CollectionClient, isChecking: Bool) async throws -> Bool {
    let use = try await client.open(SampleDeployment.collection)
    if isChecking { _ = try await client.check(SampleDeployment.collection) }
    try look(at: use)
    return withExtendedLifetime(use) { !use.models.isEmpty }
}

/// Counts accesses that had models, and collects what went wrong.
private final class Tally: Sendable {
    private let state = Mutex<(uses: Int, failures: [String])>((0, []))
    var counts: (uses: Int, failures: [String]) { state.withLock { $0 } }
    func add(hadModels: Bool) { if hadModels { state.withLock { $0.uses += 1 } } }
    func add(_ failure: any Error) { state.withLock { $0.failures.append("\(failure)") } }
}

/// Throws unless each model's files are there, to their last byte.
private func look(at use: CollectionStore.Use) throws {
    for (name, path) in use.models {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path + "/compiled.bin"))
        defer { try? file.close() }
        guard try file.seekToEnd() == (1 << 20) + (1 << 16) else { throw Failure("\(name) is cut off") }
    }
}

/// Counts which archives are fetched.
final class CountingTransport: Transport {
    private let base: any Transport
    private let starts = Atomic<Int>(0)

    init(_ base: any Transport) { self.base = base }

    /// How many downloads of archives were begun.
    var archives: Int { starts.load(ordering: .relaxed) }

    func send(_ request: TransportRequest) async throws(DeploymentError) -> TransportAnswer {
        if request.headers["Range"]?.hasPrefix("bytes=0-") ?? false { starts.add(1, ordering: .relaxed) }
        return try await base.send(request)
    }
}
