import MLKernels
import MLLinearTraining
import MLNumerics
import MLSeriesTraining
import MLSpecification

/// The classifier that is trained on the features of pictures.
struct ImageHead {
    /// The report of a step.
    struct Report {
        var loss: Double
        var accuracy: Double?
    }

    /// A logistic regression, whose penalty counts in units of the spread within classes, or dense layers.
    private enum Kind {
        case logistic(ClassWhitening?, LinearTrainer)
        case dense(SeriesLearner)
    }

    /// The steps of L-BFGS in an iteration.
    private static let steps = 4
    /// The inverse of the penalty, for rows that vary within classes by about 1 in each direction.
    private static let inversePenalty = 0.1
    private static let shrinkage = 0.5

    let width: Int
    let classCount: Int
    private(set) var iteration = 0
    private var kind: Kind
    private var limit: Int

    /// - Parameters:
    ///   - rows: [rows, width].
    ///   - labels: The class of each row.
    ///   - classes: The labels of the classes.
    ///   - layerSizes: The sizes of dense layers; empty for a logistic regression.
    ///   - iterations: The maximum number of iterations.
    /// - Throws: `.invalidInput` for examples that cannot be learned from.
    init(
        rows: [Float],
        labels: [Int],
        classes: [String],
        layerSizes: [Int],
        iterations: Int
    ) throws(ModelError) {
        width = rows.count / max(labels.count, 1)
        classCount = classes.count
        limit = iterations
        guard layerSizes.isEmpty else {
            var settings = SequenceTrainingSettings()
            settings.iterations = iterations
            let scale = Self.denseScale(width)
            kind = .dense(
                try SeriesLearner(
                    SeriesProblem(
                        .features(
                            layerSizes: layerSizes,
                            training: LabeledExamples(values: rows.map { $0 * scale }, labels: labels),
                            validation: nil
                        ),
                        labels: classes,
                        names: ClassifierNames(label: "classLabel", probabilities: "classLabelProbs"),
                        settings: settings
                    )
                )
            )
            return
        }
        // With one picture for each class there is no spread within classes.
        let whitening =
            labels.count > classes.count
            ? try? ClassWhitening(rows, labels: labels, classCount: classes.count, shrinkage: Self.shrinkage) : nil
        let mapped = Self.mapped(rows, whitening, width)
        var settings = LinearTrainingSettings()
        settings.maxIterations = Self.steps * iterations
        settings.l2Penalty = 0.5 / Self.inversePenalty
        settings.featureRescaling = false
        settings.convergenceThreshold = 1e-5 * Double(labels.count)
        // Class 0 has no examples: against it, every class has weights of its own, and the penalty treats all alike.
        let matrix = try LinearTrainingMatrix(
            rowCount: labels.count,
            blocks: [.dense(mapped, columns: rows.count / max(labels.count, 1))]
        )
        kind = .logistic(
            whitening,
            try LinearTrainer(
                matrix,
                targets: labels.map { Double($0 + 1) },
                objective: .logistic(classes: classes.count + 1),
                settings: settings
            )
        )
    }

    /// Rows of length 1 have values of about 1 / √width; dense layers are meant for values of about 1.
    private static func denseScale(_ width: Int) -> Float { Float(width).squareRoot() }

    private static func mapped(_ rows: [Float], _ whitening: ClassWhitening?, _ width: Int) -> [Double] {
        if let whitening { return whitening.map(rows) }
        let scale = (2 * Double(width)).squareRoot()
        return rows.map { Double($0) * scale }
    }

    // MARK: Training

    var isFinished: Bool {
        if iteration >= limit { return true }
        switch kind {
        case .logistic(_, let trainer): return trainer.isConverged
        case .dense(let learner): return learner.isFinished
        }
    }

    mutating func limit(iterations: Int) {
        limit = iterations
        if case .dense(var learner) = kind {
            learner.limit(iterations: iterations)
            kind = .dense(learner)
        }
    }

    mutating func step() throws(ModelError) -> Report {
        iteration += 1
        switch kind {
        case .logistic(let whitening, var trainer):
            for _ in 0..<Self.steps where !trainer.isFinished { trainer.step() }
            kind = .logistic(whitening, trainer)
            return Report(loss: trainer.meanLoss)
        case .dense(var learner):
            let report = try learner.step()
            kind = .dense(learner)
            return Report(loss: report.loss, accuracy: report.accuracy)
        }
    }

    var state: [UInt8] {
        get throws(ModelError) {
            switch kind {
            case .logistic(_, let trainer): return trainer.state
            case .dense(let learner): return try learner.state
            }
        }
    }

    mutating func restore(_ state: [UInt8], iteration: Int) throws(ModelError) {
        switch kind {
        case .logistic(let whitening, var trainer):
            try trainer.restore(state)
            kind = .logistic(whitening, trainer)
        case .dense(var learner):
            try learner.restore(state)
            kind = .dense(learner)
        }
        self.iteration = iteration
    }

    // MARK: The trained layers

    /// Dense layers from features of length 1 to the logits: [outputs, inputs] and a bias each; ReLU between them.
    func layers() throws(ModelError) -> [(weights: [Float], bias: [Float])] {
        switch kind {
        case .logistic(let whitening, let trainer):
            let model = trainer.model
            var (weights, bias): ([Float], [Float]) = ([], [])
            for output in 0..<classCount {
                var own = (weights: model.weights[output], offset: model.offsets[output])
                if let whitening {
                    own = whitening.unmapped(own.weights, offset: own.offset)
                } else {
                    let scale = (2 * Double(width)).squareRoot()
                    own.weights = own.weights.map { $0 * scale }
                }
                weights += own.weights.map { Float($0) }
                bias.append(Float(own.offset))
            }
            return [(weights, bias)]
        case .dense(let learner):
            var result: [(weights: [Float], bias: [Float])] = []
            for layer in try learner.specification().neuralNetworkClassifier.layers {
                guard case .innerProduct(let params)? = layer.layer else { continue }
                result.append((params.weights.floatValue, params.bias.floatValue))
            }
            let scale = Self.denseScale(width)
            result[0].weights = result[0].weights.map { $0 * scale }
            return result
        }
    }

    /// The probabilities of the classes for each row: [rows, classes].
    static func probabilities(_ rows: [Float], _ layers: [(weights: [Float], bias: [Float])]) -> [Float] {
        var values = rows.map { Double($0) }
        var count = 0
        for (index, layer) in layers.enumerated() {
            let outputs = layer.bias.count
            let inputs = layer.weights.count / max(outputs, 1)
            if index == 0 { count = rows.count / max(inputs, 1) }
            let weights = layer.weights.map { Double($0) }
            var next = [Double](repeating: 0, count: count * outputs)
            guard count > 0 else { return [] }
            DoubleKernel.dotProducts(values, rows: count, weights, rows: outputs, terms: inputs, into: &next)
            for position in next.indices {
                next[position] += Double(layer.bias[position % outputs])
                if index < layers.count - 1 { next[position] = max(next[position], 0) }
            }
            values = next
        }
        let classes = layers.last?.bias.count ?? 1
        var result = [Float](repeating: 0, count: values.count)
        for row in 0..<count {
            let own = values[row * classes..<(row + 1) * classes]
            let highest = own.max() ?? 0
            var parts = own.map { $0 - highest }
            DoubleKernel.exponentials(&parts, count: classes)
            let sum = parts.reduce(0, +)
            for (position, part) in parts.enumerated() { result[row * classes + position] = Float(part / sum) }
        }
        return result
    }
}
