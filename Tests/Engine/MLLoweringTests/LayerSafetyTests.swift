import Foundation
import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// Arbitrary layers on arbitrary arrays answer or throw; nothing traps. `LAYER_TRIALS` says how many of each kind.
@Suite struct LayerSafetyTests {
    @Test func arbitraryLayersAnswerOrThrow() throws {
        let trials = ProcessInfo.processInfo.environment["LAYER_TRIALS"].flatMap(Int.init) ?? 12
        let start = ProcessInfo.processInfo.environment["LAYER_SEED"].flatMap(UInt64.init) ?? 1
        let isTold = ProcessInfo.processInfo.environment["LAYER_TRACE"] != nil
        let only = ProcessInfo.processInfo.environment["LAYER_KIND"]
        var generator = try LayerGenerator()
        var answered: [String: Int] = [:]
        #expect(generator.kinds.count == 156)
        for kind in generator.kinds where only == nil || kind.name == only {
            for trial in 0..<trials {
                let seed = start &+ UInt64(trial) &* 1_000_003 &+ kind.number &* 7919
                if isTold { FileHandle.standardError.write(Data("\(kind.name) \(seed)\n".utf8)) }
                if try answers(kind, seed, &generator) { answered[kind.name, default: 0] += 1 }
            }
        }
        // The trials mean something: a good part of the kinds computed.
        if only == nil { #expect(answered.count > 100, "\(answered.count) kinds of layers computed") }
        if isTold {
            let silent = generator.kinds.map(\.name).filter { answered[$0] == nil }
            FileHandle.standardError.write(Data("never computed: \(silent)\n".utf8))
        }
    }

    /// Whether a layer could be loaded and computed. Weight fields of the wrong length are mended as the errors say.
    private func answers(_ kind: LayerGenerator.Field, _ seed: UInt64, _ generator: inout LayerGenerator) throws -> Bool
    {
        generator.weightCounts = [:]
        for _ in 0..<18 {
            generator.start(seed: seed)
            let isLegacy = generator.number(below: 4) == 0
            var network = Network(isLegacy ? .rank5ArrayMapping : .exactArrayMapping)
            let inputCount = [1, 1, 2, 1, 2, 3, 5][generator.number(below: 7)]
            let rank = isLegacy ? [1, 3][generator.number(below: 2)] : 1 + generator.number(below: 5)
            var features: [String: Tensor] = [:]
            let alike = (0..<rank).map { _ in 1 + generator.number(below: 3) }
            for index in 0..<inputCount {
                var shape = alike
                let isOther = generator.number(below: 3) == 0
                if isOther {
                    shape = (0..<(1 + generator.number(below: rank))).map { _ in 1 + generator.number(below: 3) }
                }
                let isEmpty = generator.number(below: 40) == 0
                if isEmpty { shape[0] = 0 }
                if isLegacy, shape.count == 2 { shape = [shape[0]] }
                network.input("x\(index)", shape)
                let count = shape.reduce(1, *)
                let isWhole = generator.number(below: 2) == 0
                features["x\(index)"] = floats(
                    (0..<count).map { isWhole ? Float($0 % 3) : generator.float() },
                    shape
                )
            }
            let outputs =
                ["split", "splitND", "NonMaximumSuppression", "topK", "uniDirectionalLSTM"].contains(kind.name)
                ? 1 + generator.number(below: 4) : 1
            let names = (0..<outputs).map { "y\($0)" }
            for name in names { network.output(name) }
            network.specification.neuralNetwork.layers = [
                try generator.layer(kind, features.keys.sorted(), names)
            ]
            do {
                _ = try network(features)
                return true
            } catch let error as ModelError {
                // "101 values are stored where shape [3, 1] needs 3"
                let words = error.message.split(separator: " ")
                guard words.count > 3, words[1] == "values", let found = Int(words[0]), found > 100,
                    let needed = words.last.flatMap({ Int($0) }), (0...4000).contains(needed),
                    generator.weightCounts.count < 17
                else { return false }
                generator.weightCounts[found - 101] = needed
            }
        }
        return false
    }
}
