import Foundation
import MLFiles
import MLSpecification
import Testing

/// The verbs of Apple's compiler: `compile`, `generate`, `metadata`.
struct CompilerCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// A model of specification version 6, which iOS 15 and macOS 12 first opened.
    private func model(_ name: String = "Twice.mlmodel") throws -> String {
        var model = PredictModels.identity(PredictModels.number("x"))
        model.specificationVersion = 6
        return try folder.write(model, name)
    }

    /// `coreml` under another name, or the program `coremlc`.
    private func tool(_ name: String) throws -> URL {
        if name == "coremlc program" { return builtTool.deletingLastPathComponent().appendingPathComponent("coremlc") }
        let link = folder.url.appendingPathComponent("names/\(name)")
        try FileManager.default.createDirectory(
            at: link.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: builtTool)
        return link
    }

    @Test(arguments: ["coremlc program", "coremlc", "coremlcompiler"])
    func theToolAnswersUnderApplesNames(name: String) throws {
        let (tool, model) = (try tool(name), try model())
        func run(_ arguments: String...) throws -> Outcome { try coreml(arguments: arguments, tool: tool) }
        let compiled = try run("compile", model, folder.path("out"))
        #expect(compiled.status == 0 && compiled.output == folder.path("out/Twice.mlmodelc\n"), "\(compiled.errors)")
        let generated = try run("generate", model, folder.path("src"), "--language", "Swift")
        #expect(generated.status == 0 && generated.output == folder.path("src/Twice.swift\n"), "\(generated.errors)")
        let written = String(decoding: try folder.data("src/Twice.swift"), as: UTF8.self)
        #expect(written.contains("class TwiceInput: MLFeatureProvider"))
        let metadata = try run("metadata", model)
        #expect(metadata.output.contains(#""generatedClassName": "Twice""#))
        #expect(try run("metadata", folder.path("out/Twice.mlmodelc")).output == metadata.output)
        let other = try run("predict", model)
        #expect(other.status == 64 && other.errors.contains("predict"))
    }

    /// The whole command line of Apple's build rules.
    @Test func buildRulesMadeForApplesToolRun() throws {
        let common = [
            "--deployment-target", "17.0", "--sdkroot", "/SDKs/iPhoneOS.sdk", "--platform", "ios",
            "--output-partial-info-plist", folder.path("build/Twice-CoreMLPartialInfo.plist"),
            "--container", "bundle-resources", "--print-diagnostic-categories",
        ]
        let model = try model()
        let listed = try coreml(
            arguments: ["generate", model, folder.path("src"), "--dry-run", "yes"] + common
                + ["--language", "Swift", "--swift-version", "5.0", "--public-access"]
        )
        #expect(listed.output == folder.path("src/Twice.swift\n") && listed.status == 0, "\(listed.errors)")
        let dry = try coreml(arguments: ["compile", model, folder.path("app/"), "--dry-run", "yes"] + common)
        #expect(dry.output == folder.path("app/Twice.mlmodelc\n"))
        #expect(try folder.names == ["Twice.mlmodel"], "nothing is written")
        let compiled = try coreml(arguments: ["compile", model, folder.path("app/")] + common)
        #expect(compiled.status == 0, "\(compiled.errors)")
        let plist = try PropertyListSerialization.propertyList(
            from: folder.data("build/Twice-CoreMLPartialInfo.plist"),
            format: nil
        )
        #expect((plist as? [String: Any])?.isEmpty == true)
        #expect(try coreml("predict", folder.path("app/Twice.mlmodelc"), "-i", "x=2").output == "x: 2.0\n")
    }

    @Test(arguments: [
        ("macos", "11.7", "macOS 12.0"), ("ios", "14", "iOS 15.0"), ("maccatalyst", "14.5", "Mac Catalyst 15.0"),
        ("tvos", "14.9.9", "tvOS 15.0"), ("watchos", "7.6", "watchOS 8.0"), ("visionos", "0.9", "visionOS 1.0"),
    ])
    func targetsThatAreTooOldAreErrors(platform: String, target: String, needed: String) throws {
        let model = try model()
        for verb in ["compile", "generate"] {
            try CommandFolder.expectFailures([
                (
                    [verb, model, folder.path("out"), "--platform", platform, "--deployment-target", target], 1,
                    "specification version 6, which needs \(needed); the deployment target is"
                )
            ])
        }
        #expect(try folder.names == ["Twice.mlmodel"])
        let enough = try #require(needed.split(separator: " ").last).description
        let run = try coreml(
            "compile",
            model,
            folder.path("out"),
            "--platform",
            platform,
            "--deployment-target",
            enough
        )
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func whatIsNotOfferedIsSaid() throws {
        let model = try model()
        try CommandFolder.expectFailures([
            (["compile", model, "--frobnicate"], 64, "--frobnicate"),
            (["compile", model, "--platform", "beos"], 64, "beos"),
            (["compile", model, "--deployment-target", "15.0"], 64, "--platform"),
            (["compile", model, "--platform", "ios", "--deployment-target", "15.x"], 64, "15.x"),
            (["compile", model, "--container", "framework"], 64, "bundle-resources"),
            (["generate", model, folder.path("a"), "--language", "Objective-C"], 1, "no Objective-C"),
            (["generate", model, folder.path("a"), "--language", "Rust"], 64, "Rust"),
            (["generate", model, folder.path("a"), "--globalmodule"], 1, "--globalmodule"),
            (["generate", model, folder.path("a"), "--swift-version", "3"], 1, "Swift version '3'"),
            (["generate", folder.path("none.mlmodel")], 1, "none.mlmodel"),
            (["metadata", folder.path("none.mlmodel")], 1, "none.mlmodel"),
        ])
        #expect(try folder.names == ["Twice.mlmodel"])
        let withoutEncryption = try coreml(
            arguments: ["compile", model, folder.path("a"), "--encrypt", folder.path("k.mlmodelkey")],
            tool: tool("coremlc program")
        )
        #expect(withoutEncryption.status == 1 && withoutEncryption.errors.contains("CoreMLEncryptionPlugin"))
        #expect(try folder.names.contains("a") == false)
    }

    @Test func unchangedSourcesKeepTheirDate() throws {
        let model = try model()
        let source = folder.path("Named.swift")
        #expect(try coreml("generate", model, source).status == 0)
        let old = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: source)
        func date() throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: source)[.modificationDate] as? Date
        }
        #expect(try coreml("generate", model, source).status == 0)
        #expect(try date() == old)
        #expect(try coreml("generate", model, source, "--public-access").status == 0)
        #expect(try date() != old)
        #expect(String(decoding: try folder.data("Named.swift"), as: UTF8.self).contains("public class Twice:"))
    }

    /// A compiled folder says which class it was compiled for; the generator gives that name.
    @Test(arguments: ["thenlper-gte-small", "3D", "String", "größe", "a b"])
    func metadataAndSourceNameOneClass(name: String) throws {
        let model = try model("\(name).mlmodel")
        let metadata = try coreml("metadata", model).output
        let list = try JSONSerialization.jsonObject(with: Data(metadata.utf8)) as? [[String: Any]]
        let named = try #require(list?.first?["generatedClassName"] as? String)
        let path = try coreml("generate", model, folder.path("src")).output.trimmingCharacters(in: .newlines)
        let source = try String(contentsOfFile: path, encoding: .utf8)
        #expect(source.contains("\nclass \(named): @unchecked Sendable {"), "\(named)")
    }
}
