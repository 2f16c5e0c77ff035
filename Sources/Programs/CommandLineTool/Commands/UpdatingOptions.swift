import ArgumentParser
import CoreMLExtras

/// The options for a model's on-device updates.
struct UpdatingOptions: ParsableArguments {
    enum Loss: String, ExpressibleByArgument, CaseIterable {
        case crossEntropy = "cross-entropy"
        case meanSquaredError = "mse"
    }

    enum Optimizer: String, ExpressibleByArgument, CaseIterable { case sgd, adam }

    @Option(help: ArgumentHelp("The updatable layers, replacing the model's own.", valueName: "layer,…"))
    var updatable: String?
    @Option(help: "The loss function; by default cross-entropy of a classifier's probabilities.")
    var loss: Loss?
    @Option(help: "The value that the loss is computed from.")
    var lossInput: String?
    @Option(help: "The training input that the value is compared with; its name + _true by default.")
    var lossTarget: String?
    @Option(help: ArgumentHelp("The shape of mse's target.", valueName: "n,…"))
    var lossShape: String?
    @Option(help: "The optimizer; sgd by default.")
    var optimizer: Optimizer?
    @Option(help: "The learning rate; 0.01 by default.", transform: NumberParameter.init(argument:))
    var learningRate: NumberParameter?
    @Option(help: "The mini-batch size; 10 by default.", transform: IntegerParameter.init(argument:))
    var batch: IntegerParameter?
    @Option(help: "The momentum of sgd; 0 by default.", transform: NumberParameter.init(argument:))
    var momentum: NumberParameter?
    @Option(help: "The decay of adam's first moment; 0.9 by default.", transform: NumberParameter.init(argument:))
    var beta1: NumberParameter?
    @Option(help: "The decay of adam's second moment; 0.999 by default.", transform: NumberParameter.init(argument:))
    var beta2: NumberParameter?
    @Option(help: "The epsilon of adam; 1e-8 by default.", transform: NumberParameter.init(argument:))
    var eps: NumberParameter?
    @Option(help: "The number of passes over the examples; 1 by default.", transform: IntegerParameter.init(argument:))
    var epochs: IntegerParameter?
    @Flag(inversion: .prefixedNo, help: "Shuffle the examples in each epoch; on by default.")
    var shuffle: Bool?
    @Option(help: "The seed of the shuffling.") var seed: Int64?
    @Option(
        help: "The number of neighbours of a nearest-neighbours classifier.",
        transform: IntegerParameter.init(argument:)
    )
    var neighbors: IntegerParameter?

    private var asksForNetwork: Bool {
        loss != nil || lossInput != nil || lossTarget != nil || lossShape != nil || asksForOptimizer || epochs != nil
            || shuffle != nil || seed != nil
    }

    private var asksForOptimizer: Bool {
        optimizer != nil || learningRate != nil || batch != nil || momentum != nil || beta1 != nil || beta2 != nil
            || eps != nil
    }

    func apply(to editor: inout ModelEditor) throws {
        if let neighbors { try editor.setNeighbors(neighbors) }
        guard updatable != nil || asksForNetwork else { return }
        let layers = updatable.map { $0.split(separator: ",").map(String.init) }
        if editor.loss == nil {
            guard let layers else {
                throw Failure(
                    "The model is not updatable yet: name the layers that learn with --updatable.  They can be: "
                        + editor.updatableCandidates.joined(separator: ", ")
                )
            }
            try editor.makeUpdatable(
                layers: layers,
                loss: try wantedLoss(editor),
                optimizer: try wantedOptimizer(.sgd()),
                epochs: epochs ?? 1,
                shuffle: shuffle ?? true,
                seed: seed.map { IntegerParameter($0, in: 0...Int64.max) }
            )
            return
        }
        if let layers { try editor.setUpdatableLayers(layers) }
        if loss != nil || lossInput != nil || lossTarget != nil || lossShape != nil {
            try editor.setLoss(try wantedLoss(editor))
        }
        if asksForOptimizer { try editor.setOptimizer(try wantedOptimizer(editor.optimizer ?? .sgd())) }
        if let epochs { try editor.setEpochs(epochs) }
        if shuffle != nil || seed != nil {
            try editor.setShuffle(shuffle ?? true, seed: seed.map { IntegerParameter($0, in: 0...Int64.max) })
        }
    }

    private func wantedLoss(_ editor: ModelEditor) throws -> UpdateLoss {
        guard let input = lossInput ?? editor.classifierProbabilities else {
            throw Failure("Name the value that the loss is computed from with --loss-input.")
        }
        switch loss ?? (editor.classifierProbabilities == nil ? nil : .crossEntropy) {
        case .crossEntropy?: return .categoricalCrossEntropy(input: input, target: lossTarget)
        case .meanSquaredError?:
            let shape = (lossShape ?? "").split(separator: ",").compactMap { Int($0) }
            guard !shape.isEmpty else { throw Failure("State the shape of the target with --loss-shape, such as 10.") }
            return .meanSquaredError(input: input, shape: shape, target: lossTarget)
        case nil: throw Failure("Choose a loss with --loss: cross-entropy or mse.")
        }
    }

    /// `present` with the changes from the command line.
    private func wantedOptimizer(_ present: UpdateOptimizer) throws -> UpdateOptimizer {
        var requested = optimizer
        if requested == nil, case .sgd = present { requested = .sgd }
        if requested == .sgd {
            guard beta1 == nil, beta2 == nil, eps == nil else {
                throw Failure("beta1, beta2 and eps require --optimizer adam.")
            }
            guard case .sgd(let rate, let size, let force) = present else {
                return .sgd(
                    learningRate: learningRate ?? present.learningRate,
                    miniBatchSize: batch ?? present.miniBatchSize,
                    momentum: momentum ?? 0
                )
            }
            return .sgd(learningRate: learningRate ?? rate, miniBatchSize: batch ?? size, momentum: momentum ?? force)
        }
        guard momentum == nil else { throw Failure("momentum belongs to --optimizer sgd.") }
        guard case .adam(let rate, let size, let first, let second, let small) = present else {
            return .adam(
                learningRate: learningRate ?? present.learningRate,
                miniBatchSize: batch ?? present.miniBatchSize,
                beta1: beta1 ?? 0.9,
                beta2: beta2 ?? 0.999,
                eps: eps ?? 1e-8
            )
        }
        return .adam(
            learningRate: learningRate ?? rate,
            miniBatchSize: batch ?? size,
            beta1: beta1 ?? first,
            beta2: beta2 ?? second,
            eps: eps ?? small
        )
    }
}
