import ArgumentParser
import CreateML
import Foundation
import MLKernels

/// What happens in every training: progress, checkpoints, interruption, the model's file, the report.
struct TrainingFlow {
    /// A trained model, and what there is to say of it.
    struct Outcome {
        /// What was trained, as in "boosted-tree regressor of 'price'".
        var title: String
        /// What stands in JSON for the kind of model.
        var algorithm: String
        /// What was done with what: name and value.
        var facts: [(name: String, value: String)] = []
        /// The same for machines.
        var json: [String: Any] = [:]
        var report: TrainingReport
        /// Writes the model to a path.
        var write: (String) throws -> Void
    }

    /// What there is to say of a classifier: its metrics, and the facts that the arguments name.
    static func outcome(
        of classifier: String,
        _ metrics: (training: MLClassifierMetrics, validation: MLClassifierMetrics),
        curves: [LearningCurve],
        facts: [(name: String, value: String)],
        json: [String: Any],
        write: @escaping (String) throws -> Void
    ) -> Outcome {
        var report = TrainingReport(title: "", curves: curves)
        report.add(training: metrics.training, validation: metrics.validation)
        return Outcome(title: classifier, algorithm: classifier, facts: facts, json: json, report: report, write: write)
    }

    private let options: TrainingOptions
    private let progress: TrainingProgress
    private let start = ContinuousClock.now

    /// From now on signals end the training in good order.
    init(_ options: TrainingOptions) {
        self.options = options
        progress = TrainingProgress(json: options.json)
        if let threads = options.threads { Workers.limit(to: threads) }
        Interruption.watch()
    }

    /// Says what is done before there are figures, on a terminal.
    func announce(_ text: String) { progress.announce(text) }

    /// Trains as a job, with progress and checkpoints.
    /// - Parameters:
    ///   - iterations: the most that the task was asked for.
    ///   - make: makes the job.
    /// - Throws: `ExitCode` after a signal.
    func train<Product>(
        iterations: Int? = nil,
        _ make: (MLTrainingSessionParameters) throws -> MLJob<Product>
    ) throws -> (product: Product, curves: [LearningCurve]) {
        let session = MLTrainingSessionParameters(
            sessionDirectory: options.resume.map { URL(fileURLWithPath: $0, isDirectory: true) },
            reportInterval: 1,
            checkpointInterval: options.checkpointInterval,
            iterations: max(1000, iterations ?? 0)
        )
        defer { progress.close() }
        do {
            return (try progress.result(of: try make(session)), progress.curves)
        } catch MLCreateError.cancelled {
            try endIfInterrupted()
            throw MLCreateError.cancelled
        }
    }

    /// - Throws: `ExitCode` after a signal, which is said.
    func endIfInterrupted() throws {
        guard Interruption.signal != 0 else { return }
        progress.close()
        var text = "interrupted; no model is written"
        if let folder = options.resume { text += "; run the same command again to go on from '\(folder)'" }
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        throw ExitCode(128 + Interruption.signal)
    }

    /// Writes the model and the report, and prints the latter.
    /// - Parameter name: of the model's file when no output is given.
    func finish(_ outcome: Outcome, name: String) throws {
        progress.close()
        let path = options.output ?? name + ".mlmodel"
        try outcome.write(path)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        var report = outcome.report
        report.title = "\(path): \(outcome.title)"
        report.facts = outcome.facts + [("time", String(format: "%.1f s", seconds))]
        if let file = options.report { try ReportFile.write(report, to: file) }
        guard options.json else {
            print(report.text)
            return
        }
        var object = report.json.merging(outcome.json) { $1 }
        object["model"] = path
        object["algorithm"] = outcome.algorithm
        object["seconds"] = seconds
        print(try JSONFeature.text(object))
    }
}
