import Glibc
import MLKernels
import Testing

extension KernelTests {
    /// Products and exponentials in double precision, and the sums of histograms.
    @Suite struct DoubleKernelTests {
        @Test(arguments: [(1, 1, 1), (3, 5, 7), (6, 9, 64), (17, 33, 130)])
        func products(rows: Int, columns: Int, terms: Int) {
            var source = NumberSource(seed: UInt64(terms))
            let (aStride, bStride, stride) = (terms + 3, terms + 1, columns + 2)
            let a = source.floats(rows * aStride).map(Double.init)
            let b = source.floats(columns * bStride).map(Double.init)
            forEachInstructionSet { set in
                var y = [Double](repeating: 99, count: rows * stride)
                DoubleKernel.dotProducts(
                    a,
                    rows: rows,
                    stride: aStride,
                    b,
                    rows: columns,
                    stride: bStride,
                    terms: terms,
                    into: &y,
                    stride: stride
                )
                for i in 0..<rows {
                    for j in 0..<stride {
                        let sum = (0..<terms).reduce(0) {
                            $0 + a[i * aStride + $1] * (j < columns ? b[j * bStride + $1] : 0)
                        }
                        let expected = j < columns ? sum : 99
                        #expect(abs(y[i * stride + j] - expected) < 1e-12 * (1 + abs(expected)), "\(set) \(i) \(j)")
                    }
                }
            }
        }

        @Test func exponentials() {
            var source = NumberSource(seed: 6)
            let x = source.floats(101).map { Double($0) * 50 } + [0, -0.0, 1, -745, 709, 1e-300, -1e-300]
            forEachInstructionSet { set in
                for count in [0, 1, 7, x.count] {
                    var y = Array(x.prefix(count)) + [99]
                    DoubleKernel.exponentials(&y, count: count)
                    let worst = zip(x.prefix(count), y).reduce(0) { max($0, abs($1.1 - exp($1.0)) / exp($1.0).nextUp) }
                    #expect(worst < 1e-14, "\(set) \(worst)")
                    #expect(y.last == 99)
                }
            }
        }

        @Test(arguments: [1, 2, 3, 4, 5, 8, 11])
        func histograms(columns: Int) {
            var source = NumberSource(seed: UInt64(columns))
            let count = 70
            let bins = (0..<count * columns).map { _ in UInt8(truncatingIfNeeded: Int(source.next() * 128) + 128) }
            let rows: [Int32] = (0..<50).map { Int32($0 * 7 % count) }
            let examples = (0..<rows.count).map { _ in
                SIMD4(source.next(), source.next(), source.next(), 1)
            }
            var expected = [SIMD4<Double>](repeating: .zero, count: columns * 256)
            for (row, example) in zip(rows, examples) {
                for column in 0..<columns {
                    expected[column << 8 | Int(bins[Int(row) * columns + column])] += SIMD4<Double>(example)
                }
            }
            forEachInstructionSet { set in
                var cells = [SIMD4<Double>](repeating: .zero, count: columns * 256)
                rows.withUnsafeBufferPointer {
                    HistogramKernel.add(examples, rows: $0, bins: bins, columns: columns, to: &cells)
                }
                #expect(cells == expected, "\(set)")
            }
        }
    }
}
