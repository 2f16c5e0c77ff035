import Foundation
import Synchronization

/// Devices with disks, each launch of which is a process: they ask the server over the network and must do what the simulated
/// devices do at the same time.
final class RealDevices: Sendable {
    /// How many launches and checks were compared, and the ones that differ.
    struct Comparison: Encodable {
        let devices: Int
        var visits = 0
        var differences: [String] = []
    }

    /// Processes that run at the same time.
    private static let width = 4

    private let runner: String
    private let folder: String
    private let state: Mutex<Comparison>

    /// Devices that start `runner` (`DeploymentRunner`), have their disks in `folder`, and the app's configuration there.
    init(count: Int, runner: String, folder: String, configuration: [UInt8]) throws {
        self.runner = runner
        self.folder = folder
        state = Mutex(Comparison(devices: count))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(configuration).write(to: URL(fileURLWithPath: folder + "/ModelDeployment.json"))
    }

    var comparison: Comparison { state.withLock { $0 } }

    /// Lets devices do what the simulated ones did, and compares.
    func repeats(_ visits: [Fleet.Visit], at date: Date) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, visit) in visits.enumerated() {
                if index >= Self.width { try await group.next() }
                group.addTask { try await self.repeats(visit, at: date) }
            }
            try await group.waitForAll()
        }
    }

    private func repeats(_ visit: Fleet.Visit, at date: Date) async throws {
        let name = Fleet.installID(visit.device)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: runner)
        let seconds = String(date.timeIntervalSince1970)
        process.arguments = ["device", folder, "\(folder)/\(name)", name, seconds, visit.hasFailed ? "fails" : "works"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        // A line fits the pipe, so that the process does not wait for its reader.
        let answer = try pipe.fileHandleForReading.readToEnd() ?? Data()
        let record = String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        state.withLock { comparison in
            comparison.visits += 1
            guard record != visit.record else { return }
            comparison.differences.append("\(name) at \(seconds): simulated \"\(visit.record)\", real \"\(record)\"")
        }
    }
}
