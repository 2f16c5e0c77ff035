import MLFeatures
import MLNumerics
import MLPreview
import MLSpecification
import Testing

@Suite("Texts that a model goes on with")
struct GenerationTests {
    private func pairs() throws -> BytePairs {
        let vocabulary =
            #"{"l": 0, "o": 1, "w": 2, "e": 3, "r": 4, "Ġ": 5, "lo": 6, "low": 7, "Ġlow": 8, "er": 9, "Ã": 10, "©": 11, "Ã©": 12, "1": 13, "!": 14, "'": 15, "s": 16, "'s": 17, "Ċ": 18}"#
        let merges = "#version: 0.2\nl o\nlo w\nĠ low\ne r\nÃ ©\n' s\n"
        return try BytePairs(vocabulary: Array(vocabulary.utf8), merges: Array(merges.utf8))
    }

    /// Worked out by hand from the list of pairs.
    @Test func `pairs are joined in the order of their list, word by word`() throws {
        let pairs = try pairs()
        #expect(pairs.numbers(of: "low lower") == [7, 8, 9])
        #expect(pairs.numbers(of: "  low") == [5, 8])
        #expect(pairs.numbers(of: "low's 1!\n") == [7, 17, 5, 13, 14, 18])
        #expect(pairs.numbers(of: "é") == [12])
        #expect(pairs.numbers(of: "") == [])
    }

    @Test func `texts come back from their tokens`() throws {
        let pairs = try pairs()
        for text in ["low lower", " low  lower's\n1!", "éé low"] {
            #expect(pairs.text(of: pairs.numbers(of: text)) == text)
        }
        #expect(pairs.text(of: [999, -1, 7]) == "low")
    }

    @Test func `a vocabulary that is none is refused`() {
        for vocabulary in ["[]", "{\"a\": \"b\"}", "{\"a\": -1}", "{", ""] {
            #expect(throws: ModelError.self) { _ = try BytePairs(vocabulary: Array(vocabulary.utf8), merges: []) }
        }
        #expect(throws: ModelError.self) {
            _ = try BytePairs(vocabulary: Array("{}".utf8), merges: Array("a b c".utf8))
        }
    }

    private static func interface(_ length: Int64, flexible: Bool = false) -> SpecModel {
        var model = Sketch.model(
            [Sketch.array("input_ids", [1, length], .int32)],
            [Sketch.array("logits", [1, length, 4])]
        )
        if flexible {
            var range = SpecArrayFeatureType.ShapeRange()
            for (least, most) in [(1, 1), (1, -1)] as [(UInt64, Int64)] {
                var size = SpecSizeRange()
                size.lowerBound = least
                size.upperBound = most
                range.sizeRanges.append(size)
            }
            model.description_p.input[0].type.multiArrayType.shapeRange = range
        }
        return model
    }

    /// Scores of a model that counts: behind token n comes n + 1.
    private static func counting(_ features: [String: FeatureData]) throws -> [String: FeatureData] {
        guard case .tensor(let ids)? = features["input_ids"] else { throw ModelError(.invalidInput, "no tokens") }
        let scores = ids.values.flatMap { id in (0..<4).map { Double($0) == id + 1 ? 5.0 : 0 } }
        return ["logits": .tensor(Tensor(values: scores, scalarType: .float32, shape: ids.shape + [4]))]
    }

    @Test(arguments: [false, true])
    func `the scores behind the last token count, whatever fills up`(_ isFlexible: Bool) throws {
        let model = Self.interface(8, flexible: isFlexible)
        let generation = try TextGeneration(PreviewPlan(model), model.description_p)
        let next = try generation.next(after: [0, 1], width: 2, Self.counting)
        #expect(next.map(\.token) == [2, 0])
        #expect(abs(next[0].share - 0.9802) < 0.001)
        #expect(throws: ModelError.self) { _ = try generation.next(after: [], width: 2, Self.counting) }
    }

    @Test func `of a long text the end is read`() throws {
        let model = Self.interface(4)
        let generation = try TextGeneration(PreviewPlan(model), model.description_p)
        var seen: [Double] = []
        let next = try generation.next(after: [3, 3, 3, 0, 1, 2], width: 1) { features in
            if case .tensor(let ids)? = features["input_ids"] { seen = ids.values }
            return try Self.counting(features)
        }
        #expect(seen == [3, 0, 1, 2])
        #expect(next.first?.token == 3)
    }

    @Test func `temperature 0 takes the likeliest, higher ones draw in proportion`() {
        let candidates = [(0, 0.8), (1, 0.2)].map { TextGeneration.Candidate(token: Int32($0.0), share: $0.1) }
        var generator = SplitMix64(seed: 7)
        func share(_ temperature: Double) -> Double {
            let choice = TextGeneration.Choice(temperature: temperature)
            let count = (0..<4000).count { _ in TextGeneration.chosen(candidates, choice, &generator)?.token == 0 }
            return Double(count) / 4000
        }
        #expect(share(0) == 1)
        #expect(abs(share(1) - 0.8) < 0.03)
        #expect(abs(share(2) - 2.0 / 3) < 0.03)
        #expect(TextGeneration.chosen([], TextGeneration.Choice(), &generator) == nil)
    }
}
