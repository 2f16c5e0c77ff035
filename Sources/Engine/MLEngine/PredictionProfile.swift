package import MLFeatures
import MLModels
package import MLNumerics
import MLRuntime

/// The times of a model's predictions: of each step of a graph's plan, or of each model of a pipeline.
package struct PredictionProfile: Sendable {
    /// A step of a plan, or a model of a pipeline, with the median of its times in nanoseconds.
    package struct Entry: Sendable {
        package let operation: String
        package let kernel: String
        package let shapes: [[Int]]
        package let location: String
        package let nanoseconds: Double
    }

    /// In the order in which they ran.
    package let entries: [Entry]

    /// Predicts `runs` times, after two predictions that do not count.
    ///
    /// A model that is neither a graph nor a pipeline is one entry. Models that are not graphs have the type of their
    /// engine as operation, and no kernels and shapes.
    package init(of engine: any ModelEngine, for features: [String: FeatureData], runs: Int) throws(ModelError) {
        if let graph = engine as? GraphEngine {
            let recorder = StepRecorder()
            let state = graph.makeState()
            for turn in 0..<runs + 2 {
                recorder.beginRun(isCounted: turn >= 2)
                _ = try graph.prediction(from: features, state: state, observer: recorder)
            }
            entries = recorder.entries
            return
        }
        let stages = Self.stages(of: engine)
        var times = [[UInt64]](repeating: [], count: stages.count)
        for turn in 0..<runs + 2 {
            var last = ContinuousClock.now
            func recordStage(_ stepIndex: Int) {
                let now = ContinuousClock.now
                if turn >= 2 { times[stepIndex].append(UInt64((now - last) / .nanoseconds(1))) }
                last = now
            }
            if let pipeline = engine as? Pipeline {
                _ = try pipeline.prediction(from: features, after: { recordStage($0) })
            } else {
                _ = try engine.prediction(from: features)
                recordStage(0)
            }
        }
        entries = zip(stages, times).map { stage, times in
            Entry(
                operation: "\(type(of: stage.engine))",
                kernel: "",
                shapes: [],
                location: stage.name,
                nanoseconds: median(times)
            )
        }
    }

    /// The models of a pipeline with their names, or the model itself without a name.
    package static func stages(of engine: any ModelEngine) -> [(name: String, engine: any ModelEngine)] {
        (engine as? Pipeline)?.stages.map { ($0.name, $0.engine) } ?? [("", engine)]
    }
}

private func median(_ times: [UInt64]) -> Double { times.isEmpty ? 0 : Double(times.sorted()[times.count / 2]) }

/// Collects the times of steps, run by run; a step is identified by its position in the run.
private final class StepRecorder: StepObserver {
    private var steps: [Plan.Step] = []
    private var times: [[UInt64]] = []
    private var stepIndex = 0
    private var isCounted = false

    var entries: [PredictionProfile.Entry] {
        zip(steps, times).map { step, times in
            PredictionProfile.Entry(
                operation: step.operatorName,
                kernel: step.kernelName,
                shapes: step.shapes,
                location: step.location,
                nanoseconds: median(times)
            )
        }
    }

    func beginRun(isCounted: Bool) {
        stepIndex = 0
        self.isCounted = isCounted
    }

    func didRun(_ step: Plan.Step, nanoseconds: UInt64) {
        if stepIndex == steps.count {
            steps.append(step)
            times.append([])
        }
        if isCounted { times[stepIndex].append(nanoseconds) }
        stepIndex += 1
    }
}
