import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct ResampleTests {
    @Test func byHand() throws {
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

    private static let borders: [Resample.Border] = [.constant(0.5), .edge, .reflection, .symmetric]

    /// Points inside, on and far outside the images.
    @Test(arguments: borders) func kernels(border: Resample.Border) {
        var random = RandomTensors(seed: 61)
        for isLinear in [false, true] {
            for units in [Resample.Units.pixels, .minusOneToOne, .zeroToOne] {
                for isAligned in [false, true] {
                    let reach = units == .pixels ? -12.0...40 : -1.5...1.5
                    var points = random.tensor([2, 30, 41, 2], in: reach).values
                    points[0] = 0
                    points[1] = .nan
                    points[4] = 1e9
                    let problem = OperatorProblem(
                        "\(units) aligned \(isAligned)",
                        Resample(isLinear: isLinear, border: border, units: units, alignsCorners: isAligned),
                        [
                            random.tensor([2, 3, 17, 23]),
                            Tensor(values: points, scalarType: .float32, shape: [2, 30, 41, 2]),
                        ],
                        tolerance: 1e-4
                    )
                    #expect(problem.failures() == [])
                    let affine = OperatorProblem(
                        "affine, aligned \(isAligned)",
                        Affine(
                            height: 19,
                            width: 33,
                            sampling: Resample(
                                isLinear: isLinear,
                                border: border,
                                units: .minusOneToOne,
                                alignsCorners: isAligned
                            )
                        ),
                        [random.tensor([2, 3, 17, 23]), random.tensor([2, 6], in: -1.2...1.2)],
                        tolerance: 1e-4
                    )
                    #expect(affine.failures() == [])
                }
            }
        }
    }
}
