import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct CropResizeTests {
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

    /// Boxes inside, on and far outside the images.
    @Test func kernels() {
        var random = RandomTensors(seed: 62)
        for padValue in [nil, 0.25] as [Double?] {
            for mode in [SamplingMode.strictAlignCorners, .alignCorners, .standard, .offsetCorners, .unalignCorners] {
                let single = OperatorProblem(
                    "indices, \(mode)",
                    CropResize(height: 5, width: 9, samplingMode: mode, padValue: padValue),
                    [
                        random.tensor([3, 4, 17, 23]), random.tensor([7, 4], in: -4...26),
                        Tensor([0, 2, 1, 1, 0, 2, 2] as [Int32], shape: [7]),
                    ],
                    constants: [2],
                    tolerance: 1e-4
                )
                #expect(single.failures() == [])
                let regions = OperatorProblem(
                    "regions, \(mode)",
                    CropResize(height: 5, width: 9, samplingMode: mode, padValue: padValue, usesRegions: true),
                    [random.tensor([3, 4, 17, 23]), random.tensor([7, 1, 4, 1, 1], in: -4...26)],
                    tolerance: 1e-4
                )
                #expect(regions.failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [Self.image.reshaped([1, 1, 1, 4, 4]), OperatorTrial.floats([1, 1, 2, 2], [1, 1, 4, 1, 1])],
            expected: [OperatorTrial.floats([6, 7, 10, 11], [1, 1, 1, 2, 2])]
        ) {
            $0.cropResize.targetSize = [2, 2]
            $0.cropResize.mode.samplingMethod = .alignEndpointsMode
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
