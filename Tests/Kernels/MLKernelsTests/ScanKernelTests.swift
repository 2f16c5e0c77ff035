import MLKernels
import Testing

extension KernelTests {
    /// Running sums against plain loops.
    @Suite struct ScanKernelTests {
        /// One element, short and long lines, lines that workers share, and columns: fewer and more than go at once.
        static let shapes = [(1, 1, 1), (3, 7, 1), (2, 300, 1), (1, 70_001, 1), (2, 5, 3), (3, 40, 33), (2, 9, 600)]

        /// The sums before or after each element, in either direction.
        private func plain(_ x: [Double], _ shape: (Int, Int, Int), isExclusive: Bool, isReversed: Bool) -> [Double] {
            let (outer, axis, inner) = shape
            var y = x
            for line in 0..<outer * inner {
                let start = line / inner * axis * inner + line % inner
                let places = (0..<axis).map { start + $0 * inner }
                var sum = 0.0
                for place in isReversed ? places.reversed() : places {
                    let own = x[place]
                    y[place] = isExclusive ? sum : sum + own
                    sum += own
                }
            }
            return y
        }

        @Test(arguments: [false, true], [false, true])
        func floats(isExclusive: Bool, isReversed: Bool) {
            for (outer, axis, inner) in Self.shapes {
                var source = NumberSource(seed: UInt64(axis + inner))
                let x = source.floats(outer * axis * inner)
                let expected = plain(
                    x.map(Double.init),
                    (outer, axis, inner),
                    isExclusive: isExclusive,
                    isReversed: isReversed
                )
                forEachInstructionSet { set in
                    for isInPlace in [false, true] {
                        var y = isInPlace ? x + [99] : [Float](repeating: 99, count: x.count + 1)
                        y.withUnsafeMutableBytes { y in
                            ReductionKernel.cumulativeSum(
                                isInPlace ? UnsafeRawPointer(y.baseAddress!) : UnsafeRawPointer(pointer(x)),
                                into: y.baseAddress!,
                                outer: outer,
                                axis: axis,
                                inner: inner,
                                isExclusive: isExclusive,
                                isReversed: isReversed
                            )
                        }
                        #expect(worstError(y.dropLast(), expected) < 1e-6, "\(set) \(outer) \(axis) \(inner)")
                        #expect(y.last == 99)
                    }
                }
            }
        }

        /// Sums beyond 32 bits are held there, and come back.
        @Test(arguments: [false, true], [false, true])
        func integers(isExclusive: Bool, isReversed: Bool) {
            for (outer, axis, inner) in Self.shapes {
                var source = NumberSource(seed: UInt64(axis + 2 * inner))
                let x = source.integers(outer * axis * inner, upTo: 2_000_000_000)
                let expected = plain(
                    x.map(Double.init),
                    (outer, axis, inner),
                    isExclusive: isExclusive,
                    isReversed: isReversed
                ).map { Int32(clamping: Int($0)) }
                forEachInstructionSet { set in
                    for isInPlace in [false, true] {
                        var y = isInPlace ? x + [99] : [Int32](repeating: 99, count: x.count + 1)
                        y.withUnsafeMutableBytes { y in
                            ReductionKernel.cumulativeSum(
                                isInPlace ? UnsafeRawPointer(y.baseAddress!) : UnsafeRawPointer(pointer(x)),
                                into: y.baseAddress!,
                                outer: outer,
                                axis: axis,
                                inner: inner,
                                isInteger: true,
                                isExclusive: isExclusive,
                                isReversed: isReversed
                            )
                        }
                        #expect(y == expected + [99], "\(set) \(outer) \(axis) \(inner)")
                    }
                }
            }
        }
    }
}
