import CreateML
import Foundation
import TabularData
import Testing

/// The folder that `Oracles/series/check` filled with series, sounds or hands, and with what to learn from them.
private let oracleFolder = ProcessInfo.processInfo.environment["COREML_SERIES_CASES"]

/// Data of a script through Create ML's types: it holds the accuracies against another library's.
@Suite(.serialized, .enabled(if: oracleFolder != nil)) struct SeriesOracleTests {
    struct Case: Decodable {
        /// `activity`: series of sensors, a recording each. `handAction`: sessions of hands, [frames, 63] each.
        /// `sound`: files.
        var task: String
        /// Files in the folder: the examples as 32-bit floats, [examples, length, channels], then the class of each.
        var train: String?
        var test: String?
        var trainSounds: [Sound]?
        var testSounds: [Sound]?
        var length: Int
        var channels: Int
        /// Rows of a prediction window; `nil` for the task's default.
        var window: Int?
        /// The order of the training examples is drawn from it.
        var seed: UInt64
    }

    struct Sound: Decodable {
        var path: String
        var label: String
    }

    struct Found: Encodable {
        /// The share of rows, windows or files of the test data that were recognised.
        var accuracy: Double
        /// Processor seconds of training, all threads together.
        var seconds: Double
    }

    @Test func `Accuracies of every case`() throws {
        let folder = URL(fileURLWithPath: try #require(oracleFolder))
        let cases = try JSONDecoder().decode(
            [Case].self,
            from: Data(contentsOf: folder.appendingPathComponent("cases.json"))
        )
        #expect(!cases.isEmpty)
        let found = try cases.map { entry in
            switch entry.task {
            case "activity": try Self.activity(entry, folder)
            case "handAction": try Self.handAction(entry, folder)
            default: try Self.sound(entry)
            }
        }
        try JSONEncoder().encode(found).write(to: folder.appendingPathComponent("found.json"))
    }

    private static func activity(_ entry: Case, _ folder: URL) throws -> Found {
        let (training, testing) = (try examples(entry.train, entry, folder), try examples(entry.test, entry, folder))
        let features = (0..<entry.channels).map { "sensor\($0)" }
        func frame(_ examples: Examples) -> DataFrame {
            var frame = DataFrame()
            for (channel, name) in features.enumerated() {
                let values = examples.series.flatMap { series in
                    stride(from: channel, to: series.count, by: entry.channels).map { Double(series[$0]) }
                }
                frame.append(column: Column<Double>(name: name, contents: values))
            }
            func repeated(_ name: String, _ values: [String]) {
                let contents = values.flatMap { [String](repeating: $0, count: entry.length) }
                frame.append(column: Column<String>(name: name, contents: contents))
            }
            repeated("label", examples.labels)
            repeated("recordingFile", examples.labels.indices.map { "\($0)" })
            return frame
        }
        let (own, held) = (frame(training), frame(testing))
        var parameters = MLActivityClassifier.ModelParameters(validation: .none)
        if let window = entry.window { parameters.predictionWindowSize = window }
        let start = processorSeconds()
        let classifier = try MLActivityClassifier(
            trainingData: .dataFrame(own),
            featureColumns: features,
            parameters: parameters
        )
        let seconds = processorSeconds() - start
        let metrics = classifier.evaluation(on: .dataFrame(held), featureColumns: features)
        try #require(metrics.isValid, "\(String(describing: metrics.error))")
        return Found(accuracy: 1 - metrics.classificationError, seconds: seconds)
    }

    private static func handAction(_ entry: Case, _ folder: URL) throws -> Found {
        func frame(_ examples: Examples) -> DataFrame {
            DataFrame(columns: [
                Column<Int>(name: "session_id", contents: Array(examples.labels.indices)).eraseToAnyColumn(),
                Column<String>(name: "label", contents: examples.labels).eraseToAnyColumn(),
                Column<[Float]>(name: "keypoints", contents: examples.series).eraseToAnyColumn(),
            ])
        }
        let (own, held) = (
            frame(try examples(entry.train, entry, folder)), frame(try examples(entry.test, entry, folder))
        )
        var parameters = MLHandActionClassifier.ModelParameters(validation: .none)
        if let window = entry.window { parameters.predictionWindowSize = window }
        let start = processorSeconds()
        let classifier = try MLHandActionClassifier(
            trainingData: .labeledKeypointsDataFrame(own),
            parameters: parameters
        )
        let seconds = processorSeconds() - start
        let metrics = try classifier.evaluation(on: .labeledKeypointsDataFrame(held))
        return Found(accuracy: 1 - metrics.classificationError, seconds: seconds)
    }

    private static func sound(_ entry: Case) throws -> Found {
        func files(_ sounds: [Sound]?) throws -> [String: [URL]] {
            Dictionary(grouping: try #require(sounds), by: \.label)
                .mapValues { $0.map { URL(fileURLWithPath: $0.path) } }
        }
        let (training, testing) = (try files(entry.trainSounds), try files(entry.testSounds))
        let start = processorSeconds()
        let classifier = try MLSoundClassifier(
            trainingData: .filesByLabel(training),
            parameters: .init(validation: .none)
        )
        let seconds = processorSeconds() - start
        let metrics = classifier.evaluation(on: .filesByLabel(testing))
        try #require(metrics.isValid, "\(String(describing: metrics.error))")
        return Found(accuracy: 1 - metrics.classificationError, seconds: seconds)
    }

    /// Series [length · channels] and their labels.
    private struct Examples {
        var series: [[Float]] = []
        var labels: [String] = []
    }

    /// Training examples come in an order of chance.
    private static func examples(_ name: String?, _ entry: Case, _ folder: URL) throws -> Examples {
        let data = try Data(contentsOf: folder.appendingPathComponent(try #require(name)))
        let values = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let size = entry.length * entry.channels
        let count = values.count / (size + 1)
        var order = Array(0..<count)
        if name == entry.train {
            var generator = Lehmer(state: entry.seed &* 2 &+ 1)
            order.shuffle(using: &generator)
        }
        var result = Examples()
        for index in order {
            result.series.append(Array(values[index * size..<(index + 1) * size]))
            result.labels.append("class \(Int(values[count * size + index]))")
        }
        return result
    }

    private struct Lehmer: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 0xDA94_2042_E4DD_58B5 &+ 0x9E37_79B9_7F4A_7C15
            return state ^ state >> 32
        }
    }

    private static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
