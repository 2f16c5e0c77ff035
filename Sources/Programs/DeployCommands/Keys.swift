import ArgumentParser
import Foundation

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Write, list, rotate and revoke the keys that a team's models are encrypted with.",
        discussion: """
            The file can encrypt and cannot decrypt: it may be stored in a repository. The private half stays on the server, which \
            gives devices the keys of single models.

            Examples:
              coreml deploy key --team acme -o Flowers.mlmodelkey
              coreml archive Flowers.mlpackage --encrypt Flowers.mlmodelkey
              coreml deploy key list --team acme
              coreml deploy key rotate --team acme
            """,
        subcommands: [KeyFile.self, KeyList.self, KeyRotate.self, KeyRevoke.self],
        defaultSubcommand: KeyFile.self
    )
}

struct KeyFile: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "file", abstract: "Write the public half of a key.")

    @OptionGroup var team: TeamOptions
    @Option(help: "A key of 32 hexadecimal digits; by default the one that is in use.") var key = "current"
    @Option(name: [.short, .long], help: "The file to write the public key to.") var output: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        let data = try server.client().get(team.path + "/keys/\(key)")
        try data.write(to: URL(fileURLWithPath: output), options: .atomic)
        print(output)
    }
}

struct KeyEntry: Decodable {
    let id: String
    let number: Int
    let state: String
    let suite: String
    let created: String
}

struct KeyList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the keys of a team.")

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct Storage: Decodable {
        let isApart: Bool
        let address: String?
        let rest: String
        let holdsEnrolment: Bool
    }

    func run() throws {
        let client = try server.client()
        try server.show(try client.get(team.path + "/keys"), as: [KeyEntry].self) { keys in
            var table = Table("number", "key", "state", "suite", "made")
            for key in keys { table.add("\(key.number)", key.id, key.state, key.suite, key.created) }
            table.print(empty: "No keys yet.")
        }
        guard !server.json else { return }
        let storage = try ServerClient.decode(Storage.self, try client.get(team.path + "/key-storage"))
        print(
            storage.isApart
                ? "The private halves are in a separate key service, at \(storage.address ?? "?"): \(storage.rest)"
                : "The private halves are on the server: \(storage.rest)"
        )
        if storage.holdsEnrolment {
            print("Enrolment is controlled there: coreml-server keys token, on that machine.")
        }
    }
}

struct KeyRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Make a new key for encrypting models; models with earlier keys still open."
    )

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().post(team.path + "/keys"), as: KeyEntry.self) {
            print(
                "key \($0.number)  \($0.id)\nWrite its public half with: coreml deploy key --team \(team.team) -o FILE"
            )
        }
    }
}

struct KeyRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key: devices can no longer open models encrypted with it."
    )

    @Argument(help: "The key: 32 hexadecimal digits.") var key: String
    @Flag(help: "Confirm: devices can no longer use models that were encrypted with the key.") var yes = false
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func validate() throws {
        guard yes else { throw ValidationError("models that were encrypted with the key stop working: pass --yes") }
    }

    func run() throws {
        try server.show(try server.client().delete(team.path + "/keys/\(key)"), as: KeyEntry.self) {
            print("key \($0.number)  \($0.state)")
        }
    }
}
