import ArgumentParser
import MLArchive
import MLDelta
import MLEncryption
import MLFiles
import MLNumerics
import MLPackaging

/// `coreml archive`: a model as one file that is checked before it is used, and may be encrypted and signed.
struct Archive: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "Pack a model into one file, encrypted and signed if you like; list, verify and unpack such files.",
        discussion: """
            Examples:
              coreml archive Flowers.mlpackage -o Flowers.mlarchive
              coreml archive Flowers.mlpackage -o Flowers.mlarchive \\
                --encrypt Flowers.mlmodelkey --sign acme.pem
              coreml archive Flowers.mlpackage -o Flowers.mlarchive --sign-model release.pem
              coreml archive list Flowers.mlarchive
              coreml archive verify Flowers.mlarchive --key acme.pub.pem
              coreml archive extract Flowers.mlarchive -o Flowers.mlmodelc
              coreml predict Flowers.mlarchive --input image=rose.jpg
            """,
        subcommands: [ArchiveCreate.self, ArchiveList.self, ArchiveVerify.self, ArchiveExtract.self],
        defaultSubcommand: ArchiveCreate.self
    )
}

struct ArchiveCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Pack a model into an archive (the default).",
        discussion: """
            A model that is not compiled is compiled first.  Flowers.mlmodelkey beside Flowers.mlpackage is the key to encrypt \
            with, unless --encrypt or --no-encrypt is given.

            Examples:
              coreml archive Flowers.mlpackage -o Flowers.mlarchive \\
                --encrypt Flowers.mlmodelkey
              coreml archive Flowers.mlpackage -o Flowers3.mlarchive \\
                --delta-from Flowers2.mlarchive
              coreml archive Flowers.mlpackage -o Flowers3.mlarchive \\
                --encrypt Flowers.mlmodelkey \\
                --delta-from Flowers2.mlarchive=old/Flowers.mlpackage
            """
    )

    @Argument(help: "A .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var model: String
    @Option(name: [.short, .long], help: "The archive, by default the model's name with .mlarchive.")
    var output: String?
    @Option(help: ArgumentHelp("Encrypt with this key.", valueName: "key"))
    var encrypt: String?
    @Flag(help: "Do not encrypt, even if there is a key beside the model.")
    var noEncrypt = false
    @Option(help: ArgumentHelp("Sign with an Ed25519 key in PEM form.", valueName: "pem"))
    var sign: String?
    @Option(
        help: ArgumentHelp(
            "Sign the model's files with a P-256 key in PEM form, as OpenSSF Model Signing does: model.sig in the archive.",
            valueName: "pem"
        )
    )
    var signModel: String?
    @Option(
        help: ArgumentHelp(
            "Also make a .mldelta for devices that have this archive; may be repeated.  If it is encrypted for a key that is "
                + "not here, name the unencrypted model.",
            valueName: "archive[=model]"
        )
    )
    var deltaFrom: [String] = []

    func validate() throws {
        guard signModel == nil || encrypt == nil else {
            throw ValidationError(
                "--sign-model lists files that anybody can hash; sign an encrypted archive with --sign"
            )
        }
        guard encrypt == nil || !noEncrypt else {
            throw ValidationError("--encrypt and --no-encrypt exclude each other")
        }
    }

    func run() throws {
        try failing { () throws(ModelError) in
            let isEncrypted = try Vault.shared.record(of: model) != nil
            let location = encrypt ?? (noEncrypt || isEncrypted ? nil : KeyFiles.path(beside: model))
            let key = try location.map { (path) throws(ModelError) in try KeyFiles.encryptionKey(path) }
            let signer = try sign.map { (path) throws(ModelError) in
                try withErrorContext(path) { () throws(ModelError) in try SigningKey(pem: KeyText.read(path)) }
            }
            let modelSigner = try signModel.map { (path) throws(ModelError) in try ModelSigning.key(path) }
            let output = self.output ?? Self.name(model)
            let deltas = deltaFrom.enumerated().map { Self.request($1, number: $0, of: output) }
            let outcomes = try ArchivePackaging.archive(
                model,
                to: output,
                key: key,
                signer: signer,
                modelSigner: modelSigner,
                deltas: deltas
            )
            print(output)
            if let key, let location { print("  encrypted with \(location), key \(key.keyID)") }
            if let signer { print("  signed by \(signer.publicKey.keyID)") }
            for (delta, outcome) in zip(deltas, outcomes) { Self.tell(of: delta, outcome) }
            if let modelSigner { print("  its files signed by \(modelSigner.publicKey.hint)") }
        }
    }

    /// Parses a delta request, ARCHIVE or ARCHIVE=MODEL; the delta is written beside the archive.
    private static func request(_ text: String, number: Int, of output: String) -> DeltaPackaging.Request {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let base = output.hasSuffix(".mlarchive") ? String(output.dropLast(".mlarchive".count)) : output
        let old = FileAccess.name(of: parts.first ?? "")
        let name = old.hasSuffix(".mlarchive") ? String(old.dropLast(".mlarchive".count)) : old
        return DeltaPackaging.Request(
            old: parts.first ?? "",
            oldModel: parts.count > 1 ? parts[1] : nil,
            output: "\(base).from-\(name)\(number > 0 ? "-\(number + 1)" : "").mldelta"
        )
    }

    private static func tell(of delta: DeltaPackaging.Request, _ outcome: DeltaWriter.Outcome) {
        let (size, plan) = (byteText(outcome.byteCount), byteText(outcome.planByteCount))
        guard outcome.isWritten else {
            return print("  no delta from \(delta.old): it would have \(size), and devices fetch \(plan) without it")
        }
        print("  \(delta.output): \(size); devices that have \(delta.old) fetch \(plan) without it")
    }

    private static func name(_ model: String) -> String {
        let model = FileAccess.withoutTrailingSlash(model)
        for ending in [".mlmodelc", ".mlpackage", ".mlmodel"] where model.hasSuffix(ending) {
            return String(model.dropLast(ending.count)) + ".mlarchive"
        }
        return model + ".mlarchive"
    }
}

struct ArchiveList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the contents of an archive."
    )

    @Argument(help: "A .mlarchive file.")
    var archive: String
    @Flag(help: "Print JSON: the header of the archive, and its signer.")
    var json = false

    func run() throws {
        try failing { () throws(ModelError) in
            let archive = try ModelArchive(self.archive)
            if json { return try printJSON(archive) }
            let header = archive.header
            var facts = Table()
            facts.add("model", header.model.name)
            if let kind = header.model.kind { facts.add("kind", kind) }
            if let version = header.model.version { facts.add("version", version) }
            facts.add("created", "\(header.created) by \(header.tool)")
            if let encryption = header.encryption {
                facts.add("encrypted", "with the key \(encryption.keyID) of \"\(encryption.team)\"")
            }
            for signature in archive.signatures {
                let isRight = signature.matches(name: header.model.name, headerHash: archive.headerHash)
                facts.add("signed", "by \(signature.signer.keyID)\(isRight ? "" : ": the signature is WRONG")")
            }
            print(facts.text(indent: ""))
            var table = Table(rightAligned: [0])
            for file in header.files { table.add(byteText(file.byteCount), file.path) }
            print(table.text())
        }
    }

    private func printJSON(_ archive: ModelArchive) throws(ModelError) {
        let signatures = archive.signatures.map { signature in
            JSONValue.object([
                .init("keyID", .string(signature.signer.keyID.description)),
                .init(
                    "valid",
                    .bool(signature.matches(name: archive.header.model.name, headerHash: archive.headerHash))
                ),
            ])
        }
        let value = JSONValue.object([
            .init("header", try JSONReader.read(archive.header.text)),
            .init("headerSHA256", .string(Hexadecimal.text(archive.headerHash))),
            .init("signatures", .array(signatures)),
        ])
        print(value.text, terminator: "")
    }
}

struct ArchiveVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify every byte of an archive against its header, and its signature.",
        discussion: """
            Without a key it verifies that the archive is intact; with --key also that the holder of that key signed it.  \
            When the key of an encrypted archive is available, it also decrypts the archive, writing nothing.
            """
    )

    @Argument(help: "A .mlarchive file.")
    var archive: String
    @Option(help: ArgumentHelp("Fail unless the holder of this Ed25519 key signed it.", valueName: "public pem"))
    var key: String?

    func run() throws {
        try failing { () throws(ModelError) in
            let archive = try ModelArchive(self.archive)
            try archive.verify()
            let name = archive.header.model.name
            for signature in archive.signatures
            where !signature.matches(name: name, headerHash: archive.headerHash) {
                throw ModelError(.malformed, "The signature by \(signature.signer.keyID) is wrong.", at: self.archive)
            }
            if let key {
                let signer = try withErrorContext(key) { () throws(ModelError) in
                    try SigningKey.Public(pem: KeyText.read(key))
                }
                guard archive.signatures.contains(where: { $0.signer == signer }) else {
                    throw ModelError(.invalidInput, "The archive is not signed by \(signer.keyID).", at: self.archive)
                }
            }
            print("\(self.archive): whole, \(archive.header.files.count) files")
            for signature in archive.signatures { print("  signed by \(signature.signer.keyID)") }
            if let text = try decryption(archive) { print("  \(text)") }
        }
    }

    /// A description of the decrypted archive; `nil` for one that is not encrypted.
    private func decryption(_ archive: ModelArchive) throws(ModelError) -> String? {
        guard let record = try archive.record else { return nil }
        let contentKey: SecretBytes
        do throws(ModelError) { contentKey = try Vault.shared.contentKey(of: record, at: self.archive) } catch {
            guard error.code == .keyFetch else { throw error }
            return "encrypted with the key \(record.keyID), which is not available: its contents were not checked"
        }
        try archive.check(contentKey)
        let folder = try EncryptedFolder(record, contentKey: contentKey, stored: archive.files)
        for file in record.files { _ = try folder.contents(of: file.path) }
        for file in record.clear { _ = try folder.contents(of: file.path) }
        return "encrypted with the key \(record.keyID): decrypts"
    }
}

struct ArchiveExtract: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extract",
        abstract: "Unpack an archive into a compiled folder.",
        discussion: "An encrypted archive becomes an encrypted folder: nothing is decrypted, and no key is needed."
    )

    @Argument(help: "A .mlarchive file.")
    var archive: String
    @Option(name: [.short, .long], help: "The folder, by default the model's name with .mlmodelc, here.")
    var output: String?

    func run() throws {
        try failing { () throws(ModelError) in
            let archive = try ModelArchive(self.archive)
            let name = archive.header.model.name
            if output == nil { try ContainedPath.check(name + ".mlmodelc") }
            guard output != nil || !name.contains("/") else {
                throw ModelError(
                    .malformed,
                    "The model's name has a slash; name the folder with --output.",
                    at: self.archive
                )
            }
            let folder = output ?? name + ".mlmodelc"
            try archive.extract(to: folder)
            print(folder)
        }
    }
}
