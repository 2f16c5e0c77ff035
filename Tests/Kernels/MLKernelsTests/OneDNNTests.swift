import MLKernels
import Testing

extension KernelTests {
    /// Own kernels against oneDNN, where it is installed.
    @Suite(.enabled(if: OneDNN.version > 0)) struct OneDNNTests {
        @Test(arguments: [
            ([14, 14], [3, 3], 64, 48, 1, 1), ([56, 30], [1, 1], 40, 70, 1, 2), ([20, 21], [5, 3], 12, 8, 4, 1),
            ([17, 17], [3, 3], 33, 33, 33, 2), ([50], [3], 16, 32, 1, 1),
        ])
        func convolutions(size: [Int], kernel: [Int], inputs: Int, outputs: Int, groups: Int, stride: Int) throws {
            var source = NumberSource(seed: UInt64(inputs))
            let result = zip(size, kernel).map { ($0 + 2 * ($1 / 2) - $1) / stride + 1 }
            let geometry = ConvolutionGeometry(
                batch: 2,
                inputSize: size,
                outputSize: result,
                strides: size.map { _ in stride },
                dilations: size.map { _ in 1 },
                paddingBefore: kernel.map { $0 / 2 }
            )
            let x = source.floats(2 * size.reduce(1, *) * inputs)
            let weights = source.floats(outputs * inputs / groups * kernel.reduce(1, *))
            let bias = source.floats(outputs)
            let count = 2 * result.reduce(1, *) * outputs
            let operation = try #require(
                OneDNN.Operation.convolution(
                    geometry,
                    weights: weights,
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: kernel,
                    groups: groups,
                    bias: bias
                )
            )
            var expected = [Float](repeating: 0, count: count)
            #expect(operation.run(x, into: &expected))
            forEachInstructionSet { set in
                let packed = ConvolutionWeights(
                    weights,
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: kernel,
                    groups: groups,
                    geometry: geometry
                )
                var y = [Float](repeating: 99, count: count)
                ConvolutionKernel.convolve(x, packed, geometry, into: &y, epilogue: Epilogue(bias: pointer(bias)))
                #expect(worstError(y, expected.map(Double.init)) < 5e-5, "\(set)")
            }
        }

        @Test(arguments: [(1, 100, 40), (16, 768, 70), (33, 5, 300)])
        func products(rows: Int, terms: Int, columns: Int) throws {
            var source = NumberSource(seed: UInt64(terms))
            let (x, weights) = (source.floats(rows * terms), source.floats(terms * columns))
            let bias = source.floats(columns)
            let operation = try #require(
                OneDNN.Operation.product(
                    rows: rows,
                    terms: terms,
                    columns: columns,
                    xStride: terms,
                    yStride: columns,
                    weights: weights,
                    termStride: 1,
                    columnStride: terms,
                    bias: bias
                )
            )
            var expected = [Float](repeating: 0, count: rows * columns)
            #expect(operation.run(x, into: &expected))
            forEachInstructionSet { set in
                let packed = PackedWeights(weights, terms: terms, columns: columns, layout: .columnsByTerms)
                var y = [Float](repeating: 99, count: rows * columns)
                MatMulKernel.multiply(x, rows: rows, by: packed, into: &y, epilogue: Epilogue(bias: pointer(bias)))
                #expect(worstError(y, expected.map(Double.init)) < 3e-5, "\(set)")
            }
        }

        /// The backend of the environment: same results, epilogue included, through the same calls.
        @Test func asBackend() {
            var source = NumberSource(seed: 12)
            let geometry = ConvolutionGeometry(
                batch: 1,
                inputSize: [9, 8],
                outputSize: [9, 8],
                strides: [1, 1],
                dilations: [1, 1],
                paddingBefore: [1, 1]
            )
            let x = source.floats(72 * 20)
            let weights = source.floats(24 * 20 * 9)
            let halves = weights.map { Float16($0).bitPattern }
            let (bias, slope, residual) = (source.floats(24), source.floats(24), source.floats(72 * 24))
            func results() -> [[Float]] {
                [UnaryFunction.relu, .prelu, .gelu].flatMap { function -> [[Float]] in
                    var y = residual
                    let convolution = ConvolutionWeights(
                        half: halves,
                        inputChannels: 20,
                        outputChannels: 24,
                        kernel: [3, 3],
                        geometry: geometry
                    )
                    let product = PackedWeights(weights, terms: 20, columns: 24, layout: .columnsByTerms)
                    var z = [Float](repeating: 0, count: 72 * 30)
                    y.withUnsafeMutableBufferPointer { y in
                        ConvolutionKernel.convolve(
                            x,
                            convolution,
                            geometry,
                            into: y.baseAddress!,
                            epilogue: Epilogue(
                                bias: pointer(bias),
                                residual: UnsafePointer(y.baseAddress!),
                                function: function,
                                slope: pointer(slope)
                            )
                        )
                    }
                    MatMulKernel.multiply(
                        x,
                        rows: 72,
                        by: product,
                        into: &z,
                        cStride: 30,
                        epilogue: Epilogue(bias: pointer(bias), function: function, slope: pointer(slope))
                    )
                    return [y, z]
                }
            }
            let before = Backend.current
            defer { Backend.current = before }
            Backend.current = .native
            let native = results()
            Backend.current = .onednn
            for (a, b) in zip(results(), native) { #expect(worstError(a, b.map(Double.init)) < 2e-5) }
        }
    }
}
