import MLKernels
package import MLNumerics

/// Trains tree ensembles: gradient-boosted trees, a random forest, or a single tree.
///
/// The same seed gives the same trees with any number of threads.
package struct TreeTrainer: Sendable {
    package let objective: TreeObjective
    package let settings: TreeTrainingSettings
    /// The trees so far; tree t adds to sum t modulo the number of outputs.
    package private(set) var trees: [RegressionTree] = []
    /// The sums of every example so far: [examples × outputs].
    package private(set) var sums: [Float]

    private let table: TreeTrainingTable
    private let targets: [Float]
    private let weights: [Float]?
    private let grower: TreeGrower

    /// The largest table for which the automatic method is the exact one; up to there sorting is cheaper.
    package static let exactLimit = 20_000
    /// The largest table for which the automatic method is the refined one.
    package static let refinedLimit = 250_000

    /// Prepares the training of a tree ensemble.
    ///
    /// - Parameters:
    ///   - table: The features.
    ///   - targets: For each example a number, or the index of its class.
    ///   - weights: For each example a number above 0; all 1 when `nil`.
    ///   - objective: The kind of model and its loss.
    ///   - settings: The hyperparameters.
    /// - Throws: `.invalidInput` for settings out of range, and for targets that do not fit the objective.
    package init(
        _ table: TreeTrainingTable,
        targets: [Float],
        weights: [Float]? = nil,
        objective: TreeObjective,
        settings: TreeTrainingSettings = TreeTrainingSettings()
    ) throws(ModelError) {
        try settings.validate()
        try Self.validate(targets, weights, objective, table.rowCount)
        self.table = table
        self.targets = targets
        self.weights = weights
        self.objective = objective
        self.settings = settings
        sums = [Float](repeating: objective.baseScore, count: table.rowCount * objective.outputCount)
        grower =
            switch settings.method {
            case .exact: .exact(ExactTreeGrower(table, settings))
            case .refined(let bins): .refined(HistogramTreeGrower(table, settings, bins: bins))
            case .histogram(let bins): .histogram(HistogramTreeGrower(table, settings, bins: bins))
            case .automatic where table.rowCount <= Self.exactLimit: .exact(ExactTreeGrower(table, settings))
            case .automatic where table.rowCount <= Self.refinedLimit:
                .refined(HistogramTreeGrower(table, settings, bins: 255))
            case .automatic: .histogram(HistogramTreeGrower(table, settings, bins: 255))
            }
    }

    private static func validate(
        _ targets: [Float],
        _ weights: [Float]?,
        _ objective: TreeObjective,
        _ count: Int
    ) throws(ModelError) {
        guard targets.count == count else {
            throw ModelError(.invalidInput, "there are \(targets.count) targets for \(count) examples")
        }
        let classes: Int? =
            switch objective {
            case .squaredError: nil
            case .logistic: 2
            case .softmax(let classes): classes
            }
        if let classes, classes < 2 {
            throw ModelError(.invalidInput, "the targets have \(classes) class; a classifier needs at least two")
        }
        for (row, target) in targets.enumerated() {
            guard target.isFinite else {
                throw ModelError(.invalidInput, "the target of row \(row) is \(target); remove the row")
            }
            if let classes, target < 0 || target >= Float(classes) || target != target.rounded() {
                throw ModelError(.invalidInput, "the target of row \(row) is \(target), not one of \(classes) classes")
            }
        }
        guard let weights else { return }
        guard weights.count == count else {
            throw ModelError(.invalidInput, "there are \(weights.count) weights for \(count) examples")
        }
        if let row = weights.firstIndex(where: { !($0 > 0 && $0.isFinite) }) {
            throw ModelError(.invalidInput, "the weight of row \(row) is \(weights[row]); weights are above 0")
        }
    }

    /// The number of rounds so far; a round has one tree for each output.
    package var iteration: Int { trees.count / objective.outputCount }

    package var isFinished: Bool { iteration >= settings.maxIterations }

    /// Grows a tree for each output; does nothing when training is finished.
    ///
    /// The leaves of a forest's trees are not divided by their number, which is not known yet: the caller divides at
    /// the end.
    package mutating func step() {
        guard !isFinished else { return }
        let grown = sums
        if settings.ensemble == .forest { sums = [Float](repeating: objective.baseScore, count: sums.count) }
        let derivatives = derivatives()
        sums = grown
        for output in 0..<objective.outputCount { grow(derivatives, output, scale: 1) }
    }

    /// Replaces all trees by others that were grown with the same table and settings, as if they had been grown here.
    mutating func replaceTrees(_ grown: [RegressionTree]) {
        trees = []
        sums = [Float](repeating: objective.baseScore, count: sums.count)
        for tree in grown {
            let output = trees.count % objective.outputCount
            tree.add(to: &sums, of: table, output: output, stride: objective.outputCount)
            trees.append(tree)
        }
    }

    /// Grows a random forest: every tree is fitted to the same targets on its own sample, and their mean is the score.
    ///
    /// - Parameters:
    ///   - count: The number of trees.
    ///   - isCancelled: Called before every tree.
    package mutating func growForest(_ count: Int, isCancelled: () -> Bool = { false }) {
        let derivatives = derivatives()
        for _ in 0..<count where !isCancelled() {
            for output in 0..<objective.outputCount { grow(derivatives, output, scale: 1 / Float(count)) }
        }
    }

    var columnCount: Int { table.columnCount }

    private func derivatives() -> [SIMD2<Float>] {
        var pairs = [SIMD2<Float>](repeating: .zero, count: targets.count * objective.outputCount)
        objective.differentiate(sums: sums, targets: targets, weights: weights, into: &pairs)
        return pairs
    }

    private mutating func grow(_ derivatives: [SIMD2<Float>], _ output: Int, scale: Float) {
        let count = table.rowCount
        var draw = SampleGenerator(seed: settings.randomSeed, stream: UInt64(trees.count))
        let rows = draw.choose(Self.sampleSize(settings.rowSubsample, count), of: count)
        let features = draw.choose(Self.sampleSize(settings.columnSubsample, table.columnCount), of: table.columnCount)
        var grown = grower.grow(
            derivatives.span.extracting(output * count..<(output + 1) * count),
            rows: rows,
            features: features
        )
        let leaves = grown.tree.nodes.map(\.value)
        let stride = objective.outputCount
        let isPruned = settings.minLossReduction > 0
        if isPruned {
            let minimum = Float(settings.minLossReduction)
            grown.tree.prune(below: minimum) { leaves[$0] }
        }
        for index in grown.tree.nodes.indices { grown.tree.nodes[index].value *= scale }
        if isPruned || grown.leaves.contains(-1) {
            grown.tree.add(to: &sums, of: table, output: output, stride: stride)
        } else {
            for row in 0..<count { sums[row * stride + output] += leaves[Int(grown.leaves[row])] * scale }
        }
        for index in grown.tree.nodes.indices where !grown.tree.nodes[index].isLeaf {
            grown.tree.nodes[index].value = 0
        }
        trees.append(grown.tree)
    }

    private static func sampleSize(_ fraction: Double, _ count: Int) -> Int {
        Swift.max(1, Int((fraction * Double(count)).rounded(.down)))
    }
}
