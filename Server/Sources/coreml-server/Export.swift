import ArgumentParser
import Foundation
import ServerCore

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes everything that devices fetch into a folder, for a static host.",
        discussion: """
            Apps use the host like the server, with its address in ModelDeployment.json. The server need not run. Policies \
            and timestamps are valid for a day: export again before they expire, such as every hour, while the server \
            signs them again. Keys of encrypted models come from the server alone: configure the host to forward \
            /v1/challenge, /v1/enroll, /v1/renew, /v1/keys and /v1/revocations to it.

            Examples:
              coreml-server export --data /var/lib/coreml --to /srv/www/models
              coreml-server export --data ./data --to ./site --team acme
            """
    )

    @OptionGroup var data: DataOptions
    @Option(name: .customLong("to"), help: "The folder; created when missing.") var folder: String
    @Option(name: .customLong("team"), help: "A team; all by default; may be repeated.") var teams: [String] = []

    func run() async throws {
        let service = try await data.open().service()
        // Documents that are about to expire would be of little use.
        try await service.renewSignatures()
        let summary = try await service.export(to: folder, teams: teams.isEmpty ? nil : Set(teams))
        print("\(folder): \(summary.written) files written (\(summary.byteCount) bytes), \(summary.kept) unchanged")
        if let expires = summary.expires { print("Export again before \(expires.formatted(.iso8601)).") }
    }
}
