import Glibc
import MLGraphTraining
package import MLImages
import MLKernels
package import MLNumerics
import MLTrainingCore
import Synchronization

/// The metrics of an iteration.
package struct DetectionReport: Sendable, Hashable {
    package var loss: Double
    package var centreLoss: Double
    package var sideLoss: Double
}

/// Trains a detector's head on features of views of images.
///
/// Some of the views of each iteration are new, the others are chosen among the latest ones, so that the costly
/// features of a view are learned from a few times only. The same seed gives the same head on any number of threads,
/// also when training continues from saved state: views are functions of the seed and their number.
package struct DetectionTrainer: IterativeTraining {
    package private(set) var settings: DetectionSettings
    /// The number of iterations so far.
    package private(set) var iteration = 0

    let head: DetectionHead
    private let examples: [DetectionExample]
    private let decode: Decoder
    let extractor: DetectionExtractor
    private let objective: GradientProgram
    private var trainer: GraphTrainer
    /// The moving means of the parameters.
    private var means: [Tensor]
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
    ///   - extractor: The network whose values the head is trained on.
    ///   - settings: The hyperparameters.
    /// - Throws: `.invalidInput` for settings out of range, and when there are no objects.
    package init(
        examples: [DetectionExample],
        decode: @escaping Decoder,
        extractor: DetectionExtractor,
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
        self.extractor = extractor
        head = DetectionHead(channels: extractor.channels, labelCount: settings.labelCount)
        objective = try GradientProgram(DetectionObjective(head: head, batchSize: settings.batchSize).objective())
        let sides = objects.map { ($0.box.width * $0.box.height).squareRoot() / 2 * Double(DetectionGrid.cells) }
        var source = SplitMix64(seed: settings.seed)
        let parameters = head.firstParameters(&source, distance: sides.sorted()[sides.count / 2])
        trainer = GraphTrainer(
            parameters: parameters,
            optimizer: .adam(beta1: 0.9, beta2: 0.999, eps: 1e-8),
            learningRate: DetectionSettings.learningRate
        )
        means = parameters
    }

    package var isFinished: Bool { iteration >= settings.iterations }

    /// Changes the number of iterations, and with it the learning rates of those to come.
    package mutating func limit(iterations: Int) { settings.iterations = iterations }

    /// The parameters that a model is made of: the moving means.
    var parameters: [Tensor] { means }

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
        let inputs = scaling.tensors(batch.map(\.features)) + targets.tensors
        let outputs = try next.step(objective, inputs).map(\.values[0])
        guard outputs[0].isFinite else {
            throw ModelError(.update, "the loss of iteration \(iteration + 1) is not a number; use other images")
        }
        trainer = next
        updateMeans()
        iteration += 1
        let first = newViews(iteration).lowerBound - settings.window
        views = views.filter { $0.key >= first }
        return DetectionReport(loss: outputs[0], centreLoss: outputs[1], sideLoss: outputs[2])
    }

    /// The learning rate: it rises, then falls along a cosine.
    private func learningRate(_ iteration: Int) -> Double {
        let warmup = Swift.min(1, Double(iteration + 1) / Double(DetectionSettings.warmupIterations))
        let share = Swift.min(1, Double(iteration) / Double(settings.iterations))
        let minimum = DetectionSettings.lastShare
        return DetectionSettings.learningRate * warmup * (minimum + (1 - minimum) * (1 + cos(.pi * share)) / 2)
    }

    private mutating func updateMeans() {
        let count = Double(iteration + 1)
        let decay = Float(Swift.min(DetectionSettings.meanDecay, count / (count + 9)))
        for index in means.indices {
            let current = trainer.parameters[index]
            means[index].withMutableElements(of: Float.self) { target in
                current.withElements(of: Float.self) { values in
                    for position in target.indices {
                        target[position] += (1 - decay) * (values[position] - target[position])
                    }
                }
            }
        }
    }

    // MARK: Views

    /// The numbers of the views that are new in an iteration.
    private func newViews(_ iteration: Int) -> Range<Int> {
        guard iteration > 0 else { return 0..<settings.batchSize }
        let start = settings.batchSize + (iteration - 1) * settings.newViews
        return start..<start + settings.newViews
    }

    /// The numbers of the views of an iteration: the new ones, and others of the latest.
    private func chosenViews(_ iteration: Int) -> [Int] {
        let new = newViews(iteration)
        var chosen = Array(new.prefix(settings.batchSize))
        var source = SplitMix64(seed: settings.seed &+ 0xD1B5_4A32_D192_ED03 &* UInt64(iteration + 1))
        var old = Array(Swift.max(0, new.lowerBound - settings.window)..<new.lowerBound)
        while chosen.count < settings.batchSize, !old.isEmpty {
            let position = Int(source.next().multipliedFullWidth(by: UInt64(old.count)).high)
            chosen.append(old[position])
            old.swapAt(position, old.count - 1)
            old.removeLast()
        }
        return chosen
    }

    /// The image of a view: all images in a random order, then in another, and so on.
    private func example(_ view: Int) -> DetectionExample {
        let (round, position) = view.quotientAndRemainder(dividingBy: examples.count)
        var source = SplitMix64(seed: settings.seed &+ 0x9E6C_63D0_876A_3F6B &* UInt64(round + 1))
        var order = Array(examples.indices)
        // Only the first `position` choices of the shuffle are needed.
        for index in 0...position {
            let other = index + Int(source.next().multipliedFullWidth(by: UInt64(order.count - index)).high)
            order.swapAt(index, other)
        }
        return examples[order[position]]
    }

    /// Computes views that are missing.
    private mutating func prepare(_ numbers: [Int]) throws(ModelError) {
        let missing = numbers.filter { views[$0] == nil }
        let results = Mutex([Result<CachedView, ModelError>?](repeating: nil, count: missing.count))
        let (work, extractor, decode, seed) = (missing.map(example), extractor, decode, settings.seed)
        Workers.parallelFor(missing.count) { index, _ in
            let result: Result<CachedView, ModelError>
            do throws(ModelError) {
                var source = SplitMix64(seed: seed ^ 0x94D0_49BB_1331_11EB &* UInt64(missing[index] + 1))
                let view = DetectionView.random(try decode(work[index].file), work[index].objects, &source)
                let features = try extractor.features(of: view.image)
                result = .success(CachedView(features: features, objects: view.objects))
            } catch { result = .failure(error) }
            results.withLock { $0[index] = result }
        }
        for (number, result) in zip(missing, results.withLock { $0 }) {
            if let result { views[number] = try result.get() }
        }
    }

    private mutating func firstScaling() throws(ModelError) -> FeatureScaling {
        let first = chosenViews(0)
        try prepare(first)
        return FeatureScaling(first.compactMap { views[$0]?.features }, channels: head.channels)
    }

    // MARK: State

    private static let magic = "MLDETEC1"

    /// The iteration, the scaling of features, the parameters with the optimiser's state, and their means.
    package var state: [UInt8] {
        var writer = CheckpointWriter()
        writer.append(Array(Self.magic.utf8))
        writer.write(UInt64(iteration))
        writer.write(trainer.state)
        for tensor in means { writer.write(tensor.withElements(of: Float.self) { Array($0) }) }
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
        for tensor in means {
            let values: [Float] = try reader.readArray()
            guard values.count == tensor.count else { throw damaged("has parameters of another size") }
            restored.append(Tensor(values, shape: tensor.shape))
        }
        var scaling: FeatureScaling?
        if try reader.readBool() {
            var parts: [[Float]] = []
            for channels in head.channels + head.channels {
                let values: [Float] = try reader.readArray()
                guard values.count == channels, values.allSatisfy(\.isFinite) else {
                    throw damaged("has features of another size")
                }
                parts.append(values)
            }
            let half = head.channels.count
            guard parts[half...].allSatisfy({ $0.allSatisfy { $0 > 0 } }) else { throw damaged("has no deviations") }
            scaling = FeatureScaling(means: Array(parts[..<half]), deviations: Array(parts[half...]))
        }
        try reader.finish()
        try trainer.restore(bytes)
        means = restored
        self.scaling = scaling
        iteration = count
        views = [:]
    }
}
