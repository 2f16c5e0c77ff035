import MLKernels
import Testing

extension KernelTests {
    /// A depthwise convolution between two products gives the numbers of the three convolutions one after another.
    @Suite struct SeparableConvolutionTests {
        struct Problem: Sendable, CustomStringConvertible {
            var input: [Int]
            var kernel = [3, 3]
            /// Before the first product, between the products, after the last one.
            var channels: (input: Int, wide: Int, output: Int)
            var strides = [1, 1]
            var dilations = [1, 1]
            var padding = [1, 1]
            var batch = 1
            var isExpanded = true
            var isProjected = true
            var isHalf = false
            var function = UnaryFunction.clip(low: 0, high: 6)

            var output: [Int] {
                input.indices.map {
                    (input[$0] + 2 * padding[$0] - dilations[$0] * (kernel[$0] - 1) - 1) / strides[$0] + 1
                }
            }
            var description: String { "\(input) \(kernel) \(channels) s\(strides) d\(dilations) p\(padding) \(batch)" }
        }

        static let problems = [
            Problem(input: [12, 40], channels: (8, 24, 10)),
            Problem(input: [57, 56], channels: (16, 96, 24), strides: [2, 2], batch: 2),
            Problem(input: [30, 33], kernel: [5, 5], channels: (10, 70, 7), padding: [2, 2], function: .silu),
            Problem(input: [31, 28], kernel: [5, 5], channels: (12, 48, 12), strides: [2, 1], padding: [2, 2]),
            Problem(input: [20, 30], channels: (6, 300, 19), isHalf: true),
            Problem(input: [64, 64], channels: (32, 32, 16), isExpanded: false),
            Problem(input: [40, 50], channels: (9, 40, 40), isProjected: false, function: .relu),
            Problem(input: [20, 21], kernel: [3, 1], channels: (5, 33, 4), dilations: [3, 1], padding: [3, 0]),
            Problem(
                input: [17, 9],
                kernel: [2, 2],
                channels: (4, 20, 4),
                strides: [3, 3],
                padding: [0, 0],
                batch: 3
            ),
            Problem(input: [9, 3], channels: (600, 530, 40)),
            Problem(input: [1, 2], channels: (3, 5, 2)),
        ]

        @Test(arguments: problems)
        func isThreeConvolutions(problem: Problem) throws {
            var source = NumberSource(seed: 5)
            let (inputs, wide, outputs) = problem.channels
            let pixels = problem.batch * problem.input.reduce(1, *)
            let results = problem.batch * problem.output.reduce(1, *)
            let x = source.floats(pixels * (problem.isExpanded ? inputs : wide))
            let columns = problem.isProjected ? outputs : wide
            let residual = source.floats(results * columns)
            let bias = pointer(source.floats(max(wide, outputs)))
            let sources = [
                source.floats(wide * inputs), source.floats(wide * problem.kernel.reduce(1, *)),
                source.floats(outputs * wide),
            ]
            let geometry = ConvolutionGeometry(
                batch: problem.batch,
                inputSize: problem.input,
                outputSize: problem.output,
                strides: problem.strides,
                dilations: problem.dilations,
                paddingBefore: problem.padding
            )
            func product(_ size: [Int]) -> ConvolutionGeometry {
                ConvolutionGeometry(
                    batch: problem.batch,
                    inputSize: size,
                    outputSize: size,
                    strides: [1, 1],
                    dilations: [1, 1],
                    paddingBefore: [0, 0]
                )
            }
            func weights(_ index: Int, _ inputs: Int, _ outputs: Int, _ kernel: [Int], groups: Int)
                -> ConvolutionWeights
            {
                if problem.isHalf {
                    return ConvolutionWeights(
                        half: sources[index].map { Float16($0).bitPattern },
                        inputChannels: inputs,
                        outputChannels: outputs,
                        kernel: kernel,
                        groups: groups
                    )
                }
                return ConvolutionWeights(
                    sources[index],
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: kernel,
                    groups: groups
                )
            }
            let inner = Epilogue(bias: bias, function: problem.function)
            /// What `body` writes with the bias and the residual, in the residual's memory or elsewhere.
            func adding(
                _ residual: [Float],
                isInPlace: Bool,
                _ body: (UnsafeMutablePointer<Float>, Epilogue) -> Void
            ) -> [Float] {
                var y = (isInPlace ? residual : [Float](repeating: 99, count: residual.count)) + [99]
                y.withUnsafeMutableBufferPointer { y in
                    let added = isInPlace ? UnsafePointer(y.baseAddress!) : pointer(residual)
                    body(y.baseAddress!, Epilogue(bias: bias, residual: added))
                }
                #expect(y.last == 99, "written beyond the end")
                return Array(y.dropLast())
            }
            defer { Workers.limit(to: 0) }
            forEachInstructionSet { set in
                let expansion = problem.isExpanded ? weights(0, inputs, wide, [1, 1], groups: 1) : nil
                let depthwise = weights(1, wide, wide, problem.kernel, groups: wide)
                let projection = problem.isProjected ? weights(2, wide, outputs, [1, 1], groups: 1) : nil
                var expanded = [Float](repeating: 0, count: pixels * wide)
                var convolved = [Float](repeating: 0, count: results * wide)
                if let expansion {
                    ConvolutionKernel.convolve(x, expansion, product(problem.input), into: &expanded, epilogue: inner)
                } else {
                    expanded = x
                }
                ConvolutionKernel.convolve(expanded, depthwise, geometry, into: &convolved, epilogue: inner)
                // A residual in the result's own memory is added first, one elsewhere last.
                let expected = [false, true].map { isInPlace in
                    guard let projection else { return convolved }
                    return adding(residual, isInPlace: isInPlace) { y, epilogue in
                        ConvolutionKernel.convolve(
                            convolved,
                            projection,
                            product(problem.output),
                            into: y,
                            epilogue: epilogue
                        )
                    }
                }
                guard
                    let separable = SeparableConvolution(
                        geometry,
                        expansion: expansion,
                        depthwise: depthwise,
                        projection: projection
                    )
                else {
                    Issue.record("these weights make no separable convolution")
                    return
                }
                for workers in [1, 2, 5] {
                    Workers.limit(to: workers)
                    for isInPlace in [false, true] {
                        let y = adding(residual, isInPlace: isInPlace) { y, epilogue in
                            separable.run(
                                x,
                                into: y,
                                epilogues: (expansion: inner, depthwise: inner, projection: epilogue)
                            )
                        }
                        let isEqual = y == expected[isInPlace ? 1 : 0]
                        #expect(isEqual, "\(set), \(workers) threads, in place: \(isInPlace)")
                    }
                }
            }
        }

        @Test func otherWeightsAreRefused() {
            let ones = [Float](repeating: 1, count: 8 * 8 * 9)
            func weights(_ inputs: Int, _ outputs: Int, _ kernel: [Int], groups: Int = 1) -> ConvolutionWeights {
                ConvolutionWeights(ones, inputChannels: inputs, outputChannels: outputs, kernel: kernel, groups: groups)
            }
            let geometry = ConvolutionGeometry(
                batch: 1,
                inputSize: [8, 8],
                outputSize: [8, 8],
                strides: [1, 1],
                dilations: [1, 1],
                paddingBefore: [1, 1]
            )
            func isMade(
                _ expansion: ConvolutionWeights?,
                _ depthwise: ConvolutionWeights,
                _ projection: ConvolutionWeights?
            ) -> Bool {
                let made = SeparableConvolution(
                    geometry,
                    expansion: expansion,
                    depthwise: depthwise,
                    projection: projection
                )
                return made != nil
            }
            let depthwise = weights(8, 8, [3, 3], groups: 8)
            #expect(isMade(weights(4, 8, [1, 1]), depthwise, weights(8, 4, [1, 1])))
            #expect(!isMade(nil, depthwise, nil))
            #expect(!isMade(weights(4, 6, [1, 1]), depthwise, nil))
            #expect(!isMade(nil, depthwise, weights(4, 8, [1, 1])))
            #expect(!isMade(weights(4, 8, [3, 3]), depthwise, nil))
            #expect(!isMade(nil, weights(8, 8, [3, 3], groups: 2), weights(8, 4, [1, 1])))
        }

        /// Small tensors stay in the cache by themselves; with many threads each would compute its neighbours' rows again.
        @Test func onlyWideTensorsGain() {
            func isFaster(_ size: Int, _ channels: Int, batch: Int = 1) -> Bool {
                let geometry = ConvolutionGeometry(
                    batch: batch,
                    inputSize: [size, size],
                    outputSize: [size, size],
                    strides: [1, 1],
                    dilations: [1, 1],
                    paddingBefore: [1, 1]
                )
                return SeparableConvolution.isFaster(geometry, channels: channels, kernel: [3, 3], isExpanded: true)
            }
            defer { Workers.limit(to: 0) }
            Workers.limit(to: 1)
            #expect(isFaster(112, 96))
            #expect(!isFaster(14, 96))
        }
    }
}
