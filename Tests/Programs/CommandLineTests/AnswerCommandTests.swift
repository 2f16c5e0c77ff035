import Foundation
import MLFiles
import MLSpecification
import SwiftProtobuf
import Testing

/// A span model that answers with Steve Jobs, with the interface of Apple's BERT-SQuAD, and an encoder of sentences.
enum AnswerModels {
    static let vocabulary =
        [
            "[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "started", "next", "?", "steve", "job", "##s", "in", "the",
            "cube", ".",
        ]

    static var text: String { vocabulary.joined(separator: "\n") + "\n" }

    private static func layer(
        _ input: String,
        _ output: String,
        _ kind: SpecNeuralNetworkLayer.OneOf_Layer
    ) -> SpecNeuralNetworkLayer {
        .with {
            ($0.name, $0.input, $0.output, $0.layer) = (output, [input], [output], kind)
        }
    }

    private static func array(_ name: String, _ shape: [Int64], _ type: SpecArrayFeatureType.ArrayDataType)
        -> SpecFeatureDescription
    {
        .with {
            $0.name = name
            $0.type.multiArrayType.shape = shape
            $0.type.multiArrayType.dataType = type
        }
    }

    private static func model(_ layers: [SpecNeuralNetworkLayer]) -> SpecModel {
        .with {
            $0.specificationVersion = 4
            $0.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
            $0.neuralNetwork.layers = [layer("wordIDs", "columns", .expandDims(.with { $0.axes = [2] }))] + layers
        }
    }

    private static func table(_ size: Int, _ values: [Float]) -> SpecNeuralNetworkLayer.OneOf_Layer {
        .embeddingNd(
            .with {
                $0.vocabSize = UInt64(vocabulary.count)
                $0.embeddingSize = UInt64(size)
                $0.weights.floatValue = values
            }
        )
    }

    static var span: Data {
        get throws {
            var layers: [SpecNeuralNetworkLayer] = []
            for (name, piece) in [("start", "steve"), ("end", "##s")] {
                layers.append(layer("columns", name, table(1, vocabulary.map { $0 == piece ? 9 : 0 })))
                layers.append(layer(name, name + "Logits", .squeeze(.with { $0.axes = [2] })))
            }
            // Kinds add nothing, but a network uses its inputs.
            layers.append(layer("wordTypes", "kinds", .activation(.with { $0.linear.alpha = 0 })))
            var model = model(layers)
            model.description_p.input = [array("wordIDs", [1, 32], .int32), array("wordTypes", [1, 32], .int32)]
            model.description_p.output = ["startLogits", "endLogits"].map { array($0, [1, 32], .float32) }
            return Data(try SpecificationReader.encode(model))
        }
    }

    /// People and things are in two directions.
    static var encoder: Data {
        get throws {
            let people = vocabulary.map { ["who", "started", "steve", "job", "##s"].contains($0) ? Float(1) : 0 }
            let things = vocabulary.map { ["the", "cube", "in"].contains($0) ? Float(1) : 0 }
            var model = model([layer("columns", "last_hidden_state", table(2, people + things))])
            model.description_p.input = [array("wordIDs", [1, 32], .int32)]
            model.description_p.output = [array("last_hidden_state", [1, 32, 2], .float32)]
            return Data(try SpecificationReader.encode(model))
        }
    }
}

/// `coreml answer`.
struct AnswerCommandTests {
    private let folder: CommandFolder
    private let text: String
    private let span: [String]
    private let encoder: [String]

    init() throws {
        folder = try CommandFolder()
        text = try folder.write(
            "The cube.\n\nSteve Jobs started\nNeXT in the cube. The cube.\n \nIn the cube.\n",
            "next.txt"
        )
        let vocabulary = try folder.write(AnswerModels.text, "vocab.txt")
        span = ["--model", try folder.write(AnswerModels.span, "Span.mlmodel"), "--vocabulary", vocabulary]
        encoder = ["--encoder", try folder.write(AnswerModels.encoder, "Encoder.mlmodel"), "--vocabulary", vocabulary]
    }

    private func answer(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
        try coreml(arguments: ["answer"] + arguments, environment: environment)
    }

    @Test func theAnswerIsMarkedInItsParagraph() throws {
        let run = try answer(span + ["--text", text, "Who started NeXT?", "Who?"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Who started NeXT?\n\n  Steve Jobs (0.9"), "\(run.output)")
        #expect(run.output.contains("\n⟦Steve Jobs⟧ started\nNeXT in the cube. The cube.\n"), "\(run.output)")
        #expect(!run.output.contains("In the cube.\n\n") && run.output.contains("\nWho?\n"))
        let json = try CommandFolder.object(
            try answer(span + ["--text", text, "--json", "--top", "2", "Who?"]).output
        )
        let answers = try #require(json["answers"] as? [[String: Any]])
        #expect(json["question"] as? String == "Who?" && answers.count == 2)
        #expect(answers[0]["text"] as? String == "Steve Jobs")
        #expect(answers[0]["start"] as? Int == 11 && answers[0]["end"] as? Int == 21)
        let none = try answer(span + ["--text", text, "--allow-no-answer", "--longest", "1", "--top", "99", "Who?"])
        #expect(none.status == 0 && none.output.contains("no answer ("), "\(none.output)\(none.errors)")
    }

    @Test func sentencesAreFoundWithoutASpanModel() throws {
        let run = try answer(encoder + ["--text", text, "Who started?"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Steve Jobs started NeXT in the cube."), "\(run.output)")
        #expect(run.output.contains("⟦Steve Jobs started\nNeXT in the cube.⟧ The cube."), "\(run.output)")
        let missing = try answer(
            ["--text", text, "Who?"],
            environment: ["COREML_EXTRACTORS": folder.path("none")]
        )
        #expect(missing.status == 1 && missing.errors.contains("coreml extractor install minilm-l6-v2"))
    }

    @Test func questionsAreReadFromStandardInput() throws {
        let words = (["answer"] + span + ["--text", text, "--json"]).map { "'\($0)'" }.joined(separator: " ")
        let run = try coreml(
            arguments: ["-c", "printf 'Who?\\n\\nWho started?\\n' | '\(builtTool.path)' \(words)"],
            tool: URL(fileURLWithPath: "/bin/sh")
        )
        #expect(run.status == 0, "\(run.errors)")
        let lines = try run.output.split(separator: "\n").map { try CommandFolder.object($0) }
        #expect(lines.map { $0["question"] as? String } == ["Who?", "Who started?"])
    }

    @Test func aPictureIsReadByTesseract() throws {
        let program =
            "#!/bin/sh\n[ \"$1\" = '\(folder.path("page.png"))' ] && [ \"$4\" = deu ] || exit 3\necho 'Steve Jobs.'\n"
        let path = try folder.write(program, "bin/tesseract")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let picture = try folder.write(Data([1]), "page.png")
        let asked = span + ["--picture", picture, "Who?"]
        let found = ["PATH": folder.path("bin") + ":/bin:/usr/bin"]
        let run = try answer(["--picture-language", "deu"] + asked, environment: found)
        #expect(run.status == 0 && run.output.contains("⟦Steve Jobs⟧."), "\(run.output)\(run.errors)")
        let failed = try answer(asked, environment: found)
        #expect(failed.status == 1 && failed.errors.contains("could not read the image (status 3)"))
        let absent = try answer(asked, environment: ["PATH": folder.path("nowhere")])
        #expect(absent.status == 1 && absent.errors.contains("apt-get install tesseract-ocr"), "\(absent.errors)")
    }

    @Test func wrongUsageIsNamed() throws {
        let empty = try folder.write(" \n", "empty.txt")
        let latin = try folder.write(Data([0xE9]), "latin.txt")
        try CommandFolder.expectFailures([
            (["answer", "Who?"], 64, "--text or --picture"),
            (["answer", "--text", text, "--model", "M.mlmodel", "Who?"], 64, "--vocabulary"),
            (["answer", "--text", text, "--vocabulary", "v.txt", "Who?"], 64, "--vocabulary"),
            (["answer", "--text", "-"], 64, "standard input"),
            (["answer"] + encoder + ["--text", text, "--stride", "3", "Who?"], 64, "span models"),
            (["answer"] + span + ["--text", empty, "Who?"], 1, "the text is empty"),
            (["answer"] + span + ["--text", latin, "Who?"], 1, "not UTF-8"),
            (["answer"] + span + ["--text", folder.path("none.txt"), "Who?"], 1, "none.txt"),
            (
                ["answer", "--model", encoder[1]] + span.suffix(2) + ["--text", text, "Who?"], 1,
                "does not find answers"
            ),
        ])
    }
}
