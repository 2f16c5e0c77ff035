import PackagePlugin

/// Compiles the models in a target's folder and writes their classes.
@main struct CoreMLPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        try ModelCommands(context: context, target: target, tool: "coremlc", encrypts: false).commands()
    }
}
