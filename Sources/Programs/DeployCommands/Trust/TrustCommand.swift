public import ArgumentParser
import DeploymentClient
import Foundation
import UpdateFramework

/// `coreml trust`: manages the keys that sign the models that devices install.
public struct TrustCommand: ParsableCommand {
    /// The command's name, help text and subcommands.
    public static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Move the keys that devices trust out of the server, change them, and list the signers.",
        discussion: """
            All keys of a new team are on its server, so that anybody who controls the server can sign anything.  A ceremony gives root and targets \
            (and, if you want, the releases of collections) to people, each with a key of their own under a passphrase.

            Examples:
              coreml trust key alice.key
              coreml trust ceremony begin --configuration ModelDeployment.json \\
                --root alice.pub bob.pub carol.pub --root-threshold 2 --targets carol.pub \\
                -o ceremony
              coreml trust ceremony sign ceremony --key alice.key
              coreml trust ceremony finish ceremony
              coreml trust verify --configuration ModelDeployment.json

            Exit status: 0 success, 1 failure, 2 signatures are missing, 64 wrong usage.
            """,
        subcommands: [
            TrustKey.self, CeremonyCommand.self, TrustStatusCommand.self, TrustVerify.self, SignRelease.self,
            ReplaceOnlineKeys.self,
        ]
    )

    /// Makes the command, for the argument parser to fill in.
    public init() {}
}

struct TrustKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make a key under a passphrase: NAME.key, and its public half NAME.pub."
    )

    @Argument(help: "The file of the private key.") var path: String
    @Option(help: "A file with the passphrase; otherwise prompts for it.") var passphraseFile: String?

    func run() throws {
        let name = path.hasSuffix(".key") ? String(path.dropLast(4)) : path
        let passphrase = try Passphrase.read(from: passphraseFile, for: path, isNew: true)
        let key = SigningKey()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let half = try TrustPublicKey(key.publicKey)
        try TrustKeyFile(key, passphrase: passphrase).write(to: path)
        try TrustKeyFile.write(try encoder.encode(half), to: name + ".pub", mode: 0o644)
        print("\(path): the private key; keep it and a copy in places that only you can access")
        print("\(name).pub: \(half.id)")
    }
}

// MARK: Status

/// The server's report on a team's roles.
struct TrustReport: Decodable {
    struct Role: Decodable {
        let name: String
        let version: Int
        let expires: Date
        let threshold: Int
        let keys: [String]
        let held: Int
    }

    let level: String
    let roles: [Role]

    func show() {
        let meaning =
            switch level {
            case "server": "anybody with access to the server can sign everything (coreml trust ceremony changes that)"
            case "releases":
                "anybody with access to the server can sign releases, until the holders of the targets keys revoke that"
            default: "anybody with access to the server can choose among signed releases, and nothing else"
            }
        print("trust level \"\(level)\": \(meaning)")
        for role in roles {
            let location =
                role.held == 0
                ? "elsewhere" : role.held == role.keys.count ? "on the server" : "\(role.held) on the server"
            print(
                "  \(role.name): version \(role.version), \(role.threshold) of \(role.keys.count) keys, \(location), good until "
                    + role.expires.formatted(.iso8601)
            )
        }
    }
}

struct TrustStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the keys on the server, the documents that they can sign, and the expiry of metadata."
    )

    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        let client = try server.client()
        try server.show(try client.get("teams/\(team)/trust"), as: TrustReport.self) { $0.show() }
        guard !server.json else { return }
        for draft in try ServerClient.decode([PendingDraft].self, try client.get("teams/\(team)/trust/drafts")) {
            draft.show()
        }
    }
}

struct TrustVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a server's metadata as a device does, from the root in an app."
    )

    @Option(help: "The app's ModelDeployment.json.") var configuration: String

    func run() throws {
        let repository = try TrustRepository(configuration: configuration)
        let trusted = repository.trusted
        print("root \(trusted.root.version): good until \(trusted.root.expires)")
        for type in MetadataType.allCases {
            let keys = trusted.root.keys(of: type)
            print(
                "  \(type.rawValue): \(keys.threshold) of \(keys.keyIDs.count) \(keys.keyIDs.map { String($0.prefix(16)) }.joined(separator: " "))"
            )
        }
        for (role, document) in repository.targets.sorted(by: { $0.key < $1.key }) {
            let targets = try Targets(document.signed, role: role)
            print("\(role) \(targets.version): \(targets.targets.count) files, good until \(targets.expires)")
        }
    }
}

// MARK: Releases

struct SignRelease: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-release",
        abstract: "Sign releases that wait for their publisher.",
        discussion: """
            Shows what devices will trust, and signs it. Compare the hashes with those of your own build first.
            """
    )

    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @Option(help: "Your private key.") var key: String
    @Option(help: "A file with the passphrase; otherwise prompts for it.") var passphraseFile: String?
    @Option(help: "The app's ModelDeployment.json: earlier signatures are verified from its root.")
    var configuration: String
    @Option(help: "Sign only this: APP.COLLECTION.") var role: String?
    @Flag(help: "Only list the waiting releases.") var dryRun = false
    @OptionGroup var server: ServerOptions

    private struct Draft: Decodable {
        let role: String
        let document: Data
        let missing: Int
    }

    private struct Upload: Encodable {
        let documents: [String: Data]
    }

    func run() throws {
        let client = try server.client()
        let drafts = try ServerClient.decode([Draft].self, try client.get("teams/\(team)/trust/drafts"))
        // Root and targets are signed in a ceremony.
        let requested = drafts.filter { $0.role.contains(".") && (role == nil || $0.role == role) }
        guard !requested.isEmpty else {
            print("Nothing waits for a signature.")
            return
        }
        let repository = try TrustRepository(configuration: configuration)
        var documents: [(String, SignedDocument)] = []
        for draft in requested {
            let document = try SignedDocument(parsing: Array(draft.document), role: draft.role)
            try Self.show(document, draft.role, after: repository)
            documents.append((draft.role, document))
        }
        guard !dryRun else { return }
        let file = try TrustKeyFile(contentsOf: key)
        let signing = try file.open(try Passphrase.read(from: passphraseFile, for: key, isNew: false))
        var signed: [String: Data] = [:]
        for (role, draft) in documents {
            guard let keys = repository.trusted.keys(ofDelegated: role), keys.keyIDs.contains(file.id) else {
                throw Failure("The key \(file.id.prefix(16)) is not one of those that sign for \(role).")
            }
            var document = draft
            try document.sign(with: signing)
            signed[role] = Data(document.bytes)
        }
        _ = try client.put("teams/\(team)/trust/releases", Upload(documents: signed))
        print("signed \(signed.keys.sorted().joined(separator: ", "))")
    }

    /// Shows what the draft adds, removes and changes.
    private static func show(_ draft: SignedDocument, _ role: String, after repository: TrustRepository) throws {
        let new = try Targets(draft.signed, role: role)
        let old = try repository.targets[role].map { try Targets($0.signed, role: role) }
        print("\(role): version \(old?.version ?? 0) → \(new.version)")
        for (path, target) in new.targets.sorted(by: { $0.key < $1.key }) {
            let before = old?.target(path.text)
            guard before?.hashes.sha256 != target.hashes.sha256 else { continue }
            let kind = before == nil ? "new" : "CHANGED"
            print("  \(kind) \(path.text): \(target.length) bytes, SHA-256 \(target.hashes.sha256 ?? "none")")
        }
        for path in old?.targets.keys.sorted() ?? [] where new.target(path.text) == nil { print("  GONE \(path.text)") }
        if let delegations = new.delegations, !delegations.roles.isEmpty {
            throw Failure("\(role): the draft delegates the role, which releases never do.")
        }
    }
}
