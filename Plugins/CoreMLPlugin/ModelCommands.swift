// Both plugins have this file, one of them as a symbolic link: plugins cannot share a module.

import Foundation
import PackagePlugin

/// The build commands for the models of a target.
///
/// A model `N.mlmodel` or `N.mlpackage` gives `N.mlmodelc`, a resource of the target, and `N.swift`, a source of it. Each
/// is a command of its own with exact inputs and outputs: new weights compile the model again and leave the source, and
/// with it the target's module, as it was.
struct ModelCommands {
    let context: PluginContext
    let target: any Target
    /// The program that compiles and generates.
    let tool: String
    /// Whether it encrypts models that have a key beside them.
    let encrypts: Bool

    func commands() throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let models = Self.models(in: target.directoryURL, files: target.sourceFiles.map(\.url))
        for (name, others) in Dictionary(grouping: models, by: \.name) where others.count > 1 {
            let places = others.map(\.url.path).sorted().joined(separator: ", ")
            throw Problem(
                "the target \(target.name) has several models called \(name), of which one class and one "
                    + "compiled folder can be made: \(places); rename or remove all but one"
            )
        }
        let executable = try context.tool(named: tool).url
        return try models.flatMap { try commands(for: $0, executable) }
    }

    private func commands(for model: Model, _ executable: URL) throws -> [Command] {
        let compiled = context.pluginWorkDirectoryURL.appending(path: model.name + ".mlmodelc")
        let source = context.pluginWorkDirectoryURL.appending(path: model.name + ".swift")
        let key = model.url.deletingPathExtension().appendingPathExtension("mlmodelkey")
        let isEncrypted = FileManager.default.fileExists(atPath: key.path)
        guard encrypts || !isEncrypted else {
            throw Problem(
                "\(model.url.path) has a key beside it, \(key.lastPathComponent), and CoreMLPlugin does not "
                    + "encrypt: use the plugin CoreMLEncryptionPlugin for the target \(target.name), or remove the key"
            )
        }
        return [
            .buildCommand(
                displayName: (isEncrypted ? "Encrypting the model " : "Compiling the model ") + model.name,
                executable: executable,
                arguments: ["compile", model.url.path, compiled.path] + (isEncrypted ? ["--encrypt", key.path] : []),
                inputFiles: model.files + (isEncrypted ? [key] : []),
                // SwiftPM copies a folder among the outputs as a resource, whole.
                outputFiles: [compiled]
            ),
            .buildCommand(
                displayName: "Generating the class of the model \(model.name)",
                executable: executable,
                arguments: ["generate", model.url.path, source.path, "--bundle", "module"],
                inputFiles: model.interfaceFiles,
                outputFiles: [source]
            ),
        ]
    }

    // MARK: Finding models

    private struct Model {
        let url: URL
        /// All files of the model.
        let files: [URL]

        var name: String { url.deletingPathExtension().lastPathComponent }

        /// Those that say what goes in and comes out; of a package not the weights.
        var interfaceFiles: [URL] {
            files.filter { $0.pathExtension == "mlmodel" || $0.lastPathComponent == "Manifest.json" }
        }
    }

    /// The models among a target's files. Build systems list a package either as a folder or by what is in it.
    private static func models(in folder: URL, files: [URL]) -> [Model] {
        var models: [String: Model] = [:]
        for file in files {
            guard let root = modelRoot(of: file, in: folder), models[root.path] == nil else { continue }
            models[root.path] = Model(url: root, files: contents(of: root))
        }
        return models.values.sorted { $0.url.path < $1.url.path }
    }

    /// The package that a file of the target is or lies in, else the file itself if it is a model.
    private static func modelRoot(of file: URL, in folder: URL) -> URL? {
        let inner = file.standardizedFileURL.pathComponents.dropFirst(folder.standardizedFileURL.pathComponents.count)
        var place = folder
        for name in inner {
            place = place.appending(path: name)
            if place.pathExtension == "mlpackage" { return place }
            if place.pathExtension == "mlmodelc" { return nil }
        }
        return file.pathExtension == "mlmodel" ? file : nil
    }

    private static func contents(of root: URL) -> [URL] {
        guard root.pathExtension == "mlpackage" else { return [root] }
        let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.isRegularFileKey])
        let files = (found?.allObjects ?? []).compactMap { $0 as? URL }
        return files.filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true }
            .sorted { $0.path < $1.path }
    }

    /// Why nothing can be built.
    private struct Problem: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}
