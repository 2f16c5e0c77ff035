import CoreML
import CoreMLExtras
import QuestionAnswering

/// A vocabulary of words, and span models that give each token logits of its own.
enum SpanModel {
    static let vocabulary = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "started", "next", "?", "was", "by", "steve", "job", "##s", "in",
        "1985", ".", "the", "cafe", "tower",
    ]

    static var tokenizer: WordPieceTokenizer { get throws { try WordPieceTokenizer(vocabulary: vocabulary) } }

    /// The interface of a model.
    enum Interface {
        /// Apple's BERT-SQuAD, of a fixed length.
        case apple(length: Int)
        /// Hugging Face's, with any number of tokens.
        case huggingFace(longest: Int)
        /// A list of lengths, without kinds and mask.
        case listed([Int])
    }

    /// A model whose logits are 0 but for the pieces that are named; tokens of the first kind get 50 less, and those that
    /// the mask leaves out 0.
    static func model(_ interface: Interface, starts: [String: Float], ends: [String: Float]) throws -> MLModel {
        var builder = NeuralNetworkBuilder()
        let (names, type): ([String], ModelArrayType) =
            switch interface {
            case .apple(let length): (["wordIDs", "wordTypes"], ModelArrayType(shape: [1, length], dataType: .int32))
            case .huggingFace(let longest):
                (
                    ["input_ids", "token_type_ids", "attention_mask"],
                    ModelArrayType(shape: [1, 16], dataType: .int32, flexibility: .ranges([1...1, 1...longest]))
                )
            case .listed(let lengths):
                (
                    ["input_ids"],
                    ModelArrayType(
                        shape: [1, lengths[0]],
                        dataType: .int32,
                        flexibility: .shapes(lengths.map { [1, $0] })
                    )
                )
            }
        for name in names { builder.input(name, .multiArray(type)) }
        let columns = builder.expandDims("columns", names[0], axes: [2])
        for (name, logits) in [("start", starts), ("end", ends)] {
            let table = vocabulary.map { logits[$0] ?? 0 }
            let rows = builder.embeddingND(
                "\(name)_rows",
                columns,
                vocabulary: vocabulary.count,
                size: 1,
                weights: LayerWeights(table)
            )
            var values = builder.squeeze("\(name)_values", rows, axes: [2])
            if names.count > 1 {
                let kinds = builder.activation("\(name)_kinds", .linear(alpha: 50, beta: -50), names[1])
                values = builder.add("\(name)_sum", [values, kinds])
            }
            if names.count > 2 { values = builder.multiply("\(name)_seen", [values, names[2]]) }
            let output = names[0] == "wordIDs" ? "\(name)Logits" : "\(name)_logits"
            builder.activation("\(name)_output", .linear(alpha: 1, beta: 0), values, output: output)
            builder.output(output, .array([]))
        }
        return try builder.finished().model()
    }

    /// An encoder of sentences that gives a vector for each token, or the sentence's: two numbers for words about building
    /// and about people.
    static func encoder(ofTokens: Bool) throws -> MLModel {
        var builder = NeuralNetworkBuilder()
        builder.input(
            "input_ids",
            .multiArray(ModelArrayType(shape: [1, 16], dataType: .int32, flexibility: .ranges([1...1, 1...64])))
        )
        let columns = builder.expandDims("columns", "input_ids", axes: [2])
        let people: Set<String> = ["who", "started", "next", "steve", "job", "##s"]
        let first = vocabulary.map { people.contains($0) ? Float(1) : 0 }
        let second = vocabulary.map { ["the", "cafe", "tower"].contains($0) ? Float(1) : 0 }
        let name = ofTokens ? "last_hidden_state" : "vectors"
        let vectors = builder.embeddingND(
            name,
            columns,
            vocabulary: vocabulary.count,
            size: 2,
            weights: LayerWeights(first + second)
        )
        if !ofTokens { builder.reduceND("sentence_embedding", .mean, vectors, axes: [1], keepsAxes: false) }
        builder.output(ofTokens ? name : "sentence_embedding", .array([]))
        return try builder.finished().model()
    }
}
