import Foundation
import MLEngine
import MLNumerics
import MLSpecification
import TabularData

/// Predicts from sets of inputs, repeatedly when measuring.
struct Predictor {
    let engine: any ModelEngine
    var repetitions = 1

    /// Makes a prediction.
    ///
    /// - Parameters:
    ///   - features: The inputs by name.
    ///   - location: The location to name in errors.
    /// - Returns: The outputs by name.
    /// - Throws: `Failure` when the prediction fails.
    func outputs(_ features: [String: FeatureData], at location: String? = nil) throws -> [String: FeatureData] {
        var outputs: [String: FeatureData] = [:]
        let state = engine.makeState()
        for turn in 1...repetitions {
            let start = ContinuousClock.now
            outputs = try failing { () throws(ModelError) in
                do throws(ModelError) {
                    return try engine.prediction(from: features, backings: [:], state: state)
                } catch { throw location.map { error.at($0) } ?? error }
            }
            if repetitions > 1, turn == repetitions {
                let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
                FileHandle.standardError.write(Data(String(format: "%.3f ms\n", milliseconds).utf8))
            }
        }
        return outputs
    }
}

/// The prediction for the inputs on the command line.
struct InputAnswers: AnswerSource {
    let predictor: Predictor
    let arguments: [String]
    let isList = false
    var outputs: [SpecFeatureDescription] { predictor.engine.interface.output }

    func answers(_ receive: (Answer) throws -> Void) throws {
        let reader = InputReader(interface: predictor.engine.interface)
        try receive(Answer(outputs: try predictor.outputs(try reader.features(arguments))))
    }
}

/// Predictions for the rows of a table whose columns are the inputs; only some rows are in memory at a time.
struct TableRowAnswers: AnswerSource {
    let engine: any ModelEngine
    let path: String
    let delimiter: String?
    let isList = true
    var outputs: [SpecFeatureDescription] { engine.interface.output }

    /// The number of rows in a batch.
    private static let batchSize = 2048

    func answers(_ receive: (Answer) throws -> Void) throws {
        let reader = InputReader(interface: engine.interface)
        let table = try reader.table(ofCSV: path, delimiter: delimiter)
        for start in stride(from: 0, to: table.shape.rows, by: Self.batchSize) {
            let range = start..<min(start + Self.batchSize, table.shape.rows)
            let rows = try reader.rows(of: table, path, in: range)
            if engine.prefersBatches, let batch = FeatureBatch(rows), let results = try? engine.predictions(from: batch)
            {
                for index in 0..<results.count { try receive(Answer(outputs: results.features(at: index))) }
                continue
            }
            guard engine.interface.state.isEmpty else {
                let predictor = Predictor(engine: engine)
                for (row, features) in zip(range, rows) {
                    try receive(Answer(outputs: try predictor.outputs(features, at: "\(path): row \(row)")))
                }
                continue
            }
            // Columns fail as a whole: results of each row find the one with the error.
            for (row, result) in zip(range, engine.results(of: rows)) {
                let outputs = try failing { () throws(ModelError) in
                    do throws(ModelError) { return try result.get() } catch { throw error.at("\(path): row \(row)") }
                }
                try receive(Answer(outputs: outputs))
            }
        }
    }
}

/// Predictions for files, each the value of one input: images, texts.
struct FileAnswers: AnswerSource {
    let predictor: Predictor
    let files: FileList
    /// The input whose values the files are.
    let input: SpecFeatureDescription
    /// `name=value` arguments of the other inputs.
    let arguments: [String]
    var isList: Bool { files.isList }
    var outputs: [SpecFeatureDescription] { predictor.engine.interface.output }

    func answers(_ receive: (Answer) throws -> Void) throws {
        let reader = InputReader(interface: predictor.engine.interface)
        let others = try reader.features(arguments, besides: input.name)
        for file in files.paths {
            var features = others
            if case .stringType? = input.type.type {
                features[input.name] = .string(try reader.text(file))
            } else {
                features[input.name] = try reader.value(file, for: input)
            }
            let outputs = try predictor.outputs(features, at: file)
            try receive(Answer(keys: [("file", .string(file))], outputs: outputs))
        }
    }
}

/// Predictions for texts on the command line.
struct TextAnswers: AnswerSource {
    let predictor: Predictor
    let texts: [String]
    let input: SpecFeatureDescription
    var isList: Bool { texts.count > 1 }
    var outputs: [SpecFeatureDescription] { predictor.engine.interface.output }

    func answers(_ receive: (Answer) throws -> Void) throws {
        for text in texts {
            let outputs = try predictor.outputs([input.name: .string(text)])
            try receive(Answer(keys: isList ? [(input.name, .string(text))] : [], outputs: outputs))
        }
    }
}
