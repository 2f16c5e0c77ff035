import Glibc
import MLKernels
import Testing

extension KernelTests {
    @Suite struct BinaryKernelTests {
        static let shapes: [([Int], [Int])] = [
            ([37], [37]), ([37], []), ([], [37]), ([5, 33], [33]), ([5, 33], [5, 1]), ([5, 1], [33]), ([], []),
            ([2, 3, 4, 5], [3, 1, 5]), ([2, 1, 4, 1, 3], [1, 5, 1, 6, 1]), ([30, 1, 70], [1, 13, 1]),
            ([1000, 80], [80]),
            ([70_000], [1]), ([0, 4], [4]),
        ]

        static func plain(_ function: ElementwiseKernel.BinaryFunction, _ a: Float, _ b: Float) -> Double {
            let (x, y) = (Double(a), Double(b))
            switch function {
            case .add: return x + y
            case .subtract: return x - y
            case .multiply: return x * y
            case .divide: return x / y
            case .maximum: return a.isNaN || b.isNaN ? .nan : max(x, y)
            case .minimum: return a.isNaN || b.isNaN ? .nan : min(x, y)
            case .power: return pow(x, y)
            case .floorDivide: return Double(floorf(a / b))
            case .modulo:
                let rest = fmod(x, y)
                return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest
            case .squaredDifference: return (x - y) * (x - y)
            case .equal: return a == b ? 1 : 0
            case .notEqual: return a != b ? 1 : 0
            case .less: return a < b ? 1 : 0
            case .lessEqual: return a <= b ? 1 : 0
            case .greater: return a > b ? 1 : 0
            case .greaterEqual: return a >= b ? 1 : 0
            case .and: return a != 0 && b != 0 ? 1 : 0
            case .or: return a != 0 || b != 0 ? 1 : 0
            case .xor: return (a != 0) != (b != 0) ? 1 : 0
            }
        }

        /// The operand's index for each element of the result.
        static func places(_ shape: [Int], in result: [Int]) -> [Int] {
            let strides = MovementTests.strides(shape)
            return MovementTests.indices(result).map { index in
                let own = index.suffix(shape.count)
                return zip(zip(own, shape), strides).reduce(0) { $0 + ($1.0.1 == 1 ? 0 : $1.0.0 * $1.1) }
            }
        }

        @Test func broadcasting() {
            for (first, second) in Self.shapes {
                var source = NumberSource(seed: UInt64(first.count * 7 + second.count))
                let a = source.floats(first.reduce(1, *)).map { ($0 * 8).rounded() / 2 }
                let b = source.floats(second.reduce(1, *)).map { ($0 * 8).rounded() / 2 }
                let shape = BinaryKernel(.add, first, second).resultShape
                let (atA, atB) = (Self.places(first, in: shape), Self.places(second, in: shape))
                let count = atA.count
                for function in ElementwiseKernel.BinaryFunction.allCases where ![.and, .or, .xor].contains(function) {
                    if count > 10_000, ![.add, .divide, .less].contains(function) { continue }
                    let expected = zip(atA, atB).map { Self.plain(function, a[$0], b[$1]) }
                    let kernel = BinaryKernel(function, first, second)
                    forEachInstructionSet { set in
                        var y = [Float](repeating: 99, count: count + 1)
                        var bytes = [UInt8](repeating: 99, count: count + 1)
                        if function.isComparison {
                            kernel.run(a, b, &bytes)
                            #expect(bytes.last == 99)
                            y = bytes.map { Float($0) }
                        } else {
                            kernel.run(a, b, &y)
                        }
                        #expect(y.last == 99)
                        let error = worstError(y, expected)
                        #expect(error < 3e-6, "\(set) \(function) \(first) \(second)")
                    }
                }
            }
        }

        @Test func inPlaceAndFused() {
            var source = NumberSource(seed: 9)
            let (rows, columns) = (300, 129)
            let a = source.floats(rows * columns)
            let b = source.floats(columns)
            let expected = a.indices.map { max(0, Double(a[$0]) - Double(b[$0 % columns])) }
            forEachInstructionSet { set in
                var y = a
                y.withUnsafeMutableBufferPointer { y in
                    BinaryKernel(.subtract, [rows, columns], [columns], then: .relu)
                        .run(y.baseAddress!, b, y.baseAddress!)
                }
                #expect(worstError(y, expected) < 1e-6, "\(set)")
            }
        }

        @Test func integersAndBytes() {
            // Repeated, so that whole vectors and what is left over have every case.
            func repeated<T>(_ values: [T]) -> [T] { (0..<43).map { values[$0 % values.count] } }
            let a: [Int32] = repeated([7, -7, 7, -7, 0, .min, .max, 5])
            let b: [Int32] = repeated([2, 2, -2, -2, 3, -1, 1, 0])
            let (p, q): ([UInt8], [UInt8]) = (repeated([0, 0, 1, 1]), repeated([0, 1, 0, 1]))
            forEachInstructionSet { set in
                func run(_ function: ElementwiseKernel.BinaryFunction) -> [Int32] {
                    var y = [Int32](repeating: 0, count: 43)
                    BinaryKernel(function, [43], [43], element: .int32).run(a, b, &y)
                    return y
                }
                #expect(run(.floorDivide) == repeated([3, -4, -4, 3, 0, .min, .max, 0]), "\(set)")
                #expect(run(.modulo) == repeated([1, 1, -1, -1, 0, 0, 0, 0]), "\(set)")
                #expect(run(.add) == zip(a, b).map { $0 &+ $1 }, "\(set)")
                #expect(run(.multiply) == zip(a, b).map { $0 &* $1 }, "\(set)")
                #expect(run(.maximum) == zip(a, b).map { max($0, $1) }, "\(set)")
                #expect(run(.power).prefix(2) == [49, 49], "\(set)")
                var bytes = [UInt8](repeating: 9, count: 43)
                BinaryKernel(.less, [43], [43], element: .int32).run(a, b, &bytes)
                #expect(bytes == zip(a, b).map { $0 < $1 ? 1 : 0 }, "\(set)")
                for (function, expected) in [
                    (ElementwiseKernel.BinaryFunction.and, [0, 0, 0, 1]), (.or, [0, 1, 1, 1]), (.xor, [0, 1, 1, 0]),
                ] {
                    var y = [UInt8](repeating: 9, count: 43)
                    BinaryKernel(function, [43], [43], element: .bool).run(p, q, &y)
                    #expect(y.map { Int($0) } == repeated(expected), "\(set)")
                }
            }
        }

        @Test func selection() {
            var source = NumberSource(seed: 4)
            for (condition, first, second) in [
                ([70], [70], [70]), ([4, 1, 9], [4, 5, 1], []), ([1], [3, 3], [3, 1]),
            ] {
                let kernel = SelectKernel(condition: condition, first, second)
                let mask = source.floats(condition.reduce(1, *)).map { UInt8($0 > 0 ? 1 : 0) }
                let a = source.floats(first.reduce(1, *))
                let b = source.floats(second.reduce(1, *))
                let shape = kernel.resultShape
                let (m, p, q) = (
                    Self.places(condition, in: shape), Self.places(first, in: shape), Self.places(second, in: shape)
                )
                let expected = m.indices.map { mask[m[$0]] != 0 ? a[p[$0]] : b[q[$0]] }
                forEachInstructionSet { set in
                    var y = [Float](repeating: 9, count: m.count)
                    kernel.run(condition: mask, a, b, &y)
                    #expect(y == expected, "\(set)")
                }
            }
        }

        @Test func channels() {
            for (outer, channels, inner) in [(3, 37, 1), (2, 5, 33), (130, 64, 1), (1, 1, 1), (2, 6, 900)] {
                var source = NumberSource(seed: UInt64(channels))
                let x = source.floats(outer * channels * inner)
                let scale = source.floats(channels)
                let shift = source.floats(channels)
                let slope = source.floats(channels)
                for function in [UnaryFunction.identity, .relu, .clip(low: -0.2, high: 0.4), .prelu, .silu] {
                    for mode in 0..<4 {
                        let expected = x.indices.map { index -> Double in
                            let c = index / inner % channels
                            var v = Double(x[index])
                            if mode & 1 != 0 { v *= Double(scale[c]) }
                            if mode & 2 != 0 { v += Double(shift[c]) }
                            return function == .prelu ? (v < 0 ? v * Double(slope[c]) : v) : reference(function, v)
                        }
                        func run(_ x: UnsafePointer<Float>, _ y: UnsafeMutablePointer<Float>) {
                            ElementwiseKernel.scaleShift(
                                x,
                                into: y,
                                outer: outer,
                                channels: channels,
                                inner: inner,
                                scale: mode & 1 != 0 ? pointer(scale) : nil,
                                shift: mode & 2 != 0 ? pointer(shift) : nil,
                                function: function,
                                slope: pointer(slope)
                            )
                        }
                        forEachInstructionSet { set in
                            var y = [Float](repeating: 9, count: x.count)
                            run(x, &y)
                            let error = worstError(y, expected)
                            #expect(error < 2e-6, "\(set) \(function) \(mode)")
                            var inPlace = x
                            inPlace.withUnsafeMutableBufferPointer { run($0.baseAddress!, $0.baseAddress!) }
                            #expect(inPlace == y, "\(set) \(function) \(mode)")
                        }
                    }
                }
            }
        }

        @Test func unaryInParallel() {
            var source = NumberSource(seed: 2)
            let x = source.floats(50_003)
            let expected = x.map { reference(.tanh, Double($0)) }
            forEachInstructionSet { set in
                var y = [Float](repeating: 9, count: x.count + 1)
                ElementwiseKernel.map(.tanh, x, into: &y, count: x.count)
                #expect(worstError(y, expected) < 1e-6 && y.last == 9, "\(set)")
            }
        }
    }
}
