import MLKernels
import Testing

extension KernelTests {
    /// Products of quantised integers, of 16 bits or bytes, have exact sums, and their results the numbers of plain
    /// arithmetic: all factors are powers of two here, so that nothing is rounded but on the grids.
    @Suite struct IntegerProductTests {
        struct Problem: Sendable, CustomStringConvertible {
            /// Batch and spatial extents; a matrix product of as many rows, if there is no kernel.
            var input: [Int]
            var kernel: [Int] = []
            var terms = 64
            var columns = 40
            var stride = 1
            var padding = 0
            /// Bytes of 0...127 as the first factor, as the residual and, where the grid allows it, as results.
            var isBytes = false
            /// Weights of the greatest magnitudes only, whose products with bytes do not fit 16 bits when four are added.
            var isExtreme = false
            /// The greatest magnitude of a first factor that is no byte: tiles narrow those up to 127.
            var bound: Float = 255
            var isSigned = true
            var hasZeros = false
            var isTermsFirst = false
            /// As a factor of the results: rounded before a residual is added, the residual as quantised integers or as
            /// floats.
            var isRounded = false
            var residual = 0
            var function = UnaryFunction.identity
            var isWhole = false

            var description: String {
                "\(input) \(kernel) \(terms) \(columns) s\(stride) \(residual) \(isWhole) \(isBytes)"
            }
            var taps: Int { kernel.reduce(1, *) }
            var output: [Int] {
                kernel.isEmpty
                    ? Array(input.dropFirst())
                    : zip(input.dropFirst(), kernel).map { ($0 + 2 * padding - $1) / stride + 1 }
            }
        }

        static let problems: [Problem] = [
            Problem(input: [1], terms: 2, columns: 1),
            Problem(input: [3], terms: 66, columns: 33, isSigned: false, hasZeros: true, function: .relu),
            Problem(input: [29], terms: 1400, columns: 50, hasZeros: true, isTermsFirst: true),
            Problem(input: [128], terms: 2100, isRounded: true, residual: 1, function: .relu, isWhole: true),
            Problem(input: [14], terms: 48, columns: 70, residual: 2, function: .clip(low: -3, high: 5), isWhole: true),
            Problem(input: [31], terms: 64, columns: 65, function: .leakyRelu(alpha: 0.5), isWhole: true),
            Problem(input: [1, 9, 8], kernel: [1, 1], function: .relu, isWhole: true),
            Problem(input: [2, 9, 8], kernel: [1, 1], stride: 2, isSigned: false, hasZeros: true),
            Problem(input: [2, 7, 13], kernel: [3, 3], padding: 1, isRounded: true, residual: 1, isWhole: true),
            Problem(input: [1, 12, 30], kernel: [3, 3], terms: 10, columns: 17, stride: 2, padding: 1, residual: 2),
            Problem(input: [1, 7, 7], kernel: [3, 3], terms: 512, columns: 33, padding: 1, isWhole: true),
            Problem(input: [1, 20], kernel: [5], terms: 6, columns: 9, padding: 2, function: .relu, isWhole: true),
            Problem(input: [1, 4, 5, 6], kernel: [2, 3, 3], terms: 4, columns: 5, padding: 1, function: .softsign),
            Problem(
                input: [128],
                terms: 2100,
                bound: 127,
                isRounded: true,
                residual: 1,
                function: .relu,
                isWhole: true
            ),
            Problem(input: [37], terms: 202, columns: 45, bound: 127, residual: 2, function: .leakyRelu(alpha: 0.5)),
            Problem(input: [37], terms: 202, columns: 45, bound: 127, isSigned: false, hasZeros: true, isWhole: true),
            Problem(input: [2, 9, 18], kernel: [1, 1], terms: 66, bound: 127, residual: 1, isWhole: true),
            Problem(input: [1], terms: 8, columns: 1, isBytes: true),
            Problem(input: [5], terms: 64, columns: 33, isBytes: true, isExtreme: true, function: .relu, isWhole: true),
            Problem(input: [29], terms: 4400, columns: 50, isBytes: true, isTermsFirst: true),
            Problem(
                input: [131],
                terms: 1048,
                columns: 40,
                isBytes: true,
                isSigned: false,
                hasZeros: true,
                isRounded: true,
                residual: 1,
                function: .relu,
                isWhole: true
            ),
            Problem(
                input: [14],
                columns: 7,
                isBytes: true,
                residual: 2,
                function: .leakyRelu(alpha: 0.5),
                isWhole: true
            ),
            Problem(input: [2, 9, 8], kernel: [1, 1], stride: 2, isBytes: true, isWhole: true),
            Problem(input: [2, 7, 13], kernel: [3, 3], padding: 1, isBytes: true, residual: 1, isWhole: true),
            Problem(input: [1, 12, 9], kernel: [3, 3], terms: 8, columns: 17, stride: 2, padding: 1, isBytes: true),
            Problem(
                input: [1, 7, 7],
                kernel: [3, 3],
                terms: 1000,
                columns: 33,
                padding: 1,
                isBytes: true,
                isWhole: true
            ),
            Problem(
                input: [1, 4, 5, 6],
                kernel: [2, 3, 3],
                terms: 8,
                columns: 9,
                padding: 1,
                isBytes: true,
                isExtreme: true
            ),
        ]

        @Test(arguments: problems.indices) func sumsAreExact(number: Int) {
            let problem = Self.problems[number]
            var source = NumberSource(seed: UInt64(number) + 3)
            let x = source.integers(
                problem.input.reduce(1, *) * problem.terms,
                upTo: problem.isBytes ? 127 : problem.bound
            )
            .map { Int16(problem.isBytes ? abs($0) : $0) }
            let codes = source.integers(problem.terms * problem.taps * problem.columns, upTo: 127)
                .map { problem.isExtreme ? ($0 < 0 ? -128 : 127) : $0 }
                .map { UInt8(truncatingIfNeeded: problem.isSigned ? $0 : $0 + 128) }
            let zero: [Int16] =
                !problem.hasZeros
                ? []
                : problem.isBytes
                    ? [Int16](repeating: 128, count: problem.columns)
                    : source.integers(problem.columns, upTo: 100).map { Int16($0 / 2) }
            let scale = (0..<problem.columns).map { $0 % 2 == 0 ? Float(0.00006103515625) : 0.000030517578125 }
            let bias = source.integers(problem.columns, upTo: 50).map { Float($0) / 4 }
            let count = problem.input[0] * problem.output.reduce(1, *) * problem.columns
            let residual = source.integers(count, upTo: 127).map { problem.isBytes ? abs($0) : $0 }
            let wholes: QuantizedIntegers =
                problem.isBytes
                ? .bytes(pointer(residual.map { UInt8($0) })) : .shorts(pointer(residual.map { Int16($0) }))
            let floats = pointer(residual.map { Float($0) * 0.125 })
            let coarse = LinearQuantizer(inverse: 4, step: 0.25, low: -127, high: 127)
            let grid = LinearQuantizer(inverse: 2, step: 0.5, low: problem.isBytes ? 0 : -100, high: 90)
            let first: QuantizedIntegers = problem.isBytes ? .bytes(pointer(x.map { UInt8($0) })) : .shorts(pointer(x))
            var expected = Self.sums(problem, x, codes, zero)
            for place in expected.indices {
                let column = place % problem.columns
                var value = expected[place] * Double(scale[column]) + Double(bias[column])
                if problem.isRounded { value = Self.quantized(value, coarse) * 0.25 }
                if problem.residual > 0 { value += Double(residual[place]) * 0.125 }
                value = Self.apply(problem.function, value)
                expected[place] = problem.isWhole ? Self.quantized(value, grid) : value
            }
            forEachInstructionSet(tiles: true) { set in
                let weights = codes.withUnsafeBytes {
                    IntegerWeights(
                        $0.baseAddress!,
                        isSigned: problem.isSigned,
                        zero: zero,
                        shape: IntegerWeights.Shape(
                            form: problem.isBytes ? .bytes : .pairs,
                            terms: problem.terms,
                            columns: problem.columns,
                            taps: problem.taps,
                            isTermsFirst: problem.isTermsFirst
                        )
                    )
                }
                var y = [Float](repeating: 0, count: count)
                var found = [Int16](repeating: 0, count: count)
                found.withUnsafeMutableBytes { found in
                    let numbers = MutableQuantizedIntegers(found.baseAddress!, areBytes: problem.isBytes)
                    let pipeline = IntegerKernel.OutputPipeline(
                        scale: pointer(scale),
                        bias: pointer(bias),
                        rounded: problem.isRounded ? coarse : nil,
                        residual: problem.residual == 1 ? wholes : nil,
                        residualStep: 0.125,
                        addend: problem.residual == 2 ? floats : nil,
                        function: problem.function,
                        codes: problem.isWhole ? (numbers, grid) : nil
                    )
                    Self.run(problem, first, weights, &y, pipeline)
                }
                let bytes = found.withUnsafeBytes { $0.prefix(count).map { Float($0) } }
                let results = problem.isWhole ? problem.isBytes ? bytes : found.map { Float($0) } : y
                #expect(worstError(results, expected) <= (problem.isWhole ? 0 : 1e-6), "\(set) \(problem)")
            }
        }

        @Test func grids() {
            let x: [Float] = [-1000, -2.5, -1.5, -0.5, 0, 0.25, 0.5, 1.5, 2.5, 3.25, 1000, .infinity, -.infinity, .nan]
            let source = (0..<50).map { x[$0 % x.count] }
            let grid = LinearQuantizer(inverse: 1, step: 0.5, low: -20, high: 30)
            let wanted = source.map { $0.isNaN ? -20 : min(max($0, -20), 30).rounded(.toNearestOrEven) }
            forEachInstructionSet { set in
                var whole = [Int16](repeating: 99, count: source.count)
                var rounded = [Float](repeating: 99, count: source.count)
                var back = rounded
                whole.withUnsafeMutableBufferPointer {
                    grid.quantize(source, into: .shorts($0.baseAddress!), count: source.count)
                }
                grid.fakeQuantize(source, into: &rounded, count: source.count)
                LinearQuantizer.dequantize(.shorts(pointer(whole)), step: 0.5, into: &back, count: source.count)
                #expect(whole.map { Float($0) } == wanted, "\(set)")
                #expect(rounded == wanted.map { $0 * 0.5 }, "\(set)")
                #expect(back == rounded, "\(set)")
                let positive = LinearQuantizer(inverse: 1, step: 0.5, low: 0, high: 30)
                var bytes = [UInt8](repeating: 99, count: source.count)
                bytes.withUnsafeMutableBufferPointer {
                    positive.quantize(source, into: .bytes($0.baseAddress!), count: source.count)
                }
                #expect(bytes.map { Float($0) } == wanted.map { max($0, 0) }, "\(set)")
                LinearQuantizer.dequantize(.bytes(pointer(bytes)), step: 0.5, into: &back, count: source.count)
                #expect(back == wanted.map { max($0, 0) * 0.5 }, "\(set)")
            }
        }

        private static func run(
            _ problem: Problem,
            _ x: QuantizedIntegers,
            _ weights: IntegerWeights,
            _ y: inout [Float],
            _ pipeline: IntegerKernel.OutputPipeline
        ) {
            guard !problem.kernel.isEmpty else {
                IntegerKernel.multiply(x, rows: problem.input[0], by: weights, into: &y, pipeline: pipeline)
                return
            }
            let geometry = ConvolutionGeometry(
                batch: problem.input[0],
                inputSize: Array(problem.input.dropFirst()),
                outputSize: problem.output,
                strides: problem.kernel.map { _ in problem.stride },
                dilations: problem.kernel.map { _ in 1 },
                paddingBefore: problem.kernel.map { _ in problem.padding }
            )
            IntegerKernel.convolve(x, weights, kernel: problem.kernel, geometry, into: &y, pipeline: pipeline)
        }

        private static func quantized(_ x: Double, _ grid: LinearQuantizer) -> Double {
            min(max((x * Double(grid.inverse)).rounded(.toNearestOrEven), Double(grid.low)), Double(grid.high))
        }

        private static func apply(_ function: UnaryFunction, _ x: Double) -> Double {
            switch function {
            case .relu: max(x, 0)
            case .clip(let low, let high): min(max(x, Double(low)), Double(high))
            case .leakyRelu(let alpha): x < 0 ? x * Double(alpha) : x
            case .softsign: x / (1 + abs(x))
            default: x
            }
        }

        /// The sums of plain loops, pixel by pixel, column by column.
        private static func sums(_ problem: Problem, _ x: [Int16], _ codes: [UInt8], _ zero: [Int16]) -> [Double] {
            let (terms, columns, taps) = (problem.terms, problem.columns, problem.taps)
            func weight(_ column: Int, _ term: Int, _ tap: Int) -> Int {
                let code = codes[
                    problem.isTermsFirst ? term * columns + column : (column * terms + term) * taps + tap
                ]
                let number = problem.isSigned ? Int(Int8(bitPattern: code)) : Int(code)
                return number - (zero.isEmpty ? 0 : Int(zero[column]))
            }
            func triple(_ sizes: [Int]) -> [Int] { Array(repeating: 1, count: 3 - sizes.count) + sizes }
            let isMatrix = problem.kernel.isEmpty
            let (size, window, places) = (
                triple(isMatrix ? [] : Array(problem.input.dropFirst())), triple(problem.kernel),
                triple(isMatrix ? [] : problem.output)
            )
            let leading = 3 - problem.kernel.count
            func position(_ axis: Int, _ place: Int, _ tap: Int) -> Int {
                axis < leading ? 0 : place * problem.stride + tap - problem.padding
            }
            var sums: [Double] = []
            for item in 0..<problem.input[0] {
                for place in 0..<places.reduce(1, *) {
                    let at = [place / (places[1] * places[2]), place / places[2] % places[1], place % places[2]]
                    for column in 0..<columns {
                        var sum = 0
                        for tap in 0..<taps {
                            let t = [tap / (window[1] * window[2]), tap / window[2] % window[1], tap % window[2]]
                            let from = (0..<3).map { position($0, at[$0], t[$0]) }
                            guard zip(from, size).allSatisfy({ $0 >= 0 && $0 < $1 }) else { continue }
                            let pixel = ((item * size[0] + from[0]) * size[1] + from[1]) * size[2] + from[2]
                            for term in 0..<terms { sum += Int(x[pixel * terms + term]) * weight(column, term, tap) }
                        }
                        sums.append(Double(sum))
                    }
                }
            }
            return sums
        }

        /// Rows of many lengths, of any size, of zeros and of numbers that are not finite.
        @Test func rowsWithStepsOfTheirOwn() {
            var source = NumberSource(seed: 8)
            for terms in Array(1..<40) + [1000] {
                let factors: [Float] = [1, 1e-20, 3e4, 0, 1, 1]
                var x = factors.flatMap { factor in source.floats(terms).map { $0 * factor } }
                x[4 * terms] = .infinity
                x[6 * terms - 1] = .nan
                forEachInstructionSet { set in
                    var codes = [Int16](repeating: 99, count: x.count + 1)
                    var steps = [Float](repeating: 99, count: factors.count)
                    RowQuantizer.quantize(x, rows: factors.count, terms: terms, into: &codes, steps: &steps)
                    var rounded = [Float](repeating: 99, count: x.count + 1)
                    RowQuantizer.round(x, rows: factors.count, terms: terms, into: &rounded)
                    #expect(codes.last == 99 && rounded.last == 99)
                    for row in 0..<4 {
                        let range = row * terms..<(row + 1) * terms
                        let greatest = x[range].map(\.magnitude).max()!
                        #expect(steps[row] == greatest / 127, "\(set)")
                        for index in range {
                            #expect(rounded[index] == Float(codes[index]) * steps[row], "\(set)")
                            #expect(abs(rounded[index] - x[index]) <= greatest * 0.5001 / 127, "\(set)")
                        }
                    }
                    #expect(!steps[4].isFinite && steps[5].isNaN)
                    #expect(rounded[4 * terms..<6 * terms].allSatisfy { !$0.isFinite }, "\(set)")
                }
            }
        }
    }
}
