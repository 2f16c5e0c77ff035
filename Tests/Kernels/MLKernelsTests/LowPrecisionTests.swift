import MLKernels
import Testing

extension KernelTests {
    /// Products of half-precision weights in bfloat16, compared with sums of the rounded factors in double precision.
    @Suite(.enabled(if: KernelTable.standard.lowPrecision != nil, "this processor has no matrix tiles"))
    struct LowPrecisionTests {
        private let low: KernelTable

        init() throws { low = try #require(KernelTable.standard.lowPrecision) }

        /// The nearest number with 8 significant bits, the even one of two.
        private func rounded(_ value: Float) -> Float {
            let bits = value.bitPattern
            return Float(bitPattern: (bits &+ 0x7FFF &+ (bits >> 16 & 1)) & 0xFFFF_0000)
        }

        private func packed(_ bits: [UInt16], _ terms: Int, _ columns: Int, _ layout: PackedWeights.Layout)
            -> PackedWeights
        {
            PackedWeights(half: bits, terms: terms, columns: columns, layout: layout)
        }

        @Test func tables() {
            #expect(low.isLowPrecision && !KernelTable.standard.isLowPrecision)
            #expect(low.exact == .standard && KernelTable.standard.exact == .standard && low.lowPrecision == low)
            #expect(low.description == "avx512-bfloat16")
            #expect(KernelTable.available.allSatisfy { !$0.isLowPrecision })
        }

        @Test(arguments: [PackedWeights.Layout.termsByColumns, .columnsByTerms])
        func products(layout: PackedWeights.Layout) {
            let sizes =
                MatMulKernelTests.sizes + [(16, 31, 15), (17, 32, 17), (31, 65, 33), (200, 96, 64), (2, 4097, 70)]
            for (rows, terms, columns) in sizes {
                var source = NumberSource(seed: UInt64(rows * 13 + terms * 5 + columns))
                let a = source.floats(rows * (terms + 3) + 1)
                let bits = source.floats(terms * columns + 1).map { Float16($0).bitPattern }
                let b = bits.map { Double(rounded(Float(Float16(bitPattern: $0)))) }
                let bias = source.floats(columns)
                let residual = source.floats(rows * columns)
                let slope = source.floats(columns)
                for function in [UnaryFunction.identity, .relu, .clip(low: -0.5, high: 0.25), .prelu, .gelu] {
                    let expected = (0..<rows * columns).map { index -> Double in
                        let (i, j) = (index / columns, index % columns)
                        var sum = Double(bias[j]) + Double(residual[index])
                        for k in 0..<terms {
                            let at = layout == .termsByColumns ? k * columns + j : j * terms + k
                            sum += Double(rounded(a[i * (terms + 3) + k])) * b[at]
                        }
                        return function == .prelu ? (sum < 0 ? sum * Double(slope[j]) : sum) : reference(function, sum)
                    }
                    low.perform {
                        let weights = packed(bits, terms, columns, layout)
                        var c = [Float](repeating: 99, count: rows * (columns + 5) + 1)
                        MatMulKernel.multiply(
                            a,
                            rows: rows,
                            by: weights,
                            into: &c,
                            aStride: terms + 3,
                            cStride: columns + 5,
                            epilogue: Epilogue(
                                bias: pointer(bias),
                                residual: pointer(residual),
                                residualStride: columns,
                                function: function,
                                slope: pointer(slope)
                            )
                        )
                        let isResult = c.indices.map { $0 % (columns + 5) < columns && $0 < rows * (columns + 5) }
                        let result = zip(c, isResult).filter(\.1).map(\.0)
                        #expect(worstError(result, expected) < 3e-5, "\(rows)×\(terms)×\(columns) \(function)")
                        #expect(zip(c, isResult).allSatisfy { $1 || $0 == 99 }, "wrote beyond a row")
                    }
                }
            }
        }

        @Test func weightsInSinglePrecisionAreMultipliedExactly() {
            var source = NumberSource(seed: 5)
            let (rows, terms, columns) = (20, 70, 40)
            let (a, b) = (source.floats(rows * terms), source.floats(terms * columns))
            func product() -> [Float] {
                var c = [Float](repeating: 0, count: rows * columns)
                let weights = PackedWeights(b, terms: terms, columns: columns, layout: .termsByColumns)
                MatMulKernel.multiply(a, rows: rows, by: weights, into: &c)
                return c
            }
            #expect(low.perform(product) == product())
        }

        /// Chunks of columns, as large matrices are packed in, give what the whole gives.
        @Test func chunks() {
            var source = NumberSource(seed: 6)
            let (terms, columns) = (70_001, 97)
            let bits = source.floats(terms * columns).map { Float16($0).bitPattern }
            let a = source.floats(3 * terms)
            low.perform {
                var counts = 0
                let chunked = PackedWeights(
                    isHalf: true,
                    terms: terms,
                    columns: columns,
                    layout: .columnsByTerms
                ) { rows, body in
                    counts += 1
                    bits.withUnsafeBytes { body($0.baseAddress! + rows.lowerBound * terms * 2) }
                }
                #expect(counts > 1)
                let results = [chunked, packed(bits, terms, columns, .columnsByTerms)].map { weights in
                    var c = [Float](repeating: 0, count: 3 * columns)
                    MatMulKernel.multiply(a, rows: 3, by: weights, into: &c)
                    return c
                }
                #expect(results[0] == results[1])
                #expect(results[0].contains { $0 != 0 })
            }
        }

        @Test(arguments: ConvolutionKernelTests.problems + ConvolutionKernelTests.winogradProblems)
        func convolutions(problem: ConvolutionKernelTests.Problem) {
            var source = NumberSource(seed: 78)
            let (inputs, outputs, groups) = problem.channels
            let taps = problem.kernel.reduce(1, *)
            let x = source.floats(problem.batch * problem.input.reduce(1, *) * inputs)
            let bits = source.floats(inputs * outputs / groups * taps).map { Float16($0).bitPattern }
            let weights = bits.map { Float(Float16(bitPattern: $0)) }
            // Grouped and transposed convolutions, those along the depth, and short sums are exact.
            let isDeep = problem.kernel.count == 3 && problem.kernel[0] > 1
            let isExact = groups > 1 || problem.transposed || isDeep || taps * inputs < 48
            let count = problem.batch * problem.output.reduce(1, *) * outputs
            let (bias, residual) = (source.floats(outputs), source.floats(count))
            let sums = ConvolutionKernelTests().plain(
                problem,
                x: isExact ? x : x.map(rounded),
                weights: isExact ? weights : weights.map(rounded)
            )
            let expected = sums.indices.map { max(0, sums[$0] + Double(bias[$0 % outputs]) + Double(residual[$0])) }
            let range = max(expected.max() ?? 0, 1)
            let geometry = ConvolutionGeometry(
                batch: problem.batch,
                inputSize: problem.input,
                outputSize: problem.output,
                strides: problem.input.map { _ in problem.stride },
                dilations: problem.input.map { _ in problem.dilation },
                paddingBefore: problem.input.map { _ in problem.padding.before }
            )
            low.perform {
                let packed = ConvolutionWeights(
                    half: bits,
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: problem.kernel,
                    groups: groups,
                    isTransposed: problem.transposed,
                    geometry: geometry
                )
                let results = [1, 0].map { threads in
                    Workers.limit(to: threads)
                    defer { Workers.limit(to: 0) }
                    var y = [Float](repeating: 99, count: count + 1)
                    ConvolutionKernel.convolve(
                        x,
                        packed,
                        geometry,
                        into: &y,
                        epilogue: Epilogue(bias: pointer(bias), residual: pointer(residual), function: .relu)
                    )
                    return y
                }
                #expect(results[0] == results[1], "the number of threads matters")
                #expect(results[0].last == 99)
                #expect(worstError(results[0].map { $0 / Float(range) }, expected.map { $0 / range }) < 3e-5)
            }
        }

        /// Inputs and their weights are rounded, states and theirs are not.
        @Test func inputsOfRecurrentLayers() {
            var source = NumberSource(seed: 9)
            let (inputs, states, steps, batch) = (20, 24, 5, 2)
            let x = source.floats(steps * batch * inputs)
            let inputWeights = source.floats(4 * states * inputs).map { Float16($0) }
            let recurrent = source.floats(4 * states * states).map { Float16($0).bitPattern }
            func run(_ x: [Float], _ inputWeights: [Float16]) -> [Float] {
                let bits = inputWeights.map(\.bitPattern)
                let weights = RecurrentWeights(
                    .lstm,
                    inputSize: inputs,
                    hiddenSize: states,
                    inputWeights: .half(pointer(bits)),
                    recurrentWeights: .half(pointer(recurrent))
                )
                var (h, c) = (
                    [Float](repeating: 0, count: batch * states), [Float](repeating: 0, count: batch * states)
                )
                h.withUnsafeMutableBufferPointer { h in
                    c.withUnsafeMutableBufferPointer { c in
                        RecurrentKernel.run([
                            RecurrentKernel.Layer(
                                weights,
                                steps: steps,
                                batch: batch,
                                x: pointer(x),
                                h: h.baseAddress!,
                                c: c.baseAddress!
                            )
                        ])
                    }
                }
                return h
            }
            let found = low.perform { run(x, inputWeights) }
            let expected = run(x.map(rounded), inputWeights.map { Float16(rounded(Float($0))) })
            #expect(worstError(found, expected.map(Double.init)) < 1e-5)
            #expect(found != run(x, inputWeights))
        }
    }
}
