import MLKernels
import Testing

extension KernelTests {
    /// Convolutions with weights that stay codes answer as those with the same weights in single precision.
    @Suite struct CodedConvolutionTests {
        struct Problem: Sendable, CustomStringConvertible {
            var input: [Int]
            var kernel: [Int]
            var inputs = 64
            var outputs = 40
            var stride = 1
            var padding = 1
            var batch = 1
            var isTransposed = false
            var values = CodedForm.Values.lines
            var bits = 8
            var isHalf = true
            var hasOffsets = false
            /// Of the output channels, and of the input channels.
            var groups = 1
            var segments = 1
            var isFiltered = false

            var output: [Int] {
                zip(input, kernel).map { size, kernel in
                    isTransposed
                        ? (size - 1) * stride - 2 * padding + kernel : (size + 2 * padding - kernel) / stride + 1
                }
            }
            var taps: Int { kernel.reduce(1, *) }
            var geometry: ConvolutionGeometry {
                ConvolutionGeometry(
                    batch: batch,
                    inputSize: input,
                    outputSize: output,
                    strides: kernel.map { _ in stride },
                    dilations: kernel.map { _ in 1 },
                    paddingBefore: kernel.map { _ in padding }
                )
            }
            var description: String {
                "\(input) kernel \(kernel) s\(stride)\(isTransposed ? " T" : "") \(values) \(bits) \(isHalf)"
            }
        }

        static let problems: [Problem] = {
            var problems = [
                Problem(input: [9, 8], kernel: [1, 1], padding: 0, groups: 40),
                Problem(
                    input: [9, 8],
                    kernel: [1, 1],
                    stride: 2,
                    padding: 0,
                    batch: 2,
                    bits: 4,
                    groups: 40,
                    segments: 2
                ),
                Problem(input: [1, 2], kernel: [1, 1], padding: 0, bits: 4, hasOffsets: true),
                Problem(input: [7, 7], kernel: [3, 3], hasOffsets: true, groups: 40),
                Problem(input: [7, 7], kernel: [3, 3], bits: 4, isHalf: false, groups: 40, segments: 2),
                Problem(
                    input: [8, 30],
                    kernel: [3, 3],
                    inputs: 130,
                    outputs: 33,
                    stride: 2,
                    isHalf: false,
                    groups: 33
                ),
                Problem(input: [20, 21], kernel: [5, 3], inputs: 3, bits: 8, groups: 40),
                Problem(input: [40], kernel: [3], inputs: 20, bits: 4),
                Problem(input: [4, 5, 6], kernel: [3, 3, 3], inputs: 5, outputs: 6, hasOffsets: true, groups: 6),
                Problem(input: [5, 9], kernel: [4, 4], inputs: 9, stride: 2, isTransposed: true, groups: 40),
                Problem(
                    input: [5, 9],
                    kernel: [3, 3],
                    stride: 2,
                    isTransposed: true,
                    bits: 4,
                    hasOffsets: true,
                    segments: 2
                ),
                Problem(input: [24, 26], kernel: [3, 3], inputs: 33, hasOffsets: true, groups: 40, isFiltered: true),
                Problem(
                    input: [14, 14],
                    kernel: [3, 3],
                    inputs: 128,
                    bits: 4,
                    groups: 40,
                    segments: 4,
                    isFiltered: true
                ),
                Problem(
                    input: [13, 17],
                    kernel: [3, 3],
                    padding: 2,
                    batch: 2,
                    values: .tables,
                    bits: 6,
                    isFiltered: true
                ),
                Problem(input: [600], kernel: [3], inputs: 33, hasOffsets: true, groups: 40, isFiltered: true),
                Problem(input: [7, 12, 11], kernel: [3, 3, 3], bits: 4, segments: 2, isFiltered: true),
            ]
            for bits in [1, 2, 3, 4, 6, 8] {
                for isHalf in [true, false] {
                    problems.append(
                        Problem(
                            input: [7, 6],
                            kernel: [3, 3],
                            inputs: 37,
                            values: .tables,
                            bits: bits,
                            isHalf: isHalf
                        )
                    )
                }
                problems.append(
                    Problem(
                        input: [7, 6],
                        kernel: [1, 1],
                        outputs: 64,
                        padding: 0,
                        values: .tables,
                        bits: bits,
                        groups: 2
                    )
                )
            }
            return problems
        }()

        @Test(arguments: problems.indices)
        func matchesExpandedWeights(number: Int) {
            let problem = Self.problems[number]
            var source = NumberSource(seed: UInt64(number + 1))
            let taps = problem.taps
            let count = problem.inputs * problem.outputs * taps
            let codes = (0..<(count * problem.bits + 7) / 8).map { _ in UInt8(clamping: Int((source.next() + 1) * 128))
            }
            let blocks = problem.groups * problem.segments
            let isTable = problem.values == .tables
            let parameters = source.floats(isTable ? blocks << problem.bits : blocks)
            let halves = parameters.map { Float16($0) }
            let exact = problem.isHalf ? halves.map { Float($0) } : parameters
            let half = 1 << (problem.bits - 1)
            let offsets = (0..<blocks).map { _ in Int8(clamping: Int(source.next() * Float(half - 1))) }
            // In the file's order: [outputs, inputs, taps], or [inputs, outputs, taps].
            let elements = (0..<count).map { index -> Float in
                var code = 0
                for bit in 0..<problem.bits {
                    let place = index * problem.bits + bit
                    code |= Int(codes[place / 8] >> UInt8(place % 8) & 1) << bit
                }
                let (first, second) = (index / taps / problem.extents.1, index / taps % problem.extents.1)
                let (column, channel) = problem.isTransposed ? (second, first) : (first, second)
                let group = column * problem.groups / problem.outputs
                let segment = channel * problem.segments / problem.inputs
                let block =
                    problem.isTransposed ? segment * problem.groups + group : group * problem.segments + segment
                if isTable { return exact[block << problem.bits + code] }
                if code >= half { code -= 2 * half }
                return Float(code - (problem.hasOffsets ? Int(offsets[block]) : 0)) * exact[block]
            }
            let x = source.floats(problem.batch * problem.input.reduce(1, *) * problem.inputs)
            let bias = source.floats(problem.outputs)
            let results = problem.batch * problem.output.reduce(1, *) * problem.outputs
            let epilogue = Epilogue(bias: pointer(bias), residual: pointer(source.floats(results)), function: .relu)
            forEachInstructionSet { set in
                let plain = ConvolutionWeights(
                    elements,
                    inputChannels: problem.inputs,
                    outputChannels: problem.outputs,
                    kernel: problem.kernel,
                    isTransposed: problem.isTransposed,
                    geometry: problem.geometry
                )
                guard
                    let packed = problem.packed(
                        codes,
                        problem.isHalf ? UnsafeRawPointer(pointer(halves)) : UnsafeRawPointer(pointer(parameters)),
                        offsets
                    )
                else {
                    Issue.record("\(set) has no form for \(problem)")
                    return
                }
                let coded = CodedConvolution(
                    packed,
                    kernel: problem.kernel,
                    inputChannels: problem.inputs,
                    isTransposed: problem.isTransposed
                )
                var y = [Float](repeating: 99, count: results + 1)
                var expected = y
                coded.convolve(x, problem.geometry, into: &y, epilogue: epilogue)
                plain.convolve(x, problem.geometry, into: &expected, epilogue: epilogue)
                #expect(y.last == 99)
                let range = expected.dropLast().max()!
                let worst = zip(y, expected).map { abs($0 - $1) }.max()!
                // Windows of several taps are summed in the same order; transformed weights are rounded in another place.
                if problem.taps > 1, !problem.isFiltered { #expect(y == expected, "\(set) \(problem) \(worst)") }
                #expect(worst <= 1e-5 * range, "\(set) \(problem): \(worst) of \(range)")
            }
        }

        @Test func fewWeightsOfMinimalFilteringAreExpandedOnce() {
            var problem = Problem(input: [56, 56], kernel: [3, 3])
            for (inputs, outputs, isKept) in [(64, 64, false), (256, 256, true)] {
                problem.inputs = inputs
                problem.outputs = outputs
                let isWorthwhile = CodedConvolution.isWorthwhile(
                    problem.geometry,
                    inputChannels: inputs,
                    outputChannels: outputs,
                    kernel: problem.kernel,
                    isTransposed: false
                )
                #expect(isWorthwhile == isKept)
            }
        }
    }
}

extension KernelTests.CodedConvolutionTests.Problem {
    /// The first two extents of the weights.
    fileprivate var extents: (Int, Int) { isTransposed ? (inputs, outputs) : (outputs, inputs) }

    fileprivate func packed(_ codes: [UInt8], _ parameters: UnsafeRawPointer, _ offsets: [Int8]) -> CodedWeights? {
        let form = CodedForm(
            values,
            bits: bits,
            terms: taps * inputs,
            columns: outputs,
            segment: segments == 1 ? taps * inputs : inputs / segments,
            group: outputs / groups
        )
        guard let form else { return nil }
        return codes.withUnsafeBytes { codes in
            CodedWeights(
                form,
                codes: codes.baseAddress!,
                layout: isTransposed ? .termsByColumns : .columnsByTerms,
                window: taps == 1
                    ? nil
                    : CodedWeights.Window(
                        channels: inputs,
                        channelStride: isTransposed ? outputs * taps : taps,
                        columnStride: isTransposed ? taps : inputs * taps,
                        segments: segments
                    ),
                parameters: CodedWeights.Parameters(
                    address: parameters,
                    isHalf: isHalf,
                    offsets: hasOffsets ? offsets : nil,
                    isSigned: true,
                    segmentStride: isTransposed ? groups : 1,
                    groupStride: isTransposed ? 1 : segments
                )
            )
        }
    }
}
