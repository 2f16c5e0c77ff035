import Glibc
import MLFeatures
import MLKernels
import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
import MLTrainingCore
import Testing

/// Small made-up corpora whose answers are known.
enum Corpus {
    /// Texts of `labels` topics: three words of the topic's ten among common ones.
    static func topics(_ labels: Int, texts: Int, seed: UInt64) -> (texts: [String], targets: [Int]) {
        var draw = SplitMix64(seed: seed)
        var result: (texts: [String], targets: [Int]) = ([], [])
        for text in 0..<texts {
            let target = text % labels
            var words = (0..<6).map { _ in "common\(Int.random(in: 0..<40, using: &draw))" }
            for _ in 0..<3 {
                words.insert(
                    "topic\(target)word\(Int.random(in: 0..<10, using: &draw))",
                    at: Int.random(in: 0...words.count, using: &draw)
                )
            }
            result.texts.append(words.joined(separator: " "))
            result.targets.append(target)
        }
        return result
    }

    /// Sentences of articles, adjectives, nouns and verbs that their endings and places tell.
    static func sentences(_ count: Int, seed: UInt64) -> [(tokens: [String], labels: [String])] {
        var draw = SplitMix64(seed: seed)
        func word(_ ending: String) -> String {
            String((0..<4).map { _ in "bcdfgklmnprt".randomElement(using: &draw)! }) + ending
        }
        return (0..<count).map { _ in
            var (tokens, labels): ([String], [String]) = (["The"], ["DET"])
            if Bool.random(using: &draw) {
                tokens.append(word("ish"))
                labels.append("ADJ")
            }
            tokens += [word("er"), word("s"), "."]
            labels += ["NOUN", "VERB", "PUNCT"]
            return (tokens, labels)
        }
    }
}

struct ClassifierTrainingTests {
    private func trained(
        _ corpus: (texts: [String], targets: [Int]),
        _ labels: Int,
        _ change: (inout TextClassifierSettings) -> Void = { _ in }
    ) throws -> TextClassifierTrainer {
        var settings = TextClassifierSettings()
        change(&settings)
        return try TextClassifierTrainer(
            texts: corpus.texts,
            targets: corpus.targets,
            labels: (0..<labels).map { "label \($0)" },
            settings: settings
        )
    }

    private func accuracy(_ model: TextModel, _ corpus: (texts: [String], targets: [Int])) throws -> Double {
        let right = try zip(corpus.texts, corpus.targets).filter { text, target in
            let row = try model.probabilities(of: text)
            return row.indices.max { row[$0] < row[$1] } == target
        }
        return Double(right.count) / Double(corpus.texts.count)
    }

    @Test(arguments: [2, 3, 4, 5, 9]) func learnsTopics(labels: Int) throws {
        let trainer = try trained(Corpus.topics(labels, texts: 60 * labels, seed: 1), labels)
        try trainer.train()
        let model = trainer.model()
        #expect(try accuracy(model, Corpus.topics(labels, texts: 300, seed: 2)) > 0.97)
        // Probabilities are worth their name: seldom wrong, and sure where they may be.
        let tests = Corpus.topics(labels, texts: 300, seed: 2)
        let loss = try zip(tests.texts, tests.targets).reduce(0.0) { sum, test in
            let row = try model.probabilities(of: test.0)
            #expect(abs(row.reduce(0, +) - 1) < 1e-9)
            return sum - log(row[test.1]) / 300
        }
        #expect(loss < 0.4)
    }

    /// The weights are the optimum: every gradient of the dual is 0, or positive at a bound.
    @Test func reachesTheOptimum() throws {
        let corpus = Corpus.topics(3, texts: 60, seed: 3)
        func loss(_ passes: Int) throws -> [Double] {
            let trainer = try trained(corpus, 3) {
                $0.passes = passes
                $0.tolerance = 0
            }
            try trainer.train()
            return try trainer.model().probabilities(of: corpus.texts[0])
        }
        let (near, far) = (try loss(300), try loss(600))
        #expect(zip(near, far).allSatisfy { abs($0 - $1) < 1e-4 })
    }

    @Test func sameSeedSameModelOnAnyNumberOfThreads() throws {
        let corpus = Corpus.topics(4, texts: 300, seed: 4)
        let models = try [1, 2, 0].map { threads in
            Workers.limit(to: threads)
            defer { Workers.limit(to: 0) }
            let trainer = try trained(corpus, 4) { $0.characterNGramLengths = 3...4 }
            try trainer.train()
            return trainer.model().bytes
        }
        #expect(models[0] == models[1] && models[1] == models[2])
        let other = try trained(corpus, 4) {
            $0.characterNGramLengths = 3...4
            $0.seed = 7
        }
        try other.train()
        #expect(other.model().bytes != models[0])
    }

    @Test func resumesAsIfItHadNotStopped() throws {
        let corpus = Corpus.topics(3, texts: 200, seed: 5)
        let whole = try trained(corpus, 3)
        try whole.train()
        let first = try trained(corpus, 3)
        for _ in 0..<3 { first.step() }
        let second = try trained(corpus, 3)
        try second.restore(first.state)
        #expect(second.iteration == 3)
        try second.train()
        #expect(second.model().bytes == whole.model().bytes)

        let state = first.state
        var draw = SplitMix64(seed: 1)
        for _ in 0..<200 {
            var bytes = state
            let cut = Int.random(in: 0..<state.count, using: &draw)
            bytes.removeSubrange(cut...)
            #expect(throws: ModelError.self) { try trained(corpus, 3).restore(bytes) }
        }
        let others = try trained(Corpus.topics(3, texts: 200, seed: 6), 3)
        #expect(throws: ModelError.self) { try others.restore(state) }
    }

    /// A training that came near enough to its optimum is at its end for who goes on with it, too, however many passes
    /// are asked for; one that ended by its passes is not.
    @Test func whatHasConvergedStaysAtItsEnd() throws {
        let corpus = Corpus.topics(3, texts: 200, seed: 5)
        let whole = try trained(corpus, 3) { ($0.passes, $0.tolerance) = (100, 0.1) }
        try whole.train()
        #expect(whole.iteration < 100)
        let second = try trained(corpus, 3) { ($0.passes, $0.tolerance) = (100, 0.1) }
        try second.restore(whole.state)
        second.limit(passes: 200)
        #expect(second.isFinished)
        second.step()
        #expect(second.iteration == whole.iteration)

        let short = try trained(corpus, 3) { $0.passes = 2 }
        try short.train()
        #expect(short.isFinished && short.loss > 0 && short.accuracy > 0)
        short.limit(passes: 3)
        #expect(!short.isFinished)
        let loss = short.loss
        short.step()
        #expect(short.isFinished && short.iteration == 3 && short.loss < loss)
    }

    @Test func cancels() throws {
        let trainer = try trained(Corpus.topics(3, texts: 100, seed: 5), 3)
        var passes = 0
        #expect {
            try trainer.train {
                passes += 1
                return passes > 2
            }
        } throws: {
            ($0 as? ModelError)?.code == .cancelled
        }
        #expect(trainer.iteration == 2)
    }

    @Test func writesWhatItPredictsWith() throws {
        let corpus = Corpus.topics(3, texts: 200, seed: 8)
        let vectors = try WordVectors([("common1", [1, 0]), ("topic0word1", [0, 1]), ("Topic1word1", [1, 1])])
        let trainer = try trained(corpus, 3) {
            $0.language = "en"
            $0.vectors = vectors.byKey(language: "en")
        }
        try trainer.train()
        let model = trainer.model()
        let specification = TextClassifier.specification(model)
        let engine = try TextClassifier(specification, Self.interface)
        #expect(specification.revision == 1002 && specification.language == "en")
        let direct = try corpus.texts.flatMap { try model.probabilities(of: $0) }
        #expect(try engine.probabilities(of: corpus.texts) == direct)
    }

    static var interface: SpecModelDescription {
        var interface = SpecModelDescription()
        var text = SpecFeatureDescription()
        text.name = "text"
        text.type.stringType = .init()
        var label = text
        label.name = "label"
        interface.input = [text]
        interface.output = [label]
        interface.predictedFeatureName = "label"
        return interface
    }

    /// Whatever the bytes are, reading them gives a model or an error.
    @Test func damagedParametersAreErrorsOrModels() throws {
        let trainer = try trained(Corpus.topics(2, texts: 30, seed: 9), 2)
        try trainer.train()
        let specification = TextClassifier.specification(trainer.model())
        let bytes = SpecBytes.array(specification.modelParameterData)
        var draw = SplitMix64(seed: 2)
        var failures = 0
        for turn in 0..<400 {
            var damaged = bytes
            if turn % 2 == 0 {
                damaged.removeSubrange(Int.random(in: 0..<bytes.count, using: &draw)...)
            } else {
                for _ in 0..<4 {
                    damaged[Int.random(in: 0..<(turn % 4 == 1 ? 40 : bytes.count), using: &draw)] = UInt8.random(
                        in: 0...255,
                        using: &draw
                    )
                }
            }
            var copy = specification
            copy.modelParameterData = SpecBytes.field(damaged)
            do {
                _ = try TextClassifier(copy, Self.interface).probabilities(of: ["topic0word1 common1", ""])
            } catch {
                failures += 1
                #expect(!error.message.isEmpty)
            }
        }
        #expect(failures > 200)
    }

    @Test func textsOfEveryKind() throws {
        let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}"
        let texts = [
            "", "   \n\t", "\u{0}a\u{0}", "caf\u{E9} \(family)", "cafe\u{301} 👍🏽", "東京タワーに行く", "שלום עולם",
            "مرحبا بالعالم",
            String(repeating: "x", count: 100_000), "a\u{301}\u{302}\u{303}", "𝒳𝒴 🇩🇪🇫🇷", "\u{FEFF}text\r\nmore",
        ]
        let trainer = try trained((texts, texts.indices.map { $0 % 2 }), 2) { $0.characterNGramLengths = 1...5 }
        try trainer.train()
        let model = trainer.model()
        for text in texts + ["unknown"] {
            let row = try model.probabilities(of: text)
            #expect(row.allSatisfy { $0.isFinite && $0 >= 0 } && abs(row.reduce(0, +) - 1) < 1e-9)
        }
        // Composed and decomposed spellings are one word, and so are capitals.
        #expect(try model.probabilities(of: "CAFÉ") == model.probabilities(of: "cafe\u{301}"))
        #expect(try model.features.counts("Caf\u{E9}").map(\.key) == model.features.counts("cafe\u{301}").map(\.key))
        #expect(try model.features.counts("\u{1F44D} \(family)").count > 1)
    }

    @Test func whatCannotBeLearntIsAnError() {
        func message(_ texts: [String], _ targets: [Int], _ labels: [String], passes: Int = 5) -> String {
            var settings = TextClassifierSettings()
            settings.passes = passes
            do {
                _ = try TextClassifierTrainer(texts: texts, targets: targets, labels: labels, settings: settings)
                return ""
            } catch { return error.message }
        }
        #expect(message(["a", "b"], [0, 0], ["only"]).contains("at least two"))
        #expect(message([], [], []).contains("at least two"))
        #expect(message(["", " "], [0, 1], ["a", "b"]).contains("word"))
        #expect(message(["a"], [0, 1], ["a", "b"]).contains("1 texts"))
        #expect(message(["a", "b"], [0, 2], ["a", "b"]).contains("row 1"))
        #expect(message(["a", "b"], [0, 1], ["a", "b"], passes: 0).contains("iterations"))
        #expect(message(["a", "b"], [0, 1], ["a", "b"]).isEmpty)
    }
}

struct TaggerTrainingTests {
    private func trainer(
        _ sentences: [(tokens: [String], labels: [String])],
        passes: Int = 8
    ) throws -> (CRFTrainer, TaggerFeatures) {
        let features = try TaggerFeatures(language: "en")
        var settings = SequenceSettings()
        settings.passes = passes
        return (try CRFTrainer(SequenceTable(sentences, features), settings: settings), features)
    }

    @Test func learnsEndingsAndPlaces() throws {
        let (trainer, features) = try trainer(Corpus.sentences(300, seed: 1))
        try trainer.train()
        let model = trainer.model(features)
        var (right, count) = (0, 0)
        for (tokens, labels) in Corpus.sentences(100, seed: 2) {
            let answer = model.best(tokens).map { model.tags[$0] }
            count += labels.count
            right += zip(answer, labels).filter { $0 == $1 }.count
            let probabilities = model.probabilities(tokens)
            for token in tokens.indices {
                let row = probabilities[token * model.tags.count..<(token + 1) * model.tags.count]
                #expect(abs(row.reduce(0, +) - 1) < 1e-9)
            }
        }
        #expect(Double(right) / Double(count) > 0.99)
        #expect(model.best([]).isEmpty && model.probabilities([]).isEmpty)
    }

    /// The probabilities are those of the sum over all sequences of tags, one by one.
    @Test func probabilitiesAreTheSumsOverAllSequences() throws {
        let features = try TaggerFeatures()
        var draw = SplitMix64(seed: 5)
        let transitions = (0..<12).map { _ in Float.random(in: -2...2, using: &draw) }
        let words = ["ab", "cd", "ef", "gh"]
        var table = KeyTable()
        for word in words { _ = table.insert(FeatureKey.positioned(0, FeatureKey.hash(word))) }
        let weights = (0..<12).map { _ in Float.random(in: -2...2, using: &draw) }
        let model = TaggerModel(
            features: features,
            tags: ["A", "B", "C"],
            transitions: transitions,
            table: table,
            starts: [0, 3, 6, 9, 12],
            weightTags: [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2],
            weights: weights
        )
        var sums = [Double](repeating: 0, count: 12)
        var total = 0.0
        var best: (score: Double, path: [Int]) = (-.infinity, [])
        for number in 0..<81 {
            let path = [number / 27, number / 9 % 3, number / 3 % 3, number % 3]
            var score = Double(transitions[path[0]])
            for (token, tag) in path.enumerated() {
                score += Double(weights[token * 3 + tag])
                if token > 0 { score += Double(transitions[(path[token - 1] + 1) * 3 + tag]) }
            }
            if score > best.score { best = (score, path) }
            let weight = exponential(score)
            total += weight
            for (token, tag) in path.enumerated() { sums[token * 3 + tag] += weight }
        }
        #expect(model.best(words) == best.path)
        #expect(zip(model.probabilities(words), sums).allSatisfy { abs($0 - $1 / total) < 1e-9 })
    }

    private func exponential(_ x: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for n in 1..<60 {
            term *= x / Double(n)
            sum += term
        }
        return sum
    }

    @Test func sameModelAfterResuming() throws {
        let sentences = Corpus.sentences(80, seed: 3)
        let (whole, features) = try trainer(sentences)
        try whole.train()
        let (first, _) = try trainer(sentences)
        for _ in 0..<3 { first.step() }
        let (second, _) = try trainer(sentences)
        try second.restore(first.state)
        try second.train()
        #expect(second.model(features).bytes == whole.model(features).bytes)
        #expect(second.loss == whole.loss)
        for cut in [0, 7, 20, 100, first.state.count - 1] {
            #expect(throws: ModelError.self) { try trainer(sentences).0.restore(Array(first.state.prefix(cut))) }
        }
        #expect(throws: ModelError.self) { try trainer(Corpus.sentences(80, seed: 4)).0.restore(first.state) }
    }

    @Test func predictsFromItsFile() throws {
        let (trainer, features) = try trainer(Corpus.sentences(200, seed: 6))
        try trainer.train()
        let model = trainer.model(features)
        var specification = WordTagger.specification(model)
        specification.tokensOutputFeatureName = "tokens"
        specification.tokenTagsOutputFeatureName = "labels"
        specification.tokenLocationsOutputFeatureName = "locations"
        specification.tokenLengthsOutputFeatureName = "lengths"
        var interface = ClassifierTrainingTests.interface
        interface.predictedFeatureName = ""
        interface.output = ["tokens", "labels", "locations", "lengths"].map {
            var feature = SpecFeatureDescription()
            feature.name = $0
            feature.type.sequenceType = .init()
            return feature
        }
        let engine = try WordTagger(specification, interface)
        let text = "The bcdfer  👍 dfgks.\u{0}"
        let answer = try engine.prediction(from: ["text": .string(text)])
        guard case .sequence(.strings(let tokens))? = answer["tokens"],
            case .sequence(.strings(let tags))? = answer["labels"],
            case .sequence(.integers(let locations))? = answer["locations"],
            case .sequence(.integers(let lengths))? = answer["lengths"]
        else {
            Issue.record("outputs are missing")
            return
        }
        #expect(tokens == ["The", "bcdfer", "👍", "dfgks", "."])
        #expect(tags == engine.best(tokens) && tags[0] == "DET" && tags[1] == "NOUN" && tags[4] == "PUNCT")
        #expect(locations == [0, 4, 12, 15, 20] && lengths == [3, 6, 2, 5, 1])

        let bytes = SpecBytes.array(specification.modelParameterData)
        var draw = SplitMix64(seed: 3)
        for turn in 0..<300 {
            var damaged = bytes
            if turn % 2 == 0 {
                damaged.removeSubrange(Int.random(in: 0..<bytes.count, using: &draw)...)
            } else {
                for _ in 0..<6 {
                    damaged[Int.random(in: 0..<bytes.count, using: &draw)] = UInt8.random(in: 0...255, using: &draw)
                }
            }
            specification.modelParameterData = SpecBytes.field(damaged)
            do { _ = try WordTagger(specification, interface).best(tokens) } catch {
                #expect(turn % 2 == 0 || !error.message.isEmpty)
            }
        }
    }

    @Test func whatCannotBeLearntIsAnError() throws {
        func message(_ sentences: [(tokens: [String], labels: [String])]) -> String {
            do {
                _ = try trainer(sentences)
                return ""
            } catch { return (error as? ModelError)?.message ?? "\(error)" }
        }
        #expect(message([]).contains("no tokens"))
        #expect(message([(["a", "b"], ["X"])]).contains("sequence 0"))
        #expect(message([(["a", "b"], ["X", "X"])]).contains("at least two"))
        #expect(message([([], []), (["", "\u{0}"], ["X", "Y"])]).isEmpty)
    }
}

struct TokenizerTests {
    @Test func segmentsCoverTheText() throws {
        var draw = SplitMix64(seed: 1)
        let pieces = ["a", "Don’t", " ", "\n", "東京", "👍🏽", "e\u{301}", "3.5", "שלום", "\u{0}", ".", "ภาษาไทย", "🇩🇪"]
        let tokenizer = try TextTokenizer(language: "en")
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0..<12, using: &draw)).map { _ in pieces.randomElement(using: &draw)! }
                .joined()
            var end = 0
            for segment in try tokenizer.segments(of: text) {
                #expect(segment.range.lowerBound == end && !segment.range.isEmpty)
                end = segment.range.upperBound
            }
            #expect(end == text.utf8.count)
        }
    }

    @Test func wordsOfSeveralScripts() throws {
        func words(_ text: String, _ language: String) throws -> [String] {
            try TextTokenizer(language: language).segments(of: text).filter(\.kind.isWord).map {
                String(decoding: Array(text.utf8)[$0.range], as: UTF8.self)
            }
        }
        #expect(try words("Don’t stop, 3.5 times 👍🏽!", "en") == ["Don’t", "stop", "3.5", "times", "👍🏽"])
        #expect(try words("東京に行く", "ja") == ["東京", "に", "行く"])
        #expect(try words("ภาษาไทยง่าย", "th").count > 1)
        #expect(try words("", "").isEmpty)
        #expect(throws: ModelError.self) { try TextTokenizer(language: "no language!") }
        #expect(try TextTokenizer(.sentences).segments(of: "One. Two? Three").count == 3)
    }

    @Test func manyThreadsShareOne() throws {
        let tokenizer = try TextTokenizer()
        let failure = FirstFailure()
        Workers.parallelFor(64) { index, _ in
            failure.catching(index) { () throws(ModelError) in
                guard try tokenizer.segments(of: String(repeating: "a ", count: index)).count == 2 * index else {
                    throw ModelError(.invalidInput, "text \(index) was divided otherwise")
                }
            }
        }
        try failure.check(64)
    }
}
