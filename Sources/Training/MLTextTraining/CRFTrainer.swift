import Glibc
import MLKernels
package import MLModels
package import MLNumerics
import MLTrainingCore

/// The hyperparameters of a word tagger's training.
package struct SequenceSettings: Sendable {
    /// The number of passes over the sequences.
    package var passes = 8
    /// The initial learning rate.
    package var rate: Float = 0.2
    /// The L1 regularisation: a weight stays 0 until the sum of its gradients exceeds this.
    package var l1: Float = 0.2
    /// The L2 regularisation.
    package var l2: Float = 0
    /// Features of fewer tokens are dropped; `nil` means 1 up to 20,000 tokens and 2 above.
    package var minimumCount: Int?
    package var seed: UInt64 = 42

    package init() {}
}

/// Fits a linear-chain conditional random field by maximum likelihood.
///
/// After every sequence the weights of its features and transitions take a step whose learning rate decays with the sum
/// of their squared gradients (FTRL-proximal: McMahan et al. 2013). A token whose tags have the probabilities 0 and 1
/// within 10⁻⁴ updates no feature. Training uses one thread, so the same seed gives the same model on any machine.
package final class CRFTrainer {
    package let tags: [String]
    package private(set) var settings: SequenceSettings
    /// The number of passes over the sequences so far.
    package private(set) var iteration = 0
    /// The sum of the negative log-likelihoods in the last pass, each computed before its sequence was learnt from.
    package private(set) var loss = 0.0
    /// The number of tokens in the training sequences.
    package var tokenCount: Int { table.tokenCount }
    package var isFinished: Bool { iteration >= settings.passes }

    private let table: SequenceTable
    /// Three rows per feature: the weights, the accumulated gradients of FTRL (z), the sums of squared gradients (n).
    private let features: FloatRows
    /// The same for transitions: from the start, then from each tag.
    private let transitions: FloatRows

    /// - Throws: `.invalidInput` when there is nothing to learn from, or too much for the machine's memory.
    package init(_ table: SequenceTable, settings: SequenceSettings = SequenceSettings()) throws(ModelError) {
        guard table.tokenCount > 0 else {
            throw ModelError(.invalidInput, "there are no tokens to learn from; give sequences of tokens and labels")
        }
        guard table.tags.count >= 2 else {
            throw ModelError(
                .invalidInput,
                "all tokens have the label \"\(table.tags[0])\"; a tagger needs tokens of at least two labels"
            )
        }
        guard settings.passes >= 1 else {
            throw ModelError(.invalidInput, "the number of iterations is \(settings.passes); it must be at least 1")
        }
        guard settings.rate > 0, settings.rate.isFinite, settings.l1 >= 0, settings.l2 >= 0 else {
            throw ModelError(
                .invalidInput,
                "the rate \(settings.rate) must be above 0, the penalties \(settings.l1) and \(settings.l2) 0 or more"
            )
        }
        var table = table
        let minimum = settings.minimumCount ?? (table.tokenCount > 20_000 ? 2 : 1)
        if minimum > 1 { table.prune(below: UInt32(clamping: minimum)) }
        self.table = table
        self.settings = settings
        tags = table.tags
        let rows = table.table.count * 3
        guard let bytes = FloatRows.byteCount(count: rows, width: tags.count) else {
            throw ModelError(.invalidInput, "\(rows / 3) features of \(tags.count) labels are too many")
        }
        try MemoryLimit.require(
            byteCount: bytes,
            for: "training on \(table.table.count) features of \(tags.count) labels"
        )
        features = FloatRows(count: rows, width: tags.count)
        transitions = FloatRows(count: (tags.count + 1) * 3, width: tags.count)
    }

    /// Changes the number of passes.
    ///
    /// - Parameter passes: At least 1.
    package func limit(passes: Int) { settings.passes = passes }

    /// One pass over the sequences.
    package func step() {
        guard !isFinished else { return }
        let longest = (0..<table.count).map { table.starts[$0 + 1] - table.starts[$0] }.max() ?? 0
        let lattice = Lattice(tokens: longest, tags: tags.count)
        loss = 0
        for sequence in order(table.count, seed: settings.seed, pass: iteration) { learn(sequence, lattice) }
        iteration += 1
    }

    private func learn(_ sequence: Int, _ lattice: Lattice) {
        let first = table.starts[sequence]
        let length = table.starts[sequence + 1] - first
        guard length > 0 else { return }
        table.positions.withUnsafeBufferPointer { positions in
            for token in 0..<length {
                let sums = lattice.own[token]
                for index in 0..<lattice.stride { sums[index] = .zero }
                for index in table.featureStarts[first + token]..<table.featureStarts[first + token + 1] {
                    let weights = features[Int(positions[index]) * 3]
                    for index in 0..<lattice.stride { sums[index] += weights[index] }
                }
            }
            for row in 0...tags.count {
                let weights = transitions[row * 3]
                for index in 0..<lattice.stride { lattice.factors[row][index] = weights[index] }
            }
            let targets = (0..<length).map { Int(table.targets[first + $0]) }
            loss += lattice.differentiate(targets)
            for token in 0..<length {
                let gradient = lattice.own[token]
                guard lattice.isLarge(gradient) else { continue }
                for index in table.featureStarts[first + token]..<table.featureStarts[first + token + 1] {
                    update(features, Int(positions[index]), gradient)
                }
            }
            for row in 0...tags.count { update(transitions, row, lattice.transitionGradients[row]) }
        }
    }

    /// Updates one row of weights.
    private func update(_ rows: FloatRows, _ row: Int, _ gradient: UnsafeMutablePointer<SIMD4<Float>>) {
        let stride = rows.stride
        let weights = rows[row * 3]
        let (sums, squares) = (weights + stride, weights + 2 * stride)
        let (inverse, l1, l2) = (1 / settings.rate, settings.l1, settings.l2)
        for index in 0..<stride {
            let slope = gradient[index]
            let before = squares[index]
            let after = before + slope * slope
            let root = after.squareRoot()
            let sum = sums[index] + slope - (root - before.squareRoot()) * inverse * weights[index]
            sums[index] = sum
            squares[index] = after
            // soft(−sum, l1) / ((1 + root) / rate + l2)
            var distance = SIMD4<Float>.zero
            distance.replace(with: l1 - sum, where: sum .> l1)
            distance.replace(with: -l1 - sum, where: sum .< -l1)
            weights[index] = distance / ((root + 1) * inverse + l2)
        }
    }

    /// The model at this point, with the features that have a non-zero weight.
    package func model(_ taggerFeatures: TaggerFeatures) -> TaggerModel {
        var (kept, starts): (KeyTable, [Int]) = (KeyTable(), [0])
        var (weightTags, weights): ([UInt16], [Float]) = ([], [])
        for (position, key) in table.table.keys.enumerated() {
            let row = features.scalars(position * 3)
            for tag in tags.indices where row[tag] != 0 {
                weightTags.append(UInt16(tag))
                weights.append(row[tag])
            }
            if weights.count > starts[starts.count - 1] {
                _ = kept.insert(key)
                starts.append(weights.count)
            }
        }
        var matrix: [Float] = []
        for row in 0...tags.count {
            matrix += UnsafeBufferPointer(start: transitions.scalars(row * 3), count: tags.count)
        }
        return TaggerModel(
            features: taggerFeatures,
            tags: tags,
            transitions: matrix,
            table: kept,
            starts: starts,
            weightTags: weightTags,
            weights: weights
        )
    }
}

extension CRFTrainer: IterativeTraining {
    private static let magic = "SWTAGS01"

    private var fingerprint: UInt64 {
        var print = Fingerprint(.splitMix)
        print.add(table.fingerprint)
        for value in [settings.rate, settings.l1, settings.l2] { print.add(UInt64(value.bitPattern)) }
        print.add(settings.seed)
        return print.value
    }

    /// The state from which `restore` continues.
    package var state: [UInt8] {
        var writer = CheckpointWriter(magic: Self.magic, fingerprint: fingerprint, iteration: iteration)
        writer.write(features.values)
        writer.write(transitions.values)
        return writer.bytes
    }

    /// Continues from a state of the same sequences and settings, exactly as if it had been reached here.
    ///
    /// - Throws: When the bytes are not such a state; the trainer is then unchanged.
    package func restore(_ state: [UInt8]) throws(ModelError) {
        var reader = CheckpointReader(state, "the checkpoint", remedy: "delete it and train again")
        let iteration = try reader.readHeader(magic: Self.magic, fingerprint: fingerprint)
        let features = try reader.readFiniteFloats(self.features.count * tags.count)
        let transitions = try reader.readFiniteFloats(self.transitions.count * tags.count)
        try reader.finish()
        self.features.set(features)
        self.transitions.set(transitions)
        self.iteration = iteration
    }
}

/// The forward-backward sums over all tag sequences of one sequence of tokens, in scaled single precision.
private struct Lattice {
    let tags: Int
    let stride: Int
    /// For each token the sums of its features' weights; after `differentiate` the gradient of the loss with respect to
    /// them.
    let own: FloatRows
    /// For each previous tag (0 for the start) the transitions' weights; during `differentiate` their exponentials.
    let factors: FloatRows
    let transitionGradients: FloatRows
    private let forward: FloatRows
    private let backward: FloatRows
    private let scratch: FloatRows

    init(tokens: Int, tags: Int) {
        self.tags = tags
        own = FloatRows(count: tokens, width: tags)
        stride = own.stride
        factors = FloatRows(count: tags + 1, width: tags)
        transitionGradients = FloatRows(count: tags + 1, width: tags)
        forward = FloatRows(count: tokens, width: tags)
        backward = FloatRows(count: 2, width: tags)
        scratch = FloatRows(count: 1, width: tags)
    }

    /// Replaces the sums in `own` by the gradients of −ln P(targets), and sets `transitionGradients`.
    ///
    /// - Returns: −ln P(targets).
    func differentiate(_ targets: [Int]) -> Double {
        let length = targets.count
        var likelihood = 0.0
        for (token, target) in targets.enumerated() {
            likelihood += Double(factors.scalars(token == 0 ? 0 : targets[token - 1] + 1)[target])
            likelihood += Double(own.scalars(token)[target])
        }
        for row in 0...tags {
            exponentiate(factors[row], minus: 0)
            let gradients = transitionGradients[row]
            for index in 0..<stride { gradients[index] = .zero }
        }
        for token in 0..<length {
            let scalars = own.scalars(token)
            var top = scalars[0]
            for tag in 1..<tags { top = Swift.max(top, scalars[tag]) }
            exponentiate(own[token], minus: top)
            likelihood -= Double(top)
            let sums = forward[token]
            if token == 0 {
                for index in 0..<stride { sums[index] = factors[0][index] * own[0][index] }
            } else {
                for index in 0..<stride { sums[index] = .zero }
                let before = forward.scalars(token - 1)
                for tag in 0..<tags {
                    let (share, row) = (before[tag], factors[tag + 1])
                    for index in 0..<stride { sums[index] += row[index] * share }
                }
                for index in 0..<stride { sums[index] *= own[token][index] }
            }
            likelihood -= log(Double(normalize(sums)))
        }
        var (behind, next) = (backward[0], backward[1])
        for tag in 0..<tags { backward.scalars(0)[tag] = 1 }
        for token in Swift.stride(from: length - 1, through: 0, by: -1) {
            // The backward values of token − 1: exp of the token's own sums times the token's backward values.
            let weighted = scratch[0]
            for index in 0..<stride { weighted[index] = own[token][index] * behind[index] }
            let (gradient, sums) = (own[token], forward[token])
            for index in 0..<stride { gradient[index] = sums[index] * behind[index] }
            _ = normalize(gradient)
            if token > 0 {
                let before = forward.scalars(token - 1)
                let result = UnsafeMutableRawPointer(next).assumingMemoryBound(to: Float.self)
                var total: Float = 0
                for tag in 0..<tags {
                    let row = factors[tag + 1]
                    var sum = SIMD4<Float>.zero
                    for index in 0..<stride { sum += row[index] * weighted[index] }
                    result[tag] = sum.sum()
                    total += result[tag] * before[tag]
                }
                let scale = 1 / Swift.max(total, .leastNormalMagnitude)
                for tag in 0..<tags {
                    let (row, gradients) = (factors[tag + 1], transitionGradients[tag + 1])
                    let share = before[tag] * scale
                    for index in 0..<stride { gradients[index] += row[index] * weighted[index] * share }
                }
                for index in 0..<stride { next[index] *= scale }
                transitionGradients.scalars(targets[token - 1] + 1)[targets[token]] -= 1
            } else {
                let gradients = transitionGradients[0]
                for index in 0..<stride { gradients[index] = gradient[index] }
                transitionGradients.scalars(0)[targets[0]] -= 1
            }
            own.scalars(token)[targets[token]] -= 1
            swap(&behind, &next)
        }
        return -likelihood
    }

    /// Whether any value is further than 10⁻⁴ from 0.
    func isLarge(_ values: UnsafeMutablePointer<SIMD4<Float>>) -> Bool {
        var maximum = SIMD4<Float>.zero
        for index in 0..<stride { maximum += values[index] * values[index] }
        return maximum.sum() > 1e-8
    }

    /// Divides probabilities by their sum, keeping each at least 10⁻³⁰ of it.
    private func normalize(_ values: UnsafeMutablePointer<SIMD4<Float>>) -> Float {
        var sum = SIMD4<Float>.zero
        for index in 0..<stride { sum += values[index] }
        let total = Swift.max(sum.sum(), .leastNormalMagnitude)
        let factor = 1 / total
        for index in 0..<stride { values[index] = values[index] * factor }
        return total
    }

    /// Replaces a row's values by exp(value − top), limited to exp(±60), and its padding by 0.
    private func exponentiate(_ values: UnsafeMutablePointer<SIMD4<Float>>, minus top: Float) {
        for index in 0..<stride { values[index] = exponential(values[index] - top) }
        let scalars = UnsafeMutableRawPointer(values).assumingMemoryBound(to: Float.self)
        for tag in tags..<stride * 4 { scalars[tag] = 0 }
    }
}

/// exp(x) for x limited to ±60, within 2 units in the last place: 2ⁿ · a polynomial of the rest.
private func exponential(_ x: SIMD4<Float>) -> SIMD4<Float> {
    var x = x
    x.replace(with: 60, where: x .> 60)
    x.replace(with: -60, where: x .< -60)
    // Adding 1.5 · 2²³ rounds to the nearest integer, which the sum's lowest bits then hold.
    let shifted = x * 1.442_695 + 12_582_912
    let whole = shifted - 12_582_912
    // x − n ln 2, with ln 2 in two parts.
    let rest = (x - whole * 0.693_359_375) + whole * 2.121_944_4e-4
    var value = rest * 1.987_569_1e-4 + 1.398_199_9e-3
    value = value * rest + 8.333_452e-3
    value = value * rest + 4.166_579_6e-2
    value = value * rest + 0.166_666_66
    value = value * rest + 0.5
    value = value * (rest * rest) + rest + 1
    let exponent = (unsafeBitCast(shifted, to: SIMD4<Int32>.self) &- 0x4B40_0000 &+ 127) &<< 23
    return value * unsafeBitCast(exponent, to: SIMD4<Float>.self)
}
