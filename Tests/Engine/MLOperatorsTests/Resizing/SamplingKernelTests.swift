import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Points and boxes inside, on and far outside the images.
@Suite struct SamplingKernelTests {
    private static let borders: [Resample.Border] = [.constant(0.5), .edge, .reflection, .symmetric]

    @Test(arguments: borders) func resample(border: Resample.Border) {
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

    @Test func boxes() {
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
}
