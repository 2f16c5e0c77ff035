import ArgumentParser
import Foundation
import MLEngine
import MLNumerics
import MLSpecification

struct Predict: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Predict with a model.",
        discussion: """
            Examples:
              coreml predict Digits.mlpackage -i image=three.png --top 3
              coreml predict Model.mlmodel -i x='[1.0, 2.5, 3.0]' --json
              coreml predict Segmenter.mlpackage -i image=street.jpg --output masks.npz
              coreml predict Prices.mlmodel --csv houses.csv
              coreml predict Adapters.mlpackage --function summary -i tokens=tokens.npy
              coreml predict Digits.mlpackage -i image=a.png b.png c.png

            A list of further files after an image input predicts each of them.  Image outputs are written as PNG files
            named after the output.  A model with states begins each prediction with zeros; --repeat goes on with what
            the prediction before left.
            """
    )

    @OptionGroup var source: ModelOptions
    @OptionGroup var inputs: InputOptions
    @Argument(help: "More images for the model's image input; each is a prediction of its own.")
    var images: [String] = []
    @Option(help: "A CSV file whose header names the inputs; each row is a prediction.")
    var csv: String?
    @Option(help: "Write every output to this .npz or .json file.")
    var output: String?
    @Flag(help: "Print JSON.")
    var json = false
    @Option(help: "How many classes of a classifier to print.")
    var top = 5
    @Option(name: .customLong("repeat"), help: "Predict this often, and print how long the last one took.")
    var repetitions = 1

    func validate() throws {
        guard repetitions > 0, top > 0 else { throw ValidationError("--repeat and --top take numbers from 1") }
        guard csv == nil || (inputs.input.isEmpty && images.isEmpty) else {
            throw ValidationError("--csv brings all inputs; leave out --input and images")
        }
    }

    func run() throws {
        inputs.apply()
        let engine = try source.engine()
        let reader = InputReader(interface: engine.interface)
        if let csv {
            let rows = try reader.rows(ofCSV: csv)
            guard engine.prefersBatches, rows.count > 1, let batch = FeatureBatch(rows) else {
                try printAll(try rows.map { (nil, try predict(engine, $0)) }, engine.interface)
                return
            }
            let results = try failing { () throws(ModelError) in try engine.predictions(from: batch) }
            try printAll((0..<results.count).map { (nil, results.features(at: $0)) }, engine.interface)
            return
        }
        if images.isEmpty {
            let outputs = try predict(engine, try reader.features(inputs.input))
            if let output { try OutputWriter.write(outputs, to: output) }
            if output == nil || json { try printAll([(nil, outputs)], engine.interface) }
            return
        }
        guard
            let name = engine.interface.input.first(where: {
                if case .imageType? = $0.type.type { true } else { false }
            })?.name
        else { throw Failure("the model has no image input\n\(reader.inputList)") }
        var results: [(String?, [String: FeatureData])] = []
        let given = inputs.input.filter { !$0.hasPrefix("\(name)=") }
        let paths =
            inputs.input.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) } + images
        for path in paths {
            results.append((path, try predict(engine, try reader.features(given + ["\(name)=\(path)"]))))
        }
        try printAll(results, engine.interface)
    }

    private func predict(_ engine: any ModelEngine, _ features: [String: FeatureData]) throws -> [String: FeatureData] {
        var outputs: [String: FeatureData] = [:]
        let state = engine.makeState()
        for turn in 1...repetitions {
            let start = ContinuousClock.now
            outputs = try failing { () throws(ModelError) in
                try engine.prediction(from: features, backings: [:], state: state)
            }
            if repetitions > 1, turn == repetitions {
                let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
                FileHandle.standardError.write(Data(String(format: "%.3f ms\n", milliseconds).utf8))
            }
        }
        return outputs
    }

    private func printAll(
        _ results: [(path: String?, outputs: [String: FeatureData])],
        _ interface: SpecModelDescription
    ) throws {
        if json {
            let objects = results.map { path, outputs -> [String: Any] in
                var object = outputs.mapValues(JSONFeature.json)
                if let path { object["file"] = path }
                return object
            }
            print(try JSONFeature.text(objects.count == 1 ? objects[0] as Any : objects as Any))
            return
        }
        for (path, outputs) in results {
            if let path, results.count > 1 { print("\(path):") }
            print(try PredictionText.text(outputs, interface, top: top))
        }
    }
}
