import ArgumentParser
import Foundation

// Commands that read from a server and change nothing.

// MARK: Archives

struct ArchivesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archives",
        abstract: "List the archives of a team, or print the description of one.",
        discussion: """
            Examples:
              coreml deploy archives --team acme
              coreml deploy archives --team acme 8b81580636d6…
            """
    )

    @OptionGroup var team: TeamOptions
    @Argument(help: "An archive: its hash, or the beginning of it.") var archive: String?
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        struct Summary: Decodable {
            struct Feature: Decodable {
                let role: String
                let name: String
                let type: String
            }

            struct Encryption: Decodable { let keyID: String }

            let kind: String?
            let version: String?
            let description: String?
            let features: [Feature]?
            let encryption: Encryption?
            let made: String
            let tool: String
        }

        let sha256: String
        let byteCount: Int
        let fileName: String
        let name: String
        let summary: Summary
        let created: Date
        let createdBy: String
    }

    func run() throws {
        let client = try server.client()
        guard let archive else {
            try server.show(try client.get(team.path + "/archives"), as: [Entry].self, Self.list)
            return
        }
        var hash = archive
        if hash.utf8.count < 64 {
            let all = try ServerClient.decode([Entry].self, try client.get(team.path + "/archives"))
            let fitting = all.filter { $0.sha256.hasPrefix(archive) }
            guard fitting.count == 1 else {
                throw Failure(
                    fitting.isEmpty ? "No archive begins with \(archive)." : "Several archives begin with \(archive)."
                )
            }
            hash = fitting[0].sha256
        }
        try server.show(try client.get(team.path + "/archives/\(hash)"), as: Entry.self, Self.details)
    }

    private static func list(_ archives: [Entry]) {
        var table = Table("archive", "model", "version", "size", "key", "uploaded", "by")
        for archive in archives {
            table.add(
                String(archive.sha256.prefix(12)),
                archive.name,
                archive.summary.version ?? "",
                ListFormat.size(archive.byteCount),
                archive.summary.encryption.map { String($0.keyID.prefix(8)) } ?? "none",
                ListFormat.day(archive.created),
                archive.createdBy
            )
        }
        table.print(empty: "No archives yet: coreml deploy upload Model.mlarchive")
    }

    private static func details(_ archive: Entry) {
        let summary = archive.summary
        let lines: [(String, String?)] = [
            ("archive", archive.sha256), ("model", archive.name), ("kind", summary.kind), ("version", summary.version),
            ("description", summary.description), ("file", archive.fileName),
            ("size", ListFormat.size(archive.byteCount)),
            ("encrypted with", summary.encryption?.keyID), ("made", "\(summary.made) by \(summary.tool)"),
            ("uploaded", "\(ListFormat.moment(archive.created)) by \(archive.createdBy)"),
        ]
        for (name, value) in lines {
            if let value, !value.isEmpty { print(name.padding(toLength: 16, withPad: " ", startingAt: 0) + value) }
        }
        for feature in summary.features ?? [] { print("\(feature.role)\t\(feature.name)\t\(feature.type)") }
    }
}

// MARK: Releases

struct ReleasesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "releases",
        abstract: "List the releases of a collection, or print one.",
        discussion: """
            Examples:
              coreml deploy releases --app shop --collection FlowerModels
              coreml deploy releases --app shop --collection FlowerModels 3
            """
    )

    @OptionGroup var location: CollectionOptions
    @Argument(help: "The number of a release.") var number: Int?
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        struct Model: Decodable {
            let name: String
            let archive: String
            let byteCount: Int
            let keyID: String?
            let selfTest: String?
        }

        let number: Int
        let sha256: String
        let models: [Model]
        let minimumRuntime: String?
        let note: String
        let created: Date
        let createdBy: String
    }

    func run() throws {
        let client = try server.client()
        if let number {
            try server.show(try client.get(location.path + "/releases/\(number)"), as: Entry.self) { release in
                print("release \(release.number)  \(release.sha256)")
                print("made \(ListFormat.moment(release.created)) by \(release.createdBy)")
                if let runtime = release.minimumRuntime { print("needs runtime \(runtime)") }
                if !release.note.isEmpty { print(release.note) }
                var table = Table("model", "archive", "size", "key", "self-test")
                for model in release.models {
                    table.add(
                        model.name,
                        model.archive,
                        ListFormat.size(model.byteCount),
                        model.keyID ?? "none",
                        model.selfTest.map { String($0.prefix(12)) } ?? "none"
                    )
                }
                table.print(empty: "")
            }
            return
        }
        try server.show(try client.get(location.path + "/releases"), as: [Entry].self) { releases in
            var table = Table("release", "made", "by", "size", "note")
            for release in releases {
                table.add(
                    "\(release.number)",
                    ListFormat.moment(release.created),
                    release.createdBy,
                    ListFormat.size(release.models.reduce(0) { $0 + $1.byteCount }),
                    release.note
                )
            }
            table.print(
                empty:
                    "No releases yet: coreml deploy release --app \(location.app) --collection \(location.collection)"
            )
        }
    }
}

// MARK: History

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print the history of live deployments.",
        discussion: """
            Examples:
              coreml deploy history --app shop --collection FlowerModels
              coreml deploy history --app shop --collection FlowerModels \\
                --at 2026-11-23T14:00:00Z
            """
    )

    @OptionGroup var location: CollectionOptions
    @Option(help: "The environment, as named by coreml deploy app create.") var environment = "production"
    @Option(help: "A time; prints the deployment that was live then.") var at: String?
    @OptionGroup var server: ServerOptions

    private struct Entry: Codable {
        let since: Date
        let version: Int
        let deployment: String
        let summary: String
    }

    private struct Deployment: Decodable {
        let name: String
        let state: String
    }

    func run() throws {
        let data = try server.client().get(location.path + "/history", ["environment": environment])
        guard let at else {
            try server.show(data, as: [Entry].self, Self.list)
            return
        }
        let time = try ListFormat.date(at)
        let entries = try ServerClient.decode([Entry].self, data)
        guard let entry = entries.first(where: { $0.since <= time }) else {
            throw Failure("Nothing was live at \(ListFormat.moment(time)).")
        }
        if server.json {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            FileHandle.standardOutput.write(try encoder.encode(entry) + Data("\n".utf8))
        } else {
            Self.list([entry])
            print(entry.summary)
        }
    }

    private static func list(_ entries: [Entry]) {
        var table = Table("since", "policy", "deployment", "state", "name")
        for entry in entries {
            let deployment = try? JSONDecoder().decode(Deployment.self, from: Data(entry.summary.utf8))
            table.add(
                ListFormat.moment(entry.since),
                "\(entry.version)",
                entry.deployment,
                deployment?.state ?? "",
                deployment?.name ?? ""
            )
        }
        table.print(empty: "Nothing was live yet.")
    }
}

// MARK: Audit

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Print a team's audit log: actions and refusals.",
        discussion: """
            --verify recomputes the hash chain over the server's whole log. Keep the number and the hash that it prints: \
            later, --expect NUMBER:HASH detects changes of entries up to there.

            Examples:
              coreml deploy audit --team acme --action deployment --from 2026-11-01
              coreml deploy audit --team acme --json
              coreml deploy audit --team acme --verify
              coreml deploy audit --team acme --verify --expect 1284:8b81580636d6…
            """
    )

    @OptionGroup var team: TeamOptions
    @Option(help: "The prefix of the action, such as deployment or access.denied.") var action: String?
    @Option(help: "A part of the actor's name.") var actor: String?
    @Option(help: "A part of the subject or of the details.") var text: String?
    @Option(help: "Only entries since this time.") var from: String?
    @Option(help: "Only entries before this time.") var until: String?
    @Option(help: "Only entries before this number.") var before: Int?
    @Option(help: "The maximum number of entries, up to 1000.") var limit = 50
    @Flag(help: "Check that the log was not changed.") var verify = false
    @Option(help: ArgumentHelp("The output of an earlier --verify.", valueName: "number:hash")) var expect: String?
    @OptionGroup var server: ServerOptions

    private struct Verification: Decodable {
        let entries: Int
        let sequence: Int
        let hash: String
    }

    private struct Entry: Decodable {
        let sequence: Int
        let at: Date
        let actor: String
        let action: String
        let subject: String
        let detail: [String: String]
        let hash: String
    }

    func validate() throws {
        guard expect == nil || verify else { throw ValidationError("--expect requires --verify") }
    }

    func run() throws {
        let client = try server.client()
        if verify {
            let data = try client.get(team.path + "/audit/verification")
            if let expect { try check(expect, client) }
            try server.show(data, as: Verification.self) {
                print("The log is unchanged: \($0.entries) entries, the last is \($0.sequence):\($0.hash)")
            }
            return
        }
        var query = ["limit": "\(limit)"]
        query["action"] = action
        query["actor"] = actor
        query["text"] = text
        query["before"] = before.map { "\($0)" }
        query["from"] = try from.map { ListFormat.moment(try ListFormat.date($0)) }
        query["until"] = try until.map { ListFormat.moment(try ListFormat.date($0)) }
        try server.show(try client.get(team.path + "/audit", query), as: [Entry].self) { entries in
            var table = Table("number", "at", "actor", "action", "subject", "details")
            for entry in entries {
                let details = entry.detail.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }.map {
                    "\($0.key)=\($0.value)"
                }
                table.add(
                    "\(entry.sequence)",
                    ListFormat.moment(entry.at),
                    entry.actor,
                    entry.action,
                    entry.subject,
                    details.joined(separator: " ")
                )
            }
            table.print(empty: "No entries.")
        }
    }

    /// Throws unless the log still has the entry with its hash, which covers all entries before it.
    private func check(_ expected: String, _ client: ServerClient) throws {
        let parts = expected.split(separator: ":")
        guard parts.count == 2, let number = Int(parts[0]) else {
            throw Failure("--expect takes the output of --verify: a number, a colon and a hash.")
        }
        let data = try client.get(team.path + "/audit", ["before": "\(number + 1)", "limit": "1"])
        let entry = try ServerClient.decode([Entry].self, data).first
        guard let entry, entry.sequence == number, entry.hash == parts[1] else {
            throw Failure("The log was rewritten: entry \(number) is gone or has another hash.")
        }
    }
}
