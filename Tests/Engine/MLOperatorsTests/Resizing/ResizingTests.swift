import MLGraph
import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct ResizingTests {
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

    static let image = OperatorTrial.floats((1...16).map(Double.init), [1, 1, 4, 4])

    static let crops: [([Double], Int, Bool, [Double])] = [
        ([1, 1, 2, 2], 2, false, [6, 7, 10, 11]), ([1, 1, 2, 2], 1, false, [8.5]),
        ([0, 0, 0, 1.0 / 3, 1.0 / 3], 2, true, [1, 2, 5, 6]), ([2, 2, 1, 1], 2, false, [11, 10, 7, 6]),
    ]

    @Test(arguments: crops) func regions(box: [Double], size: Int, isNormalized: Bool, expected: [Double]) throws {
        let result = try OperatorTrial.program(
            CropResize.self,
            [
                "x": Self.image, "roi": OperatorTrial.floats(box, [1, 1, box.count, 1, 1]),
                "target_height": OperatorTrial.int(size), "target_width": OperatorTrial.int(size),
                "normalized_coordinates": OperatorTrial.bool(isNormalized),
                "sampling_mode": OperatorTrial.string("ALIGN_CORNERS"),
            ],
            opset: .iOS15
        )[0]
        #expect(result.shape == [1, 1, 1, size, size])
        expectClose(result, expected)
    }

    /// A box that runs backwards from outside the image, in the opset without padding.
    @Test func boxesFromOutsideAreTheWholeImage() throws {
        let op = CropResize(height: 2, width: 2, isNormalized: true, samplingMode: .unalignCorners, usesRegions: true)
        let box = OperatorTrial.floats([2, 2, 1, 1], [1, 1, 4, 1, 1])
        #expect(try OperatorTrial.reference(op, Self.image, box)[0].values == [3.5, 5.5, 11.5, 13.5])
    }

    @Test func cropsBeyondTheImageArePadded() throws {
        let result = try OperatorTrial.program(
            CropResize.self,
            [
                "x": Self.image,
                "boxes": OperatorTrial.floats([0.1, 0.3, 1.3, 1, 0.5, 1.8, 1.0, 0.3, 0.0, 0.4, 0.6, 0.7], [3, 4]),
                "box_indices": OperatorTrial.integers([0, 0, 0]), "target_height": OperatorTrial.int(2),
                "target_width": OperatorTrial.int(2), "normalized_coordinates": OperatorTrial.bool(true),
                "sampling_mode": OperatorTrial.string("ALIGN_CORNERS"), "pad_value": OperatorTrial.float(10),
            ]
        )[0]
        #expect(result.shape == [3, 1, 2, 2])
        expectClose(result, [3.1, 5.2, 10, 10, 10, 7.9, 10, 13.9, 2.2, 3.1, 9.4, 10.3])
    }

    @Test func boxForms() throws {
        for (form, box) in [
            (CropResize.BoxForm.cornersHeightFirst, [1.0, 0, 3, 2]), (.cornersWidthFirst, [0, 1, 2, 3]),
            (.centerSizeHeightFirst, [2, 1, 2, 2]), (.centerSizeWidthFirst, [1, 2, 2, 2]),
        ] {
            let op = CropResize(height: 3, width: 3, boxForm: form, samplingMode: .strictAlignCorners)
            let result = try OperatorTrial.reference(op, Self.image, OperatorTrial.floats(box, [1, 4]))[0]
            #expect(result.values == [5, 6, 7, 9, 10, 11, 13, 14, 15])
        }
    }

    @Test func resample() throws {
        let x = OperatorTrial.floats([11, 22, 33, 44], [1, 1, 2, 2])
        let points = OperatorTrial.floats([-1, -2, -3.7, -1, 0, 0, 3.5, 1.2], [1, 2, 2, 2])
        func sampled(_ mode: String, _ padding: String, _ units: String, _ aligned: Bool) throws -> Tensor {
            try OperatorTrial.program(
                Resample.self,
                [
                    "x": x, "coordinates": points, "sampling_mode": OperatorTrial.string(mode),
                    "padding_mode": OperatorTrial.string(padding), "padding_value": OperatorTrial.float(6.17),
                    "coordinates_mode": OperatorTrial.string(units), "align_corners": OperatorTrial.bool(aligned),
                ]
            )[0]
        }
        expectClose(
            try sampled("bilinear", "constant", "normalized_minus_one_to_one", true),
            [8.585, 6.17, 27.5, 6.17]
        )
        expectClose(try sampled("nearest", "border", "unnormalized", false), [11, 11, 11, 44])
        expectClose(try sampled("nearest", "symmetric", "normalized_zero_to_one", false), [22, 33, 11, 33])
        expectClose(try sampled("bilinear", "reflection", "normalized_zero_to_one", true), [22, 36.3, 11, 34.1])
        let mirrored = try OperatorTrial.reference(
            Resample(isLinear: false, border: .symmetric, units: .pixels, alignsCorners: true),
            OperatorTrial.floats([1, 2, 3], [1, 1, 1, 3]),
            OperatorTrial.floats((-3..<6).flatMap { [Double($0), 0] }, [1, 1, 9, 2])
        )[0]
        #expect(mirrored.values == [3, 2, 1, 1, 2, 3, 3, 2, 1])
    }

    @Test func affine() throws {
        let result = try OperatorTrial.program(
            Affine.self,
            [
                "x": OperatorTrial.floats([11, 22, 33, 44], [1, 1, 2, 2]),
                "transform_matrix": OperatorTrial.floats([-1, -2, -3.7, -1, 3.5, 1.2], [1, 6]),
                "output_height": OperatorTrial.int(2), "output_width": OperatorTrial.int(5),
                "sampling_mode": OperatorTrial.string("bilinear"), "padding_mode": OperatorTrial.string("constant"),
                "padding_value": OperatorTrial.float(0),
                "coordinates_mode": OperatorTrial.string("normalized_minus_one_to_one"),
                "align_corners": OperatorTrial.bool(true),
            ]
        )[0]
        expectClose(result, [10.7525, 5.94, 2.5025, 0.44, 0, 0, 0, 0, 0, 0], tolerance: 1e-4)
    }
}
