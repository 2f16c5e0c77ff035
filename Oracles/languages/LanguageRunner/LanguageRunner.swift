import Foundation
import NaturalLanguage

/// Recognises languages of texts that `Oracles/languages/check` reads, so that other recognisers can be held against
/// it.
///
/// Standard input has one JSON request a line, `{"texts": [TEXT], "constraints": [TAG]}`; the answer is one line each.
@main
struct LanguageRunner {
    struct Request: Decodable {
        let texts: [String]
        let constraints: [String]
    }

    struct Answer: Encodable {
        /// The tags of the likeliest languages, empty where there is none, and their probabilities.
        var languages: [String] = []
        var probabilities: [Double] = []
        /// Processor time of all.
        var seconds = 0.0
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func main() throws {
        // The data read on first use is not part of the time.
        _ = NLLanguageRecognizer.dominantLanguage(for: "a")
        while let line = readLine() {
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            let recognizer = NLLanguageRecognizer()
            var answer = Answer()
            let start = processorTime()
            for text in request.texts {
                recognizer.reset()
                recognizer.languageConstraints = request.constraints.map { NLLanguage($0) }
                recognizer.processString(text)
                let best = recognizer.languageHypotheses(withMaximum: 1).first
                answer.languages.append(best?.key.rawValue ?? "")
                answer.probabilities.append(best?.value ?? 0)
            }
            answer.seconds = processorTime() - start
            FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data("\n".utf8))
        }
    }
}
