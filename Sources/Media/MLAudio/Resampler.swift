import Glibc

/// Brings samples to another rate, block by block: a sinc of 64 zero crossings to either side under a Kaiser window,
/// cut off below the lower of the two Nyquist frequencies.
///
/// Frequencies above it are damped by more than 85 dB, those below 0.9 of it pass. Sample 0 stays where
/// it is: nothing is delayed.
package struct Resampler: Sendable {
    /// Output sample n lies at input n · step / phases.
    private let phases: Int
    private let step: Int
    /// Input samples to either side that an output sample is made of.
    private let reach: Int
    /// The cut-off in parts of the input's Nyquist frequency.
    private let cutoff: Double
    /// [phases, taps]; empty when that would take too much memory, and then each row is made when it is needed.
    private var table: [Float] = []

    /// The input from `first` on that is still needed.
    private var history: [Float]
    private var first: Int
    private var produced = 0

    private static let crossings = 64.0
    private static let beta = 9.0
    private static let tableLimit = 1 << 21

    private var taps: Int { 2 * reach }

    package init(from source: Int, to target: Int) {
        precondition(source > 0 && target > 0)
        var (a, b) = (source, target)
        while b != 0 { (a, b) = (b, a % b) }
        (phases, step) = (target / a, source / a)
        let ratio = Swift.min(1, Double(target) / Double(source))
        cutoff = 0.945 * ratio
        reach = Int((Self.crossings / ratio).rounded(.up))
        // Silence before the sound.
        first = -reach
        history = [Float](repeating: 0, count: reach)
        guard phases > 1 || step > 1, phases * taps <= Self.tableLimit else { return }
        table.reserveCapacity(phases * taps)
        for phase in 0..<phases { table += row(phase) }
    }

    /// The filter coefficients at phase `phase` for the `taps` input samples at −reach + 1 … reach.
    private func row(_ phase: Int) -> [Float] {
        let fraction = Double(phase) / Double(phases)
        let bottom = Self.bessel(Self.beta)
        let weights = (0..<taps).map { tap -> Double in
            let distance = Double(tap - reach + 1) - fraction
            let position = distance / Double(reach)
            guard abs(position) < 1 else { return 0 }
            let window = Self.bessel(Self.beta * (1 - position * position).squareRoot()) / bottom
            let angle = Double.pi * distance * cutoff
            return window * cutoff * (abs(angle) < 1e-9 ? 1 : sin(angle) / angle)
        }
        // A constant stays what it is.
        let total = weights.reduce(0, +)
        return weights.map { Float($0 / total) }
    }

    /// The modified Bessel function of the first kind, of order 0.
    private static func bessel(_ x: Double) -> Double {
        var (sum, term, index) = (1.0, 1.0, 1.0)
        while term > 1e-18 * sum {
            term *= (x / 2 / index) * (x / 2 / index)
            sum += term
            index += 1
        }
        return sum
    }

    /// Takes the next input and appends the output that is complete with it.
    package mutating func append(_ samples: [Float], to result: inout [Float]) {
        guard phases > 1 || step > 1 else {
            result += samples
            return
        }
        history += samples
        produce(before: first + history.count, to: &result)
    }

    /// Appends the remaining samples; silence follows the sound.
    package mutating func finish(to result: inout [Float]) {
        guard phases > 1 || step > 1 else { return }
        let end = first + history.count
        history += [Float](repeating: 0, count: reach + 1)
        produce(before: end, to: &result)
    }

    /// Makes the output at input places below `end` whose surroundings are known.
    private mutating func produce(before end: Int, to result: inout [Float]) {
        let known = first + history.count
        while true {
            let position = produced * step / phases
            guard position < end, position + reach < known else { break }
            let phase = produced * step % phases
            let start = position - reach + 1 - first
            if table.isEmpty {
                result.append(dot(row(phase), 0, start))
            } else {
                result.append(dot(table, phase * taps, start))
            }
            produced += 1
        }
        let needed = Swift.max(first, produced * step / phases - reach + 1)
        let spare = Swift.min(needed - first, history.count)
        if spare > 0 {
            history.removeFirst(spare)
            first += spare
        }
    }

    private func dot(_ weights: [Float], _ offset: Int, _ start: Int) -> Float {
        history.withUnsafeBytes { samples in
            weights.withUnsafeBytes { weights in
                var sum = SIMD8<Float>()
                var tap = 0
                while tap + 8 <= taps {
                    let x = samples.loadUnaligned(fromByteOffset: (start + tap) * 4, as: SIMD8<Float>.self)
                    let w = weights.loadUnaligned(fromByteOffset: (offset + tap) * 4, as: SIMD8<Float>.self)
                    sum += x * w
                    tap += 8
                }
                var total = sum.sum()
                while tap < taps {
                    total +=
                        samples.loadUnaligned(fromByteOffset: (start + tap) * 4, as: Float.self)
                        * weights.loadUnaligned(fromByteOffset: (offset + tap) * 4, as: Float.self)
                    tap += 1
                }
                return total
            }
        }
    }
}
