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

/// The child process: trains, and prints the number of every iteration when it is done. For each it takes a byte from
/// its input first, so that it cannot end before its parent has counted.
@Suite(.enabled(if: killedFolder != nil)) struct KilledSession {
    @Test func `Trains until it is killed`() async throws {
        let folder = try #require(killedFolder)
        let job = try Killed.train(folder)
        let subscription = job.progress.publisher(for: \.completedUnitCount).sink { count in
            let line = Array("\(count)\n".utf8)
            _ = write(STDOUT_FILENO, line, line.count)
            var leave: UInt8 = 0
            _ = read(STDIN_FILENO, &leave, 1)
        }
        _ = try await job.value
        subscription.cancel()
    }
}

@Suite(.enabled(if: killedFolder == nil)) struct SurvivalTests {
    @Test(.timeLimit(.minutes(20)))
    func `Killed again and again, a session loses at most an interval and ends with the same model`() async throws {
        let folder = try TemporaryFolder()
        var maker = TableMaker(seed: UInt64(getpid()))
        var kills = 0
        var done = 0
        while done < 150, kills < 12 {
            let wanted = done + 4 + maker.integer(25)
            let (reached, isKilled) = try await child(folder, done, wanted, delay: UInt32(maker.integer(3000)))
            if isKilled { kills += 1 }
            #expect(reached > done || reached == 150, "the child does not train")
            let session = try MLBoostedTreeClassifier.restoreTrainingSession(
                sessionParameters: Killed.session(folder.url.path)
            )
            #expect(session.iteration >= reached - Killed.interval)
            if reached <= done { break }
            done = reached
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

    /// Lets a child train from iteration `done` on, and kills it `delay` microseconds after it has printed iteration
    /// `wanted`.
    ///
    /// - Returns: the last iteration that it printed, and whether it was killed.
    private func child(_ folder: TemporaryFolder, _ done: Int, _ wanted: Int, delay: UInt32) async throws -> (
        reached: Int, isKilled: Bool
    ) {
        let path = folder.url.path
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try Self.runChild(path, done, wanted, delay) })
            }
        }
    }

    private static func runChild(_ folder: String, _ done: Int, _ wanted: Int, _ delay: UInt32) throws -> (Int, Bool) {
        let (child, leave, output) = (Process(), Pipe(), Pipe())
        child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["--testing-library", "swift-testing", "--filter", "KilledSession"]
        child.environment = ProcessInfo.processInfo.environment.merging(["COREML_KILLED_SESSION": folder]) { $1 }
        child.standardInput = leave
        child.standardOutput = output
        child.standardError = FileHandle.nullDevice
        // Enough for the iterations that it may have to repeat, and a few beyond the wanted one.
        leave.fileHandleForWriting.write(Data(count: wanted - done + Killed.interval + 10))
        try child.run()
        var (reached, isKilled, rest) = (0, false, Data())
        while true {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { break }
            rest += part
            while let end = rest.firstIndex(of: 10) {
                // The test library prints lines, too.
                reached = max(reached, Int(String(decoding: rest[..<end], as: UTF8.self)) ?? 0)
                rest = Data(rest[(end + 1)...])
            }
            guard reached >= wanted, !isKilled else { continue }
            // No wait for something: the moment within an iteration is chance.
            usleep(delay)
            if child.isRunning { isKilled = kill(child.processIdentifier, SIGKILL) == 0 }
        }
        child.waitUntilExit()
        return (reached, isKilled)
    }
}
