import ArgumentParser
import DeploymentKeys
import Foundation

struct Vault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Exports and imports the key that seals all other keys.",
        discussion: """
            Servers that share a database need the same vault. Each seals its own copy as strongly as its machine can.

            Examples:
              coreml-server vault export --data ./first -o vault.mlmodelkey \\
                --passphrase-file secret
              coreml-server vault import --data ./second vault.mlmodelkey \\
                --passphrase-file secret
            """,
        subcommands: [Export.self, Import.self]
    )

    struct Passphrase: ParsableArguments {
        @Option(name: .customLong("passphrase-file"), help: "A file with a passphrase of 12 bytes or more.")
        var file: String

        func bytes() throws -> [UInt8] {
            var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
            while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
            guard bytes.count >= 12 else { throw ValidationError("\(file) holds fewer than 12 bytes.") }
            return bytes
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Writes the vault's key under a passphrase.")

        @Option(name: .customLong("data"), help: "The server's folder; a vault is made when it has none.") var folder:
            String
        @Option(name: .shortAndLong, help: "The file to create.") var output: String
        @OptionGroup var passphrase: Passphrase

        func run() async throws {
            let text = try KeyVault(folder: folder + "/vault").backup(passphrase: passphrase.bytes())
            let file = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw ValidationError("\(output): \(String(cString: strerror(errno)))") }
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            try handle.write(contentsOf: text)
            try handle.synchronize()
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Creates a server's vault from an exported file.")

        @Option(name: .customLong("data"), help: "The folder of a server without a vault.") var folder: String
        @Argument(help: "The exported file.") var file: String
        @OptionGroup var passphrase: Passphrase

        func run() async throws {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let text = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
            let vault = try KeyVault.restore(text, passphrase: passphrase.bytes(), to: folder + "/vault")
            print("\(folder)/vault: \(vault.strength.description)")
        }
    }
}
