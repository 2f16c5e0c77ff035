import ArgumentParser
import Foundation
import MLEncryption
import MLFiles
import MLNumerics

/// Descriptions of keys, and prompts for them.
enum KeyText {
    static func read(_ path: String) throws(ModelError) -> [UInt8] { try FileAccess.read(path) }

    /// The secret key in a file, or the one whose public half is in the file.
    static func secret(_ path: String) throws(ModelError) -> ModelKey {
        let key = try KeyFiles.read(path)
        if key.secret != nil { return key }
        guard let stored = try KeyStore.user.key(key.keyID) else {
            throw ModelError(
                .keyFetch,
                "The file holds no secret in the clear, and the key store (\(KeyStore.user.folder)) has no key \(key.keyID).",
                at: path
            )
        }
        return stored
    }

    /// The key, unlocked by the first of its recipients that is in the key store.
    static func unlocked(_ key: ModelKey, _ protection: KeyProtection) throws(ModelError) -> ModelKey {
        for recipient in protection.recipientIDs {
            guard let own = try KeyStore.user.key(recipient) else { continue }
            return try KeyProtection.unlock(key, with: own)
        }
        throw ModelError(
            .keyFetch,
            "The key \(key.keyID) is for \(protection.holders), none of which is in the key store."
        )
    }

    static func members(of key: ModelKey) throws(ModelError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("kind", .string(key.material.kind)), .init("keyID", .string(key.keyID.description)),
            .init("team", .string(key.team)), .init("suite", .string(key.suite.rawValue)),
            .init("fingerprint", .string(Hexadecimal.text(key.fingerprint))), .init("created", .string(key.created)),
        ]
        if let date = key.notAfter {
            members.append(.init("notAfter", .string(date + (date < Dates.now ? " (passed)" : ""))))
        }
        if let server = key.server { members.append(.init("server", .string(server))) }
        if case .protected(let protection) = key.material {
            members.append(.init("unlockedBy", .string(protection.holders)))
        }
        if let signature = key.signature {
            members.append(.init("signedBy", .string(SigningKey.Public(bytes: signature.signer).keyID.description)))
        }
        let entry = try KeyStore.user.entries().first { $0.keyID == key.keyID }
        members.append(.init("inKeyStore", .string(entry?.strength.rawValue ?? "no")))
        members.append(.init("encrypts", .bool(key.publicKey != nil || key.secret != nil)))
        members.append(.init("decrypts", .bool(key.secret != nil || entry != nil)))
        return members
    }

    static func members(of record: EncryptionRecord, at path: String) throws(ModelError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("keyID", .string(record.keyID.description)), .init("team", .string(record.team)),
            .init("suite", .string(record.suite.rawValue)),
            .init("contentID", .string(Hexadecimal.text(record.contentID))),
            .init("created", .string(record.created)), .init("encryptedFiles", .integer(Int64(record.files.count))),
            .init("readableFiles", .integer(Int64(record.clear.count))),
        ]
        if let server = record.server { members.append(.init("server", .string(server))) }
        var opens = true
        do throws(ModelError) { _ = try Vault.shared.contentKey(of: record, at: path) } catch {
            guard error.code == .keyFetch else { throw error }
            opens = false
        }
        members.append(.init("opensHere", .bool(opens)))
        return members
    }

    static func print(_ members: [JSONValue.Member], json: Bool) throws(ModelError) {
        if json { return Swift.print(JSONValue.object(members).text, terminator: "") }
        var table = Table()
        for member in members { table.add(name(member.name), text(member.value)) }
        Swift.print(table.text(indent: ""))
    }

    /// A member's name as text: `keyID` is `key ID`.
    private static func name(_ member: String) -> String {
        var words = ""
        var wasUpper = false
        for character in member {
            if character.isUppercase, !wasUpper { words += " " }
            wasUpper = character.isUppercase
            words += wasUpper && member.hasSuffix("ID") ? String(character) : character.lowercased()
        }
        return words
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .bool(let value): value ? "yes" : "no"
        case .integer(let number): "\(number)"
        default: value.text
        }
    }
}

/// The option for a passphrase from a file or the terminal, never from the command line, which others can see.
struct PassphraseOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the passphrase from the first line of a file ('-': standard input).",
            valueName: "file"
        )
    )
    var passphraseFile: String?

    /// Reads the passphrase from its file or from the terminal.
    ///
    /// - Parameter repeated: Whether a typed passphrase is prompted for twice, because it is new.
    /// - Returns: The passphrase.
    /// - Throws: `.io` when the file cannot be read; `.invalidInput` without a terminal, for two different entries, and
    ///   for fewer than 8 bytes.
    func read(repeated: Bool) throws(ModelError) -> SecretText {
        let text: SecretText
        if let passphraseFile {
            let path = passphraseFile == "-" ? "/dev/stdin" : passphraseFile
            guard let data = FileManager.default.contents(atPath: path) else {
                throw ModelError(.io, "The file with the passphrase cannot be read.", at: passphraseFile)
            }
            text = SecretText(Array(data.prefix { $0 != 0x0A && $0 != 0x0D }))
        } else {
            guard isatty(0) != 0 else {
                throw ModelError(
                    .invalidInput,
                    "There is no terminal to ask for the passphrase; use --passphrase-file."
                )
            }
            text = try ask("Passphrase: ")
            if repeated, try !ask("Again: ").equals(text) {
                throw ModelError(.invalidInput, "The two passphrases differ.")
            }
        }
        guard text.count >= 8 else { throw ModelError(.invalidInput, "A passphrase has at least 8 bytes.") }
        return text
    }

    private func ask(_ prompt: String) throws(ModelError) -> SecretText {
        guard let typed = getpass(prompt) else { throw ModelError(.io, "The passphrase could not be read.") }
        let count = strlen(typed)
        defer { memset(typed, 0, count) }
        return SecretText(UnsafeRawBufferPointer(start: typed, count: count))
    }
}
