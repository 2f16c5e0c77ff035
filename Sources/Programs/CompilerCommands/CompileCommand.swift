package import ArgumentParser
import MLEngine
import MLFiles
import MLNumerics

package struct CompileCommand<Encryption: EncryptedCompiling>: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "compile",
            abstract: "Compile a model into a .mlmodelc folder.",
            discussion: """
                The options are those of Apple's compiler, so that build rules made for it run here.  With --platform and \
                --deployment-target, a model that needs a newer system is an error.

                Examples:
                  coreml compile Digits.mlpackage build/             makes build/Digits.mlmodelc
                  coreml compile Digits.mlpackage build/D.mlmodelc
                  coreml compile Digits.mlpackage build/ --platform ios --deployment-target 17.0
                  coreml compile Digits.mlpackage build/ --encrypt Digits.mlmodelkey
                """
        )
    }

    @Argument(help: "A .mlmodel file or a .mlpackage.")
    var model: String
    @Argument(
        help: "The compiled model, when the name ends in .mlmodelc; otherwise its folder, by default '.'."
    )
    var folder: String?
    @Option(name: [.short, .long], help: "The same as the second argument.")
    var output: String?
    @Option(help: ArgumentHelp("Encrypt the compiled model with this key.", valueName: "model.mlmodelkey"))
    var encrypt: String?
    @Option(
        help: ArgumentHelp(
            "Write the model's entries for the app's Info.plist: an empty dictionary.",
            valueName: "file"
        )
    )
    var outputPartialInfoPlist: String?
    @OptionGroup var build: BuildOptions

    package init() {}

    package func validate() throws {
        guard folder == nil || output == nil else {
            throw ValidationError("the output path is given twice, as '\(folder ?? "")' and with --output")
        }
    }

    package func run() throws {
        let location = OutputLocation(output ?? folder ?? ".", ending: ".mlmodelc", name: ModelName.of(model))
        print(
            try failing { () throws(ModelError) in
                let file = try ModelFile.open(path: model)
                try build.check(file)
                guard build.dryRun == .no else { return location.path }
                let path = try compile(file, to: location)
                if let outputPartialInfoPlist {
                    try FileAccess.makeFolder(FileAccess.folder(of: outputPartialInfoPlist))
                    try FileAccess.write(PropertyList.emptyDictionary, to: outputPartialInfoPlist)
                }
                return path
            }
        )
    }

    private func compile(_ file: ModelFile, to location: OutputLocation) throws(ModelError) -> String {
        guard let encrypt else { return try ModelCompiler.compile(file, named: location.name, into: location.folder) }
        return try Encryption.compile(file, named: location.name, into: location.folder, key: encrypt)
    }
}

/// A command's output path: a path with the product's extension names the product, any other the folder that receives
/// it.
struct OutputLocation {
    let folder: String
    /// Without the ending.
    let name: String
    private let ending: String

    init(_ path: String, ending: String, name: String) {
        let path = FileAccess.withoutTrailingSlash(path)
        let last = FileAccess.name(of: path)
        self.ending = ending
        if last.hasSuffix(ending), last.count > ending.count {
            self.name = String(last.dropLast(ending.count))
            folder = FileAccess.folder(of: path)
        } else {
            self.name = name
            folder = path
        }
    }

    var path: String { folder + "/" + name + ending }
}

enum ModelName {
    /// The name of a model's file without its ending.
    static func of(_ path: String) -> String {
        let name = FileAccess.name(of: FileAccess.withoutTrailingSlash(path))
        for ending in [".mlmodel", ".mlpackage", ".mlmodelc"] where name.hasSuffix(ending) && name.count > ending.count
        {
            return String(name.dropLast(ending.count))
        }
        return name
    }
}

enum PropertyList {
    static let emptyDictionary = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict/>
        </plist>

        """
}

/// An error whose text a command prints on standard error before it exits with status 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
}

/// Runs `body`; its error becomes one that is printed as it is.
func failing<R>(_ body: () throws(ModelError) -> R) throws -> R {
    do { return try body() } catch { throw CommandFailure(description: "\(error)") }
}
