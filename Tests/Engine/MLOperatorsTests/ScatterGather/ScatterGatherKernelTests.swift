import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Large enough for several workers; indices also outside and from the end.
@Suite struct ScatterGatherKernelTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .int8]
    private static let indexTypes: [ScalarType] = [.int32, .int16, .uint8]

    @Test(arguments: [([40, 60, 20], 2), ([50, 64, 3], 0), ([50, 64, 3], -2), ([2000], 0), ([3, 5, 40, 41], 3)])
    func alongAxis(shape: [Int], axis: Int) {
        var random = RandomTensors(seed: 11)
        let place = axis < 0 ? axis + shape.count : axis
        var taken = shape
        taken[place] = shape[place] / 2 + 3
        for type in Self.types {
            for indexType in Self.indexTypes {
                let reach = Double(shape[place] + 4)
                let indices = random.tensor(taken, indexType, in: indexType == .uint8 ? 0...100 : -reach...reach)
                let x = random.tensor(shape, type, in: -50...50)
                #expect(OperatorProblem("", GatherAlongAxis(axis: axis), [x, indices], tolerance: 0).failures() == [])
                let update = OperatorProblem(
                    "update",
                    ScatterAlongAxis(axis: axis, mode: .update),
                    [x, indices, random.tensor(taken, type, in: -50...50)],
                    tolerance: 0
                )
                #expect(update.failures() == [])
            }
        }
    }

    @Test(arguments: [ScatterMode.add, .sub, .mul, .div, .max, .min])
    func modes(mode: ScatterMode) {
        var random = RandomTensors(seed: 12)
        for type in [ScalarType.float32, .int32] {
            let x = random.tensor([40, 30, 33], type, in: -9...9)
            let updates = random.tensor([40, 7, 33], type, in: type == .int32 ? 1...4 : 0.5...2)
            let indices = random.tensor([40, 7, 33], .int32, in: -30...29)
            let along = OperatorProblem(
                "along axis",
                ScatterAlongAxis(axis: 1, mode: mode),
                [x, indices, updates],
                tolerance: 1e-4
            )
            #expect(along.failures() == [])
            let rows = OperatorProblem(
                "rows",
                Scatter(axis: 1, mode: mode),
                [x, random.tensor([7], .int32, in: -30...29), updates],
                tolerance: 1e-4
            )
            #expect(rows.failures() == [])
            let slices = OperatorProblem(
                "slices",
                ScatterND(mode: mode),
                [x, random.tensor([90, 2], .int32, in: -30...29), random.tensor([90, 33], type, in: 1...3)],
                constants: [1],
                tolerance: 1e-3
            )
            #expect(slices.failures() == [])
            let elements = OperatorProblem(
                "elements",
                ScatterND(mode: mode),
                [x, random.tensor([900, 3], .int32, in: -29...29), random.tensor([900], type, in: 1...3)],
                constants: [1],
                tolerance: 1e-3
            )
            #expect(elements.failures() == [])
        }
    }

    @Test func slices() {
        var random = RandomTensors(seed: 13)
        for type in Self.types {
            for (shape, batch, length, items) in [
                ([30, 40, 25], 0, 1, [700]), ([30, 40, 25], 0, 2, [60, 9]), ([30, 40, 25], 0, 3, [9000]),
                ([30, 40, 25], 1, 1, [30, 25]), ([30, 40, 25], 1, 2, [30, 300]),
            ] {
                let problem = OperatorProblem(
                    "batch \(batch) length \(length)",
                    GatherND(batchDimensions: batch),
                    [
                        random.tensor(shape, type, in: -50...50),
                        random.tensor(items + [length], .int32, in: -45...45),
                    ],
                    constants: [1],
                    tolerance: 0
                )
                #expect(problem.failures() == [])
            }
        }
    }

    @Test(arguments: [([30, 50, 40], 0), ([30, 50, 40], 1), ([200, 300], 1), ([40, 3, 5], 2)])
    func rows(shape: [Int], axis: Int) {
        var random = RandomTensors(seed: 14)
        for type in Self.types {
            for indexType in Self.indexTypes {
                let indices = random.tensor([37], indexType, in: indexType == .uint8 ? 0...40 : -40...40)
                let x = random.tensor(shape, type, in: -50...50)
                #expect(OperatorProblem("", Gather(axis: axis), [x, indices], tolerance: 0).failures() == [])
                var taken = shape
                taken[axis] = 37
                let updates = random.tensor(taken, type, in: -50...50)
                for leavesOutOutside in [false, true] {
                    let update = OperatorProblem(
                        leavesOutOutside ? "update inside" : "update",
                        Scatter(axis: axis, mode: .update, leavesOutOutside: leavesOutOutside),
                        [x, indices, updates],
                        tolerance: 0
                    )
                    #expect(update.failures() == [])
                }
            }
        }
    }

    @Test func batches() {
        var random = RandomTensors(seed: 15)
        for shape in [[12, 30, 50], [4, 6, 30, 20]] {
            let axis = shape.count - 2
            let problem = OperatorProblem(
                "batches",
                Gather(axis: axis, batchDimensions: 1),
                [random.tensor(shape), random.tensor([shape[0], 41], .int32, in: -33...33)],
                tolerance: 0
            )
            #expect(problem.failures() == [])
        }
    }
}
