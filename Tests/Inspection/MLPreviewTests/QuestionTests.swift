import MLFeatures
import MLNumerics
import MLPreview
import MLSpecification
import Testing

@Suite("Word pieces and questions")
struct QuestionTests {
    private static let vocabulary = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "tower", "un", "##want", "##ed", ",", "cafe", "1889", "中", "?",
    ]

    private func pieces() throws -> WordPieces { try WordPieces(Self.vocabulary.joined(separator: "\n")) }

    @Test func `words are divided into the longest pieces, with their places`() throws {
        let pieces = try pieces().pieces("The  unwanted, café 1889中xyz")
        #expect(pieces.map(\.number) == [4, 6, 7, 8, 9, 10, 11, 12, 1])
        #expect(pieces[0].range == 0..<3)
        #expect(pieces[2].range == 7..<11)
        #expect(pieces[7].range == 24..<25)
        #expect(pieces[8].range == 25..<28)
    }

    @Test func `a vocabulary without the special pieces is refused`() {
        #expect(throws: ModelError.self) { _ = try WordPieces("the\ntower\n") }
    }

    @Test func `a vocabulary of capitals keeps them`() throws {
        let pieces = try WordPieces("[PAD]\n[UNK]\n[CLS]\n[SEP]\nRome\nrome\n")
        #expect(pieces.pieces("Rome rome ROME").map(\.number) == [4, 5, 1])
    }

    /// A model whose scores point at the token "tower".
    private func answers(_ question: String, _ text: String) throws -> (answers: [QuestionAsking.Answer], asked: Int) {
        let interface = Sketch.kinds[13].1.description_p
        let plan = PreviewPlan(Sketch.kinds[13].1)
        let asking = try QuestionAsking(plan, interface, try pieces())
        var asked = 0
        let answers = try asking.answers(question, text) { features -> [String: FeatureData] in
            asked += 1
            guard case .tensor(let ids)? = features["wordIDs"], case .tensor(let kinds)? = features["wordTypes"] else {
                throw ModelError(.invalidInput, "no tokens")
            }
            #expect(ids.shape == [1, 384])
            let values = zip(ids.values, kinds.values).map { $0 == 5 && $1 == 1 ? 9.0 : -9 }
            let tensor = FeatureData.tensor(Tensor(values: values, scalarType: .float32, shape: [1, 384]))
            return ["startLogits": tensor, "endLogits": tensor]
        }
        return (answers, asked)
    }

    @Test func `the answer is where the scores are highest`() throws {
        let (answers, asked) = try answers("the tower?", "The unwanted TOWER, the cafe")
        #expect(asked == 1)
        #expect(answers.first?.range == 13..<18)
        #expect((answers.first?.score ?? 0) > 0.99)
    }

    @Test func `long texts are read in parts`() throws {
        let text = String(repeating: "the cafe ", count: 600) + "tower"
        let (answers, asked) = try answers("the?", text)
        #expect(asked > 3)
        #expect(answers.first?.range == text.count - 5..<text.count)
    }

    @Test func `questions that are too long are refused, empty ones have no answer`() throws {
        #expect(throws: ModelError.self) { _ = try answers(String(repeating: "the ", count: 400), "the tower") }
        #expect(try answers("", "the tower").answers.isEmpty)
        #expect(try answers("the", "").answers.isEmpty)
    }
}
