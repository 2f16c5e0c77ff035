import ArgumentParser

@main
struct CoreMLServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coreml-server",
        abstract: "Delivers collections of Core ML models to devices from your own server.",
        subcommands: [
            Serve.self, AdminLink.self, Export.self, Check.self, Backup.self, Restore.self, AdvanceVersions.self,
            Vault.self, Keys.self,
        ]
    )
}
