import ArgumentParser
import Foundation
import ServerCore

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks everything that a server stores: records, files, signatures, the audit log.",
        discussion: "The server may be running. Exits with 1 when something is wrong."
    )

    @OptionGroup var data: DataOptions
    @Flag(help: "Compare lengths of files only, not their hashes.") var quick = false

    func run() async throws {
        let service = try await data.open().service()
        let report = try await service.check(readsFiles: !quick)
        let storage = try await service.keyStorage()
        print(
            storage.isApart
                ? "Keys of models are in \(storage.address ?? "a key service"): \(storage.rest)"
                : "Keys of models are here: \(storage.rest)"
        )
        for (kind, count) in report.counts.sorted(by: { $0.key < $1.key }) { print("\(count) \(kind)") }
        if !report.unreferenced.isEmpty { print("\(report.unreferenced.count) files of uploads that did not end") }
        for problem in report.problems { print("WRONG: \(problem)") }
        print(report.problems.isEmpty ? "No problems found." : "\(report.problems.count) problems.")
        if !report.problems.isEmpty { throw ExitCode.failure }
    }
}
