package import ArgumentParser
import MLFiles
import MLGeneration
import MLNumerics

package struct GenerateCommand: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "generate",
            abstract: "Generate the Swift class for using a model in an app.",
            discussion: """
                The source has a class that loads the model and predicts, classes for its input and output, and for models \
                that can be updated or have a state classes for training inputs and the state.  It imports only CoreML and \
                also compiles on Apple's systems.  A file whose contents would not change is not written.

                Examples:
                  coreml generate Flowers.mlpackage Sources/App/
                  coreml generate Flowers.mlmodel Sources/App/Garden.swift
                  coreml generate Flowers.mlmodel Sources/Models/ --language Swift \\
                    --swift-version 5.0 --public-access
                  coreml generate Flowers.mlmodel Sources/App/ --bundle module
                """
        )
    }

    @Argument(help: "A .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var model: String
    @Argument(help: "The output file, when the name ends in .swift; otherwise its folder, by default '.'.")
    var folder: String = "."
    @Option(help: "The language: Swift.")
    var language: Language = .swift
    @Option(
        help: ArgumentHelp(
            "The version of Swift: 4, 4.2, 5 or 6, which writes 'any' and 'public import'.",
            valueName: "version"
        )
    )
    var swiftVersion: String = "6"
    @Flag(help: "Make the types and their members public.")
    var publicAccess = false
    @Option(
        help: """
            The bundle in which the class finds the compiled model: class (Bundle(for:), on Linux beside the program) or \
            module (Bundle.module, the resources of a package's target, as with the build plugin).
            """
    )
    var bundle: Bundle = .class
    @Flag(name: .customLong("globalmodule"), help: "Objective-C only; an error here, because Linux has no Objective-C.")
    var globalModule = false
    @OptionGroup var build: BuildOptions
    @Option(
        help: ArgumentHelp(
            "Accepted for build systems and ignored: compile writes the property list.",
            valueName: "file"
        )
    )
    var outputPartialInfoPlist: String?

    enum Language: String, ExpressibleByArgument, CaseIterable {
        case swift = "Swift"
        case objectiveC = "Objective-C"
    }

    enum Bundle: String, ExpressibleByArgument, CaseIterable {
        case `class`
        case module
    }

    package init() {}

    package func run() throws {
        print(
            try failing { () throws(ModelError) in
                guard language == .swift, !globalModule else {
                    throw ModelError(
                        .unsupported,
                        "Linux has no Objective-C, so only Swift is written here; leave out "
                            + (globalModule ? "--globalmodule." : "--language Objective-C, or pass --language Swift.")
                    )
                }
                return try write()
            }
        )
    }

    private func write() throws(ModelError) -> String {
        let name = ModelName.of(model)
        let options = GenerationOptions(
            isPublic: publicAccess,
            swift: try SwiftLanguage(swiftVersion),
            bundle: bundle == .module ? .ofModule : .ofClass
        )
        let file = try ModelFile.open(path: model)
        try build.check(file)
        let location = OutputLocation(folder, ending: ".swift", name: SwiftIdentifier.className(name))
        guard build.dryRun == .no else { return location.path }
        let source = [UInt8](try ClassGenerator.source(of: file, named: name, options: options).utf8)
        // A build compiles again what has a new date.
        if FileAccess.kind(of: location.path) == .file, try FileAccess.read(location.path) == source {
            return location.path
        }
        try FileAccess.makeFolder(location.folder)
        try FileAccess.write(source, to: location.path)
        return location.path
    }
}
