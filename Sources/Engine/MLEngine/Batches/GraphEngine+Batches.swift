package import MLFeatures
import MLGraph
import MLKernels
import MLModels
package import MLNumerics
import MLOperators
import MLRuntime

extension GraphEngine {
    /// The most examples of one plan, and the most memory of its values.
    private static let maximumBatchSize = 32
    private static let maximumArenaByteCount = 16 << 20

    /// Some examples that are computed together, or one.
    private struct Job {
        var indices: [Int]
        var plan: BatchPlans.BatchPlan?
    }

    package func results(of examples: [[String: FeatureData]]) -> [Result<[String: FeatureData], ModelError>] {
        let (shared, tensors) = jobs(of: examples)
        var results = [Result<[String: FeatureData], ModelError>](
            repeating: .failure(Cancellation.error),
            count: examples.count
        )
        let computed = ParallelExamples.results(of: shared.indices, onWorkers: !callsApp) {
            (location) throws(ModelError) in
            try run(shared[location], examples, tensors)
        }
        for (job, outcome) in zip(shared, computed) {
            switch outcome {
            case .success(let features): for (index, one) in zip(job.indices, features) { results[index] = one }
            case .failure(let error): for index in job.indices { results[index] = .failure(error) }
            }
        }
        return results
    }

    /// The examples as jobs, in an order in which every worker gets as much as the others, and the graph's inputs of
    /// the examples that are computed together.
    private func jobs(of examples: [[String: FeatureData]]) -> (jobs: [Job], tensors: [Int: [Tensor]]) {
        let workers = Workers.count
        let one = examples.indices.map { Job(indices: [$0]) }
        guard examples.count >= 2 * workers, let known = batches else { return (one, [:]) }
        var tensors: [Int: [Tensor]] = [:]
        var groups: [[[Int]]: [Int]] = [:]
        for (index, example) in examples.enumerated() {
            // An example with an error, or for another reading of the network, is computed by itself.
            guard let inputs = try? joinableInputs(example) else { continue }
            tensors[index] = inputs
            groups[inputs.map(\.shape), default: []].append(index)
        }
        var fractions = [[Job]](repeating: [], count: workers)
        var remaining = Set(examples.indices)
        for (_, group) in groups.sorted(by: { $0.value[0] < $1.value[0] }) {
            guard group.count >= 2 * workers, let first = tensors[group[0]], let plans = known.plans(for: first, self)
            else { continue }
            var left = group[...]
            var size = Self.maximumBatchSize
            while size > 1 {
                guard left.count >= size * workers, let plan = plans.plan(for: size),
                    plan.plan.arenaByteCount <= Self.maximumArenaByteCount
                else {
                    size /= 2
                    continue
                }
                for worker in 0..<workers {
                    let indices = Array(left.prefix(size))
                    left = left.dropFirst(size)
                    remaining.subtract(indices)
                    fractions[worker].append(Job(indices: indices, plan: plan))
                }
            }
        }
        return (fractions.flatMap { $0 } + remaining.sorted().map { Job(indices: [$0]) }, tensors)
    }

    private func run(
        _ job: Job,
        _ examples: [[String: FeatureData]],
        _ tensors: [Int: [Tensor]]
    ) throws(ModelError) -> [Result<[String: FeatureData], ModelError>] {
        if let plan = job.plan, let outputs = try joinedOutputs(plan, job.indices.compactMap { tensors[$0] }) {
            try checkSources()
            return outputs.map { results in Result { () throws(ModelError) in try features(results) } }
        }
        return job.indices.map { index in
            Result { () throws(ModelError) in try prediction(from: examples[index]) }
        }
    }

    /// The outputs of examples that are computed together; `nil` when one of them fails, which predicting them one by
    /// one finds.
    private func joinedOutputs(
        _ plan: BatchPlans.BatchPlan,
        _ inputs: [[Tensor]]
    ) throws(ModelError) -> [[Tensor]]? {
        do throws(ModelError) { return try plan.run(inputs) } catch {
            guard error.code == .invalidInput else { throw error }
            return nil
        }
    }
}

extension Block {
    /// Whether an operation of this block or of a nested one is a custom layer.
    var callsApp: Bool {
        operations.contains { $0.is(CustomLayer.self) || $0.blocks.contains(where: \.callsApp) }
    }
}
