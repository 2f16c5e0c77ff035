import ArgumentParser
import CreateML
import Foundation
import MLEngine
import MLFiles
import MLKernels
import MLNumerics
import MLSpecification

struct Evaluate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hold a model against labelled rows.",
        discussion: """
            Examples:
              coreml evaluate Houses.mlmodel sold.csv
              coreml evaluate Mail.mlmodel mail.csv --target spam --report mail.html
              coreml evaluate Regressor.mlmodel data.csv --json

            DATA is a .csv file whose header names the model's inputs and, besides, the feature that it predicts; an empty
            cell of a number is a missing value. A classifier gives accuracy, confusion matrix, precision and recall; a
            model that gives a number its root mean squared and its maximum error.

            Exit status: 0 success, 1 failure (the model or the data are wrong), 64 wrong usage.
            """
    )

    @OptionGroup var source: ModelOptions
    @Argument(help: "A .csv file.")
    var data: String
    @Option(help: "The column with the truth; the feature that the model predicts by default.")
    var target: String?
    @Option(help: "Worker threads; all cores by default.")
    var threads: Int?
    @Option(help: "Write a page with scores and confusion matrix to this .html file.")
    var report: String?
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        if let threads { Workers.limit(to: threads) }
        let engine = try source.engine()
        let interface = engine.interface
        let predicted = try predictedFeature(interface)
        let column = target ?? predicted.name
        let reader = InputReader(interface: interface)
        let lines = try CSVRows.read(try reader.text(data), name: data)
        guard let header = lines.first, let place = header.firstIndex(of: column) else {
            throw Failure("\(data) has no column '\(column)'; name the one with the truth with --target")
        }
        let rows = try reader.rows(of: lines, data)
        guard !rows.isEmpty else { throw Failure("\(data) has a header but no rows") }
        let truth = lines.dropFirst().map { $0[place] }
        let outputs = try predictions(engine, rows).map { try prediction($0, predicted.name) }
        var report = TrainingReport(title: "\(source.model) on \(data)")
        report.facts = [("rows", "\(rows.count)"), ("predicted", predicted.name)]
        try score(predicted, truth, outputs, &report)
        if let page = self.report {
            try failing { () throws(ModelError) in try FileAccess.write(report.html, to: page) }
        }
        guard json else {
            print(report.text)
            return
        }
        var object = report.json
        object["rows"] = rows.count
        object["scores"] = object.removeValue(forKey: "validation") ?? [String: Any]()
        print(try JSONFeature.text(object))
    }

    /// The class label, or the only number or label that the model gives.
    private func predictedFeature(_ interface: SpecModelDescription) throws -> SpecFeatureDescription {
        if let feature = interface.output.first(where: { $0.name == interface.predictedFeatureName }) { return feature }
        let candidates = interface.output.filter { output in
            switch output.type.type {
            case .doubleType?, .int64Type?, .stringType?: true
            case .multiArrayType(let array)?: array.shape.reduce(1, *) == 1
            default: false
            }
        }
        guard let feature = candidates.first, candidates.count == 1 else {
            throw Failure(
                "the model gives \(candidates.isEmpty ? "neither a label nor a number" : "several labels or numbers"); "
                    + "evaluate models that predict one"
            )
        }
        return feature
    }

    private func predictions(
        _ engine: any ModelEngine,
        _ rows: [[String: FeatureData]]
    ) throws -> [[String: FeatureData]] {
        if engine.prefersBatches, rows.count > 1, let batch = FeatureBatch(rows) {
            let results = try failing { () throws(ModelError) in try engine.predictions(from: batch) }
            return (0..<results.count).map { results.features(at: $0) }
        }
        return try rows.enumerated().map { index, row in
            try failing { () throws(ModelError) in
                do throws(ModelError) { return try engine.prediction(from: row) } catch {
                    throw error.at("row \(index + 1)")
                }
            }
        }
    }

    private func prediction(_ outputs: [String: FeatureData], _ name: String) throws -> FeatureData {
        guard let value = outputs[name] else { throw Failure("the model gave no '\(name)'") }
        return value
    }

    private func score(
        _ feature: SpecFeatureDescription,
        _ truth: [String],
        _ outputs: [FeatureData],
        _ report: inout TrainingReport
    ) throws {
        var labels: [String] = []
        var numbers: [Double] = []
        for output in outputs {
            switch output {
            case .string(let label): labels.append(label)
            case .int64(let label): labels.append("\(label)")
            case .double(let number): numbers.append(number)
            case .tensor(let tensor) where tensor.values.count == 1: numbers.append(tensor.values[0])
            default: throw Failure("'\(feature.name)' is neither a label nor a number")
            }
        }
        if numbers.count == outputs.count {
            let expected = try truth.enumerated().map { index, cell in
                guard let number = Double(cell) else {
                    throw Failure("\(data): row \(index + 2) has '\(cell)' where a number is expected")
                }
                return number
            }
            report.add(training: nil, validation: MLRegressorMetrics(truth: expected, predictions: numbers))
        } else {
            let all = Set(labels).union(truth).sorted { left, right in
                if let first = Int(left), let second = Int(right) { return first < second }
                return left < right
            }
            let places = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1, $0) })
            let counts = ConfusionCounts(
                strings: all,
                truth: truth.compactMap { places[$0] },
                predictions: labels.compactMap { places[$0] }
            )
            report.add(training: nil, validation: MLClassifierMetrics(counts))
        }
    }
}
