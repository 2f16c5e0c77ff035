import CTraining
import MLKernels
package import MLNumerics

/// The features of MiniRocket (Dempster, Schmidt and Webb 2021): how often a convolution of the series exceeds a bias.
///
/// There are 84 kernels of nine weights, three of them 2 and the others −1, each with several dilations d; the
/// convolution at t of channel c is Σ w[i] · x[c, t + (i − 4) · d], with zeros beyond the ends, summed over the
/// channels of the combination. A feature is the share of all t, or of those whose receptive field lies inside the
/// series (alternating over kernels and dilations), where that sum is greater than the feature's bias. The features'
/// order is dilation, kernel, bias, as in aeon.
package struct MiniRocket: Sendable, Hashable {
    /// The three weights of each kernel that are 2, in lexicographic order.
    package static let kernels: [(Int, Int, Int)] = {
        var result: [(Int, Int, Int)] = []
        for a in 0..<7 { for b in a + 1..<8 { for c in b + 1..<9 { result.append((a, b, c)) } } }
        return result
    }()

    package let channelCount: Int
    package let length: Int
    /// The dilations, ascending.
    package let dilations: [Int]
    /// The number of biases of a kernel for each dilation.
    package let biasCounts: [Int]
    /// For each dilation and kernel the channels that are summed.
    package let channels: [[Int]]
    /// The bias of each feature.
    package let biases: [Float]

    /// - Throws: `.invalidInput` when the parts contradict each other.
    package init(
        channelCount: Int,
        length: Int,
        dilations: [Int],
        biasCounts: [Int],
        channels: [[Int]],
        biases: [Float]
    ) throws(ModelError) {
        let count = biasCounts.reduce(0, +) * Self.kernels.count
        guard dilations.count == biasCounts.count, channels.count == dilations.count * Self.kernels.count,
            biases.count == count, dilations.allSatisfy({ $0 > 0 && 8 * $0 < length }),
            channels.allSatisfy({ !$0.isEmpty && $0.allSatisfy((0..<channelCount).contains) })
        else { throw ModelError(.invalidInput, "these are not parameters of a MiniRocket; make them by fitting") }
        self.channelCount = channelCount
        self.length = length
        self.dilations = dilations
        self.biasCounts = biasCounts
        self.channels = channels
        self.biases = biases
    }

    package var featureCount: Int { biases.count }

    /// Whether the sums near the ends of the series count, given the indices of a dilation and a kernel.
    static func countsEnds(_ dilation: Int, _ kernel: Int) -> Bool { (dilation + kernel) % 2 == 0 }

    /// The features of every series: [count, features]; identical with any number of threads.
    package func features(of set: SeriesSet) throws(ModelError) -> [Float] {
        guard set.channelCount == channelCount, set.length == length else {
            throw ModelError(
                .invalidInput,
                "the series have \(set.channelCount) channels of \(set.length) points; "
                    + "the features were fitted to \(channelCount) of \(length)"
            )
        }
        var result = [Float](repeating: 0, count: set.count * featureCount)
        let size = channelCount * length
        result.withUnsafeMutableBufferPointer { result in
            set.values.withUnsafeBufferPointer { values in
                guard let target = result.baseAddress, let source = values.baseAddress else { return }
                // The series are only read; each has features of its own.
                nonisolated(unsafe) let (to, from) = (target, source)
                Workers.parallelFor(set.count) { index, _ in
                    features(of: from + index * size, into: to + index * featureCount)
                }
            }
        }
        return result
    }

    private func features(of series: UnsafePointer<Float>, into result: UnsafeMutablePointer<Float>) {
        let sums = ConvolutionSums(series, channelCount, length, greatestDilation: dilations.last ?? 1)
        var feature = 0
        for (position, dilation) in dilations.enumerated() {
            sums.begin(dilation)
            for kernel in 0..<Self.kernels.count {
                sums.add(Self.kernels[kernel], channels[position * Self.kernels.count + kernel])
                let margin = Self.countsEnds(position, kernel) ? 0 : 4 * dilation
                let range = feature..<feature + biasCounts[position]
                sums.proportions(above: biases, range, margin: margin, into: result)
                feature = range.upperBound
            }
        }
    }
}

extension MiniRocket {
    package static func == (a: MiniRocket, b: MiniRocket) -> Bool {
        a.channelCount == b.channelCount && a.length == b.length && a.dilations == b.dilations
            && a.biasCounts == b.biasCounts && a.channels == b.channels && a.biases == b.biases
    }
}

/// Computes the convolutions of one series, dilation by dilation.
final class ConvolutionSums {
    private let channelCount: Int
    private let length: Int
    /// The number of zeros on either side of each padded channel.
    private let border: Int
    private let stride: Int
    /// [channels, stride]: the series between zeros.
    private let padded: UnsafeMutablePointer<Float>
    /// [channels, stride]: the negated sum of the nine samples.
    private let common: UnsafeMutablePointer<Float>
    /// The sums of the current kernel, and as many numbers for sorting.
    private let sums: UnsafeMutablePointer<Float>
    private let scratch: UnsafeMutablePointer<Float>
    private var counts: [Int32] = []
    private var dilation = 1
    private let isWide: Int32

    init(_ series: UnsafePointer<Float>, _ channelCount: Int, _ length: Int, greatestDilation: Int) {
        self.channelCount = channelCount
        self.length = length
        isWide = InstructionSet.current == .sse2 ? 0 : 1
        border = 4 * greatestDilation
        stride = length + 2 * border + Int(CTRAINING_PADDING)
        padded = .allocate(capacity: channelCount * stride)
        common = .allocate(capacity: channelCount * stride)
        sums = .allocate(capacity: length + Int(CTRAINING_PADDING))
        scratch = .allocate(capacity: length)
        padded.initialize(repeating: 0, count: channelCount * stride)
        common.initialize(repeating: 0, count: channelCount * stride)
        sums.initialize(repeating: 0, count: length + Int(CTRAINING_PADDING))
        for channel in 0..<channelCount {
            (padded + channel * stride + border).update(from: series + channel * length, count: length)
        }
    }

    deinit {
        padded.deallocate()
        common.deallocate()
        sums.deallocate()
        scratch.deallocate()
    }

    /// Prepares another dilation.
    func begin(_ dilation: Int) {
        self.dilation = dilation
        for channel in 0..<channelCount {
            let x = padded + channel * stride + border - 4 * dilation
            ctraining_negated_sums(x, dilation, common + channel * stride, length, isWide)
        }
    }

    /// Computes the sums of a kernel over `channels`.
    func add(_ kernel: (Int, Int, Int), _ channels: [Int]) {
        for (index, channel) in channels.enumerated() {
            let x = padded + channel * stride + border - 4 * dilation
            let (a, b, c) = (x + kernel.0 * dilation, x + kernel.1 * dilation, x + kernel.2 * dilation)
            ctraining_kernel_sums(common + channel * stride, a, b, c, sums, length, index == 0 ? 0 : 1, isWide)
        }
    }

    /// The shares of the sums that exceed `biases[range]`, leaving out `margin` of them at each end.
    func proportions(above biases: [Float], _ range: Range<Int>, margin: Int, into result: UnsafeMutablePointer<Float>)
    {
        let count = length - 2 * margin
        if counts.count < range.count { counts = [Int32](repeating: 0, count: range.count) }
        biases.withUnsafeBufferPointer { biases in
            guard let levels = biases.baseAddress else { return }
            ctraining_count_above(sums + margin, count, levels + range.lowerBound, range.count, &counts, isWide)
        }
        for (position, feature) in range.enumerated() { result[feature] = Float(counts[position]) / Float(count) }
    }

    /// Calls `body` with the current sums in ascending order, which replace them.
    func withSorted<Result>(_ body: (UnsafeBufferPointer<Float>) -> Result) -> Result {
        ctraining_sort(sums, scratch, length)
        return body(UnsafeBufferPointer(start: sums, count: length))
    }
}
