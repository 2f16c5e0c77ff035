import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Copies of many sizes and element types against the plain evaluation.
@Suite struct MovementKernelTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .uint8, .bool]

    @Test func reverseSequence() {
        var random = RandomTensors(seed: 21)
        for (shape, sequence, batch) in [
            ([6, 70, 50], 1, 0), ([70, 6, 50], 0, 1), ([5, 6, 70], 2, 0), ([70, 4, 6], 0, 2), ([9, 31], 1, 0),
        ] {
            for type in Self.types {
                let problem = OperatorProblem(
                    "",
                    ReverseSequence(sequenceAxis: sequence, batchAxis: batch),
                    [
                        random.tensor(shape, type, in: 0...90),
                        random.tensor([shape[batch]], .int32, in: -3...Double(shape[sequence] + 9)),
                    ],
                    tolerance: 0
                )
                #expect(problem.failures() == [])
            }
        }
    }

    @Test func bandPart() {
        var random = RandomTensors(seed: 22)
        for (lower, upper) in [(nil, nil), (nil, 0), (0, nil), (2, 3), (0, 0), (100, 1)] as [(Int?, Int?)] {
            for shape in [[3, 40, 70], [70, 40], [2, 2, 1, 5]] {
                for type in Self.types {
                    let x = random.tensor(shape, type, in: 0...90)
                    let problem = OperatorProblem("", BandPart(lower: lower, upper: upper), [x], tolerance: 0)
                    #expect(problem.failures() == [])
                }
            }
        }
    }

    @Test func blocksAndBatches() {
        var random = RandomTensors(seed: 23)
        for (block, margins) in [
            ([2, 2], [0, 0, 0, 0]), ([2, 3], [1, 1, 3, 0]), ([3, 1], [0, 3, 2, 5]), ([1, 4], [0, 0, 5, 3]),
        ] {
            for type in Self.types {
                let (h, w) = (block[0] * 7, block[1] * 5)
                let image = [2, 3, h - margins[0] - margins[1], w - margins[2] - margins[3]]
                guard image.allSatisfy({ $0 > 0 }) else { continue }
                let there = OperatorProblem(
                    "there",
                    SpaceToBatch(blockShape: block, paddings: margins),
                    [random.tensor(image, type, in: 0...90)],
                    tolerance: 0
                )
                #expect(there.failures() == [])
                let back = OperatorProblem(
                    "back",
                    BatchToSpace(blockShape: block, crops: margins),
                    [random.tensor([2 * block[0] * block[1], 3, 7, 5], type, in: 0...90)],
                    tolerance: 0
                )
                #expect(back.failures() == [])
            }
        }
    }

    @Test func oneHot() {
        var random = RandomTensors(seed: 24)
        for axis in [-1, 0, 1] {
            for type in [ScalarType.float32, .int32, .bool] {
                let problem = OperatorProblem(
                    "axis \(axis)",
                    OneHot(axis: axis, on: 1, off: 0, scalarType: type),
                    [random.tensor([7, 30], .int32, in: -3...25), Tensor(scalar: 21, .int32)],
                    tolerance: 0
                )
                #expect(problem.failures() == [])
            }
        }
    }

    @Test func fillLike() {
        for type in Self.types {
            let x = Tensor(uninitialized: .float32, shape: [30, 41], zeroed: true)
            #expect(OperatorProblem("", FillLike(value: 1, scalarType: type), [x], tolerance: 0).failures() == [])
        }
    }

    @Test func nonZero() throws {
        for type in Self.types + [.int16] {
            let x = Tensor(values: [0, 2, 0, 0, 1, 3, 0, 0], scalarType: type, shape: [2, 2, 2])
            let found = try OperatorTrial.reference(NonZero(), x)
            #expect(found[0].values == [0, 0, 1, 1, 0, 0, 1, 0, 1])
        }
        let numbers = Tensor([0, .nan, -0.0, 5] as [Float], shape: [4])
        #expect(try OperatorTrial.reference(NonZero(), numbers)[0].values == [1, 3])
        #expect(try OperatorTrial.reference(NonZero(), Tensor(scalar: 3, .float32))[0].shape == [1, 0])
        #expect(try OperatorTrial.reference(NonZero(), Tensor([] as [Float], shape: [3, 0]))[0].shape == [0, 2])
    }
}
