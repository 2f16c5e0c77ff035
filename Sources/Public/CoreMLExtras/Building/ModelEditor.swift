public import CoreML
import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Changes a finished model: its metadata, the names of its features, and how it is updated.
///
/// ```swift
/// var editor = try ModelEditor(contentsOf: url)
/// try editor.makeUpdatable(
///     layers: ["fc"],
///     loss: .categoricalCrossEntropy(input: "probabilities"),
///     optimizer: .adam(learningRate: 0.001),
///     epochs: 10
/// )
/// try editor.finished().write(to: other)
/// ```
/// A pipeline is edited through its last model, which is the one that can be updated.
public struct ModelEditor: Sendable {
    private let file: ModelFile
    private var model: SpecModel

    /// Creates an editor of a model in memory.
    public init(_ model: ModelSpecification) {
        file = model.file
        self.model = model.file.specification
    }

    /// Creates an editor of a model file, or throws `MLModelError` when it cannot be read.
    public init(contentsOf url: URL) throws { self.init(try ModelSpecification(contentsOf: url)) }

    /// The description, author, license, version and further metadata of the model.
    public var metadata: ModelMetadata {
        get { ModelMetadata(model.description_p.metadata) }
        set { newValue.write(to: &model.description_p.metadata) }
    }

    /// Whether the model can be updated on the device.
    public var isUpdatable: Bool { model.isUpdatable }

    /// The names of the network's layers that could be updatable.
    public var updatableCandidates: [String] {
        (learner.networkLayers ?? []).filter(UpdatableModel.canUpdate).map(\.name)
    }

    /// The names of the network's layers that are marked updatable.
    public var updatableLayers: [String] { (learner.networkLayers ?? []).filter(\.isUpdatable).map(\.name) }

    /// The loss that an update minimizes; nil when the model states none.
    public var loss: UpdateLoss? {
        guard let loss = learner.networkUpdate?.lossLayers.first else { return nil }
        let target = learner.description_p.trainingInput.first { $0.name == loss.targetName }
        return UpdateLoss(loss, shape: target?.type.multiArrayType.shape.map { Int(clamping: $0) } ?? [])
    }

    /// The optimiser of an update; nil when the model states none.
    public var optimizer: UpdateOptimizer? { (learner.networkUpdate?.optimizer).flatMap(UpdateOptimizer.init) }

    /// The number of epochs of an update; nil when the model states none.
    public var epochs: IntegerParameter? {
        learner.networkUpdate.flatMap { $0.hasEpochs ? IntegerParameter($0.epochs) : nil }
    }

    /// The number of neighbours that vote; nil when the model is not a nearest-neighbours classifier.
    public var neighbors: IntegerParameter? {
        guard case .kNearestNeighborsClassifier(let classifier)? = learner.type else { return nil }
        return IntegerParameter(classifier.numberOfNeighbors)
    }

    /// The value that holds a network classifier's probabilities, to which cross-entropy applies.
    public var classifierProbabilities: String? { learner.classifierProbabilities }

    /// The names of the features that each training example consists of.
    public var trainingInputs: [String] { model.description_p.trainingInput.map(\.name) }

    /// The layers through which gradients are propagated here, but not on Apple's systems.
    public var layersOfThisSystem: [String] { UpdatableModel.layersOfThisSystem(learner).map(\.name) }

    /// The same layers for messages, with their kinds, since names may be mere numbers.
    package var layersOfThisSystemText: String {
        UpdatableModel.layersOfThisSystem(learner).map { layer in
            let kind = layer.layer.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "of an unknown kind"
            return "the layer '\(layer.name)' (\(kind))"
        }.joined(separator: ", ")
    }

    /// Makes the network updatable on the device, as `NeuralNetworkBuilder.makeUpdatable` does.
    ///
    /// - Parameters:
    ///   - layers: The `convolution` and `innerProduct` layers of full precision whose weights and biases change.
    ///   - loss: The loss to minimize.
    ///   - optimizer: The optimiser; stochastic gradient descent by default.
    ///   - epochs: The number of passes over the examples; 1 by default.
    ///   - shuffle: Whether examples are shuffled before each epoch; true by default.
    ///   - seed: The seed of the shuffling; nil, the default, states none.
    /// - Throws: `MLModelError` when the model is not a neural network or a layer cannot be updatable.
    public mutating func makeUpdatable(
        layers: [String],
        loss: UpdateLoss,
        optimizer: UpdateOptimizer = .sgd(),
        epochs: IntegerParameter = 1,
        shuffle: Bool = true,
        seed: IntegerParameter? = nil
    ) throws {
        let update = NetworkUpdate(
            layers: layers,
            loss: loss,
            optimizer: optimizer,
            epochs: epochs,
            shuffle: shuffle,
            seed: seed
        )
        try change { (model) throws(ModelError) in try update.apply(to: &model) }
    }

    /// Marks these layers, and no others, updatable.
    ///
    /// - Parameter names: The names of the layers, at least one.
    /// - Throws: `MLModelError` when the model is not a neural network or a layer cannot be updatable.
    public mutating func setUpdatableLayers(_ names: [String]) throws {
        try change { (model) throws(ModelError) in try UpdateEditing.mark(names, in: &model) }
    }

    /// Replaces the optimiser, or throws `MLModelError` when the model states no update parameters.
    public mutating func setOptimizer(_ optimizer: UpdateOptimizer) throws {
        try changeParameters { $0.optimizer = optimizer.specification }
    }

    /// Replaces the number of epochs, or throws `MLModelError` when the model states no update parameters.
    public mutating func setEpochs(_ epochs: IntegerParameter) throws {
        try changeParameters { $0.epochs = epochs.specification }
    }

    /// Sets whether examples are shuffled before each epoch.
    ///
    /// - Parameters:
    ///   - shuffle: Whether they are.
    ///   - seed: The seed of the shuffling; nil, the default, keeps the one stated.
    /// - Throws: `MLModelError` when the model states no update parameters.
    public mutating func setShuffle(_ shuffle: Bool, seed: IntegerParameter? = nil) throws {
        try changeParameters {
            $0.shuffle.defaultValue = shuffle
            if let seed { $0.seed = seed.specification }
        }
    }

    /// Replaces the loss and its training inputs, or throws `MLModelError` when there are no update parameters.
    public mutating func setLoss(_ loss: UpdateLoss) throws {
        try changeParameters { $0.lossLayers = [loss.specification] }
        try change { (model) throws(ModelError) in
            model.description_p.trainingInput = UpdateEditing.trainingInputs(of: model, for: loss)
        }
    }

    /// Replaces the number of neighbours that vote, and the numbers that an app may choose instead.
    ///
    /// - Parameter neighbors: The number, at least 1, and the allowed replacements.
    /// - Throws: `MLModelError` when the model is not a nearest-neighbours classifier, or the number is not allowed.
    public mutating func setNeighbors(_ neighbors: IntegerParameter) throws {
        try change { (model) throws(ModelError) in
            guard case .kNearestNeighborsClassifier? = model.type else {
                throw ModelError(
                    .invalidInput,
                    "the model is not a nearest-neighbours classifier: it has no neighbours"
                )
            }
            model.kNearestNeighborsClassifier.numberOfNeighbors = neighbors.specification
            try UpdatableModel.validate(
                model.kNearestNeighborsClassifier.numberOfNeighbors,
                "number of neighbours",
                atLeast: 1
            )
        }
    }

    /// Renames an input, an output or a training input, everywhere in the model.
    ///
    /// - Parameters:
    ///   - name: The present name.
    ///   - other: The new name, which must not be empty or in use.
    /// - Throws: `MLModelError` when a name does not fit, and for ML programs and linked models, whose features
    ///   cannot be renamed here.
    public mutating func rename(_ name: String, to other: String) throws {
        do throws(ModelError) { try FeatureNames.rename(name, to: other, in: &model) } catch {
            throw MLModelError(error)
        }
    }

    /// Returns the changed model, or throws `MLModelError` when it contradicts the model format.
    public func finished() throws -> ModelSpecification {
        do throws(ModelError) {
            try UpdatableModel.validate(model)
            return ModelSpecification(file.replacing(SpecificationVersion.lowered(model)))
        } catch { throw MLModelError(error) }
    }

    // MARK: The model that learns

    /// The model itself, or the last one of a pipeline.
    private var learner: SpecModel { Self.learner(of: model) }

    private static func learner(of model: SpecModel) -> SpecModel { model.stages.last.map(learner) ?? model }

    private mutating func changeParameters(_ body: (inout SpecNetworkUpdateParameters) -> Void) throws {
        try change { (model) throws(ModelError) in
            guard model.networkLayers != nil else {
                throw ModelError(
                    .invalidInput,
                    "the model is not a neural network: it has no optimiser, loss or epochs"
                )
            }
            guard var parameters = model.networkUpdate else {
                throw ModelError(
                    .invalidInput,
                    "the network is not updatable yet; name updatable layers, loss and optimiser together"
                )
            }
            body(&parameters)
            model.networkUpdate = parameters
        }
    }

    private mutating func change(_ body: (inout SpecModel) throws(ModelError) -> Void) throws {
        do throws(ModelError) { try Self.change(&model, body) } catch { throw MLModelError(error) }
    }

    private static func change(
        _ model: inout SpecModel,
        _ body: (inout SpecModel) throws(ModelError) -> Void
    ) throws(ModelError) {
        var stages = model.stages
        guard var last = stages.popLast() else { return try body(&model) }
        let before = last.description_p.trainingInput
        try change(&last, body)
        model.isUpdatable = last.isUpdatable
        if last.isUpdatable, model.description_p.trainingInput.isEmpty || before != last.description_p.trainingInput {
            let computed = Set(stages.flatMap { $0.description_p.output.map(\.name) })
            let inputs = model.description_p.input
            model.description_p.trainingInput =
                inputs
                + last.description_p.trainingInput.filter { feature in
                    !computed.contains(feature.name) && !inputs.contains { $0.name == feature.name }
                }
        }
        model.setStages(stages + [last])
    }
}
