import Foundation
import MLFiles
import MLGeneration
import Testing

/// The sources in `Goldens` and `GeneratedClassesInSwift5`, which are compiled with these tests, are what the generator
/// writes. `RECORD_CLASSES=1` writes them anew.
struct GoldenTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private static func golden(_ sample: Sample) -> URL {
        let folder = sample.isOld ? "GeneratedClassesInSwift5" : "GeneratedClassTests/Goldens"
        return tests.appendingPathComponent(folder).appendingPathComponent(
            SwiftIdentifier.className(sample.name) + ".swift"
        )
    }

    @Test(arguments: Samples.all)
    func sourcesAreThoseThatAreCompiled(sample: Sample) throws {
        let source = try sample.source()
        if ProcessInfo.processInfo.environment["RECORD_CLASSES"] == "1" {
            try Data(source.utf8).write(to: Self.golden(sample))
        }
        let golden = try String(contentsOf: Self.golden(sample), encoding: .utf8)
        #expect(source == golden, "run the test with RECORD_CLASSES=1, then read what changed")
        #expect(try sample.source() == source)
    }

    /// Nothing lies there that no model gave.
    @Test func allSourcesAreOfSamples() throws {
        let folders = Set(Samples.all.map { Self.golden($0).deletingLastPathComponent() })
        let found = try folders.flatMap { try FileManager.default.contentsOfDirectory(atPath: $0.path) }
        let expected = Samples.all.map { Self.golden($0).lastPathComponent }
        #expect(Set(found.filter { $0 != "README.md" }) == Set(expected))
    }
}
