import Glibc
import MLKernels
import Testing

extension KernelTests {
    @Suite struct AttentionKernelTests {
        struct Problem: Sendable {
            var shape: (batch: Int, heads: Int, keyHeads: Int, queries: Int, keys: Int, size: Int, valueSize: Int)
            var isCausal = false
            var mask = Mask.none
            var headsFirst = false
            /// Whether keys and values are half floats.
            var half = false
            /// The keys that the cache holds; the mask hides those behind them.
            var tokens: Int?
            enum Mask { case none, added, perKey, keep }
        }

        static let problems: [Problem] = [
            Problem(shape: (1, 2, 2, 5, 7, 8, 8)),
            Problem(shape: (2, 4, 4, 128, 128, 64, 64), mask: .perKey),
            Problem(shape: (1, 4, 2, 33, 33, 20, 12), isCausal: true, headsFirst: true),
            Problem(shape: (1, 2, 1, 1, 100, 64, 64), mask: .added),
            Problem(shape: (1, 3, 3, 3, 40, 10, 70), isCausal: true, mask: .keep),
            Problem(shape: (2, 1, 1, 50, 300, 33, 40), mask: .keep),
            Problem(shape: (1, 1, 1, 200, 1000, 16, 16), isCausal: true, mask: .added, headsFirst: true),
            Problem(shape: (1, 1, 1, 6, 1, 1, 1)),
            Problem(shape: (1, 12, 4, 1, 200, 128, 128), mask: .added, half: true),
            Problem(shape: (1, 2, 1, 3, 30, 37, 75), mask: .keep, headsFirst: true, half: true),
            Problem(shape: (2, 4, 2, 60, 70, 40, 20), isCausal: true, half: true),
            Problem(shape: (1, 4, 2, 1, 300, 32, 32), mask: .added, half: true, tokens: 128),
            Problem(shape: (2, 2, 1, 70, 300, 32, 32), mask: .added, tokens: 64),
            Problem(shape: (1, 8, 8, 20, 200, 24, 40), mask: .keep, headsFirst: true, tokens: 128),
            Problem(shape: (2, 2, 2, 9, 100, 8, 8), mask: .perKey, tokens: 0),
        ]

        @Test(arguments: problems.indices)
        func matchesPlainLoops(number: Int) {
            let problem = Self.problems[number]
            let s = problem.shape
            var source = NumberSource(seed: UInt64(number + 1))
            func strides(_ heads: Int, _ positions: Int, _ size: Int) -> (batch: Int, head: Int, position: Int) {
                problem.headsFirst
                    ? (heads * positions * size, positions * size, size)
                    : (heads * positions * size, size, heads * size)
            }
            let (qs, ks) = (strides(s.heads, s.queries, s.size), strides(s.keyHeads, s.keys, s.size))
            let (vs, os) = (strides(s.keyHeads, s.keys, s.valueSize), strides(s.heads, s.queries, s.valueSize))
            let q = source.floats(s.batch * s.heads * s.queries * s.size).map { $0 * 3 }
            var k = source.floats(s.batch * s.keyHeads * s.keys * s.size)
            var v = source.floats(s.batch * s.keyHeads * s.keys * s.valueSize)
            // Keys and values behind the tokens are not read: they are not a number.
            let tokens = problem.tokens ?? s.keys
            for (b, g, j) in (0..<s.batch).flatMap({ b in
                (0..<s.keyHeads).flatMap { g in (tokens..<s.keys).map { (b, g, $0) } }
            }) {
                for i in 0..<s.size { k[b * ks.batch + g * ks.head + j * ks.position + i] = .nan }
                for i in 0..<s.valueSize { v[b * vs.batch + g * vs.head + j * vs.position + i] = .nan }
            }
            let halves = [k, v].map { $0.map { Float16($0).bitPattern } }
            if problem.half { (k, v) = (widened(halves[0]), widened(halves[1])) }
            let added = source.floats(s.batch * s.queries * s.keys).enumerated().map {
                $1 > 0.8 || $0 % s.keys >= tokens ? -.infinity : $1
            }
            let keep = source.floats(s.batch * s.heads * s.queries * s.keys).enumerated().map {
                UInt8($1 > 0.9 || $0 % s.keys >= tokens ? 0 : 1)
            }
            let scale: Float = 0.3
            func hidden(_ b: Int, _ h: Int, _ i: Int, _ j: Int) -> Double {
                if problem.isCausal && j > i + s.keys - s.queries { return -.infinity }
                switch problem.mask {
                case .none: return 0
                case .added: return Double(added[(b * s.queries + i) * s.keys + j])
                case .perKey: return Double(added[b * s.keys + j])
                case .keep: return keep[((b * s.heads + h) * s.queries + i) * s.keys + j] == 0 ? -.infinity : 0
                }
            }
            var expected = [Double](repeating: 0, count: s.batch * s.heads * s.queries * s.valueSize)
            for b in 0..<s.batch {
                for h in 0..<s.heads {
                    let g = h * s.keyHeads / s.heads
                    for i in 0..<s.queries {
                        let scores = (0..<tokens).map { j -> Double in
                            let qa = b * qs.batch + h * qs.head + i * qs.position
                            let ka = b * ks.batch + g * ks.head + j * ks.position
                            let product = (0..<s.size).reduce(0.0) { $0 + Double(q[qa + $1]) * Double(k[ka + $1]) }
                            return product * Double(scale) + hidden(b, h, i, j)
                        }
                        let peak = scores.max() ?? -.infinity
                        let weights = scores.map { peak == -.infinity ? 0 : exp($0 - peak) }
                        let total = weights.reduce(0, +)
                        for d in 0..<s.valueSize where total > 0 {
                            let sum = (0..<tokens).reduce(0.0) {
                                $0 + weights[$1] * Double(v[b * vs.batch + g * vs.head + $1 * vs.position + d])
                            }
                            expected[b * os.batch + h * os.head + i * os.position + d] = sum / total
                        }
                    }
                }
            }
            let mask: AttentionKernel.Mask? =
                switch problem.mask {
                case .none: nil
                case .added:
                    AttentionKernel.Mask(.added(pointer(added)), strides: (s.queries * s.keys, 0, s.keys, 1))
                case .perKey: AttentionKernel.Mask(.added(pointer(added)), strides: (s.keys, 0, 0, 1))
                case .keep:
                    AttentionKernel.Mask(
                        .keep(pointer(keep)),
                        strides: (s.heads * s.queries * s.keys, s.queries * s.keys, s.keys, 1)
                    )
                }
            func widened(_ halves: [UInt16]) -> [Float] { halves.map { Float(Float16(bitPattern: $0)) } }
            func operand<Element>(_ values: [Element], _ strides: (batch: Int, head: Int, position: Int))
                -> AttentionKernel.Operand<Element>
            { AttentionKernel.Operand(pointer(values), strides: strides) }
            let sizes = AttentionKernel.Shape(
                batch: s.batch,
                heads: s.heads,
                keyHeads: s.keyHeads,
                queries: s.queries,
                keys: s.keys,
                size: s.size,
                valueSize: s.valueSize
            )
            func attend<Element>(_ key: [Element], _ value: [Element], into out: inout [Float])
            where Element: AttentionElement {
                AttentionKernel.attend(
                    sizes,
                    query: operand(q, qs),
                    key: operand(key, ks),
                    value: operand(value, vs),
                    into: &out,
                    strides: os,
                    scale: scale,
                    mask: mask,
                    isCausal: problem.isCausal
                )
            }
            forEachInstructionSet { set in
                var out = [Float](repeating: 99, count: expected.count + 1)
                if problem.half {
                    attend(halves[0], halves[1], into: &out)
                } else {
                    attend(k, v, into: &out)
                }
                #expect(worstError(out, expected) < 3e-6, "\(set)")
                #expect(out.last == 99)
            }
        }
    }
}
