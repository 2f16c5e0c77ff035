import PackagePlugin

/// Compiles the models in a target's folder and writes their classes; a model with a key beside it is encrypted.
@main struct CoreMLEncryptionPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        try ModelCommands(context: context, target: target, tool: "coremlc-encrypting", encrypts: true).commands()
    }
}
