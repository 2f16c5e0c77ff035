import Glibc
import MLKernels
package import MLModels
package import MLNumerics
import MLTrainingCore

/// The hyperparameters of a text classifier's training.
package struct TextClassifierSettings: Sendable {
    /// The longest word n-grams: 1 for words, 2 for bigrams too.
    package var wordNGramLength = 2
    /// The lengths of character n-grams within words; `nil` for none.
    package var characterNGramLengths: ClosedRange<Int>?
    /// The BCP 47 tag of the language whose word boundaries apply; "" for none in particular.
    package var language = ""
    /// Features of fewer texts are dropped.
    package var minimumCount = 1
    /// The weight of an example's loss relative to the L2 penalty (C).
    package var cost: Float = 1
    /// The maximum number of passes over the texts.
    package var passes = 15
    /// Training ends when in a pass no score is further than this from its optimum.
    package var tolerance: Float = 0.01
    package var seed: UInt64 = 42
    /// Word embeddings, whose sums are features too.
    package var vectors: TextModel.Vectors?

    package init() {}
}

/// Fits a linear text classifier.
///
/// Features are those of `TextFeatures`, weighted by 1 + ln(count) and inverse document frequency, and normalised to
/// length 1. For each label the weights minimise ½‖w‖² + cost · Σ max(0, 1 − y·score)² one-versus-rest (dual coordinate
/// descent: Hsieh et al. 2008), for all labels at once. The scores then become probabilities by softmax(β · score),
/// where β maximises the likelihood of held-out labels: of a tenth of at least 2,000 texts, or by five-fold
/// cross-validation of fewer.
///
/// Training uses one thread, so the same seed gives the same model on any machine.
package final class TextClassifierTrainer {
    package let labels: [String]
    package private(set) var settings: TextClassifierSettings
    /// The number of passes over the texts so far.
    package private(set) var iteration = 0
    package var isFinished: Bool { isConverged || iteration >= settings.passes }
    /// The share of texts that were classified correctly in the last pass, each before it was learnt from.
    package private(set) var accuracy = 0.0
    /// The mean over the texts of Σ max(0, 1 − y·score)² over the labels in the last pass, each computed before it was
    /// learnt from.
    package private(set) var loss = 0.0

    /// Whether the last pass reached the tolerance.
    private var isConverged = false

    private let features: TextFeatures
    private let table: SparseTextMatrix
    private let targets: [Int]
    /// Weights by feature, then by dimension of the word embeddings, then the bias.
    private let weights: FloatRows
    /// The dual variables: [texts × labels].
    private let duals: FloatRows
    /// The squared length of each text's features, including the bias.
    private let squares: [Float]
    private let dimensions: Int

    /// Prepares the training of a text classifier.
    ///
    /// - Parameters:
    ///   - texts: The texts.
    ///   - targets: For each text the index of its label.
    ///   - labels: The labels; at least two, all different.
    ///   - settings: The hyperparameters.
    /// - Throws: `.invalidInput` naming what does not fit.
    package init(
        texts: [String],
        targets: [Int],
        labels: [String],
        settings: TextClassifierSettings = TextClassifierSettings()
    ) throws(ModelError) {
        try Self.validate(texts, targets, labels, settings)
        self.labels = labels
        self.settings = settings
        self.targets = targets
        features = try TextFeatures(
            wordNGramLength: settings.wordNGramLength,
            characterNGramLengths: settings.characterNGramLengths,
            language: settings.language
        )
        table = try SparseTextMatrix(
            texts,
            features,
            minimumCount: settings.minimumCount,
            wordVectors: settings.vectors
        )
        dimensions = settings.vectors?.dimensions ?? 0
        guard table.table.count > 0 || table.vectors.contains(where: { $0 != 0 }) else {
            throw ModelError(
                .invalidInput,
                "no text has a word that \(settings.minimumCount) texts have; give texts with words"
            )
        }
        let rows = table.table.count + dimensions + 1
        guard let bytes = FloatRows.byteCount(count: rows, width: labels.count),
            let more = FloatRows.byteCount(count: texts.count, width: labels.count)
        else { throw ModelError(.invalidInput, "\(rows) features of \(labels.count) labels are too many") }
        try MemoryLimit.require(byteCount: bytes + more, for: "training on \(rows) features of \(labels.count) labels")
        weights = FloatRows(count: rows, width: labels.count)
        duals = FloatRows(count: texts.count, width: labels.count)
        var squares = [Float](repeating: 1, count: texts.count)
        for text in squares.indices {
            for index in table.starts[text]..<table.starts[text + 1] {
                squares[text] += table.values[index] * table.values[index]
            }
            for index in text * dimensions..<(text + 1) * dimensions {
                squares[text] += table.vectors[index] * table.vectors[index]
            }
        }
        self.squares = squares
    }

    private static func validate(
        _ texts: [String],
        _ targets: [Int],
        _ labels: [String],
        _ settings: TextClassifierSettings
    ) throws(ModelError) {
        guard texts.count == targets.count else {
            throw ModelError(.invalidInput, "there are \(targets.count) labels for \(texts.count) texts")
        }
        guard labels.count >= 2, Set(labels).count == labels.count else {
            throw ModelError(
                .invalidInput,
                "the texts have \(Set(labels).count) label\(labels.count == 1 ? " \"\(labels[0])\"" : "s"); "
                    + "a classifier needs texts of at least two"
            )
        }
        if let row = targets.firstIndex(where: { !labels.indices.contains($0) }) {
            throw ModelError(.invalidInput, "row \(row) has label \(targets[row]); there are \(labels.count)")
        }
        guard texts.count < Int(Int32.max) else {
            throw ModelError(.invalidInput, "\(texts.count) texts are too many; give fewer than 2³¹")
        }
        guard settings.cost > 0, settings.cost.isFinite else {
            throw ModelError(.invalidInput, "the cost is \(settings.cost); it must be above 0")
        }
        guard settings.passes >= 1 else {
            throw ModelError(.invalidInput, "the number of iterations is \(settings.passes); it must be at least 1")
        }
    }

    /// Calls `body` with every row of weights that contributes to a text's score, and its factor.
    private func forEachFeature(of text: Int, _ body: (_ row: Int, _ value: Float) -> Void) {
        table.positions.withUnsafeBufferPointer { positions in
            table.values.withUnsafeBufferPointer { values in
                for index in table.starts[text]..<table.starts[text + 1] { body(Int(positions[index]), values[index]) }
            }
        }
        for dimension in 0..<dimensions {
            let value = table.vectors[text * dimensions + dimension]
            if value != 0 { body(table.table.count + dimension, value) }
        }
        body(weights.count - 1, 1)
    }

    private func score(_ text: Int, _ weights: FloatRows, into scores: UnsafeMutablePointer<SIMD4<Float>>) {
        let stride = weights.stride
        for index in 0..<stride { scores[index] = .zero }
        forEachFeature(of: text) { row, value in
            let weights = weights[row]
            for index in 0..<stride { scores[index] += weights[index] * value }
        }
    }

    /// Performs one pass over the texts.
    package func step() {
        guard !isFinished else { return }
        let result = descend(order(targets.count, seed: settings.seed, pass: iteration), weights, duals)
        iteration += 1
        accuracy = Double(result.right) / Double(Swift.max(targets.count, 1))
        loss = result.loss / Double(Swift.max(targets.count, 1))
        isConverged = result.furthest < settings.tolerance
    }

    /// Changes the maximum number of passes.
    ///
    /// - Parameter passes: At least 1.
    package func limit(passes: Int) { settings.passes = passes }

    /// Minimises the loss of some texts, one after the other, over their dual variables.
    ///
    /// - Returns: The number of texts that were classified correctly before, the sum of their losses then, and the
    ///   greatest distance of a text's scores from their optimum.
    private func descend(
        _ texts: [Int],
        _ weights: FloatRows,
        _ duals: FloatRows
    ) -> (right: Int, loss: Double, furthest: Float) {
        let stride = weights.stride
        let scratch = FloatRows(count: 2, width: labels.count)
        let (scores, changes) = (scratch[0], scratch[1])
        let shrinkage = 0.5 / settings.cost
        let padding = SIMD4<Float>(0, 1, 2, 3) .>= Float(labels.count - (stride - 1) * 4)
        var furthest: Float = 0
        var right = 0
        var loss = 0.0
        for text in texts {
            score(text, weights, into: scores)
            let target = targets[text]
            let single = scratch.scalars(0)
            right += (0..<labels.count).allSatisfy { $0 == target || single[$0] < single[target] } ? 1 : 0
            let inverse = 1 / (squares[text] + shrinkage)
            let duals = duals[text]
            var moved = SIMD4<Float>.zero
            var missed = SIMD4<Float>.zero
            for index in 0..<stride {
                // The sign of a label's target score.
                var sign = SIMD4<Float>(repeating: -1)
                if index == target / 4 { sign[target % 4] = 1 }
                var margin = sign * scores[index] - 1
                let gradient = margin + duals[index] * shrinkage
                var dual = duals[index] - gradient * inverse
                dual.replace(with: 0, where: dual .< 0)
                margin.replace(with: 0, where: margin .> 0)
                // The values behind the last label are padding.
                if index == stride - 1 {
                    dual.replace(with: 0, where: padding)
                    margin.replace(with: 0, where: padding)
                }
                missed += margin * margin
                let change = dual - duals[index]
                moved += change * change
                duals[index] = dual
                changes[index] = change * sign
            }
            loss += Double(missed.sum())
            let distance = moved.sum().squareRoot()
            guard distance > 0 else { continue }
            furthest = Swift.max(furthest, distance / inverse)
            forEachFeature(of: text) { row, value in
                let weights = weights[row]
                for index in 0..<stride { weights[index] += changes[index] * value }
            }
        }
        return (right, loss, furthest)
    }

    /// The softmax factor that maximises the likelihood of held-out texts.
    private func calibration() -> Double {
        let (width, count) = (labels.count, targets.count)
        let (parts, turns) = count >= 2000 ? (10, 1) : (5, 5)
        // Shuffled, because labels may be sorted or alternate.
        var part = [Int](repeating: 0, count: count)
        for (position, text) in order(count, seed: ~settings.seed, pass: 0).enumerated() {
            part[text] = position % parts
        }
        let scratch = FloatRows(count: 1, width: width)
        var scores: [Double] = []
        var chosen: [Int] = []
        for turn in 0..<turns {
            let weights = FloatRows(count: weights.count, width: width)
            let duals = FloatRows(count: count, width: width)
            for pass in 0..<Swift.min(5, settings.passes) {
                let texts = order(count, seed: settings.seed, pass: pass).filter { part[$0] != turn }
                _ = descend(texts, weights, duals)
            }
            for text in 0..<count where part[text] == turn {
                score(text, weights, into: scratch[0])
                chosen.append(targets[text])
                for label in 0..<width { scores.append(Double(scratch.scalars(0)[label])) }
            }
        }
        var factor = 1.0
        var weights = [Double](repeating: 0, count: width)
        for _ in 0..<20 {
            var (slope, curvature) = (0.0, 1e-9)
            for (row, target) in chosen.enumerated() {
                let line = scores[row * width..<(row + 1) * width]
                let top = line.reduce(-Double.infinity, Swift.max)
                var (sum, mean, square) = (0.0, 0.0, 0.0)
                for (label, score) in line.enumerated() {
                    weights[label] = exp(factor * (score - top))
                    sum += weights[label]
                    mean += weights[label] * score
                    square += weights[label] * score * score
                }
                mean /= sum
                slope += line[row * width + target] - mean
                curvature += square / sum - mean * mean
            }
            let next = Swift.min(Swift.max(factor + slope / curvature, factor / 2), factor * 2)
            let isSettled = abs(next - factor) < 1e-4 * factor
            factor = Swift.min(Swift.max(next, 0.05), 50)
            if isSettled { break }
        }
        return factor
    }

    /// The classifier at this point.
    ///
    /// - Parameter isCalibrated: `false` skips the calibration of probabilities, which takes as long as some passes and
    ///   does not change the most probable label.
    /// - Returns: The classifier.
    package func model(isCalibrated: Bool = true) -> TextModel {
        let factor: Float = isCalibrated ? Float(calibration()) : 1
        let values = weights.values.map { $0 * factor }
        let (known, width) = (table.table.count, labels.count)
        return TextModel(
            features: features,
            normalizes: true,
            isLogarithmic: true,
            labels: labels,
            bias: Array(values[(known + dimensions) * width..<(known + dimensions + 1) * width]),
            table: table.table,
            scales: table.scales,
            weights: Array(values[..<(known * width)]),
            vectors: settings.vectors,
            vectorWeights: Array(values[known * width..<(known + dimensions) * width])
        )
    }
}

extension TextClassifierTrainer: IterativeTraining {
    private static let magic = "SWTEXT02"

    private var fingerprint: UInt64 {
        var print = Fingerprint(.splitMix)
        print.add(labels.count)
        print.add(UInt64(settings.cost.bitPattern))
        print.add(settings.seed)
        print.add(dimensions)
        print.add(labels.map { FeatureKey.hash($0) })
        print.add(targets)
        print.add(table.table.keys)
        return print.value
    }

    /// The state from which `restore` continues.
    package var state: [UInt8] {
        var writer = CheckpointWriter(magic: Self.magic, fingerprint: fingerprint, iteration: iteration)
        writer.write(weights.values)
        writer.write(duals.values)
        writer.write([isConverged ? 1 : 0] as [Float])
        return writer.bytes
    }

    /// Continues from a state of the same texts and settings, exactly as if it had been reached here.
    ///
    /// - Throws: When the bytes are not such a state; the trainer is then unchanged.
    package func restore(_ state: [UInt8]) throws(ModelError) {
        var reader = CheckpointReader(state, "the checkpoint", remedy: "delete it and train again")
        let iteration = try reader.readHeader(magic: Self.magic, fingerprint: fingerprint)
        let weights = try reader.readFiniteFloats(self.weights.count * labels.count)
        let duals = try reader.readFiniteFloats(self.duals.count * labels.count)
        let isConverged = try reader.readFiniteFloats(1) == [1]
        try reader.finish()
        self.weights.set(weights)
        self.duals.set(duals)
        self.iteration = iteration
        self.isConverged = isConverged
    }
}
