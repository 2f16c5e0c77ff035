// The pieces of programs on the page about questions.
import CoreML
import QuestionAnswering

func answer(_ question: String, in text: String, model: MLModel, vocabulary: URL) throws -> String {
    let tokenizer = try WordPieceTokenizer(contentsOf: vocabulary)
    let answerer = try QuestionAnswerer(model: model, tokenizer: tokenizer)
    return try answerer.answers(to: question, in: text).first?.text ?? "no answer"
}

func closestSentence(to question: String, in text: String) throws -> String? {
    let encoder = try SentenceEncoder.installed()
    return try encoder.sentences(closestTo: question, in: text).first?.text
}

func inputs(question: String, paragraph: String, vocabulary: URL) throws -> [[Int]] {
    let tokenizer = try WordPieceTokenizer(contentsOf: vocabulary)
    let windows = try tokenizer.windows(question: question, paragraph: paragraph, length: 384, stride: 128)
    return windows.map { $0.ids(tokenizer) }
}
