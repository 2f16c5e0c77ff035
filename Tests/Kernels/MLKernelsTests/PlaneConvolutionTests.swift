import MLKernels
import Testing

extension KernelTests.ConvolutionKernelTests {
    /// Wide rows, many channels and strides, beside the problems of the channels-last kernels.
    static let planeProblems: [Problem] =
        problems.filter { !$0.transposed } + [
            Problem(input: [6, 128], kernel: [3, 3], channels: (16, 20, 2), dilation: 2, padding: (0, 3), batch: 2),
            Problem(input: [300], kernel: [5], channels: (3, 15, 1), padding: (2, 2)),
            Problem(input: [20, 21], kernel: [1, 1], channels: (300, 29, 1)),
            Problem(input: [9, 70], kernel: [3, 3], channels: (40, 30, 1), stride: 2, padding: (1, 0)),
            Problem(input: [4, 9, 33], kernel: [2, 3, 3], channels: (6, 12, 3), padding: (1, 1)),
            Problem(input: [7, 90], kernel: [3, 3], channels: (5, 10, 5), padding: (1, 1)),
        ]

    @Test(arguments: [false, true])
    func planesMatchPlainLoops(half: Bool) {
        for (number, problem) in Self.planeProblems.enumerated() {
            var source = NumberSource(seed: UInt64(number + 100))
            let (inputs, outputs, groups) = problem.channels
            let (places, pixels) = (problem.input.reduce(1, *), problem.output.reduce(1, *))
            let x = source.floats(problem.batch * places * inputs)
            var weights = source.floats(inputs * outputs / groups * problem.kernel.reduce(1, *))
            let bits = weights.map { Float16($0).bitPattern }
            if half { weights = weights.map { Float(Float16($0)) } }
            let bias = source.floats(outputs)
            let slope = source.floats(outputs)
            let count = problem.batch * pixels * outputs
            let residual = source.floats(count)
            let sums = Self.turned(plain(problem, x: x, weights: weights), rows: pixels, columns: outputs)
            let planes = Self.turned(x, rows: places, columns: inputs)
            let functions: [UnaryFunction] = [.identity, .relu, .clip(low: 0, high: 1), .silu, .prelu]
            let function = functions[number % 5]
            let withResidual = number % 2 == 0
            let expected = sums.indices.map { index in
                let channel = index / pixels % outputs
                let sum = sums[index] + Double(bias[channel]) + (withResidual ? Double(residual[index]) : 0)
                if case .prelu = function { return sum < 0 ? Double(slope[channel]) * sum : sum }
                return MLKernelsTests.reference(function, sum)
            }
            let axes = problem.input.count
            let geometry = ConvolutionGeometry(
                batch: problem.batch,
                inputSize: problem.input,
                outputSize: problem.output,
                strides: Array(repeating: problem.stride, count: axes),
                dilations: Array(repeating: problem.dilation, count: axes),
                paddingBefore: Array(repeating: problem.padding.before, count: axes)
            )
            forEachInstructionSet { set in
                let address: UnsafeRawPointer =
                    half ? UnsafeRawPointer(pointer(bits)) : UnsafeRawPointer(pointer(weights))
                let packed = PlaneConvolution(
                    address,
                    isHalf: half,
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: problem.kernel,
                    groups: groups
                )
                for inPlace in withResidual ? [false, true] : [false] {
                    var y = residual + [99]
                    y.withUnsafeMutableBufferPointer { y in
                        let other = inPlace ? UnsafePointer(y.baseAddress!) : pointer(residual)
                        let epilogue = Epilogue(
                            bias: pointer(bias),
                            residual: withResidual ? other : nil,
                            function: function,
                            slope: pointer(slope)
                        )
                        packed.run(planes, geometry, into: y.baseAddress!, epilogue: epilogue)
                    }
                    #expect(worstError(y, expected) < 3e-5, "\(set) \(problem) in place: \(inPlace)")
                    #expect(y.last == 99)
                }
            }
        }
    }

    /// Each item of `rows` by `columns` elements with rows and columns exchanged.
    private static func turned<Element>(_ values: [Element], rows: Int, columns: Int) -> [Element] {
        values.indices.map { index in
            let (item, place) = (index / (rows * columns), index % (rows * columns))
            return values[item * rows * columns + place % rows * columns + place / rows]
        }
    }
}
