import MLGraph
import MLNumerics
import MLOperators
import Testing

private typealias P = GradientProblem

extension GradientTests {
    @Test(arguments: UInt64(1)...2)
    func convolutions(seed: UInt64) {
        let problems = [
            P("1-D", Convolution(strides: [2], padding: .same), [.real([2, 3, 9]), .real([4, 3, 3]), .real([4])]),
            P("2-D", Convolution(strides: [1, 1]), [.real([3, 2, 6, 7]), .real([4, 2, 3, 3]), .real([4])]),
            P(
                "many blocks",
                Convolution(strides: [1, 1], padding: .same),
                [.real([1, 6, 40, 60]), .real([2, 6, 3, 3]), .none],
                kernelTolerance: 2e-3
            ),
            P("1×1", Convolution(strides: [1, 1]), [.real([2, 3, 5, 4]), .real([6, 3, 1, 1]), .real([6])]),
            P(
                "strides and borders",
                Convolution(strides: [2, 3], padding: .custom(before: [1, 2], after: [2, 0])),
                [.real([2, 3, 8, 9]), .real([4, 3, 3, 2]), .none]
            ),
            P(
                "dilation and groups",
                Convolution(strides: [1, 2], padding: .same, dilations: [2, 1], groups: 2),
                [.real([10, 4, 7, 8]), .real([6, 2, 3, 3]), .real([6])]
            ),
            P(
                "depthwise",
                Convolution(strides: [1, 1], padding: .same, groups: 4),
                [.real([2, 4, 5, 6]), .real([4, 1, 3, 3]), .real([4])]
            ),
            P(
                "3-D",
                Convolution(strides: [1, 2, 1], padding: .sameLower),
                [.real([2, 2, 4, 5, 4]), .real([3, 2, 2, 3, 2]), .real([3])]
            ),
            P(
                "transposed",
                ConvolutionTransposed(strides: [2, 2]),
                [.real([2, 3, 4, 3]), .real([3, 2, 3, 3]), .real([2])]
            ),
            P(
                "transposed with groups",
                ConvolutionTransposed(
                    strides: [2, 1],
                    padding: .custom(before: [1, 0], after: [0, 1]),
                    dilations: [1, 2],
                    groups: 2
                ),
                [.real([2, 4, 4, 5]), .real([4, 3, 3, 2]), .real([6])]
            ),
            P(
                "transposed to an extent",
                ConvolutionTransposed(strides: [3], padding: .same, outputExtents: [11]),
                [.real([1, 2, 4]), .real([2, 3, 2]), .none]
            ),
        ]
        for var problem in problems {
            problem.seed = seed
            #expect(problem.failures() == [])
        }
    }

    @Test func pools() {
        for padding: WindowPadding in [.valid, .same, .custom(before: [1, 0], after: [0, 1])] {
            for roundsUp in [false, true] {
                let x: [P.Operand] = [.real([2, 3, 7, 6])]
                #expect(
                    P("", MaxPool(kernel: [3, 2], strides: [2, 2], padding: padding, roundsUp: roundsUp), x).failures()
                        == []
                )
                #expect(
                    P("", L2Pool(kernel: [2, 2], strides: [2, 1], padding: padding, roundsUp: roundsUp), x).failures()
                        == []
                )
                for excludes in [false, true] {
                    let op = AveragePool(
                        kernel: [3, 3],
                        strides: [2, 1],
                        padding: padding,
                        roundsUp: roundsUp,
                        excludesPadding: excludes
                    )
                    #expect(P("", op, x).failures() == [])
                }
            }
        }
        #expect(P("global", AveragePool.global, [.real([2, 3, 4, 5])]).failures() == [])
        #expect(P("global", MaxPool.global, [.real([2, 3, 4, 5])]).failures() == [])
        #expect(P("pairs", MaxPool(kernel: [2, 2], strides: [2, 2]), [.real([2, 3, 8, 38])]).failures() == [])
        #expect(P("pairs", MaxPool(kernel: [1, 2], strides: [3, 2]), [.real([2, 3, 8, 11])]).failures() == [])
        #expect(P("1-D", MaxPool(kernel: [2], strides: [2]), [.real([2, 3, 9])]).failures() == [])
        #expect(P("3-D", AveragePool(kernel: [2, 2, 2]), [.real([1, 2, 3, 4, 3])]).failures() == [])
    }

    @Test func resizes() {
        let x: [P.Operand] = [.real([2, 3, 4, 5])]
        let targets: [ResizeAttributes.Target] = [.extents([7, 9]), .extents([2, 3]), .factors([2, 2])]
        for target in targets {
            for mode in [SamplingMode.strictAlignCorners, .alignCorners, .standard, .offsetCorners, .unalignCorners] {
                #expect(P("\(mode)", ResizeBilinear(target, .linear(mode)), x).failures() == [])
            }
            #expect(P("", UpsampleNearestNeighbor(target, .floor), x).failures() == [])
            #expect(P("", ResizeNearestNeighbor(target, .nearest(.standard)), x).failures() == [])
            #expect(P("", UpsampleBilinear(target, .linear(.standard)), x).failures() == [])
        }
        let shaped = ResizeToShape(.operand(count: 2), .linear(.standard))
        #expect(P("", shaped, x + [P.integers([2, 3, 6, 4])]).failures() == [])
    }

    @Test func movements() {
        let x: [P.Operand] = [.real([2, 3, 4])]
        let image: [P.Operand] = [.real([1, 4, 4, 6])]
        let problems = [
            P("", Reshape(), x + [P.integers([4, 6])]),
            P("", ReshapeLike(begins: [0], ends: [nil]), x + [.noise([6, 4])]),
            P("", ExpandDims(axes: [0, 2]), x),
            P("", Squeeze(axes: [0]), [.real([1, 3, 4])]),
            P("", Flatten2D(axis: 1), x),
            P("", Regroup([.axis(0), .merged(1..<3), .one]), x),
            P("", Identity(), x),
            P("", Transpose([2, 0, 1]), x),
            P("", BroadcastTo(), [.real([3, 1])] + [P.integers([2, 3, 4])]),
            P("", Concat(axis: 1), [.real([2, 3, 4]), .real([2, 1, 4]), .noise([2, 2, 4])]),
            P("interleaved", Concat(axis: 2, isInterleaved: true), [.real([2, 3, 4]), .real([2, 3, 4])]),
            P("", Stack(axis: 1), [.real([2, 3]), .real([2, 3])]),
            P("", Split(axis: 1, sizes: [1, 2]), x),
            P("", Split(axis: 2, count: 2), x),
            P("", Pad(mode: .constant, value: 2), x + [P.integers([1, 0, 2, 3])]),
            P("", Pad(mode: .reflect), x + [P.integers([1, 2, 3, 1])]),
            P("", Pad(mode: .replicate), x + [P.integers([1, 2, 3, 1])]),
            P("", SliceByIndex(), x + [P.integers([0, 1, 1]), P.integers([2, 3, 4])]),
            P("", SliceBySize(), x + [P.integers([0, 1, 1]), P.integers([2, -1, 2])]),
            P("", Crop(top: 1, bottom: 0, left: 1, right: 2), image),
            P("", Reverse(axes: [1]), x),
            P("", ReverseSequence(sequenceAxis: 1, batchAxis: 0), x + [P.integers([2, 3])]),
            P("", Tile(), x + [P.integers([2, 1, 3])]),
            P("", SlidingWindows(axis: 1, size: 2, stride: 1), x),
            P("", DepthToSpace(blockSize: 2), image),
            P("", SpaceToDepth(blockSize: 2), image),
            P("", PixelShuffle(blockSize: 2), image),
            P("", PixelUnshuffle(blockSize: 2), image),
            P("", BandPart(lower: 1, upper: 0), x),
            P("", Gather(axis: 1), x + [P.integers([2, 0, 2, 1])]),
            P(
                "",
                GatherAlongAxis(axis: 1),
                x + [.fixed(Tensor((0..<16).map { Int32($0 % 3) }, shape: [2, 2, 4]))]
            ),
            P("", GatherND(), x + [.fixed(Tensor([0, 1, 1, 2, 0, 1] as [Int32], shape: [3, 2]))]),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
