import Glibc
import MLKernels
import Testing

extension KernelTests {
    @Suite struct ReductionKernelTests {
        static let shapes = [
            (1, 1, 1), (3, 5, 1), (2, 7, 3), (4, 100, 1), (2, 33, 70), (1, 3000, 1), (5, 64, 16), (2, 0, 3),
        ]

        @Test(arguments: ReductionKernel.Operation.allCases)
        func reductions(operation: ReductionKernel.Operation) {
            for (outer, axis, inner) in Self.shapes where axis > 0 || operation == .sum {
                var source = NumberSource(seed: UInt64(axis + inner))
                var x = source.floats(outer * axis * inner)
                if operation == .logSum { x = x.map { abs($0) + 0.1 } }
                let expected = (0..<outer * inner).map { index -> Double in
                    let values = (0..<axis).map { Double(x[(index / inner * axis + $0) * inner + index % inner]) }
                    return plain(operation, values)
                }
                forEachInstructionSet { set in
                    var y = [Float](repeating: 99, count: outer * inner + 1)
                    ReductionKernel.reduce(operation, x, into: &y, outer: outer, axis: axis, inner: inner)
                    #expect(worstError(y, expected) < 2e-6, "\(set) \(operation) \(outer) \(axis) \(inner)")
                    #expect(y.last == 99)
                }
            }
        }

        private func plain(_ operation: ReductionKernel.Operation, _ x: [Double]) -> Double {
            switch operation {
            case .sum: x.reduce(0, +)
            case .mean: x.reduce(0, +) / Double(x.count)
            case .maximum: x.max()!
            case .minimum: x.min()!
            case .product: x.reduce(1, *)
            case .sumOfSquares: x.reduce(0) { $0 + $1 * $1 }
            case .l1Norm: x.reduce(0) { $0 + abs($1) }
            case .l2Norm: x.reduce(0) { $0 + $1 * $1 }.squareRoot()
            case .logSum: log(x.reduce(0, +))
            case .logSumExp: log(x.reduce(0) { $0 + exp($1) })
            }
        }

        @Test func positions() {
            var y = [Int32](repeating: 0, count: 3)
            ReductionKernel.argExtreme([1, 5, 2, 7, 5, 2], into: &y, outer: 1, axis: 2, inner: 3)
            #expect(y == [1, 0, 0])
            ReductionKernel.argExtreme([3, 1, 1, 2], into: &y, outer: 1, axis: 4, inner: 1, smallest: true)
            #expect(y[0] == 1)
        }

        @Test func positionsOfEveryLength() {
            for (outer, axis, inner) in [(3, 5, 1), (2, 200, 1), (1, 1000, 1), (2, 7, 33), (1, 300, 70), (40, 21, 100)]
            {
                var source = NumberSource(seed: UInt64(axis))
                // Coarse numbers repeat: the first of equal ones counts.
                let x = source.floats(outer * axis * inner).map { ($0 * 20).rounded() }
                for smallest in [false, true] {
                    let expected = (0..<outer * inner).map { line -> Int32 in
                        let column = (0..<axis).map { x[(line / inner * axis + $0) * inner + line % inner] }
                        return Int32(column.firstIndex(of: smallest ? column.min()! : column.max()!)!)
                    }
                    forEachInstructionSet { set in
                        var y = [Int32](repeating: 99, count: expected.count + 1)
                        ReductionKernel.argExtreme(
                            x,
                            into: &y,
                            outer: outer,
                            axis: axis,
                            inner: inner,
                            smallest: smallest
                        )
                        #expect(y == expected + [99], "\(set) \(outer) \(axis) \(inner)")
                    }
                }
            }
        }

        @Test func meanOverManyPixels() {
            let (outer, axis, inner) = (2, 5000, 37)
            var source = NumberSource(seed: 8)
            let x = source.floats(outer * axis * inner)
            var sums = [Double](repeating: 0, count: outer * inner)
            for index in x.indices { sums[index / inner / axis * inner + index % inner] += Double(x[index]) }
            forEachInstructionSet { set in
                var y = [Float](repeating: 99, count: sums.count + 1)
                ReductionKernel.reduce(.mean, x, into: &y, outer: outer, axis: axis, inner: inner)
                #expect(worstError(y, sums.map { $0 / Double(axis) }) < 1e-6 && y.last == 99, "\(set)")
            }
        }

        @Test func softmax() {
            for (outer, axis, inner) in Self.shapes where axis > 0 {
                var source = NumberSource(seed: UInt64(axis * 3 + inner))
                var x = source.floats(outer * axis * inner).map { $0 * 20 }
                x[0] = 120
                if x.count > 4 { x[3] = -.infinity }
                let expected = softmaxReference(x, axis: axis, inner: inner)
                forEachInstructionSet { set in
                    var y = x
                    ReductionKernel.softmax(y, into: &y, outer: outer, axis: axis, inner: inner)
                    #expect(worstError(y, expected) < 1e-6, "\(set) \(outer) \(axis) \(inner)")
                }
            }
        }

        /// Few rows so long that several workers share each.
        @Test(arguments: [(1, 50_021, 1), (2, 40_000, 1), (1, 60_000, 1000)])
        func longRowNorms(rows: Int, length: Int, repetition: Int) {
            var source = NumberSource(seed: UInt64(length))
            let x = source.floats(rows * length).map { $0 * 3 + 10 }
            let channels = length / repetition
            let (gamma, beta) = (source.floats(channels), source.floats(channels))
            var expected: [Double] = []
            for row in 0..<rows {
                let values = x[row * length..<(row + 1) * length].map(Double.init)
                let mean = values.reduce(0, +) / Double(length)
                let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(length)
                for (i, value) in values.enumerated() {
                    let channel = i / repetition
                    expected.append(
                        (value - mean) / (variance + 1e-5).squareRoot() * Double(gamma[channel]) + Double(beta[channel])
                    )
                }
            }
            forEachInstructionSet { set in
                var y = x
                NormalizationKernel.groupNorm(
                    y,
                    into: &y,
                    batch: rows,
                    channels: channels,
                    space: repetition,
                    groups: 1,
                    epsilon: 1e-5,
                    gamma: gamma,
                    beta: beta
                )
                #expect(worstError(y, expected) < 5e-5, "\(set)")
            }
        }

        @Test(arguments: [(1, 1, 1), (7, 768, 1), (3, 50, 1), (5, 33, 1), (4, 12, 3), (6, 40, 10)])
        func rowNorms(rows: Int, length: Int, repetition: Int) {
            var source = NumberSource(seed: UInt64(length))
            let x = source.floats(rows * length).map { $0 * 3 + 100 }
            let groups = repetition == 1 ? 1 : 2
            let channels = length / repetition * groups
            let (gamma, beta) = (source.floats(channels), source.floats(channels))
            func expected(centered: Bool) -> [Double] {
                (0..<rows * length).map { index in
                    let (row, i) = (index / length, index % length)
                    let values = x[row * length..<(row + 1) * length].map(Double.init)
                    let mean = centered ? values.reduce(0, +) / Double(length) : 0
                    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(length)
                    let channel = row % groups * (length / repetition) + i / repetition
                    let value = (values[i] - mean) / (variance + 1e-5).squareRoot() * Double(gamma[channel])
                    return centered ? value + Double(beta[channel]) : value
                }
            }
            forEachInstructionSet { set in
                var y = x
                if repetition == 1 {
                    NormalizationKernel.layerNorm(
                        y,
                        into: &y,
                        rows: rows,
                        length: length,
                        epsilon: 1e-5,
                        gamma: gamma,
                        beta: beta
                    )
                } else {
                    NormalizationKernel.groupNorm(
                        y,
                        into: &y,
                        batch: rows / groups,
                        channels: channels,
                        space: repetition,
                        groups: groups,
                        epsilon: 1e-5,
                        gamma: gamma,
                        beta: beta
                    )
                }
                #expect(worstError(y, expected(centered: true)) < 5e-5, "\(set)")
                if repetition == 1 {
                    NormalizationKernel.rootMeanSquareNorm(
                        x,
                        into: &y,
                        rows: rows,
                        length: length,
                        epsilon: 1e-5,
                        gamma: gamma
                    )
                    #expect(worstError(y, expected(centered: false)) < 1e-6, "\(set)")
                }
            }
        }

        @Test(arguments: [(1, 1, 5), (2, 49, 33), (1, 900, 64)])
        func instanceNorm(batch: Int, pixels: Int, channels: Int) {
            var source = NumberSource(seed: 8)
            let x = source.floats(batch * pixels * channels).map { $0 + 10 }
            let (gamma, beta) = (source.floats(channels), source.floats(channels))
            var expected = [Double](repeating: 0, count: x.count)
            for item in 0..<batch {
                for c in 0..<channels {
                    let indices = (0..<pixels).map { (item * pixels + $0) * channels + c }
                    let values = indices.map { Double(x[$0]) }
                    let mean = values.reduce(0, +) / Double(pixels)
                    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(pixels)
                    for (index, value) in zip(indices, values) {
                        expected[index] = max(
                            0,
                            (value - mean) / (variance + 1e-5).squareRoot() * Double(gamma[c]) + Double(beta[c])
                        )
                    }
                }
            }
            forEachInstructionSet { set in
                var y = x
                NormalizationKernel.instanceNormChannelsLast(
                    y,
                    into: &y,
                    batch: batch,
                    pixels: pixels,
                    channels: channels,
                    epsilon: 1e-5,
                    gamma: gamma,
                    beta: beta,
                    function: .relu
                )
                #expect(worstError(y, expected) < 2e-5, "\(set)")
            }
        }
    }
}

/// Softmax of `[outer][axis][inner]` in double precision.
func softmaxReference(_ x: [Float], axis: Int, inner: Int) -> [Double] {
    x.indices.map { index in
        let start = index / (axis * inner) * axis * inner + index % inner
        let column = (0..<axis).map { Double(x[start + $0 * inner]) }
        let peak = column.max()!
        return exp(Double(x[index]) - peak) / column.reduce(0) { $0 + exp($1 - peak) }
    }
}
