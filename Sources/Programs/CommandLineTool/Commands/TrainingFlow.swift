import ArgumentParser
import CreateML
import Foundation
import MLKernels

/// The steps common to all kinds of training: progress, checkpoints, interruption, the model's file, the report.
struct TrainingFlow {
    /// A trained model and its report.
    struct Outcome {
        /// A description of the model, as in "boosted-tree regressor of 'price'".
        var title: String
        /// The kind of model in JSON.
        var algorithm: String
        /// The settings and data of the training: name and value.
        var facts: [(name: String, value: String)] = []
        /// The same facts for JSON.
        var json: [String: Any] = [:]
        var report: TrainingReport
        /// Writes the model to a path.
        var write: (String) throws -> Void
    }

    /// The report of a classifier: its metrics, and the given facts.
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

    /// Catches signals from now on, so that they end the training cleanly.
    init(_ options: TrainingOptions) {
        self.options = options
        progress = TrainingProgress(json: options.json)
        if let threads = options.threads { Workers.limit(to: threads) }
        Interruption.watch()
    }

    /// Shows the current activity before there are figures, on a terminal.
    func announce(_ text: String) { progress.announce(text) }

    /// Trains as a job, with progress and checkpoints.
    ///
    /// - Parameters:
    ///   - iterations: The maximum number of iterations of the task.
    ///   - make: Creates the job.
    /// - Returns: The trained model and the curves of its metrics.
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

    /// - Throws: `ExitCode` after a signal, with a message.
    func endIfInterrupted() throws {
        guard Interruption.signal != 0 else { return }
        progress.close()
        var text = "interrupted; no model is written"
        if let folder = options.resume { text += "; run the same command again to continue from '\(folder)'" }
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        throw ExitCode(128 + Interruption.signal)
    }

    /// Writes the model and the report, and prints the latter.
    ///
    /// - Parameters:
    ///   - outcome: The trained model and its metrics.
    ///   - name: The name of the model's file when no output is given.
    ///   - fileExtension: The extension of that name.
    /// - Throws: `Failure` when a file cannot be written.
    func finish(_ outcome: Outcome, name: String, fileExtension: String = "mlmodel") throws {
        progress.close()
        let path = options.output ?? "\(name).\(fileExtension)"
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
