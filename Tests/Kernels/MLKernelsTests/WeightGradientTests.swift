import MLKernels
import Testing

extension KernelTests {
    /// Winograd's method for gradients of weights, compared with plain sums in double precision.
    @Suite struct WeightGradientTests {
        struct Problem: Sendable {
            var batch: Int
            var channels: (input: Int, output: Int)
            var size: [Int]
            var padding: Int
        }

        @Test(arguments: [
            Problem(batch: 8, channels: (40, 35), size: [13, 19], padding: 1),
            Problem(batch: 32, channels: (33, 64), size: [7, 7], padding: 1),
            Problem(batch: 3, channels: (64, 100), size: [18, 18], padding: 0),
            Problem(batch: 2, channels: (32, 32), size: [17, 20], padding: 2),
            // Several rounds of tiles.
            Problem(batch: 9, channels: (48, 56), size: [60, 50], padding: 1),
        ])
        func winograd(problem: Problem) throws {
            let (inputs, outputs, batch) = (problem.channels.input, problem.channels.output, problem.batch)
            let result = problem.size.map { $0 + 2 * problem.padding - 2 }
            let (places, positions) = (problem.size.reduce(1, *), result.reduce(1, *))
            var source = NumberSource(seed: 31)
            let x = source.floats(batch * inputs * places)
            let dy = source.floats(batch * outputs * positions)
            let geometry = ConvolutionGeometry(
                batch: batch,
                inputSize: problem.size,
                outputSize: result,
                strides: [1, 1],
                dilations: [1, 1],
                paddingBefore: [problem.padding, problem.padding]
            )
            // A few of the gradients, spread over channels and taps.
            let chosen = stride(from: 0, to: outputs * inputs * 9, by: 1013).map { $0 }
            let expected = chosen.map { index -> Double in
                let (o, i, tap) = (index / 9 / inputs, index / 9 % inputs, index % 9)
                var sum = 0.0
                for n in 0..<batch {
                    for p in 0..<positions {
                        let y = p / result[1] + tap / 3 - problem.padding
                        let column = p % result[1] + tap % 3 - problem.padding
                        guard y >= 0, y < problem.size[0], column >= 0, column < problem.size[1] else { continue }
                        let input = x[(n * inputs + i) * places + y * problem.size[1] + column]
                        sum += Double(input) * Double(dy[(n * outputs + o) * positions + p])
                    }
                }
                return sum
            }
            let range = expected.map(abs).max() ?? 1
            forEachInstructionSet { set in
                guard
                    let kernel = WinogradWeightGradient(
                        geometry,
                        kernel: [3, 3],
                        inputChannels: inputs,
                        outputChannels: outputs,
                        groups: 1
                    )
                else {
                    Issue.record("Winograd's method was not chosen")
                    return
                }
                let results = [1, 0].map { threads in
                    Workers.limit(to: threads)
                    defer { Workers.limit(to: 0) }
                    let scratch = AlignedMemory(byteCount: kernel.scratchByteCount)
                    var dw = [Float](repeating: 99, count: outputs * inputs * 9 + 1)
                    kernel.run(x, dy, into: &dw, scratch: scratch.address)
                    return dw
                }
                #expect(results[0] == results[1], "\(set): the number of threads matters")
                #expect(results[0].last == 99, "\(set)")
                let found = chosen.map { results[0][$0] / Float(range) }
                #expect(worstError(found, expected.map { $0 / range }) < 2e-5, "\(set)")
            }
        }

        @Test func otherWindowsAreNotTransformed() {
            func suits(_ kernel: [Int], stride: Int = 1, dilation: Int = 1, groups: Int = 1, channels: Int = 64) -> Bool
            {
                let geometry = ConvolutionGeometry(
                    batch: 8,
                    inputSize: [20, 20],
                    outputSize: [20, 20],
                    strides: [stride, stride],
                    dilations: [dilation, dilation],
                    paddingBefore: [1, 1]
                )
                return WinogradWeightGradient(
                    geometry,
                    kernel: kernel,
                    inputChannels: channels,
                    outputChannels: channels,
                    groups: groups
                ) != nil
            }
            #expect(suits([3, 3]))
            #expect(!suits([5, 5]) && !suits([3, 1]) && !suits([3, 3], stride: 2) && !suits([3, 3], dilation: 2))
            #expect(!suits([3, 3], groups: 2) && !suits([3, 3], channels: 16))
        }
    }
}
