import Foundation
import MLEngine
import MLFiles
import MLNumerics
import MLPreview
import QuestionAnswering

/// The tokenizer that converts texts to a model's token ids.
enum PreviewVocabulary: Sendable {
    case wordPieces(WordPieceTokenizer)
    case bytePairs(BytePairs)

    /// Reads a vocabulary.
    ///
    /// - Parameter path: A WordPiece vocabulary (`.txt`), or GPT-2's `vocab.json` with `merges.txt` beside it.
    /// - Throws: An error when a file cannot be read or has another form.
    init(contentsOf path: String) throws {
        if path.hasSuffix(".json") {
            self = .bytePairs(try BytePairs(contentsOf: path))
        } else {
            self = .wordPieces(try WordPieceTokenizer(contentsOf: URL(fileURLWithPath: path)))
        }
    }
}

/// Text generation, token by token.
struct PreviewGeneration: Sendable {
    private let session: PreviewSession
    private let generation: TextGeneration
    private let tokens: [Int32]
    private let choice: TextGeneration.Choice
    private let count: Int

    /// - Throws: For a text without tokens.
    init(_ session: PreviewSession, _ parcel: Parcel) throws {
        self.session = session
        generation = try failing { () throws(ModelError) in
            try TextGeneration(session.plan, session.engine.interface)
        }
        tokens = try Self.tokens(parcel.json["text"]?.string ?? "", session.vocabulary)
        guard !tokens.isEmpty else { throw Failure("write something for the model to continue") }
        func number(_ name: String) -> Double? {
            switch parcel.json[name] {
            case .number(let value)?: value
            case .integer(let value)?: Double(value)
            default: nil
            }
        }
        choice = TextGeneration.Choice(
            temperature: min(max(number("temperature") ?? 0.8, 0), 4),
            seed: UInt64(clamping: Int(saturating: number("seed") ?? 0))
        )
        count = min(max(Int(saturating: number("count") ?? 40), 1), 500)
    }

    /// Token ids, given as numbers when there is no vocabulary.
    private static func tokens(_ text: String, _ vocabulary: PreviewVocabulary?) throws -> [Int32] {
        switch vocabulary {
        case .bytePairs(let pairs)?: return pairs.numbers(of: text)
        case .wordPieces(let tokenizer)?: return tokenizer.tokens(text).map { Int32(clamping: $0.id) }
        case nil:
            return try text.split { $0.isWhitespace || $0 == "," }.map { word in
                guard let number = Int32(word) else {
                    throw Failure(
                        "'\(word)' is not a number of a token; start with --vocabulary vocab.json to write texts"
                    )
                }
                return number
            }
        }
    }

    private func text(_ token: Int32) -> String {
        guard case .bytePairs(let pairs)? = session.vocabulary else { return " \(token)" }
        return pairs.text(of: [token])
    }

    /// Sends each token with its most probable alternatives; ends early when the client disconnects.
    func run(_ events: PageEvents) {
        do {
            var all = tokens
            var generator = SplitMix64(seed: choice.seed)
            let start = ContinuousClock.now
            let cancellation = Cancellation(stopsBetweenSteps: true)
            for turn in 0..<count {
                let candidates = try session.queue.run(cancellation) {
                    try generation.next(after: all, width: choice.width) { features in
                        try failing { () throws(ModelError) in
                            try session.engine.prediction(
                                from: features,
                                backings: [:],
                                state: session.engine.makeState()
                            )
                        }
                    }
                }
                guard let chosen = TextGeneration.chosen(candidates, choice, &generator) else { break }
                all.append(chosen.token)
                let best = candidates.prefix(8).map { [text($0.token), $0.share] as [Any] }
                let object: [String: Any] = [
                    "turn": turn, "token": Int(chosen.token), "candidates": best,
                    "text": whole(all.dropFirst(tokens.count)),
                    "perSecond": Double(turn + 1) / max((ContinuousClock.now - start) / .seconds(1), 1e-6),
                ]
                guard events.send("token", try JSONFeature.text(object)) else { return }
            }
            events.send("done", "{}")
        } catch {
            let text = try? JSONFeature.text(["error": PreviewInputs.sentence(error)])
            events.send("failed", text ?? PreviewLesson.unwritable)
        }
    }

    /// Bytes of a character may be split over several tokens: decodes all of them together.
    private func whole(_ new: ArraySlice<Int32>) -> String {
        guard case .bytePairs(let pairs)? = session.vocabulary else { return new.map { " \($0)" }.joined() }
        return pairs.text(of: new)
    }
}
