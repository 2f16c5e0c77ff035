import MLKernels
import Testing

extension KernelTests {
    @Suite struct ConvolutionKernelTests {
        struct Problem: Sendable, CustomStringConvertible {
            var input: [Int]
            var kernel: [Int]
            var channels: (input: Int, output: Int, groups: Int)
            var stride = 1
            var dilation = 1
            var padding: (before: Int, after: Int) = (0, 0)
            var batch = 1
            var transposed = false

            var output: [Int] {
                zip(input, kernel).map { size, kernel in
                    let reach = dilation * (kernel - 1)
                    return transposed
                        ? (size - 1) * stride - padding.before - padding.after + reach + 1
                        : (size + padding.before + padding.after - reach - 1) / stride + 1
                }
            }
            var description: String {
                "\(input)→\(output) kernel \(kernel) \(channels) s\(stride) d\(dilation) p\(padding)\(transposed ? " T" : "")"
            }
        }

        static let problems: [Problem] = [
            Problem(input: [5, 7], kernel: [1, 1], channels: (3, 5, 1)),
            Problem(input: [9, 8], kernel: [1, 1], channels: (20, 33, 1), stride: 2, batch: 2),
            Problem(input: [9, 15], kernel: [3, 3], channels: (4, 17, 1), padding: (1, 1)),
            Problem(input: [7, 7], kernel: [3, 3], channels: (64, 70, 1), padding: (1, 1)),
            Problem(input: [14, 14], kernel: [3, 3], channels: (96, 64, 1), padding: (1, 1), batch: 2),
            Problem(input: [8, 30], kernel: [3, 3], channels: (130, 40, 1), stride: 2, padding: (1, 1)),
            Problem(input: [30, 31], kernel: [7, 7], channels: (3, 16, 1), stride: 2, padding: (3, 3)),
            Problem(input: [12, 12], kernel: [3, 5], channels: (6, 8, 1), dilation: 2, padding: (4, 4)),
            Problem(input: [3, 2], kernel: [3, 3], channels: (2, 3, 1), dilation: 4, padding: (4, 4)),
            Problem(input: [6, 6], kernel: [3, 3], channels: (8, 12, 4), padding: (1, 1)),
            Problem(input: [6, 17], kernel: [3, 3], channels: (70, 70, 70), padding: (1, 1)),
            Problem(input: [14, 29], kernel: [3, 3], channels: (33, 33, 33), stride: 2, padding: (0, 1)),
            Problem(input: [15, 27], kernel: [5, 5], channels: (16, 16, 16), padding: (2, 2)),
            Problem(input: [15, 30], kernel: [5, 5], channels: (24, 24, 24), stride: 2, padding: (2, 1)),
            Problem(input: [10, 10], kernel: [3, 3], channels: (7, 7, 7), dilation: 2, padding: (2, 2)),
            Problem(input: [5, 5], kernel: [2, 2], channels: (4, 8, 4)),
            Problem(input: [40], kernel: [3], channels: (20, 33, 1), dilation: 4, padding: (8, 0), batch: 2),
            Problem(input: [33], kernel: [80], channels: (2, 4, 1), padding: (50, 50)),
            Problem(input: [4, 5, 6], kernel: [2, 3, 3], channels: (5, 6, 1), padding: (1, 1)),
            Problem(input: [4, 5, 6], kernel: [3, 3, 3], channels: (4, 4, 4), stride: 2, padding: (1, 1)),
            Problem(input: [5, 6], kernel: [3, 3], channels: (9, 10, 1), padding: (1, 1), transposed: true),
            Problem(
                input: [5, 9],
                kernel: [4, 4],
                channels: (9, 40, 1),
                stride: 2,
                padding: (1, 1),
                transposed: true
            ),
            Problem(input: [4, 4], kernel: [2, 2], channels: (8, 8, 2), stride: 3, transposed: true),
            Problem(
                input: [4, 4],
                kernel: [3, 3],
                channels: (6, 6, 6),
                stride: 2,
                dilation: 2,
                padding: (1, 0),
                transposed: true
            ),
            Problem(input: [19, 19], kernel: [3, 3], channels: (32, 34, 1), padding: (1, 1)),
            Problem(input: [1, 1], kernel: [3, 3], channels: (40, 32, 1), padding: (1, 1)),
        ]

        /// Shapes for which Winograd convolution is chosen: planes, lines along each axis, slices, groups, dilations
        /// that divide no extent, and tiles beyond every edge.
        static let winogradProblems = [
            Problem(input: [24, 26], kernel: [3, 3], channels: (33, 40, 1), padding: (1, 1)),
            Problem(input: [27, 25], kernel: [3, 3], channels: (64, 36, 1), padding: (0, 1), batch: 2),
            Problem(input: [14, 14], kernel: [3, 3], channels: (128, 48, 1), padding: (1, 1)),
            Problem(input: [13, 17], kernel: [3, 3], channels: (48, 32, 1), padding: (2, 2)),
            Problem(input: [603], kernel: [3], channels: (33, 40, 1), padding: (1, 1)),
            Problem(input: [301], kernel: [3], channels: (32, 34, 1), dilation: 4, padding: (8, 0), batch: 2),
            Problem(input: [26, 27], kernel: [1, 3], channels: (36, 33, 1), padding: (0, 2)),
            Problem(input: [27, 26], kernel: [3, 1], channels: (40, 35, 1), padding: (0, 2)),
            Problem(input: [29, 31], kernel: [3, 3], channels: (40, 36, 1), dilation: 2, padding: (2, 2)),
            Problem(input: [50, 51], kernel: [3, 3], channels: (33, 32, 1), dilation: 3, padding: (0, 1)),
            Problem(input: [25, 26], kernel: [3, 3], channels: (51, 54, 3), padding: (1, 1)),
            Problem(input: [300], kernel: [3], channels: (72, 40, 2), padding: (1, 1), batch: 2),
            Problem(input: [9, 12, 11], kernel: [3, 3, 3], channels: (17, 18, 1), padding: (1, 1)),
            Problem(input: [4, 15, 16], kernel: [2, 3, 3], channels: (16, 33, 1), padding: (1, 1), batch: 2),
            Problem(input: [5, 12, 11], kernel: [1, 3, 3], channels: (32, 32, 1), padding: (1, 1)),
            Problem(input: [12, 9, 8], kernel: [5, 1, 3], channels: (34, 36, 2), padding: (2, 2)),
        ]

        /// Errors are relative to the largest output.
        @Test(arguments: winogradProblems)
        func winograd(problem: Problem) {
            var source = NumberSource(seed: 77)
            let (inputs, outputs, groups) = problem.channels
            let taps = problem.kernel.reduce(1, *)
            let x = source.floats(problem.batch * problem.input.reduce(1, *) * inputs)
            let weights = source.floats(inputs * outputs / groups * taps)
            let bits = weights.map { Float16($0).bitPattern }
            let bias = source.floats(outputs)
            let count = problem.batch * problem.output.reduce(1, *) * outputs
            let residual = source.floats(count)
            let sums = [weights, bits.map { Float(Float16(bitPattern: $0)) }].map { plain(problem, x: x, weights: $0) }
            let geometry = ConvolutionGeometry(
                batch: problem.batch,
                inputSize: problem.input,
                outputSize: problem.output,
                strides: problem.input.map { _ in 1 },
                dilations: problem.input.map { _ in problem.dilation },
                paddingBefore: problem.input.map { _ in problem.padding.before }
            )
            forEachInstructionSet { set in
                let single = ConvolutionWeights(
                    weights,
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: problem.kernel,
                    groups: groups,
                    geometry: geometry
                )
                let half = ConvolutionWeights(
                    half: bits,
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: problem.kernel,
                    groups: groups,
                    geometry: geometry
                )
                #expect(single.byteCount == half.byteCount, "Winograd convolution was not chosen")
                for (packed, sums) in zip([single, half], sums) {
                    let expected = sums.indices.map {
                        max(0, sums[$0] + Double(bias[$0 % outputs]) + Double(residual[$0]))
                    }
                    let range = expected.max()!
                    var y = [Float](repeating: 99, count: count + 1)
                    ConvolutionKernel.convolve(
                        x,
                        packed,
                        geometry,
                        into: &y,
                        epilogue: Epilogue(bias: pointer(bias), residual: pointer(residual), function: .relu)
                    )
                    let errors = zip(y, expected).map { abs(Double($0) - $1) / range }.sorted()
                    #expect(errors.last! < 2e-5 && errors[errors.count / 2] < 1e-6, "\(set) \(errors.last!)")
                    #expect(y.last == 99)
                }
            }
        }

        @Test(arguments: [false, true])
        func matchesPlainLoops(half: Bool) {
            for (number, problem) in Self.problems.enumerated() {
                var source = NumberSource(seed: UInt64(number + 1))
                let (inputs, outputs, groups) = problem.channels
                let taps = problem.kernel.reduce(1, *)
                let x = source.floats(problem.batch * problem.input.reduce(1, *) * inputs)
                var weights = source.floats(inputs * outputs / groups * taps)
                let bits = weights.map { Float16($0).bitPattern }
                if half { weights = weights.map { Float(Float16($0)) } }
                let bias = source.floats(outputs)
                let count = problem.batch * problem.output.reduce(1, *) * outputs
                let residual = source.floats(count)
                var expected = plain(problem, x: x, weights: weights)
                for index in 0..<count { expected[index] += Double(bias[index % outputs]) + Double(residual[index]) }
                let function = [UnaryFunction.identity, .relu, .clip(low: 0, high: 1), .silu][number % 4]
                let reference = expected.map { MLKernelsTests.reference(function, $0) }
                forEachInstructionSet { set in
                    let packed =
                        half
                        ? ConvolutionWeights(
                            half: bits,
                            inputChannels: inputs,
                            outputChannels: outputs,
                            kernel: problem.kernel,
                            groups: groups,
                            isTransposed: problem.transposed
                        )
                        : ConvolutionWeights(
                            weights,
                            inputChannels: inputs,
                            outputChannels: outputs,
                            kernel: problem.kernel,
                            groups: groups,
                            isTransposed: problem.transposed
                        )
                    let axes = problem.input.count
                    let geometry = ConvolutionGeometry(
                        batch: problem.batch,
                        inputSize: problem.input,
                        outputSize: problem.output,
                        strides: Array(repeating: problem.stride, count: axes),
                        dilations: Array(repeating: problem.dilation, count: axes),
                        paddingBefore: Array(repeating: problem.padding.before, count: axes)
                    )
                    for inPlace in [false, true] {
                        var y = residual + [99]
                        y.withUnsafeMutableBufferPointer { y in
                            ConvolutionKernel.convolve(
                                x,
                                packed,
                                geometry,
                                into: y.baseAddress!,
                                epilogue: Epilogue(
                                    bias: pointer(bias),
                                    residual: inPlace ? UnsafePointer(y.baseAddress!) : pointer(residual),
                                    function: function
                                )
                            )
                        }
                        #expect(worstError(y, reference) < 3e-5, "\(set) \(problem) in place: \(inPlace)")
                        #expect(y.last == 99)
                    }
                }
            }
        }

        /// Every product of an input, a tap and an output, in double precision.
        func plain(_ problem: Problem, x: [Float], weights: [Float]) -> [Double] {
            func padded(_ values: [Int], _ filler: Int) -> [Int] {
                Array(repeating: filler, count: 3 - values.count) + values
            }
            let (inputs, outputs, groups) = problem.channels
            let (size, kernel, result) = (
                padded(problem.input, 1), padded(problem.kernel, 1), padded(problem.output, 1)
            )
            let unused = 3 - problem.input.count
            let taps = kernel.reduce(1, *)
            /// The pairs (input, output) that tap `k` of an axis joins.
            func pairs(_ axis: Int, _ k: Int) -> [(Int, Int)] {
                if axis < unused { return [(0, 0)] }
                let from = problem.transposed ? size[axis] : result[axis]
                return (0..<from).compactMap { q in
                    let other = q * problem.stride - problem.padding.before + k * problem.dilation
                    let limit = problem.transposed ? result[axis] : size[axis]
                    guard (0..<limit).contains(other) else { return nil }
                    return problem.transposed ? (q, other) : (other, q)
                }
            }
            var y = [Double](repeating: 0, count: problem.batch * result.reduce(1, *) * outputs)
            for item in 0..<problem.batch {
                for tap in 0..<taps {
                    let (kd, kh, kw) = (tap / kernel[2] / kernel[1], tap / kernel[2] % kernel[1], tap % kernel[2])
                    for (z, oz) in pairs(0, kd) {
                        for (r, or) in pairs(1, kh) {
                            for (c, oc) in pairs(2, kw) {
                                let from = (((item * size[0] + z) * size[1] + r) * size[2] + c) * inputs
                                let to = (((item * result[0] + oz) * result[1] + or) * result[2] + oc) * outputs
                                for o in 0..<outputs {
                                    let group = o / (outputs / groups)
                                    var sum = 0.0
                                    for i in 0..<inputs / groups {
                                        let input = group * (inputs / groups) + i
                                        let at =
                                            problem.transposed
                                            ? (input * (outputs / groups) + o % (outputs / groups)) * taps + tap
                                            : (o * (inputs / groups) + i) * taps + tap
                                        sum += Double(x[from + input]) * Double(weights[at])
                                    }
                                    y[to + o] += sum
                                }
                            }
                        }
                    }
                }
            }
            return y
        }
    }
}
