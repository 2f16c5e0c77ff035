import Combine
import CreateML
import Foundation
import MLEngine
import Synchronization

/// Shows the progress of a job and records its learning curve: a bar on a terminal, occasional lines elsewhere, or
/// JSON.
final class TrainingProgress: Sendable {
    private struct State {
        var points: [MLProgress.Metric: [(iteration: Int, value: Double)]] = [:]
        var shown = ContinuousClock.now - .seconds(60)
        var isOpen = false
        var seen = 0
    }

    private let json: Bool
    private let isTerminal = isatty(2) != 0
    private let state = Mutex(State())

    init(json: Bool) { self.json = json }

    /// Waits for the job.
    ///
    /// A signal cancels it.
    func result<Product>(of job: MLJob<Product>) throws -> Product {
        let progress = job.progress
        let reports = progress.publisher(for: \.fractionCompleted).sink { [self] fraction in
            note(job.reports, fraction)
        }
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        // Written before the semaphore is signalled, read after.
        nonisolated(unsafe) var product: Product?
        let end = DispatchSemaphore(value: 0)
        let results = job.result.sink { completion in
            outcome.withLock {
                $0 = completion.failure.map { .failure($0) } ?? .success(())
            }
            end.signal()
        } receiveValue: {
            product = $0
        }
        while end.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            if Interruption.signal != 0, !job.isCanceled { job.cancel() }
        }
        note(job.reports, 1)
        close()
        withExtendedLifetime((reports, results)) {}
        try outcome.withLock { $0 }?.get()
        guard let product else { throw Failure("the job ended without a result") }
        return product
    }

    /// The recorded metrics, a curve for each kind.
    var curves: [LearningCurve] {
        let points = state.withLock { $0.points }
        let pairs: [(String, MLProgress.Metric, MLProgress.Metric?)] = [
            ("loss", .loss, .validationLoss), ("accuracy", .accuracy, .validationAccuracy),
            ("root mean squared error", .rootMeanSquaredError, .validationRootMeanSquaredError),
            ("style loss", .styleLoss, nil), ("content loss", .contentLoss, nil),
        ]
        return pairs.compactMap { name, training, validation in
            var series: [LearningCurve.Series] = []
            if let points = points[training] { series.append(.init(name: "training", points: points)) }
            if let validation, let points = points[validation] {
                series.append(.init(name: "validation", points: points))
            }
            return series.isEmpty ? nil : LearningCurve(metric: name, series: series)
        }
    }

    /// Records the reports since the last call.
    private func note(_ reports: [MLProgress], _ fraction: Double) {
        state.withLock { state in
            for report in reports.dropFirst(state.seen) where Self.isOfTraining(report) {
                note(report, &state)
            }
            state.seen = max(state.seen, reports.count)
            guard !json, let report = reports.last(where: Self.isOfTraining),
                ContinuousClock.now - state.shown > (isTerminal ? .milliseconds(100) : .seconds(5))
            else { return }
            state.shown = .now
            show(report, fraction, &state)
        }
    }

    /// Whether the report is of an iteration rather than of a job's start.
    private static func isOfTraining(_ report: MLProgress) -> Bool {
        report.phase == .training && !report.metrics.isEmpty
    }

    private func note(_ report: MLProgress, _ state: inout State) {
        var values: [String: Any] = ["iteration": report.itemCount]
        if let picture = report.metrics[.stylizedImageURL] as? URL {
            values[MLProgress.Metric.stylizedImageURL.rawValue] = picture.path
        }
        for metric in MLProgress.Metric.allCases {
            guard let value = report.metrics[metric] as? Double else { continue }
            state.points[metric, default: []].append((report.itemCount, value))
            values[metric.rawValue] = JSONFeature.json(.double(value))
        }
        // Readers of a pipe get each line immediately.
        if json, let line = try? JSONFeature.text(values) {
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
    }

    private func show(_ report: MLProgress, _ fraction: Double, _ state: inout State) {
        let texts = MLProgress.Metric.allCases.compactMap { metric in
            (report.metrics[metric] as? Double).map { "\(Self.name(metric)) \(LearningCurve.label($0))" }
        }
        let total = report.totalItemCount.map { " of \($0)" } ?? ""
        let text = "iteration \(report.itemCount)\(total)  " + texts.prefix(3).joined(separator: "  ")
        guard isTerminal else { return write(text + "\n") }
        let width = 24
        let done = Int((min(max(fraction, 0), 1) * Double(width)).rounded(.down))
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: width - done)
        write("\r\(bar) \(text)\u{1B}[K")
        state.isOpen = true
    }

    /// Shows the current activity before there are figures; only on a terminal.
    func announce(_ text: String) {
        guard isTerminal, !json else { return }
        state.withLock { state in
            write("\r\(text)…\u{1B}[K")
            state.isOpen = true
        }
    }

    /// Ends the line of the progress bar.
    func close() {
        state.withLock { state in
            if state.isOpen { write("\r\u{1B}[K") }
            state.isOpen = false
        }
    }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

    private static func name(_ metric: MLProgress.Metric) -> String {
        switch metric {
        case .rootMeanSquaredError: "RMSE"
        case .contentLoss: "content loss"
        case .styleLoss: "style loss"
        case .validationLoss: "validation loss"
        case .validationAccuracy: "validation accuracy"
        case .validationRootMeanSquaredError: "validation RMSE"
        default: metric.rawValue
        }
    }
}

extension Subscribers.Completion {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
