import CoreML
import CreateML
import Foundation
import ImageIO
import MLEngine
import MLFeatureFiles
import MLFiles
import MLImages
import MLNumerics
import MLPreview
import MLSpecification
import MLUpdating

/// Windows of recordings and rows of tables.
extension PreviewRoutes {
    /// The prediction for a part of a file.
    struct Window {
        var range: Range<Int>
        /// The classes, the most probable first.
        var results: [(label: String, confidence: Double)]

        init(range: Range<Int>, results: [(label: String, confidence: Double)]) {
            (self.range, self.results) = (range, results)
        }

        init(_ window: WindowPrediction) { self.init(range: window.range, results: window.results) }

        /// The classes of all windows, each with its mean probability.
        static func mean(_ windows: [Window]) -> [(label: String, confidence: Double)] {
            var sums: [String: Double] = [:]
            for window in windows {
                for result in window.results { sums[result.label, default: 0] += result.confidence }
            }
            return sums.map { (label: $0.key, confidence: $0.value / Double(windows.count)) }
                .sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
        }
    }

    /// The predictions of a model of sounds, sensors or key points for a file, window by window.
    func windows(_ parcel: Parcel) throws -> PageResponse {
        guard let model = session.model else { throw Failure("the model takes no such files") }
        let start = ContinuousClock.now
        var (windows, unit, rate) = ([Window](), "s", 1.0)
        try withFile(parcel) { path in
            let url = URL(fileURLWithPath: path)
            switch session.plan.kind {
            case .soundClassifier:
                rate = Double(MLSoundClassifier.sampleRate)
                windows = try MLSoundClassifier.predictions(of: model, from: url, overlapFactor: 0.5).map(Window.init)
            case .keypointClassifier:
                unit = "frames"
                windows = try KeypointPredictions.predictions(of: model, from: url).map(Window.init)
            default:
                unit = "rows"
                windows = try activities(model, path)
            }
        }
        guard !windows.isEmpty else { throw Failure("the file holds nothing to classify") }
        let mean = Window.mean(windows)
        return Self.json(
            .object([
                .init("unit", .string(unit)),
                .init(
                    "windows",
                    .array(
                        windows.map { window in
                            .object([
                                .init("start", .number(Double(window.range.lowerBound) / rate)),
                                .init("end", .number(Double(window.range.upperBound) / rate)),
                                .init("results", Self.ranking(window.results)),
                            ])
                        }
                    )
                ),
                .init("mean", Self.ranking(mean)),
                .init("milliseconds", .number((ContinuousClock.now - start) / .milliseconds(1))),
            ])
        )
    }

    func activities(_ model: MLModel, _ path: String) throws -> [Window] {
        let table = try TableFile.read(path)
        guard table.shape.rows > 0 else { throw Failure("the table has no rows") }
        let recordings = try MLActivityClassifier.predictions(of: model, from: table, recordingColumn: "recording")
        return recordings.flatMap { recording in
            recording.prediction.windows.enumerated().map { index, window in
                let rows = recording.rows.dropFirst(index * recording.prediction.windowSize)
                    .prefix(recording.prediction.windowSize)
                let first = rows.first ?? 0
                let results =
                    window.probabilities.map { $0.map { (label: $0.key, confidence: $0.value) } }
                    ?? [(label: window.label, confidence: 1)]
                return Window(
                    range: first..<max((rows.last ?? first) + 1, first + 1),
                    results: results.sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
                )
            }
        }
    }

    static func ranking(_ results: [(label: String, confidence: Double)]) -> JSONValue {
        .array(results.prefix(100).map { .array([.string($0.label), .number($0.confidence)]) })
    }

    // MARK: Tables

    /// The maximum number of rows that the page shows.
    static let maximumRowCount = 5000

    /// Predictions for the rows of a CSV table, or of a list of JSON objects, whose names are those of the inputs.
    func table(_ parcel: Parcel, _ cancellation: Cancellation) throws -> PageResponse {
        let engine = try session.engine(try variant(parcel))
        let reader = InputReader(interface: engine.interface)
        let start = ContinuousClock.now
        var columns: [JSONValue] = []
        var rows: [JSONValue] = []
        var isCut = false
        try withFile(parcel) { path in
            let features = try path.hasSuffix(".json") ? objects(path, reader) : reader.rows(ofCSV: path)
            guard !features.isEmpty else { throw Failure("the table has no rows") }
            let inputs = engine.interface.input.filter { features[0][$0.name] != nil }.map(\.name)
            let outputs = engine.interface.output.map(\.name)
            columns = (inputs + outputs).map { .string($0) }
            isCut = features.count > Self.maximumRowCount
            let predictor = Predictor(engine: engine)
            for (index, row) in features.prefix(Self.maximumRowCount).enumerated() {
                try failing { () throws(ModelError) in try cancellation.check() }
                let answers = try predictor.outputs(row, at: "row \(index)")
                rows.append(
                    .array(
                        inputs.map { Self.cell(row[$0]) } + outputs.map { Self.cell(answers[$0]) }
                    )
                )
            }
        }
        return Self.json(
            .object([
                .init("columns", .array(columns)), .init("rows", .array(rows)), .init("isCut", .bool(isCut)),
                .init("inputs", .integer(Int64(columns.count - engine.interface.output.count))),
                .init("milliseconds", .number((ContinuousClock.now - start) / .milliseconds(1))),
            ])
        )
    }

    func objects(_ path: String, _ reader: InputReader) throws -> [[String: FeatureData]] {
        let json = try JSONFeature.value(inFile: path)
        let list: [JSONValue] = if case .array(let list) = json { list } else { [json] }
        return try list.enumerated().map { index, value in
            guard case .object(let members) = value else {
                throw Failure(
                    "row \(index) is \(FeatureJSON.shown(value)), where an object with the inputs is expected"
                )
            }
            var features: [String: FeatureData] = [:]
            for member in members where reader.interface.input.contains(where: { $0.name == member.name }) {
                features[member.name] = try JSONFeature.data(member.value, for: try reader.feature(member.name))
            }
            if let missing = reader.interface.input.first(where: { !$0.type.isOptional && features[$0.name] == nil }) {
                throw Failure("row \(index) has no '\(missing.name)'")
            }
            return features
        }
    }

    static func cell(_ value: FeatureData?) -> JSONValue {
        switch value {
        case nil: .null
        case .int64(let number)?: .integer(number)
        case .double(let number)?: .number(number)
        case .string(let text)?: .string(text)
        case .tensor(let tensor)? where tensor.count == 1 && tensor.scalarType != .string: .number(tensor.values[0])
        case .tensor(let tensor)?: .string(PredictionText.summary(tensor))
        case .image(let image)?: .string("image of \(image.width) × \(image.height)")
        case .dictionary(.strings(let values))?: best(values.map { ($0.key, $0.value) })
        case .dictionary(.integers(let values))?: best(values.map { ("\($0.key)", $0.value) })
        case .sequence(.strings(let values))?: .string(values.joined(separator: ", "))
        case .sequence(.integers(let values))?: .string(values.map(String.init).joined(separator: ", "))
        }
    }

    /// The greatest values of a dictionary.
    static func best(_ values: [(key: String, value: Double)]) -> JSONValue {
        let sorted = values.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return .string(
            sorted.prefix(3).map { "\($0.key) \(String(format: "%.3g", $0.value))" }.joined(separator: ", ")
                + (sorted.count > 3 ? ", …" : "")
        )
    }
}
