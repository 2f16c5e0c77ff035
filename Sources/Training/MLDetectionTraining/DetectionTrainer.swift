import Glibc
import MLGraphTraining
package import MLImages
import MLKernels
package import MLNumerics
import MLOperators
import MLTrainingCore
import Synchronization

/// The metrics of an iteration.
package struct DetectionReport: Sendable, Hashable {
    package var loss: Double
    package var centreLoss: Double
    package var sideLoss: Double
}

/// Trains a detector on views of images: a head on the features of a pretrained network, or a small network as a whole.
///
/// Some of the views of each iteration are new, the others are chosen among the latest ones, so that the costly
/// features of a view are learned from a few times only. The same seed gives the same head on any number of threads,
/// also when training continues from saved state: views are functions of the seed and their number.
package struct DetectionTrainer: IterativeTraining {
    package private(set) var settings: DetectionSettings
    /// The number of iterations so far.
    package private(set) var iteration = 0

    let architecture: DetectionArchitecture
    private let examples: [DetectionExample]
    private let decode: Decoder
    let source: DetectionSource
    private let objective: GradientProgram
    private var trainer: GraphTrainer
    /// The moving means of the parameters, and of the statistics of batches, by their names.
    private var means: MovingMeans
    private(set) var scaling: FeatureScaling?
    private var views: [Int: CachedView] = [:]

    /// Makes a bitmap of the bytes of an image file.
    package typealias Decoder = @Sendable (_ file: [UInt8]) throws(ModelError) -> Bitmap

    private struct CachedView: Sendable {
        var features: DetectionFeatures
        var objects: [DetectionObject]
    }

    /// - Parameters:
    ///   - examples: The images and their objects.
    ///   - decode: Makes bitmaps of the images' files.
    ///   - source: What the detector learns from.
    ///   - settings: The hyperparameters.
    /// - Throws: `.invalidInput` for settings out of range, and when there are no objects.
    package init(
        examples: [DetectionExample],
        decode: @escaping Decoder,
        source: DetectionSource,
        settings: DetectionSettings
    ) throws(ModelError) {
        try settings.validate()
        let objects = examples.flatMap(\.objects)
        guard !objects.isEmpty else {
            throw ModelError(.invalidInput, "the images have no objects to learn; annotate some")
        }
        guard objects.allSatisfy({ (0..<settings.labelCount).contains($0.label) }) else {
            throw ModelError(.invalidInput, "an object has none of the \(settings.labelCount) labels")
        }
        self.settings = settings
        self.examples = examples
        self.decode = decode
        self.source = source
        architecture = DetectionArchitecture(source, labelCount: settings.labelCount)
        objective = try GradientProgram(
            DetectionObjective(
                architecture: architecture,
                inputs: Array(zip(source.channels, source.sides)),
                batchSize: settings.batchSize
            ).objective()
        )
        let sides = objects.map { ($0.box.width * $0.box.height).squareRoot() / 2 * Double(DetectionGrid.cells) }
        var random = SplitMix64(seed: settings.seed)
        let parameters = architecture.firstParameters(&random, distance: sides.sorted()[sides.count / 2])
        trainer = GraphTrainer(
            parameters: parameters,
            optimizer: .adam(beta1: 0.9, beta2: 0.999, eps: 1e-8),
            learningRate: DetectionSettings.learningRate
        )
        means = MovingMeans(
            zip(architecture.layers.flatMap(\.parameters).map(\.name), parameters)
                + architecture.statistics.map { ($0.name, Tensor(repeating: 0, .float32, shape: [$0.channels])) }
        )
    }

    package var isFinished: Bool { iteration >= settings.iterations }

    /// Changes the number of iterations, and with it the learning rates of those to come.
    package mutating func limit(iterations: Int) { settings.iterations = iterations }

    /// The numbers that a model is made of: the moving mean of a parameter or of a statistic.
    func value(_ name: String) -> [Float] { means[name].floatValues }

    /// Learns from one batch of views.
    ///
    /// - Throws: `.update` when the loss is not a number; errors of images and of the network.
    @discardableResult
    package mutating func step() throws(ModelError) -> DetectionReport {
        let chosen = chosenViews(iteration)
        try prepare(chosen)
        let batch = chosen.compactMap { views[$0] }
        let scaling: FeatureScaling
        if let known = self.scaling { scaling = known } else { scaling = try firstScaling() }
        self.scaling = scaling
        let targets = DetectionTargets(batch.map(\.objects), labels: settings.labelCount)
        trainer.learningRate = learningRate(iteration)
        var next = trainer
        let dropout = ChannelDropout(
            share: source.dropout,
            seed: settings.seed &+ 0xA5A5_4A32_D192_ED03 &* UInt64(iteration + 1)
        )
        let inputs =
            scaling.tensors(batch.map(\.features), sides: source.sides, dropout: dropout) + targets.tensors
        let outputs = try next.step(objective, inputs)
        let losses = outputs[..<3].map { Double($0.floatValues[0]) }
        guard losses[0].isFinite else {
            throw ModelError(.update, "the loss of iteration \(iteration + 1) is not a number; use other images")
        }
        trainer = next
        let count = Double(iteration + 1)
        let decay = Swift.min(DetectionSettings.meanDecay, count / (count + 9))
        for (index, tensor) in (trainer.parameters + outputs[3...]).enumerated() {
            // There are no statistics before the first ones.
            let isFirst = iteration == 0 && index >= trainer.parameters.count
            means.include(tensor, at: index, share: isFirst ? 1 : Float(1 - decay))
        }
        iteration += 1
        if isFinished, source.dropout > 0 { try findStatistics(scaling) }
        let first = newViews(iteration).lowerBound - window
        views = views.filter { $0.key >= first }
        return DetectionReport(loss: losses[0], centreLoss: losses[1], sideLoss: losses[2])
    }

    /// Replaces the moving means of the statistics by the statistics of the latest views, for the mean parameters and all
    /// channels.
    ///
    /// Those of the iterations belong to features of which some are left out and the others grow, so that sums over them
    /// vary more.
    private mutating func findStatistics(_ scaling: FeatureScaling) throws(ModelError) {
        let end = newViews(iteration).lowerBound
        let numbers = Array(Swift.max(0, end - window)..<end)
        try prepare(numbers)
        let parameters = Array(means.tensors[..<trainer.parameters.count])
        var count = 0
        for start in stride(from: 0, through: numbers.count - settings.batchSize, by: settings.batchSize) {
            let batch = numbers[start..<start + settings.batchSize].compactMap { views[$0] }
            let targets = DetectionTargets(batch.map(\.objects), labels: settings.labelCount)
            let inputs = scaling.tensors(batch.map(\.features), sides: source.sides) + targets.tensors
            let outputs = try objective.run(inputs, parameters).outputs
            count += 1
            for (index, tensor) in outputs[3...].enumerated() {
                means.include(tensor, at: parameters.count + index, share: 1 / Float(count))
            }
        }
    }

    /// The learning rate: it rises, then falls along a cosine.
    private func learningRate(_ iteration: Int) -> Double {
        let warmup = Swift.min(1, Double(iteration + 1) / Double(DetectionSettings.warmupIterations))
        let share = Swift.min(1, Double(iteration) / Double(settings.iterations))
        let minimum = DetectionSettings.lastShare
        return DetectionSettings.learningRate * warmup * (minimum + (1 - minimum) * (1 + cos(.pi * share)) / 2)
    }

    // MARK: Views

    /// The number of the latest views among which those of an iteration are chosen.
    private var window: Int { settings.batchSize * source.windowBatches }

    /// The numbers of the views that are new in an iteration.
    private func newViews(_ iteration: Int) -> Range<Int> {
        guard iteration > 0 else { return 0..<settings.batchSize }
        let count = (settings.batchSize + source.viewUses - 1) / source.viewUses
        let start = settings.batchSize + (iteration - 1) * count
        return start..<start + count
    }

    /// The numbers of the views of an iteration: the new ones, and others of the latest.
    private func chosenViews(_ iteration: Int) -> [Int] {
        let new = newViews(iteration)
        var chosen = Array(new.prefix(settings.batchSize))
        var random = SplitMix64(seed: settings.seed &+ 0xD1B5_4A32_D192_ED03 &* UInt64(iteration + 1))
        var old = Array(Swift.max(0, new.lowerBound - window)..<new.lowerBound)
        while chosen.count < settings.batchSize, !old.isEmpty {
            let position = Int(random.next().multipliedFullWidth(by: UInt64(old.count)).high)
            chosen.append(old[position])
            old.swapAt(position, old.count - 1)
            old.removeLast()
        }
        return chosen
    }

    /// The image of a view: all images in a random order, then in another, and so on.
    private func example(_ view: Int) -> DetectionExample {
        let (round, position) = view.quotientAndRemainder(dividingBy: examples.count)
        var random = SplitMix64(seed: settings.seed &+ 0x9E6C_63D0_876A_3F6B &* UInt64(round + 1))
        var order = Array(examples.indices)
        // Only the first `position` choices of the shuffle are needed.
        for index in 0...position {
            let other = index + Int(random.next().multipliedFullWidth(by: UInt64(order.count - index)).high)
            order.swapAt(index, other)
        }
        return examples[order[position]]
    }

    /// Computes views that are missing.
    private mutating func prepare(_ numbers: [Int]) throws(ModelError) {
        let missing = numbers.filter { views[$0] == nil }
        let results = Mutex([Result<CachedView, ModelError>?](repeating: nil, count: missing.count))
        let (work, source, decode, settings) = (missing.map(example), source, decode, settings)
        Workers.parallelFor(missing.count) { index, _ in
            let result: Result<CachedView, ModelError>
            do throws(ModelError) {
                var random = SplitMix64(seed: settings.seed ^ 0x94D0_49BB_1331_11EB &* UInt64(missing[index] + 1))
                let view = DetectionView.random(
                    try decode(work[index].file),
                    work[index].objects,
                    mirrors: settings.mirrorsImages,
                    turns: settings.turnsImages,
                    &random
                )
                result = .success(CachedView(features: try source.features(of: view.image), objects: view.objects))
            } catch { result = .failure(error) }
            results.withLock { $0[index] = result }
        }
        for (number, result) in zip(missing, results.withLock { $0 }) {
            if let result { views[number] = try result.get() }
        }
    }

    private mutating func firstScaling() throws(ModelError) -> FeatureScaling {
        guard case .network = source else { return .pixels }
        let first = chosenViews(0)
        try prepare(first)
        return FeatureScaling(first.compactMap { views[$0]?.features }, channels: source.channels)
    }

    // MARK: State

    private static let magic = "MLDETEC2"

    /// The iteration, the scaling of features, the parameters with the optimiser's state, and the moving means.
    package var state: [UInt8] {
        var writer = CheckpointWriter()
        writer.append(Array(Self.magic.utf8))
        writer.write(UInt64(iteration))
        writer.write(trainer.state)
        for tensor in means.tensors { writer.write(tensor.floatValues) }
        writer.write(scaling) { writer, scaling in
            for values in scaling.means + scaling.deviations { writer.write(values) }
        }
        return writer.bytes
    }

    package mutating func restore(_ state: [UInt8]) throws(ModelError) {
        let remedy = "start the training again"
        var reader = CheckpointReader(state, "the state of a detector's training", remedy: remedy)
        func damaged(_ detail: String) -> ModelError {
            ModelError(.malformed, "the state of a detector's training \(detail); \(remedy)")
        }
        guard try reader.readBytes(8).elementsEqual(Array(Self.magic.utf8)) else { throw damaged("has another mark") }
        let number: UInt64 = try reader.readInteger()
        guard let count = Int(exactly: number), count < 1 << 40 else { throw damaged("has \(number) iterations") }
        let bytes: [UInt8] = try reader.readArray()
        var restored: [Tensor] = []
        for tensor in means.tensors {
            let values: [Float] = try reader.readArray()
            guard values.count == tensor.count else { throw damaged("has parameters of another size") }
            restored.append(Tensor(values, shape: tensor.shape))
        }
        var scaling: FeatureScaling?
        if try reader.readBool() {
            var parts: [[Float]] = []
            for channels in source.channels + source.channels {
                let values: [Float] = try reader.readArray()
                guard values.count == channels, values.allSatisfy(\.isFinite) else {
                    throw damaged("has features of another size")
                }
                parts.append(values)
            }
            let half = source.channels.count
            guard parts[half...].allSatisfy({ $0.allSatisfy { $0 > 0 } }) else { throw damaged("has no deviations") }
            scaling = FeatureScaling(means: Array(parts[..<half]), deviations: Array(parts[half...]))
        }
        try reader.finish()
        try trainer.restore(bytes)
        means.replace(by: restored)
        self.scaling = scaling
        iteration = count
        views = [:]
    }
}

/// Moving means of tensors by their names.
private struct MovingMeans: Sendable {
    private(set) var tensors: [Tensor]
    private let indices: [String: Int]

    init(_ first: [(name: String, value: Tensor)]) {
        tensors = first.map(\.value)
        indices = Dictionary(uniqueKeysWithValues: zip(first.map(\.name), first.indices))
    }

    subscript(name: String) -> Tensor {
        guard let index = indices[name] else { preconditionFailure("there is no mean of \(name)") }
        return tensors[index]
    }

    /// Moves a mean by a share of its distance from the current value.
    mutating func include(_ current: Tensor, at index: Int, share: Float) {
        tensors[index].withMutableElements(of: Float.self) { target in
            current.withElements(of: Float.self) { values in
                for position in target.indices { target[position] += share * (values[position] - target[position]) }
            }
        }
    }

    /// - Parameter values: Tensors of the same shapes.
    mutating func replace(by values: [Tensor]) { tensors = values }
}
