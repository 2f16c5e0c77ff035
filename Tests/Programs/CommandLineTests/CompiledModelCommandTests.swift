import Foundation
import Testing

/// Compiled models on machines of another kind than the one that compiled them: the cache of packed weights.
struct CompiledModelCommandTests {
    private let folder: CommandFolder
    private let compiled: String
    private let image: String

    init() throws {
        folder = try CommandFolder()
        compiled = folder.path("Digits.mlmodelc")
        image = fixtures + "/held-out/3-0.png"
        let run = try coreml("compile", fixtures + "/Digits.mlpackage", compiled)
        try #require(run.status == 0, "\(run.errors)")
    }

    /// The answer of a process whose kernels are those of `instructionSet`; without, those of this machine.
    private func predict(_ instructionSet: String? = nil, _ environment: [String: String] = [:]) throws -> Outcome {
        var variables = environment.merging(["XDG_CACHE_HOME": folder.path("cache")]) { first, _ in first }
        variables["COREML_ISA"] = instructionSet
        return try coreml(
            arguments: ["predict", compiled, "-i", "image=\(image)", "--json"],
            environment: variables
        )
    }

    private var cached: [URL] {
        get throws {
            let cache = URL(fileURLWithPath: folder.path("cache/swift-coreml"))
            guard FileManager.default.fileExists(atPath: cache.path) else { return [] }
            return try FileManager.default.contentsOfDirectory(at: cache, includingPropertiesForKeys: nil)
        }
    }

    #if arch(x86_64)
        @Test func weightsAreKeptForAnotherInstructionSetAndMadeAgainWhenDamaged() throws {
            let here = try predict()
            #expect(here.status == 0, "\(here.errors)")
            #expect(try cached.isEmpty, "the folder holds what this machine needs")
            let before = try FileManager.default.contentsOfDirectory(atPath: compiled).sorted()

            let first = try predict("sse2")
            #expect(try label(first) == label(here))
            let file = try #require(try cached.first)
            #expect(try cached.count == 1)
            let bytes = try Data(contentsOf: file)
            let second = try predict("sse2")
            #expect(second.output == first.output)
            #expect(try Data(contentsOf: file) == bytes)

            // Cut off, changed, replaced by a link: the answer stays, and the file is made again.
            try FileManager.default.removeItem(at: file)
            try bytes.prefix(bytes.count / 2).write(to: file)
            #expect(try predict("sse2").output == first.output)
            #expect(try Data(contentsOf: file) == bytes)
            var changed = bytes
            changed[70] ^= 1
            try FileManager.default.removeItem(at: file)
            try changed.write(to: file)
            #expect(try predict("sse2").output == first.output)
            #expect(try FileManager.default.contentsOfDirectory(atPath: compiled).sorted() == before)
        }

        @Test func theCacheKeepsToItsLimit() throws {
            let answer = try predict("sse2", ["COREML_CACHE_MB": "0"])
            #expect(answer.status == 0, "\(answer.errors)")
            #expect(try cached.isEmpty)
            // If nothing can be written, nothing is kept.
            let unwritable = try predict("sse2", ["XDG_CACHE_HOME": "/proc/nothing"])
            #expect(unwritable.output == answer.output)
        }
    #endif

    private func label(_ run: Outcome) throws -> String {
        #expect(run.status == 0, "\(run.errors)")
        return try #require(try CommandFolder.last(run)["digit"] as? String, "\(run.output)")
    }

    @Test func anUnfinishedCompilationLeavesTheOldFolder() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: compiled + "/compiled.bin"))
        let broken = try folder.write(Data("no model".utf8), "Digits.mlmodel")
        let run = try coreml("compile", broken, compiled)
        #expect(run.status != 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: compiled + "/compiled.bin")) == before)
        #expect(try predict().status == 0)
    }
}
