import ArgumentParser
import DeploymentClient
import Foundation
import UpdateFramework

struct CeremonyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ceremony",
        abstract: "Transfer root and targets to other keys: begin, sign with each, finish.",
        subcommands: [CeremonyBegin.self, CeremonySign.self, CeremonyStatus.self, CeremonyFinish.self]
    )
}

struct CeremonyBegin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Draft the next root, in a folder to pass from one key holder to the next.",
        discussion: """
            The current metadata is fetched from the server and verified from the root in your app. Keys that are not \
            named do not change; without any keys, the draft is the same root with a later expiry.
            """
    )

    @Option(help: "The app's ModelDeployment.json.") var configuration: String
    @Option(parsing: .upToNextOption, help: "Public keys of the new root.") var root: [String] = []
    @Option(help: "The required number of their signatures.") var rootThreshold = 1
    @Option(parsing: .upToNextOption, help: "Public keys of the new targets role.") var targets: [String] = []
    @Option(help: "The required number of their signatures.") var targetsThreshold = 1
    @Option(
        parsing: .upToNextOption,
        help:
            "The new signer of a collection's releases: APP.COLLECTION=KEY.pub; needs the targets keys' signatures."
    )
    var publisher: [String] = []
    @Flag(
        help:
            "Use the server's drafts that wait for the holders of root and targets: new apps, collections, online keys."
    )
    var waiting = false
    @Option(help: "Days until the root expires.") var rootDays = 365
    @Option(help: "Days until targets metadata expires.") var targetsDays = 180
    @Option(name: .shortAndLong, help: "The folder to create.") var output: String
    @OptionGroup var server: ServerOptions

    func validate() throws {
        guard !waiting || root.isEmpty && targets.isEmpty && publisher.isEmpty else {
            throw ValidationError(
                "--waiting uses the server's drafts unchanged: appoint other key holders in a later ceremony."
            )
        }
        guard root.isEmpty || (1...root.count).contains(rootThreshold) else {
            throw ValidationError("--root-threshold is 1 to the number of --root keys.")
        }
        guard targets.isEmpty || (1...targets.count).contains(targetsThreshold) else {
            throw ValidationError("--targets-threshold is 1 to the number of --targets keys.")
        }
        guard (1...3650).contains(rootDays), (1...3650).contains(targetsDays) else {
            throw ValidationError("Metadata is valid for 1 to 3650 days.")
        }
    }

    func run() throws {
        guard !FileManager.default.fileExists(atPath: output) else { throw Failure("\(output) already exists.") }
        if waiting { return try takeWaiting() }
        var wish = Ceremony.Appointments()
        wish.root = try root.map { try TrustPublicKey(contentsOf: $0).key() }
        wish.targets = try targets.map { try TrustPublicKey(contentsOf: $0).key() }
        (wish.rootThreshold, wish.targetsThreshold) = (rootThreshold, targetsThreshold)
        (wish.rootDays, wish.targetsDays) = (rootDays, targetsDays)
        for text in publisher {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Failure("\(text) is not APP.COLLECTION=KEY.pub.") }
            wish.publishers[parts[0], default: []].append(try TrustPublicKey(contentsOf: parts[1]).key())
        }
        let now = UTCTime(secondsSince1970: Int64(Date().timeIntervalSince1970))
        let ceremony = try Ceremony(try TrustRepository(configuration: configuration), wish, folder: output, at: now)
        try ceremony.write()
        try ceremony.show()
    }

    private func takeWaiting() throws {
        let repository = try TrustRepository(configuration: configuration)
        let answer = try server.client().get("teams/\(repository.configuration.team)/trust/drafts")
        let drafts = try ServerClient.decode([PendingDraft].self, answer)
        let ceremony = try Ceremony(repository, waiting: drafts, folder: output)
        try ceremony.write()
        try ceremony.show()
    }
}

/// A draft that waits on the server for signatures.
struct PendingDraft: Decodable {
    let role: String
    let document: Data
    let missing: Int
    let waitsFor: [String]
    let changes: [String]

    func show() {
        let keys = waitsFor.map { String($0.prefix(16)) }.joined(separator: " ")
        print("waiting: \(role) for \(missing) of the keys \(keys): \(changes.joined(separator: ", "))")
        let command =
            role.contains(".") ? "coreml trust sign-release" : "coreml trust ceremony begin --waiting"
        print("  \(command)")
    }
}

struct ReplaceOnlineKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replace-online",
        abstract: "Replace the keys that the server signs with, after a possible theft.",
        discussion: """
            Timestamp, snapshot, the directors of all apps, the key service, and collections whose keys are on the server. \
            If people hold root and targets, new keys wait for their signatures: coreml trust ceremony begin --waiting. \
            The old ones sign until then, and are removed afterwards.
            """
    )

    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        let answer = try server.client().post("teams/\(team)/trust/online-keys")
        try server.show(answer, as: [PendingDraft].self) { drafts in
            let waiting = drafts.filter { !$0.role.contains(".") }
            for draft in waiting { draft.show() }
            print(
                waiting.isEmpty
                    ? "new keys are in use, the old ones are removed" : "new keys are made and wait for signatures"
            )
        }
    }
}

struct CeremonySign: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign the drafts of a ceremony with your key; needs no network."
    )

    @Argument(help: "The folder of the ceremony.") var folder: String
    @Option(help: "Your private key.") var key: String
    @Option(help: "A file with the passphrase; otherwise prompts for it.") var passphraseFile: String?

    func run() throws {
        var ceremony = try Ceremony(folder: folder)
        try ceremony.show()
        let file = try TrustKeyFile(contentsOf: key)
        let signing = try file.open(try Passphrase.read(from: passphraseFile, for: key, isNew: false))
        let roles = try ceremony.sign(with: signing)
        try ceremony.write()
        print("signed \(roles.joined(separator: ", ")) with \(file.id.prefix(16))")
    }
}

struct CeremonyStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the changes of a ceremony and the missing signatures."
    )

    @Argument(help: "The folder of the ceremony.") var folder: String

    func run() throws {
        let ceremony = try Ceremony(folder: folder)
        try ceremony.show()
        let isWaiting = try ceremony.missingSignatures().contains {
            $0.missing > 0 && $0.whose != "of the previous root"
        }
        if isWaiting { throw ExitCode(2) }
    }
}

struct CeremonyFinish: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish",
        abstract: "Upload the signed metadata; the server deletes the private keys that it replaces."
    )

    @Argument(help: "The folder of the ceremony.") var folder: String
    @OptionGroup var server: ServerOptions

    private struct Upload: Encodable {
        let documents: [String: Data]
    }

    func run() throws {
        let ceremony = try Ceremony(folder: folder)
        let files = try ceremony.finished()
        let answer = try server.client().put("teams/\(ceremony.plan.team)/trust", Upload(documents: files))
        try server.show(answer, as: TrustReport.self) { $0.show() }
    }
}

extension Ceremony {
    func show() throws {
        let (old, new) = try roots()
        print("\(plan.team) at \(plan.server): root \(old.version) → \(new.version), good until \(new.expires)")
        for type in MetadataType.allCases {
            let (before, after) = (old.keys(of: type), new.keys(of: type))
            let isSame = Set(before.keyIDs) == Set(after.keyIDs) && before.threshold == after.threshold
            let names = after.keyIDs.map { String($0.prefix(16)) }.joined(separator: " ")
            print("  \(type.rawValue): \(after.threshold) of \(after.keyIDs.count) \(names)\(isSame ? "" : "  (new)")")
        }
        for change in try delegationChanges() { print("  targets: \(change)") }
        for lack in try missingSignatures() {
            let state = lack.missing == 0 ? "signed" : "\(lack.missing) missing"
            print("  \(lack.role): \(lack.signers.count) of \(lack.keys.threshold) keys \(lack.whose): \(state)")
        }
    }
}
