import ArgumentParser
import CoreML
import Foundation
import MLFiles
import MLNumerics
import QuestionAnswering

/// `coreml answer`: answers from a text.
struct AnswerQuestions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Answer questions from a text.",
        discussion: """
            Examples:
              coreml answer --text next.txt 'Who started NeXT?'
              coreml answer --text next.txt
              coreml answer --model BERTSQUADFP16.mlmodel --vocabulary vocab.txt \\
                --text next.txt 'Who started NeXT?' --json
              man ls | coreml answer --text - 'Which option sorts by size?' --top 3
              coreml answer --picture page.png 'When does the library open?'

            A span model (--model), such as BERT trained on SQuAD, marks the words of the answer. It has the interface of \
            Apple's BERT-SQuAD (wordIDs, wordTypes) or of Hugging Face (input_ids, attention_mask, token_type_ids). Long texts \
            are read in parts that overlap. The score is the probability of the words.

            Without --model, the sentence whose meaning is closest to the question's is marked. The sentence encoder that \
            'coreml extractor install minilm-l6-v2' stores finds it, or the one in --encoder and --vocabulary; the score is a \
            cosine.

            Without QUESTIONS, questions are read from standard input, one per line.

            Exit status: 0 success, 1 failure, 64 wrong usage.
            """
    )

    @Argument(help: "The questions; by default they are read from standard input, one per line.")
    var questions: [String] = []
    @Option(help: "The text, a UTF-8 file; - for standard input.")
    var text: String?
    @Option(help: "An image of the text, which the program tesseract reads.")
    var picture: String?
    @Option(name: .customLong("picture-language"), help: "The language of the image's text, as tesseract names it.")
    var pictureLanguage = "eng"
    @Option(help: "A span model: a .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var model: String?
    @Option(help: "A sentence encoder, instead of the installed one.")
    var encoder: String?
    @Option(help: "The model's vocabulary: word pieces, one per line, as in BERT's vocab.txt.")
    var vocabulary: String?
    @Option(help: "The number of answers.")
    var top = 1
    @Option(name: .customLong("longest"), help: "Span models: the maximum number of word pieces in an answer.")
    var longest = 15
    @Option(
        help: "Span models: the word pieces in a part of the text, with the question; the model's length, at most 384."
    )
    var length: Int?
    @Option(help: "Span models: the word pieces that two parts share; 128, at most half the length.")
    var stride: Int?
    @Flag(
        name: .customLong("allow-no-answer"),
        help: "Span models that were trained on unanswerable questions, too: print no answer where they find none."
    )
    var allowsNoAnswer = false
    @Option(help: "The number of worker threads; all cores by default.")
    var threads: Int?
    @Flag(help: "Print a JSON object for each question.")
    var json = false

    func validate() throws {
        guard (text == nil) != (picture == nil) else { throw ValidationError("give --text or --picture") }
        guard model == nil || encoder == nil else { throw ValidationError("give --model or --encoder, not both") }
        guard (model ?? encoder == nil) == (vocabulary == nil) else {
            throw ValidationError("--model and --encoder go with --vocabulary, the model's vocab.txt")
        }
        guard text != "-" || !questions.isEmpty else {
            throw ValidationError("standard input has the text (--text -): give the questions as arguments")
        }
        guard model != nil || (length == nil && stride == nil && !allowsNoAnswer) else {
            throw ValidationError(
                "--length, --stride and --allow-no-answer apply to span models; name one with --model"
            )
        }
        guard top > 0, longest > 0 else { throw ValidationError("--top and --longest take numbers from 1") }
    }

    func run() throws {
        if let threads { InputOptions.limitWorkers(to: threads) }
        let source = try readText()
        let finder = try finder(in: source)
        if !questions.isEmpty {
            for question in questions { try answer(question, finder, source) }
            return
        }
        let isTyped = isatty(STDIN_FILENO) == 1
        while true {
            if isTyped, !json {
                print("Question: ", terminator: "")
                fflush(nil)
            }
            guard let line = readLine() else { break }
            let question = line.trimmingCharacters(in: .whitespaces)
            guard !question.isEmpty else {
                // An empty line ends what is typed.
                if isTyped { break }
                continue
            }
            try answer(question, finder, source)
            fflush(nil)
        }
    }

    // MARK: The text

    private func readText() throws -> String {
        if let picture { return try PictureText.read(picture, language: pictureLanguage) }
        let path = text ?? "-"
        let data: Data
        if path == "-" {
            data = FileHandle.standardInput.readDataToEndOfFile()
        } else {
            data = Data(try failing { () throws(ModelError) in try FileAccess.read(path) })
        }
        guard let text = String(data: data, encoding: .utf8) else { throw Failure("\(path): the text is not UTF-8") }
        guard text.contains(where: { !$0.isWhitespace }) else { throw Failure("\(path): the text is empty") }
        return text
    }

    // MARK: Answers

    /// An answer of either kind of model.
    private struct Found {
        var text: String
        var range: Range<Int>
        var score: Double
    }

    /// The function that answers a question from the text.
    private func finder(in text: String) throws -> (String) throws -> [Found] {
        func tokenizer() throws -> WordPieceTokenizer {
            try WordPieceTokenizer(contentsOf: URL(fileURLWithPath: vocabulary ?? ""))
        }
        if let model {
            var settings = QuestionAnswerer.Settings()
            (settings.count, settings.longestAnswer, settings.allowsNoAnswer) = (top, longest, allowsNoAnswer)
            (settings.length, settings.stride) = (length, stride)
            let answerer = try QuestionAnswerer(
                model: MLModel(contentsOf: URL(fileURLWithPath: model)),
                tokenizer: tokenizer(),
                settings: settings
            )
            return { question in
                try answerer.answers(to: question, in: text).map {
                    Found(text: $0.text, range: $0.range, score: $0.score)
                }
            }
        }
        let sentences: SentenceEncoder
        if let encoder {
            sentences = try SentenceEncoder(
                model: MLModel(contentsOf: URL(fileURLWithPath: encoder)),
                tokenizer: tokenizer()
            )
        } else {
            sentences = try SentenceEncoder.installed()
        }
        let index = try sentences.index(of: text)
        return { question in
            try index.sentences(closestTo: question, count: top).map {
                Found(text: $0.text, range: $0.range, score: $0.similarity)
            }
        }
    }

    private func answer(_ question: String, _ finder: (String) throws -> [Found], _ text: String) throws {
        let found = try finder(question)
        if json {
            let answers = found.map { answer -> [String: Any] in
                [
                    "text": answer.text, "start": answer.range.lowerBound, "end": answer.range.upperBound,
                    "score": answer.score,
                ]
            }
            return print(try JSONFeature.text(["question": question, "answers": answers]))
        }
        print(question)
        for answer in found {
            let score = String(format: "%.3f", answer.score)
            guard !answer.range.isEmpty else {
                print("\n  no answer (\(score))")
                continue
            }
            print("\n  \(answer.text.split(whereSeparator: \.isNewline).joined(separator: " ")) (\(score))")
            if model == nil, found.count > 1 { continue }
            print("\n\(MarkedText(text, answer.range, isTerminal: isatty(STDOUT_FILENO) == 1).paragraph)")
        }
        print("")
    }
}

/// A text with a part of it marked.
struct MarkedText {
    /// The paragraph around the part, in which it is marked: in reverse in a terminal, otherwise between ⟦ and ⟧.
    let paragraph: String

    /// Marks a part of a text.
    ///
    /// - Parameters:
    ///   - text: The text; empty lines divide its paragraphs.
    ///   - range: The part, counted in Unicode scalars.
    ///   - isTerminal: Whether the text is for a terminal.
    init(_ text: String, _ range: Range<Int>, isTerminal: Bool) {
        let scalars = Array(text.unicodeScalars)
        func isBreak(_ location: Int) -> Bool {
            guard scalars[location] == "\n" else { return false }
            let remaining = scalars[(location + 1)...].prefix { $0 == " " || $0 == "\t" || $0 == "\r" }
            return remaining.endIndex < scalars.count && scalars[remaining.endIndex] == "\n"
        }
        let start = (0..<range.lowerBound).last(where: isBreak).map { $0 + 1 } ?? 0
        let end = (range.upperBound..<scalars.count).first(where: isBreak) ?? scalars.count
        func part(_ locations: Range<Int>) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars[locations])
            return String(view)
        }
        let (before, after) = isTerminal ? ("\u{1B}[7m", "\u{1B}[0m") : ("⟦", "⟧")
        let whole = part(start..<range.lowerBound) + before + part(range) + after + part(range.upperBound..<end)
        paragraph = whole.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// Text in pictures, which the program tesseract reads.
enum PictureText {
    /// The text in a picture.
    ///
    /// - Parameters:
    ///   - path: The picture.
    ///   - language: The language of its text, as tesseract names it.
    /// - Returns: The text.
    /// - Throws: `Failure` when tesseract is not installed or cannot read the picture.
    static func read(_ path: String, language: String) throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        guard
            let program = folders.lazy.map({ $0 + "/tesseract" }).first(where: {
                FileManager.default.isExecutableFile(atPath: $0)
            })
        else {
            throw Failure("--picture needs the program tesseract; install it: apt-get install tesseract-ocr")
        }
        guard FileAccess.kind(of: path) == .file else { throw Failure("\(path): there is no such file") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [path, "stdout", "-l", language, "--loglevel", "ERROR"]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { throw Failure("\(program) cannot be started: \(error.localizedDescription)") }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(path): tesseract could not read the image (status \(process.terminationStatus))")
        }
        let lines = String(decoding: text, as: UTF8.self).replacingOccurrences(of: "\u{C}", with: "\n")
        guard lines.contains(where: { !$0.isWhitespace }) else {
            throw Failure("\(path): tesseract found no text in it")
        }
        return lines
    }
}
