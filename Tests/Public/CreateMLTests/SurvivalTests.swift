import Combine
import CreateML
import Foundation
import Glibc
import TabularData
import Testing

/// The folder in which a child process trains until it is killed; only in that process.
private let killedFolder = ProcessInfo.processInfo.environment["COREML_KILLED_SESSION"]

private enum Killed {
    static var frame: DataFrame {
        var maker = TableMaker(seed: 5)
        return maker.frame(rows: 250, holes: 0.05)
    }

    static let parameters = MLBoostedTreeClassifier.ModelParameters(maxDepth: 3, maxIterations: 150, rowSubsample: 0.8)
    static let interval = 5

    static func session(_ folder: String) -> MLTrainingSessionParameters {
        MLTrainingSessionParameters(
            sessionDirectory: URL(fileURLWithPath: folder + "/session"),
            reportInterval: 1,
            checkpointInterval: interval
        )
    }

    static func train(_ folder: String) throws -> MLJob<MLBoostedTreeClassifier> {
        try MLBoostedTreeClassifier.train(
            trainingData: frame,
            targetColumn: "kind",
            featureColumns: TableMaker.features,
            parameters: parameters,
            sessionParameters: session(folder)
        )
    }
}

/// What the child does: trains, and writes down every iteration when it is done.
@Suite(.enabled(if: killedFolder != nil)) struct KilledSession {
    @Test func `Trains until it is killed`() async throws {
        let folder = try #require(killedFolder)
        let log = open(folder + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o666)
        let job = try Killed.train(folder)
        let subscription = job.progress.publisher(for: \.completedUnitCount).sink { count in
            let line = Array("\(count)\n".utf8)
            _ = write(log, line, line.count)
            // So that the parent has time to kill it anywhere.
            usleep(2000)
        }
        _ = try await job.value
        subscription.cancel()
        close(log)
    }
}

@Suite(.enabled(if: killedFolder == nil)) struct SurvivalTests {
    @Test(.timeLimit(.minutes(5)))
    func `Killed again and again, a session loses at most an interval and ends with the same model`() async throws {
        let folder = try TemporaryFolder()
        var maker = TableMaker(seed: UInt64(getpid()))
        var kills = 0
        var done = 0
        while done < 150, kills < 12 {
            let child = Process()
            child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            child.arguments = ["--testing-library", "swift-testing", "--filter", "KilledSession"]
            child.environment = ProcessInfo.processInfo.environment.merging(
                ["COREML_KILLED_SESSION": folder.url.path]
            ) { $1 }
            child.standardOutput = FileHandle.nullDevice
            child.standardError = FileHandle.nullDevice
            try child.run()
            let wanted = done + 4 + maker.integer(25)
            while child.isRunning, try last(folder) < wanted { usleep(500) }
            usleep(UInt32(maker.integer(3000)))
            if child.isRunning {
                kill(child.processIdentifier, SIGKILL)
                kills += 1
            }
            child.waitUntilExit()
            let reached = try last(folder)
            #expect(reached > done || reached == 150, "the child does not train")
            let session = try MLBoostedTreeClassifier.restoreTrainingSession(
                sessionParameters: Killed.session(folder.url.path)
            )
            #expect(session.iteration >= reached - Killed.interval)
            if reached <= done { break }
            done = reached
            try FileManager.default.removeItem(at: folder.file("log"))
        }
        #expect(kills > 2)
        let survived = try await Killed.train(folder.url.path).value
        let whole = try MLBoostedTreeClassifier(
            trainingData: Killed.frame,
            targetColumn: "kind",
            featureColumns: TableMaker.features,
            parameters: Killed.parameters
        )
        try survived.write(to: folder.file("survived.mlmodel"))
        try whole.write(to: folder.file("whole.mlmodel"))
        let (first, second) = (
            try Data(contentsOf: folder.file("survived.mlmodel")), try Data(contentsOf: folder.file("whole.mlmodel"))
        )
        #expect(first == second)
    }

    /// The highest iteration in the child's log.
    private func last(_ folder: TemporaryFolder) throws -> Int {
        guard FileManager.default.fileExists(atPath: folder.file("log").path) else { return 0 }
        return try String(contentsOf: folder.file("log"), encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
            .max() ?? 0
    }
}
