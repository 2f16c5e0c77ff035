import ArgumentParser
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics
import MLPackaging

/// `coreml key`: the keys that encrypt models.
struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Create, inspect, protect and rotate the keys that encrypt models.",
        discussion: """
            A key is a pair by default: the .mlmodelkey file is its public half, which encrypts and cannot decrypt, and may \
            be stored in a repository.  The private half is stored in this user's key store, sealed as strongly as the machine \
            can.

            Examples:
              coreml key create --team Acme -o Flowers.mlmodelkey
              coreml compile Flowers.mlpackage build/ --encrypt Flowers.mlmodelkey
              coreml key inspect Flowers.mlmodelkey
              coreml key protect Flowers.mlmodelkey -o Backup.mlmodelkey \\
                --passphrase-file secret.txt
              coreml key import Backup.mlmodelkey --passphrase-file secret.txt
              coreml key rotate Flowers.mlmodelkey -o Flowers2.mlmodelkey \\
                --model build/Flowers.mlmodelc
            """,
        subcommands: [
            KeyCreate.self, KeyInspect.self, KeyProtect.self, KeyRotate.self, KeyImport.self, KeyList.self,
            KeyRemove.self,
        ]
    )
}

/// The options for a new key: its expiry, its key service, its signer, and where its private half goes.
struct NewKeyOptions: ParsableArguments {
    @Option(help: "The number of days for which models may be encrypted with the key; unlimited by default.")
    var expires: Int?
    @Option(help: "The address of the key service for models that are encrypted with the key.")
    var server: String?
    @Option(help: ArgumentHelp("Also write the private half to a file of mode 0600.", valueName: "file"))
    var privateKey: String?
    @Flag(help: "Do not put the private half into this user's key store.")
    var noStore = false
    @Option(help: ArgumentHelp("Sign the public half with an Ed25519 key in PEM form.", valueName: "pem"))
    var sign: String?

    func validate() throws {
        guard !noStore || privateKey != nil else {
            throw ValidationError("--no-store would lose the private half; name a file for it with --private-key")
        }
        if let expires, !(1...36_500 ~= expires) { throw ValidationError("--expires takes 1 to 36500 days") }
    }

    /// The signing key.
    var signer: SigningKey? {
        get throws(ModelError) {
            try sign.map { (path) throws(ModelError) in
                try withErrorContext(path) { () throws(ModelError) in try SigningKey(pem: KeyText.read(path)) }
            }
        }
    }

    /// Writes a new key to its file and returns a description of it.
    func write(_ key: ModelKey, to output: String) throws(ModelError) -> String {
        var lines = ["key \(key.keyID) of \"\(key.team)\"", "  suite        \(key.suite.rawValue)"]
        lines.append("  fingerprint  \(Hexadecimal.text(key.fingerprint))")
        var half = key
        if let publicHalf = key.publicHalf {
            half = publicHalf
            if let signer = try signer { half = try KeySignature.sign(publicHalf, with: signer) }
        } else if sign != nil {
            throw ModelError(.invalidInput, "A symmetric key is not signed: everybody who has it can encrypt with it.")
        }
        if key.publicHalf != nil {
            if let privateKey {
                try KeyFiles.write(key, to: privateKey)
                lines.append("  private half \(privateKey) (\(KeyStore.Strength.file.rawValue)): keep it secret")
            }
            if !noStore {
                let strength = try KeyStore.user.store(key)
                lines.append("  private half \(KeyStore.user.folder) (\(strength.rawValue))")
            }
        }
        try KeyFiles.write(half, to: output)
        lines.append(
            "  \(half.material.kind.padded) \(output)\(half.secret == nil ? "" : " (mode 0600): keep it secret")"
        )
        return lines.joined(separator: "\n")
    }
}

extension String {
    /// The text padded to the width of the first column of a key's description.
    fileprivate var padded: String { self + String(repeating: " ", count: max(0, 12 - count)) }
}

struct KeyCreate: ParsableCommand {
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case `public`, symmetric, signing
        case modelSigning = "model-signing"
    }
    enum Suite: String, ExpressibleByArgument, CaseIterable {
        case xWing = "x-wing"
        case x25519
    }

    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a key.",
        discussion: """
            public         a pair for HPKE; the file is the public half (the default)
            symmetric      one key that both encrypts and decrypts, in a file of mode 0600
            signing        an Ed25519 pair for --sign: FILE, and FILE with .pub before its
                           extension
            model-signing  a P-256 pair for coreml sign and --sign-model, likewise

            Examples:
              coreml key create --team Acme -o Flowers.mlmodelkey
              coreml key create --team Acme --kind symmetric -o Flowers.mlmodelkey
              coreml key create --kind signing -o acme.pem
              coreml key create --kind model-signing -o release.pem
            """
    )

    @Option(help: "The team that owns the key.")
    var team: String?
    @Option(name: [.short, .long], help: "The file of the key.")
    var output: String
    @Option(help: "The kind of key.")
    var kind = Kind.public
    @Option(help: "The algorithm that wraps content keys: x-wing is also secure against quantum computers.")
    var suite = Suite.xWing
    @OptionGroup var options: NewKeyOptions

    func validate() throws {
        guard [.signing, .modelSigning].contains(kind) || team != nil else {
            throw ValidationError("--team is missing: it names the owner of the key")
        }
        if let team, team.utf8.count > 200 { throw ValidationError("--team takes at most 200 bytes") }
    }

    func run() throws {
        try failing { () throws(ModelError) in
            if kind == .signing { return try makeSigningKey() }
            if kind == .modelSigning { return try makeModelSigningKey() }
            let suite: WrapSuite =
                switch (kind, self.suite) {
                case (.symmetric, _): .aes
                case (_, .xWing): .xWing
                case (_, .x25519): .x25519
                }
            let key = try ModelKey.make(
                suite,
                team: team ?? "",
                created: Dates.now,
                notAfter: options.expires.map(Dates.inDays),
                server: options.server
            )
            print(try options.write(key, to: output))
        }
    }

    private func makeSigningKey() throws(ModelError) {
        let key = SigningKey()
        try write("signing key \(key.publicKey.keyID)", key.pem, key.publicKey.pem)
    }

    private func makeModelSigningKey() throws(ModelError) {
        let key = ModelSigningKey()
        try write("model signing key \(key.publicKey.hint)", key.pem, key.publicKey.pem)
    }

    /// Writes the private and the public half of a signing key.
    private func write(_ title: String, _ privateHalf: String, _ publicHalf: String) throws(ModelError) {
        let location = output.hasSuffix(".pem") ? String(output.dropLast(4)) + ".pub.pem" : output + ".pub"
        try KeyFiles.write(Array(privateHalf.utf8), to: output, isSecret: true)
        try KeyFiles.write(Array(publicHalf.utf8), to: location, isSecret: false)
        print("\(title)\n  private half \(output) (mode 0600)\n  public half  \(location)")
    }
}

struct KeyInspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a key, or the key that a model is encrypted with.",
        discussion: """
            Examples:
              coreml key inspect Flowers.mlmodelkey
              coreml key inspect Flowers.mlmodelkey --trust acme.pub.pem
              coreml key inspect build/Flowers.mlmodelc
            """
    )

    @Argument(help: "A .mlmodelkey file, or an encrypted .mlmodelc folder or .mlarchive.")
    var path: String
    @Option(help: ArgumentHelp("Fail unless the holder of this key signed it.", valueName: "public pem"))
    var trust: String?
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        try failing { () throws(ModelError) in
            if let record = try Vault.shared.record(of: path) {
                guard trust == nil else { throw ModelError(.invalidInput, "--trust is for keys.", at: path) }
                return try KeyText.print(KeyText.members(of: record, at: path), json: json)
            }
            let key = try KeyFiles.read(path)
            if let trust {
                let signer = try withErrorContext(trust) { () throws(ModelError) in
                    try SigningKey.Public(pem: KeyText.read(trust))
                }
                guard key.signature?.signer == signer.bytes else {
                    throw ModelError(.invalidInput, "The key is not signed by \(signer.keyID).", at: path)
                }
            }
            try KeyText.print(KeyText.members(of: key), json: json)
        }
    }
}

struct KeyProtect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Protect a secret key with a passphrase, or wrap it for others.",
        discussion: """
            Takes the file of a secret key, or of a public half whose private half is in the key store.

            Examples:
              coreml key protect Flowers.mlmodelkey -o Backup.mlmodelkey
              coreml key protect Flowers.mlmodelkey -o ForBob.mlmodelkey \\
                --recipient Bob.mlmodelkey
            """
    )

    @Argument(help: "A .mlmodelkey file.")
    var key: String
    @Option(name: [.short, .long], help: "The file to write the protected key to.")
    var output: String
    @OptionGroup var passphrase: PassphraseOption
    @Option(help: ArgumentHelp("Wrap it for the holder of this key; may be repeated.", valueName: "key"))
    var recipient: [String] = []

    func validate() throws {
        guard recipient.isEmpty || passphrase.passphraseFile == nil else {
            throw ValidationError("a key is protected by a passphrase or for recipients, not both")
        }
    }

    func run() throws {
        try failing { () throws(ModelError) in
            let key = try KeyText.secret(self.key)
            let protected: ModelKey
            if recipient.isEmpty {
                protected = try KeyProtection.protect(key, passphrase: passphrase.read(repeated: true))
            } else {
                var keys: [ModelKey] = []
                for path in recipient { keys.append(try KeyFiles.read(path)) }
                protected = try KeyProtection.protect(key, for: keys)
            }
            try KeyFiles.write(protected, to: output)
            print("\(output): key \(protected.keyID), protected")
        }
    }
}

struct KeyRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Create a successor of a key, and move models to it.",
        discussion: """
            Models are not encrypted again: their content key is wrapped for the new key, so anyone who copied a model's \
            content key still has it.  The next version of a model gets a new one.

            Examples:
              coreml key rotate Flowers.mlmodelkey -o Flowers2.mlmodelkey
              coreml key rotate Flowers.mlmodelkey -o Flowers2.mlmodelkey \\
                --model Flowers.mlmodelc --model Flowers.mlarchive
            """
    )

    @Argument(help: "The .mlmodelkey file of the old key.")
    var key: String
    @Option(name: [.short, .long], help: "The file of the new key.")
    var output: String
    @Option(
        help: ArgumentHelp(
            "An encrypted folder or archive to move to the new key; may be repeated.",
            valueName: "model"
        )
    )
    var model: [String] = []
    @OptionGroup var options: NewKeyOptions

    func run() throws {
        try failing { () throws(ModelError) in
            let old = try KeyFiles.read(key)
            guard FileAccess.kind(of: output) == nil else {
                throw ModelError(.invalidInput, "There is a file already; give the new key another name.", at: output)
            }
            let signer = try options.signer
            for path in model {
                guard let record = try Vault.shared.record(of: path), record.keyID == old.keyID else {
                    throw ModelError(.invalidInput, "The model is not encrypted with the key \(old.keyID).", at: path)
                }
                _ = try Vault.shared.contentKey(of: record, at: path)
                if signer == nil, FileAccess.kind(of: path) == .file, try !ModelArchive(path).signatures.isEmpty {
                    throw ModelError(
                        .invalidInput,
                        "The archive is signed; name the key of its new signature with --sign.",
                        at: path
                    )
                }
            }
            let new = try ModelKey.make(
                old.suite,
                team: old.team,
                created: Dates.now,
                notAfter: options.expires.map(Dates.inDays),
                server: options.server ?? old.server
            )
            print(try options.write(new, to: output))
            for path in model {
                try KeyRotation.rewrap(path, for: new, signer: signer)
                print("  rewrapped    \(path)")
            }
        }
    }
}
