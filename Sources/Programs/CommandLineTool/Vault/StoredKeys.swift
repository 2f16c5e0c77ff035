import ArgumentParser
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics
import MLPackaging

struct KeyImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put a secret key into this user's key store, unlocking it first.",
        discussion: """
            A key wrapped for recipients is unlocked with a recipient's key in the store.

            Examples:
              coreml key import Backup.mlmodelkey
              coreml key import Backup.mlmodelkey --passphrase-file secret.txt
            """
    )

    @Argument(help: "A .mlmodelkey file with a secret: private, symmetric or protected.")
    var key: String
    @OptionGroup var passphrase: PassphraseOption

    func run() throws {
        try failing { () throws(ModelError) in
            var key = try KeyFiles.read(self.key)
            if case .protected(let protection) = key.material {
                switch protection {
                case .passphrase: key = try KeyProtection.unlock(key, passphrase: passphrase.read(repeated: false))
                case .recipients: key = try KeyText.unlocked(key, protection)
                }
            }
            guard key.secret != nil else {
                throw ModelError(.invalidInput, "This is the public half of a key, which is not secret.", at: self.key)
            }
            let strength = try KeyStore.user.store(key)
            print("key \(key.keyID) of \"\(key.team)\"\n  stored in \(KeyStore.user.folder) (\(strength.rawValue))")
        }
    }
}

struct KeyList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys in this user's key store and how strongly they are sealed."
    )

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        try failing { () throws(ModelError) in
            let store = KeyStore.user
            let entries = try store.entries()
            if json {
                let list = entries.map { entry in
                    JSONValue.object([
                        .init("keyID", .string(entry.keyID.description)), .init("path", .string(entry.path)),
                        .init("strength", .string(entry.strength.rawValue)),
                    ])
                }
                return Swift.print(JSONValue.array(list).text, terminator: "")
            }
            guard !entries.isEmpty else { return Swift.print("There are no keys in \(store.folder).") }
            var table = Table()
            for entry in entries {
                let key = try store.key(entry.keyID)
                table.add(entry.keyID.description, key?.team ?? "", key?.created ?? "", entry.strength.rawValue)
            }
            Swift.print("\(store.folder)\n\(table.text())")
        }
    }
}

struct KeyRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a key from this user's key store: models encrypted with it no longer open here."
    )

    @Argument(help: "The key's name: 32 hexadecimal digits.")
    var keyID: String

    func run() throws {
        try failing { () throws(ModelError) in
            guard let bytes = Hexadecimal.bytes(keyID.utf8), bytes.count == KeyID.byteCount else {
                throw ModelError(.invalidInput, "\"\(keyID)\" is not a name of a key; see coreml key list.")
            }
            let store = KeyStore.user
            guard try store.key(KeyID(bytes)) != nil else {
                throw ModelError(.invalidInput, "There is no key \(keyID) in \(store.folder).")
            }
            try store.remove(KeyID(bytes))
        }
    }
}
