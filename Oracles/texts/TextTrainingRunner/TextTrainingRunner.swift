import Foundation
import MLKernels
import MLModels
import MLNumerics
import MLTextTraining
import MLTrainingCore

/// Trains on files that `Oracles/texts/check` writes, so that scikit-learn and CRFsuite can be held against it.
///
/// Standard input has one JSON request a line, the answer is one line each.
/// - `{"task": "classify", "train": FILE, "test": FILE, "characters": false}`: lines of a label, a tab and a text.
/// - `{"task": "tag", "train": FILE, "test": FILE, "attributes": false}`: CRFsuite's lines, a label and attributes
///   between tabs, an empty line after each sequence. Tokens are the first attribute without its "w=" or "w[0]=", and
///   have the features of taggers; with `attributes` they have the ones of the file.
/// - `{"task": "neighbours", "vectors": FILE, "words": n, "dimensions": d, "queries": q, "count": k}`: 32-bit floats;
///   the neighbours of the first q rows are in the answer.
@main
struct TextTrainingRunner {
    struct Request: Decodable {
        var task: String
        var train: String?
        var test: String?
        var characters: Bool?
        var attributes: Bool?
        var passes: Int?
        var rate: Float?
        var l1: Float?
        var cost: Float?
        var vectors: String?
        var words: Int?
        var dimensions: Int?
        var queries: Int?
        var count: Int?
    }

    struct Answer: Encodable {
        /// The share of right answers.
        var accuracy: Double?
        /// The same for words that were not trained on.
        var unknownAccuracy: Double?
        /// The mean negative log-likelihood of the right answer, and of the most frequent label's share.
        var logLoss: Double?
        /// Processor time of training from the texts to the bytes of the model, and of predicting.
        var trainingSeconds: Double?
        var predictionSeconds: Double?
        var modelBytes: Int?
        var neighbours: [[Int]]?
        /// Of one query, on the clock.
        var querySeconds: Double?
    }

    static func main() throws {
        while let line = readLine() {
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            let answer =
                switch request.task {
                case "classify": try classify(request)
                case "tag": try tag(request)
                default: try neighbours(request)
                }
            FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data("\n".utf8))
        }
    }

    static func processorSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

    static func lines(_ path: String?) throws -> [Substring] {
        let text = try String(contentsOf: URL(fileURLWithPath: path ?? ""), encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    static func classify(_ request: Request) throws -> Answer {
        func read(_ path: String?) throws -> ([String], [String]) {
            let rows = try lines(path).filter { !$0.isEmpty }.map { $0.split(separator: "\t", maxSplits: 1) }
            return (rows.map { String($0[0]) }, rows.map { $0.count > 1 ? String($0[1]) : "" })
        }
        let (names, texts) = try read(request.train)
        let start = processorSeconds()
        let labels = Set(names).sorted()
        let places = Dictionary(uniqueKeysWithValues: labels.enumerated().map { ($1, $0) })
        var settings = TextClassifierSettings()
        settings.language = "en"
        if request.characters ?? false { settings.characterNGramLengths = 3...5 }
        if let passes = request.passes { settings.passes = passes }
        if let cost = request.cost { settings.cost = cost }
        let trainer = try TextClassifierTrainer(
            texts: texts,
            targets: names.map { places[$0]! },
            labels: labels,
            settings: settings
        )
        try trainer.train()
        let model = trainer.model()
        let modelBytes = model.bytes.count
        let trained = processorSeconds()
        let (expected, tests) = try read(request.test)
        let before = processorSeconds()
        let probabilities = try tests.map { try model.probabilities(of: $0) }
        let after = processorSeconds()
        var (right, loss) = (0, 0.0)
        for (row, label) in zip(probabilities, expected) {
            let best = row.indices.max { row[$0] < row[$1] }!
            right += labels[best] == label ? 1 : 0
            loss -= log(Swift.max(places[label].map { row[$0] } ?? 0, 1e-15))
        }
        return Answer(
            accuracy: Double(right) / Double(tests.count),
            logLoss: loss / Double(tests.count),
            trainingSeconds: trained - start,
            predictionSeconds: after - before,
            modelBytes: modelBytes
        )
    }

    struct Sequence {
        var labels: [String] = []
        var tokens: [String] = []
        var keys: [UInt64] = []
        var ends: [Int] = []
    }

    static func sequences(_ path: String?, attributes: Bool) throws -> [Sequence] {
        var result = [Sequence()]
        for line in try lines(path) {
            if line.isEmpty {
                if !result[result.count - 1].labels.isEmpty { result.append(Sequence()) }
                continue
            }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            let last = result.count - 1
            result[last].labels.append(String(fields[0]))
            let first = fields.count > 1 ? fields[1] : ""
            let name = ["w=", "w[0]="].first { first.hasPrefix($0) } ?? ""
            result[last].tokens.append(String(first.dropFirst(name.count)))
            guard attributes else { continue }
            result[last].keys += fields.dropFirst().map { FeatureKey.hash($0.utf8) }
            result[last].ends.append(result[last].keys.count)
        }
        if result[result.count - 1].labels.isEmpty { result.removeLast() }
        return result
    }

    static func tag(_ request: Request) throws -> Answer {
        let given = request.attributes ?? false
        let training = try sequences(request.train, attributes: given)
        let start = processorSeconds()
        let features = try TaggerFeatures(language: "en")
        var table = SequenceTable()
        if given {
            for sequence in training {
                try table.append(keys: sequence.keys, ends: sequence.ends, tags: sequence.labels)
            }
        } else {
            table = try SequenceTable(training.map { ($0.tokens, $0.labels) }, features)
        }
        var settings = SequenceSettings()
        if let passes = request.passes { settings.passes = passes }
        if let rate = request.rate { settings.rate = rate }
        if let l1 = request.l1 { settings.l1 = l1 }
        let trainer = try CRFTrainer(table, settings: settings)
        try trainer.train()
        let model = trainer.model(features)
        let modelBytes = model.bytes.count
        let trained = processorSeconds()
        let tests = try sequences(request.test, attributes: given)
        let known = Set(training.flatMap(\.tokens))
        let before = processorSeconds()
        let answers = tests.map { given ? model.best(keys: $0.keys, ends: $0.ends) : model.best($0.tokens) }
        let after = processorSeconds()
        var (right, count, unknownRight, unknown) = (0, 0, 0, 0)
        for (sequence, answer) in zip(tests, answers) {
            for (token, tag) in answer.enumerated() {
                let isRight = model.tags[tag] == sequence.labels[token]
                count += 1
                right += isRight ? 1 : 0
                guard !known.contains(sequence.tokens[token]) else { continue }
                unknown += 1
                unknownRight += isRight ? 1 : 0
            }
        }
        return Answer(
            accuracy: Double(right) / Double(count),
            unknownAccuracy: Double(unknownRight) / Double(Swift.max(unknown, 1)),
            trainingSeconds: trained - start,
            predictionSeconds: after - before,
            modelBytes: modelBytes
        )
    }

    static func neighbours(_ request: Request) throws -> Answer {
        let (count, dimensions) = (request.words ?? 0, request.dimensions ?? 0)
        let data = try Data(contentsOf: URL(fileURLWithPath: request.vectors ?? ""))
        let values = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let embedding = try WordVectors(
            (0..<count).map { ("\($0)", Array(values[$0 * dimensions..<($0 + 1) * dimensions])) }
        )
        let queries = 0..<(request.queries ?? 1)
        let rows = queries.map { Array(values[$0 * dimensions..<($0 + 1) * dimensions]) }
        _ = embedding.nearest(to: rows[0], count: 1)
        let start = ContinuousClock.now
        let found = queries.map {
            embedding.nearest(to: rows[$0], count: request.count ?? 10, excluding: "\($0)").map { Int($0.word)! }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return Answer(neighbours: found, querySeconds: seconds / Double(queries.count))
    }
}
