import MLKernels
import Testing

extension KernelTests {
    /// Reductions and functions of 32-bit integers, which are exact.
    @Suite struct IntegerKernelTests {
        static let shapes = [(1, 1, 1), (3, 5, 1), (2, 100, 1), (1, 40_000, 1), (2, 7, 3), (2, 33, 70), (1, 20, 300)]

        @Test(arguments: ReductionKernel.Operation.allCases.filter { ReductionKernel.integerOperations.contains($0) })
        func reductions(operation: ReductionKernel.Operation) {
            for (outer, axis, inner) in Self.shapes {
                var source = NumberSource(seed: UInt64(axis + inner))
                let x = source.integers(outer * axis * inner, upTo: operation == .product ? 2 : 30_000)
                let expected = (0..<outer * inner).map { line -> Int32 in
                    let values = (0..<axis).map { Int(x[(line / inner * axis + $0) * inner + line % inner]) }
                    return Int32(clamping: plain(operation, values))
                }
                forEachInstructionSet { set in
                    var y = [Int32](repeating: 99, count: expected.count + 1)
                    ReductionKernel.reduce(operation, integers: x, into: &y, outer: outer, axis: axis, inner: inner)
                    #expect(y == expected + [99], "\(set) \(outer) \(axis) \(inner)")
                }
            }
        }

        private func plain(_ operation: ReductionKernel.Operation, _ x: [Int]) -> Int {
            switch operation {
            case .sum: return x.reduce(0, +)
            case .mean: return x.reduce(0, +) / x.count
            case .maximum: return x.max()!
            case .minimum: return x.min()!
            case .sumOfSquares: return x.reduce(0) { $0 + $1 * $1 }
            case .l1Norm: return x.reduce(0) { $0 + abs($1) }
            default:
                let magnitude = x.contains(0) ? 0 : x.count { abs($0) == 2 }
                guard !x.contains(0) else { return 0 }
                let sign = x.count { $0 < 0 }.isMultiple(of: 2) ? 1 : -1
                return magnitude > 40 ? sign * Int.max : sign * 1 << magnitude
            }
        }

        @Test(arguments: [false, true])
        func positions(smallest: Bool) {
            for (outer, axis, inner) in Self.shapes {
                var source = NumberSource(seed: UInt64(axis * 3 + inner))
                // Few numbers repeat: the first of equal ones counts.
                var x = source.integers(outer * axis * inner, upTo: 20)
                if axis > 1 { x[0] = smallest ? .min : .max }
                let expected = (0..<outer * inner).map { line -> Int32 in
                    let column = (0..<axis).map { x[(line / inner * axis + $0) * inner + line % inner] }
                    return Int32(column.firstIndex(of: smallest ? column.min()! : column.max()!)!)
                }
                forEachInstructionSet { set in
                    var y = [Int32](repeating: 99, count: expected.count + 1)
                    ReductionKernel.argExtreme(
                        integers: x,
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

        @Test func functions() {
            var source = NumberSource(seed: 8)
            let x: [Int32] = source.integers(61, upTo: 60_000) + [.min, .max, 0, 46_340, 46_341, -46_340, -46_341]
            let functions: [(ElementwiseKernel.IntegerFunction, (Int) -> Int)] = [
                (.absolute, { abs($0) }), (.sign, { $0.signum() }), (.square, { $0 * $0 }),
                (.threshold(-7), { max($0, -7) }),
            ]
            for (function, plain) in functions {
                let expected = x.map { Int32(clamping: plain(Int($0))) }
                forEachInstructionSet { set in
                    var y = x + [99]
                    y.withUnsafeMutableBufferPointer {
                        ElementwiseKernel.map(function, $0.baseAddress!, into: $0.baseAddress!, count: x.count)
                    }
                    #expect(y == expected + [99], "\(set) \(function)")
                }
            }
        }
    }
}
