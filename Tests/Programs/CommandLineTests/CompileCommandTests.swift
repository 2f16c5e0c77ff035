import Foundation
import Testing

/// The output paths of `coreml compile`.
struct CompileCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    @Test func aNameOrAFolderSaysWhere() throws {
        let model = try folder.write(PredictModels.identity(PredictModels.number("x")), "Same.mlmodel")
        for (place, made) in [
            (["out/Other.mlmodelc"], "out/Other.mlmodelc"), (["out/Slash.mlmodelc/"], "out/Slash.mlmodelc"),
            (["out"], "out/Same.mlmodelc"), (["out/"], "out/Same.mlmodelc"), (["new/inner"], "new/inner/Same.mlmodelc"),
        ] {
            for option in [[], ["-o"]] {
                // A second time takes the place of the first.
                let run = try coreml(arguments: ["compile", model] + option + place.map { folder.path($0) })
                #expect(run.status == 0, "\(run.errors)")
                let path = run.output.trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(path == folder.path(made) || path == folder.path(place[0]) + "/Same.mlmodelc")
                let contents = try FileManager.default.contentsOfDirectory(atPath: folder.path(made))
                #expect(contents.contains("metadata.json") && !contents.contains { $0.hasSuffix(".mlmodelc") })
                #expect(try coreml("predict", folder.path(made), "-i", "x=2").output == "x: 2.0\n")
            }
        }
        try CommandFolder.expectFailures([(["compile", model, folder.path("a"), "-o", folder.path("b")], 64, "twice")])
    }
}
