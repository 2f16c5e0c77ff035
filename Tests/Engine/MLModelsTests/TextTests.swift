import Glibc
import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import Testing

struct TextTests {
    @Test func wordsAndTheirPlaces() {
        let text = "Don’t stop, 3 naïve 👍🏽 cafés."
        #expect(Words.split(text).map { String($0.word) } == ["Don’t", "stop", "3", "naïve", "cafés"])
        let units = Array(text.utf16)
        for (word, location, length) in Words.tokens(text) {
            #expect(String(decoding: units[location..<location + length], as: UTF16.self) == word)
        }
        #expect(Words.tokens("a,b").map { String($0.word) } == ["a", ",", "b"])
        #expect(Words.split("").isEmpty)
    }

    /// A model of texts is written row by row: what stands already is not copied for each of them.
    @Test func writersGrowSeldom() {
        var writer = ByteWriter()
        var capacities = Set<Int>()
        for row in 0..<20_000 {
            writer.floats([Float](repeating: Float(row), count: 5))
            writer.keys([UInt64(row)])
            capacities.insert(writer.bytes.capacity)
        }
        #expect(writer.bytes.count == 20_000 * 28)
        #expect(capacities.count < 100)
    }

    @Test func gazetteer() throws {
        let parameters = Gazetteer.parameters(["city": ["Bonn", "Lyon"], "river": ["Rhône", "Lyon"]])
        let spec = model([("text", .string)], [("label", .string)], .gazetteer(parameters))
        let engine = try engine(spec)
        let answers = try ["Bonn", "Rhône", "Lyon", "bonn"].map {
            try engine.prediction(from: ["text": .string($0)])["label"]?.text
        }
        #expect(answers == ["city", "river", "city", ""])
    }

    @Test func embedding() throws {
        let parameters = try WordVectors([
            ("cat", [1, 0.5]), ("dog", [0.9, 0.6]), ("car", [-1, 2]), ("none", [0, 0]),
        ])
        .specification()
        let spec = model([("text", .string)], [("vector", .array([2], .float32))], .wordEmbedding(parameters))
        let embedding = try WordEmbedding(parameters, spec.description_p)
        #expect(try embedding.prediction(from: ["text": .string("cat")])["vector"]?.numbers == [1, 0.5])
        #expect(try embedding.prediction(from: ["text": .string("cow")])["vector"]?.numbers == [0, 0])
        #expect(embedding.vectors.nearest(to: [1, 0.5], count: 2).map(\.word) == ["cat", "dog"])
        #expect(embedding.vectors.nearest(to: [1, 0.5], count: 9, excluding: "cat").map(\.word) == ["dog", "car"])
        #expect(embedding.vectors.nearest(to: [1, 0.5], count: 9, furthest: 0.5).map(\.word) == ["cat", "dog"])
    }

    @Test func classifier() throws {
        // Revision 1001: two words in a row, runs of three characters, normalised.
        var block = OldBlock(kind: 3)
        block.bytes += [2, 3, 3, 1]
        block.floats([0.1, 0])
        block.integer(3)
        for (name, scale, weights) in [
            ("c:ad ", 1, [1, 0]), ("w:fine", 2, [-1, 1]), ("w:not fine", 1, [5, -5]),
        ] as [(String, Float, [Float])] {
            block.string(name)
            block.floats([scale] + weights)
        }
        var parameters = SpecTextClassifier()
        parameters.revision = TextParameters.revision
        parameters.modelParameterData = SpecBytes.field(block.bytes)
        parameters.stringClassLabels.vector = ["bad", "good"]
        let spec = model(
            [("text", .string)],
            [("label", .string), ("votes", .dictionary())],
            predicts: "label",
            probabilities: "votes",
            .textClassifier(parameters)
        )
        let engine = try engine(spec)
        func good(_ text: String) throws -> Double {
            try engine.prediction(from: ["text": .string(text)])["votes"]?.votes["good"] ?? -1
        }
        func share(_ difference: Double) -> Double { 1 / (1 + exp(-difference)) }
        #expect(isNear([try good("Fine!")], [share(2 - 0.1)], 1e-6))
        #expect(isNear([try good("not fine")], [share((2 * 2 - 10) / 5.0.squareRoot() - 0.1)], 1e-6))
        #expect(isNear([try good("bad")], [share(-1 - 0.1)], 1e-6))
        #expect(isNear([try good("")], [share(-0.1)], 1e-6))
    }

    @Test func tagger() throws {
        var parameters = SpecWordTagger()
        parameters.revision = TextParameters.revision
        parameters.tokensOutputFeatureName = "tokens"
        parameters.tokenTagsOutputFeatureName = "tags"
        parameters.tokenLocationsOutputFeatureName = "locations"
        parameters.tokenLengthsOutputFeatureName = "lengths"
        parameters.stringTags.vector = ["D", "N", "V"]
        // From the start, D; after D, N; after N, V.
        let transitions: [Float] = [1, 0, 0, -3, 2, -3, 0, 0, 2, 1, 0, 0]
        var block = OldBlock(kind: 4)
        block.floats(transitions)
        block.integer(3)
        for (name, weights) in [("f=Xx", [0, 3, 0]), ("l=the", [5, 0, 0]), ("s1=s", [0, 0, 1])] as [(String, [Float])] {
            block.string(name)
            block.floats(weights)
        }
        let bytes = block.bytes
        parameters.modelParameterData = SpecBytes.field(bytes)
        var spec = model(
            [("text", .string)],
            [("tokens", .sequence), ("tags", .sequence), ("locations", .sequence), ("lengths", .sequence)],
            .wordTagger(parameters)
        )
        let answer = try engine(spec).prediction(from: ["text": .string("The dog barks. 👍 Ann")])
        guard case .sequence(.strings(let tokens))? = answer["tokens"],
            case .sequence(.strings(let tags))? = answer["tags"],
            case .sequence(.integers(let places))? = answer["locations"],
            case .sequence(.integers(let lengths))? = answer["lengths"]
        else {
            Issue.record("outputs are missing")
            return
        }
        #expect(tokens == ["The", "dog", "barks", ".", "👍", "Ann"])
        #expect(Array(tags.prefix(3)) == ["D", "N", "V"] && tags.last == "N")
        #expect(places == [0, 4, 8, 13, 15, 18] && lengths == [3, 3, 5, 1, 2, 3])
        for cut in [0, 5, 9, 20, bytes.count - 1] {
            parameters.modelParameterData = SpecBytes.field(Array(bytes.prefix(cut)))
            spec.wordTagger = parameters
            #expect(!message { () throws(ModelError) in try engine(spec) }.isEmpty)
        }
        parameters.revision = 3
        spec.wordTagger = parameters
        #expect(message { () throws(ModelError) in try engine(spec) }.contains("Apple's Natural Language"))
    }
}

/// The fields of a block of revision 1001, as Documentation/TextModels.md lists them.
private struct OldBlock {
    var bytes: [UInt8]

    init(kind: UInt8) { bytes = Array("SWCOREML".utf8) + [kind] }

    mutating func integer(_ value: Int) { withUnsafeBytes(of: UInt32(value).littleEndian) { bytes += $0 } }
    mutating func string(_ text: String) {
        integer(text.utf8.count)
        bytes += text.utf8
    }
    mutating func floats(_ values: [Float]) {
        for value in values { withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 } }
    }
}
