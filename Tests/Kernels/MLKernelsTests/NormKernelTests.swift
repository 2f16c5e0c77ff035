import Glibc
import MLKernels
import Testing

extension KernelTests {
    /// Normalisation along an axis in the middle and over neighbouring channels, and points sampled from planes.
    @Suite struct NormKernelTests {
        @Test(arguments: [(1, 1, 1), (2, 5, 3), (3, 40, 33), (1, 7, 600)], [false, true])
        func columnNorms(shape: (outer: Int, axis: Int, inner: Int), isScaled: Bool) {
            var source = NumberSource(seed: UInt64(shape.axis))
            let (outer, axis, inner) = shape
            let x = source.floats(outer * axis * inner).map { $0 * 3 + 10 }
            let (gamma, beta) = (source.floats(axis), source.floats(axis))
            let expected = x.indices.map { index -> Double in
                let (line, place) = (index / (axis * inner) * axis * inner + index % inner, index / inner % axis)
                let values = (0..<axis).map { Double(x[line + $0 * inner]) }
                let mean = values.reduce(0, +) / Double(axis)
                let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(axis)
                let y = (values[place] - mean) / (variance + 1e-5).squareRoot()
                return isScaled ? y * Double(gamma[place]) + Double(beta[place]) : y
            }
            forEachInstructionSet { set in
                var y = x + [99]
                y.withUnsafeMutableBufferPointer { y in
                    NormalizationKernel.columnNorm(
                        y.baseAddress!,
                        into: y.baseAddress!,
                        outer: outer,
                        axis: axis,
                        inner: inner,
                        epsilon: 1e-5,
                        gamma: isScaled ? pointer(gamma) : nil,
                        beta: isScaled ? pointer(beta) : nil
                    )
                }
                #expect(worstError(y.dropLast(), expected) < 2e-5, "\(set)")
                #expect(y.last == 99)
            }
        }

        @Test(arguments: [(1, 1, 1), (2, 9, 5), (1, 20, 70), (3, 33, 1)], [(2, 2, 0.75), (0, 3, 0.5), (1, 1, 1.3)])
        func neighbourNorms(shape: (Int, Int, Int), window: (before: Int, after: Int, exponent: Double)) {
            let (outer, channels, inner) = shape
            var source = NumberSource(seed: UInt64(channels + inner))
            let x = source.floats(outer * channels * inner)
            let expected = x.indices.map { index -> Double in
                let (line, place) = (
                    index / (channels * inner) * channels * inner + index % inner, index / inner % channels
                )
                let near = max(0, place - window.before)...min(channels - 1, place + window.after)
                let sum = near.reduce(0.0) { $0 + Double(x[line + $1 * inner]) * Double(x[line + $1 * inner]) }
                return Double(x[index]) / pow(1.5 + 0.7 * sum, window.exponent)
            }
            forEachInstructionSet { set in
                var y = [Float](repeating: 99, count: x.count + 1)
                NormalizationKernel.localResponseNorm(
                    x,
                    into: &y,
                    outer: outer,
                    channels: channels,
                    inner: inner,
                    before: window.before,
                    after: window.after,
                    factor: 0.7,
                    bias: 1.5,
                    exponent: Float(window.exponent)
                )
                #expect(worstError(y.dropLast(), expected) < 1e-5, "\(set)")
                #expect(y.last == 99)
            }
        }

        /// An element whose share is 0 does not count, whatever it is.
        @Test(arguments: [1, 4, 8], [1, 19, 300])
        func samples(taps: Int, count: Int) {
            var source = NumberSource(seed: UInt64(taps * count))
            let (planes, plane) = (3, 50)
            var x = source.floats(planes * plane)
            x[7] = .nan
            let positions = (0..<taps * count).map { _ in Int32(abs(source.next()) * 49) }
            let weights = positions.map { $0 == 7 ? 0 : source.next() }
            let bias = source.floats(count)
            let expected = (0..<planes * count).map { index -> Double in
                (0..<taps).reduce(Double(bias[index % count])) { sum, tap in
                    let at = tap * count + index % count
                    guard weights[at] != 0 else { return sum }
                    return sum + Double(weights[at]) * Double(x[index / count * plane + Int(positions[at])])
                }
            }
            forEachInstructionSet { set in
                var y = [Float](repeating: 99, count: planes * count + 1)
                SamplingKernel.run(
                    x,
                    into: &y,
                    planes: planes,
                    plane: plane,
                    taps: taps,
                    positions: positions,
                    weights: weights,
                    bias: bias,
                    count: count
                )
                #expect(worstError(y.dropLast(), expected) < 1e-5, "\(set)")
                #expect(y.last == 99)
            }
        }
    }
}
