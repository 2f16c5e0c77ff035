import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ResizeTests {
    static let modes: [(String, Int, [Double])] = [
        ("STRICT_ALIGN_CORNERS", 5, [0, 0.25, 0.5, 0.75, 1]), ("ALIGN_CORNERS", 5, [0, 0.25, 0.5, 0.75, 1]),
        ("DEFAULT", 5, [0, 0.4, 0.8, 1, 1]), ("OFFSET_CORNERS", 5, [0.1, 0.3, 0.5, 0.7, 0.9]),
        ("UNALIGN_CORNERS", 5, [0, 0.1, 0.5, 0.9, 1]), ("STRICT_ALIGN_CORNERS", 6, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ("DEFAULT", 6, [0, 1.0 / 3, 2.0 / 3, 1, 1, 1]), ("UNALIGN_CORNERS", 6, [0, 0, 1.0 / 3, 2.0 / 3, 1, 1]),
        ("ALIGN_CORNERS", 1, [0.5]), ("STRICT_ALIGN_CORNERS", 1, [0]),
    ]

    @Test(arguments: modes) func sampling(mode: String, count: Int, expected: [Double]) throws {
        let x = OperatorTrial.floats([0, 1], [1, 1, 2])
        let result = try OperatorTrial.program(
            ResizeBilinear.self,
            [
                "x": x, "target_size_height": OperatorTrial.int(1), "target_size_width": OperatorTrial.int(count),
                "sampling_mode": OperatorTrial.string(mode),
            ]
        )[0]
        expectClose(result, expected)
        let general = try OperatorTrial.program(
            ResizeToShape.self,
            [
                "x": x, "shape": OperatorTrial.integers([7, 0, count]), "resized_dims": OperatorTrial.int(2),
                "sampling_mode": OperatorTrial.string(mode),
            ]
        )[0]
        #expect(general.shape == [1, 1, count])
        expectClose(general, expected)
    }

    @Test func nearest() throws {
        let x = OperatorTrial.floats([1.5, -2.5, 3.5], [1, 1, 1, 3])
        func upsampled(_ height: Double, _ width: Double) throws -> Tensor {
            try OperatorTrial.program(
                UpsampleNearestNeighbor.self,
                [
                    "x": x, "scale_factor_height": OperatorTrial.float(height),
                    "scale_factor_width": OperatorTrial.float(width),
                ]
            )[0]
        }
        #expect(try upsampled(1, 2).values == [1.5, 1.5, -2.5, -2.5, 3.5, 3.5])
        #expect(try upsampled(3.17, 0.67).values == [1.5, -2.5, 1.5, -2.5, 1.5, -2.5])
        #expect(try upsampled(2, 1.12).shape == [1, 1, 2, 3])
        let sized = try OperatorTrial.program(
            ResizeNearestNeighbor.self,
            [
                "x": OperatorTrial.floats([1, 2], [1, 2, 1]), "target_size_height": OperatorTrial.int(2),
                "target_size_width": OperatorTrial.int(3),
            ]
        )[0]
        #expect(sized.values == [1, 1, 1, 2, 2, 2])
        let centred = try OperatorTrial.program(
            ResizeNearestNeighbor.self,
            [
                "x": OperatorTrial.floats([1, 2, 3, 4, 5], [1, 5, 1]), "target_size_height": OperatorTrial.int(2),
                "target_size_width": OperatorTrial.int(1),
            ]
        )[0]
        #expect(centred.values == [2, 4])
        let shaped = try OperatorTrial.program(
            ResizeToShape.self,
            [
                "x": OperatorTrial.floats([-6, 9], [1, 1, 1, 2, 1]), "shape": OperatorTrial.integers([1, 1, 3, 2]),
                "resized_dims": OperatorTrial.int(2), "interpolation_mode": OperatorTrial.string("NEAREST_NEIGHBOR"),
            ]
        )[0]
        #expect(shaped.values == [-6, -6, 9, 9, 9, 9])
    }

    @Test func upsampleBilinear() throws {
        func upsampled(_ aligned: Bool, _ centers: Bool?) throws -> [Double] {
            var arguments = [
                "x": OperatorTrial.floats([1, 2], [1, 1, 1, 2]), "scale_factor_height": OperatorTrial.int(1),
                "scale_factor_width": OperatorTrial.int(3), "align_corners": OperatorTrial.bool(aligned),
            ]
            if let centers { arguments["half_pixel_centers"] = OperatorTrial.bool(centers) }
            return try OperatorTrial.program(UpsampleBilinear.self, arguments)[0].values
        }
        func expectRow(_ values: [Double], _ expected: [Double]) { expectClose(OperatorTrial.floats(values), expected) }
        expectRow(try upsampled(true, nil), [1, 1.2, 1.4, 1.6, 1.8, 2])
        expectRow(try upsampled(false, nil), [1, 1, 4.0 / 3, 5.0 / 3, 2, 2])
        expectRow(try upsampled(false, false), [1, 4.0 / 3, 5.0 / 3, 2, 2, 2])
        #expect(throws: ModelError.self) { try upsampled(true, true) }
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 14)
        let x = random.tensor([2, 5, 4, 3])
        let problems = [
            OperatorProblem("sized", ResizeBilinear(.extents([7, 5]), .linear(.standard)), [x]),
            OperatorProblem("aligned", ResizeBilinear(.extents([2, 9]), .linear(.strictAlignCorners)), [x]),
            OperatorProblem("nearest", ResizeNearestNeighbor(.extents([8, 2]), .nearest(.standard)), [x]),
            OperatorProblem("factors", UpsampleBilinear(.factors([2, 1.5]), .linear(.unalignCorners)), [x]),
            OperatorProblem("one axis", ResizeBilinear(.extents([6]), .linear(.offsetCorners)), [x]),
            OperatorProblem("three axes", ResizeBilinear(.extents([3, 6, 2]), .linear(.standard)), [x]),
            OperatorProblem(
                "to shape",
                ResizeToShape(.operand(count: 2), .nearest(.unalignCorners)),
                [x, OperatorTrial.integers([0, 6])]
            ),
            OperatorProblem(
                "to shape by centres",
                ResizeToShape(.operand(count: 2), .nearest(.standard)),
                [OperatorTrial.floats([4, 5], [1, 1, 2, 1]), OperatorTrial.integers([3, 2])],
                expected: [OperatorTrial.floats([4, 4, 5, 5, 5, 5], [1, 1, 3, 2])]
            ),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([1, 2, 3, 4])],
            as: ResizeBilinear(.extents([5, 7]), .linear(.alignCorners)),
            tolerance: 1e-4
        ) {
            $0.resizeBilinear.targetSize = [5, 7]
            $0.resizeBilinear.mode.samplingMethod = .alignEndpointsMode
        },
        LayerProblem([counting([1, 2, 3, 4])], as: UpsampleNearestNeighbor(.factors([2, 3]), .floor)) {
            $0.upsample.scalingFactor = [2, 3]
        },
        LayerProblem(
            [counting([1, 2, 3, 4])],
            as: UpsampleBilinear(.factors([2, 2]), .linear(.standard)),
            tolerance: 1e-4
        ) {
            $0.upsample.scalingFactor = [2, 2]
            $0.upsample.mode = .bilinear
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4, 5])]
        let targets: [ResizeAttributes.Target] = [.extents([7, 9]), .extents([2, 3]), .factors([2, 2])]
        for target in targets {
            for mode in [SamplingMode.strictAlignCorners, .alignCorners, .standard, .offsetCorners, .unalignCorners] {
                #expect(GradientProblem("\(mode)", ResizeBilinear(target, .linear(mode)), x).failures() == [])
            }
            #expect(GradientProblem("", UpsampleNearestNeighbor(target, .floor), x).failures() == [])
            #expect(GradientProblem("", ResizeNearestNeighbor(target, .nearest(.standard)), x).failures() == [])
            #expect(GradientProblem("", UpsampleBilinear(target, .linear(.standard)), x).failures() == [])
        }
        let shaped = ResizeToShape(.operand(count: 2), .linear(.standard))
        #expect(GradientProblem("", shaped, x + [GradientProblem.integers([2, 3, 6, 4])]).failures() == [])
    }
}
