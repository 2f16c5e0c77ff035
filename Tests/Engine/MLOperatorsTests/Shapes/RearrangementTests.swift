import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// 0, 1, 2, … in a shape.
func counting(_ shape: [Int], _ scalarType: ScalarType = .float32) -> Tensor {
    Tensor(values: (0..<shape.elementCount).map(Double.init), scalarType: scalarType, shape: shape)
}

func ints(_ values: [Int]) -> Tensor { Tensor(values.map(Int32.init), shape: [values.count]) }

/// The tensor of `shape` whose element at `index` is that of `x` at `source(index)`.
func picked(_ x: Tensor, _ shape: [Int], _ source: ([Int]) -> [Int]) -> Tensor {
    let strides = shape.rowMajorStrides
    let steps = x.shape.rowMajorStrides
    let values = x.values
    let result = (0..<shape.elementCount).map { place in
        let index = shape.indices.map { place / strides[$0] % shape[$0] }
        return values[zip(source(index), steps).reduce(0) { $0 + $1.0 * $1.1 }]
    }
    return Tensor(values: result, scalarType: x.scalarType, shape: shape)
}

@Suite struct RearrangementTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Transpose([0, 2, 3, 1]),
            [x],
            expected: [picked(x, [2, 4, 5, 3]) { [$0[0], $0[3], $0[1], $0[2]] }]
        ),
        OperatorProblem(
            "",
            Transpose([-1, 0, 1, 2]),
            [x],
            expected: [picked(x, [5, 2, 3, 4]) { [$0[1], $0[2], $0[3], $0[0]] }]
        ),
        OperatorProblem(
            "",
            Transpose([1, 0]),
            [counting([3, 4], .int32)],
            expected: [picked(counting([3, 4], .int32), [4, 3]) { [$0[1], $0[0]] }]
        ),
        OperatorProblem("", Transpose([0, 1, 2]), [counting([1, 3, 4])], expected: [counting([1, 3, 4])]),
        OperatorProblem("0 and -1", Reshape(), [x, ints([0, -1, 5])], expected: [x.reshaped([3, 8, 5])]),
        OperatorProblem("keep", Reshape(), [x, ints([0, 0, 20, 1])], expected: [x.reshaped([2, 3, 20, 1])]),
        OperatorProblem(
            "",
            ReshapeLike(begins: [0, 1], ends: [2, nil]),
            [x, counting([2, 3, 9]), counting([7, 4, 5])],
            expected: [x]
        ),
        OperatorProblem("", ExpandDims(axes: [0, -1]), [counting([2, 3])], expected: [counting([1, 2, 3, 1])]),
        OperatorProblem("", Squeeze(axes: [0, -2]), [counting([1, 2, 1, 3])], expected: [counting([2, 3])]),
        OperatorProblem("", Flatten2D(axis: -1), [counting([2, 3, 2])], expected: [counting([6, 2])]),
        OperatorProblem("", Flatten2D(axis: 1), [counting([3])], expected: [counting([3, 1])]),
        OperatorProblem("", Flatten2D(axis: -1), [counting([3])], expected: [counting([1, 3])]),
        OperatorProblem("", Identity(), [x], expected: [x]),
        OperatorProblem("", ShapeOf(), [x], expected: [ints([2, 3, 4, 5])]),
        OperatorProblem(
            "",
            Reverse(axes: nil),
            [counting([2, 3])],
            expected: [Tensor([5, 4, 3, 2, 1, 0] as [Float], shape: [2, 3])]
        ),
        OperatorProblem(
            "",
            Reverse(axes: [1, -1]),
            [x],
            expected: [picked(x, [2, 3, 4, 5]) { [$0[0], 2 - $0[1], $0[2], 4 - $0[3]] }]
        ),
        OperatorProblem(
            "",
            Tile(),
            [counting([2, 3]), ints([2, 1])],
            expected: [Tensor([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5] as [Float], shape: [4, 3])]
        ),
        OperatorProblem(
            "",
            Tile(),
            [x, ints([1, 2, 1, 3])],
            expected: [picked(x, [2, 6, 4, 15]) { [$0[0], $0[1] % 3, $0[2], $0[3] % 5] }]
        ),
        OperatorProblem(
            "",
            BroadcastTo(),
            [counting([3, 1]), ints([2, 3, 4])],
            expected: [picked(counting([3, 1]), [2, 3, 4]) { [$0[1], 0] }]
        ),
        OperatorProblem(
            "",
            SlidingWindows(axis: 1, size: 3, stride: 2),
            [counting([2, 7])],
            expected: [picked(counting([2, 7]), [2, 3, 3]) { [$0[0], $0[1] * 2 + $0[2]] }]
        ),
        OperatorProblem(
            "",
            Crop(top: 1, bottom: 0, left: 2, right: 1),
            [x],
            expected: [picked(x, [2, 3, 3, 2]) { [$0[0], $0[1], $0[2] + 1, $0[3] + 2] }]
        ),
        OperatorProblem(
            "",
            SliceBySize(),
            [x, ints([0, -2, 1, 0]), ints([2, 1, -1, 5])],
            expected: [picked(x, [2, 1, 3, 5]) { [$0[0], 1, $0[2] + 1, $0[3]] }]
        ),
        OperatorProblem(
            "",
            SpaceToDepth(blockSize: 2),
            [counting([1, 2, 2, 4])],
            expected: [
                picked(counting([1, 2, 2, 4]), [1, 8, 1, 2]) { [0, $0[1] % 2, $0[1] / 4, $0[3] * 2 + $0[1] / 2 % 2] }
            ]
        ),
        OperatorProblem(
            "",
            DepthToSpace(blockSize: 2),
            [counting([1, 8, 1, 2])],
            expected: [
                picked(counting([1, 8, 1, 2]), [1, 2, 2, 4]) {
                    [0, ($0[2] % 2 * 2 + $0[3] % 2) * 2 + $0[1], $0[2] / 2, $0[3] / 2]
                }
            ]
        ),
        OperatorProblem(
            "",
            PixelShuffle(blockSize: 2),
            [counting([1, 8, 1, 2])],
            expected: [
                picked(counting([1, 8, 1, 2]), [1, 2, 2, 4]) {
                    [0, $0[1] * 4 + $0[2] % 2 * 2 + $0[3] % 2, $0[2] / 2, $0[3] / 2]
                }
            ]
        ),
        OperatorProblem(
            "",
            PixelUnshuffle(blockSize: 2),
            [counting([1, 2, 2, 4])],
            expected: [
                picked(counting([1, 2, 2, 4]), [1, 8, 1, 2]) { [0, $0[1] / 4, $0[1] / 2 % 2, $0[3] * 2 + $0[1] % 2] }
            ]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func squeezeOfAllAxes() throws {
        #expect(try OperatorTrial.reference(Squeeze(axes: nil), counting([1, 2, 1, 3]))[0].shape == [2, 3])
    }

    @Test func blocksAndBatches() {
        let x = counting([4, 1, 2, 2])
        let wide = BatchToSpace(blockShape: [2, 2], crops: [0, 0, 0, 0])
        let spread = picked(x, [1, 1, 4, 4]) { [$0[2] % 2 * 2 + $0[3] % 2, 0, $0[2] / 2, $0[3] / 2] }
        #expect(OperatorProblem("", wide, [x], expected: [spread]).failures() == [])
        let back = SpaceToBatch(blockShape: [2, 2], paddings: [0, 0, 0, 0])
        #expect(OperatorProblem("", back, [spread], expected: [x]).failures() == [])
        let cropped = BatchToSpace(blockShape: [2, 2], crops: [1, 0, 0, 1])
        let inner = picked(spread, [1, 1, 3, 3]) { [0, 0, $0[2] + 1, $0[3]] }
        #expect(OperatorProblem("", cropped, [x], expected: [inner]).failures() == [])
        let padded = SpaceToBatch(blockShape: [2, 2], paddings: [1, 0, 0, 1])
        #expect(OperatorProblem("", padded, [counting([1, 1, 3, 3])]).failures() == [])
    }

    @Test func contradictions() {
        func type(_ shape: [Int], _ contents: Tensor? = nil) -> Operands.Operand {
            Operands.Operand(type: ValueType(contents?.scalarType ?? .float32, Shape(shape)), constant: contents)
        }
        let x = type([2, 3])
        #expect(throws: ModelError.self) { try Transpose([0, 0]).resultTypes(of: Operands([x])) }
        #expect(throws: ModelError.self) { try Transpose([0]).resultTypes(of: Operands([x])) }
        #expect(throws: ModelError.self) {
            try Reshape().resultTypes(of: Operands([x, type([2], ints([4, -1]))]))
        }
        #expect(throws: ModelError.self) {
            try Reshape().resultTypes(of: Operands([x, type([2], ints([-1, -1]))]))
        }
        #expect(throws: ModelError.self) { try ExpandDims(axes: [0, 0]).resultTypes(of: Operands([x])) }
        #expect(throws: ModelError.self) {
            try Tile().resultTypes(of: Operands([x, type([2], ints([1, -1]))]))
        }
        #expect(throws: ModelError.self) {
            try Fill(value: 0, scalarType: .float32).resultTypes(
                of: Operands([type([2], ints([Int(Int32.max), Int(Int32.max)]))])
            )
        }
    }
}
