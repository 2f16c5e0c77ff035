import MLGraph
import MLNumerics
import MLOperators
import Testing

@Suite struct LinearTests {
    @Test(arguments: [[3], [2, 3], [2, 2, 3]]) func everyRank(shape: [Int]) throws {
        let x = OperatorTrial.noise(shape)
        let weight = OperatorTrial.noise([4, 3], seed: 2)
        let bias = OperatorTrial.noise([4], seed: 3)
        let result = try OperatorTrial.program(Linear.self, ["x": x, "weight": weight, "bias": bias])[0]
        #expect(result.shape == shape.dropLast() + [4])
        var expected: [Double] = []
        for row in 0..<shape.elementCount / 3 {
            for n in 0..<4 {
                expected.append(
                    bias.values[n] + (0..<3).reduce(0) { $0 + x.values[row * 3 + $1] * weight.values[n * 3 + $1] }
                )
            }
        }
        expectClose(result, expected)
    }

    @Test func integersResidualAndActivation() throws {
        let whole = try OperatorTrial.reference(
            Linear(),
            Tensor([1, 2] as [Int32], shape: [2]),
            Tensor([3, 4] as [Int32], shape: [1, 2])
        )[0]
        #expect(whole.scalarType == .int32 && whole.values == [11])
        let fused = try OperatorTrial.reference(
            Linear(activation: .clip(low: 0, high: 6)),
            OperatorTrial.floats([1, 2]),
            OperatorTrial.floats([1, 1, -1, 0], [2, 2]),
            nil,
            OperatorTrial.floats([9, 0.5])
        )[0]
        #expect(fused.values == [6, 0])
    }

    @Test func contradictionsAreErrors() {
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(Linear(), OperatorTrial.noise([2, 3]), OperatorTrial.noise([4, 2]))
        }
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(
                Linear(),
                OperatorTrial.noise([2, 3]),
                OperatorTrial.noise([4, 3]),
                OperatorTrial.noise([3])
            )
        }
    }
}

@Suite struct MatMulTests {
    struct Problem: Sendable {
        var x: [Int]
        var y: [Int]
        var transposes: (Bool, Bool) = (false, false)
        var result: [Int]
    }

    static let problems: [Problem] = [
        Problem(x: [4, 3], y: [3, 2], result: [4, 2]),
        Problem(x: [3], y: [3], result: []),
        Problem(x: [4], y: [5, 4, 3], result: [5, 3]),
        Problem(x: [5, 3, 4], y: [4], result: [5, 3]),
        Problem(x: [5, 4, 3], y: [2, 5, 3, 2], result: [2, 5, 4, 2]),
        Problem(x: [2, 1, 4, 3], y: [5, 3, 2], result: [2, 5, 4, 2]),
        Problem(x: [2, 3, 4], y: [2, 3, 5], transposes: (true, false), result: [2, 4, 5]),
        Problem(x: [2, 4, 3], y: [5, 3], transposes: (false, true), result: [2, 4, 5]),
        Problem(x: [3, 4], y: [5, 3], transposes: (true, true), result: [4, 5]),
    ]

    static func expected(_ problem: Problem, _ x: Tensor, _ y: Tensor) -> [Double] {
        let xShape = problem.x.count == 1 ? [1] + problem.x : problem.x
        let yShape = problem.y.count == 1 ? problem.y + [1] : problem.y
        func element(_ tensor: Tensor, _ shape: [Int], _ batch: [Int], _ row: Int, _ column: Int, _ swap: Bool)
            -> Double
        {
            let lead = shape.count - 2
            var index = 0
            for axis in 0..<lead {
                let place = batch[batch.count - lead + axis]
                index = index * shape[axis] + (shape[axis] == 1 ? 0 : place)
            }
            index = (index * shape[lead] + (swap ? column : row)) * shape[lead + 1] + (swap ? row : column)
            return tensor.values[index]
        }
        let m = problem.transposes.0 ? xShape[xShape.count - 1] : xShape[xShape.count - 2]
        let k = problem.transposes.0 ? xShape[xShape.count - 2] : xShape[xShape.count - 1]
        let n = problem.transposes.1 ? yShape[yShape.count - 2] : yShape[yShape.count - 1]
        let batch = Array(problem.result.dropLast((problem.x.count > 1 ? 1 : 0) + (problem.y.count > 1 ? 1 : 0)))
        let places = batch.reduce([[]] as [[Int]]) { list, extent in
            list.flatMap { place in (0..<extent).map { place + [$0] } }
        }
        var result: [Double] = []
        for place in places {
            for row in 0..<m {
                for column in 0..<n {
                    result.append(
                        (0..<k).reduce(0) {
                            $0 + element(x, xShape, place, row, $1, problem.transposes.0)
                                * element(y, yShape, place, $1, column, problem.transposes.1)
                        }
                    )
                }
            }
        }
        return result
    }

    @Test(arguments: problems) func followsTheDefinition(problem: Problem) throws {
        let x = OperatorTrial.noise(problem.x)
        let y = OperatorTrial.noise(problem.y, seed: 2)
        let result = try OperatorTrial.program(
            MatMul.self,
            [
                "x": x, "y": y, "transpose_x": OperatorTrial.bool(problem.transposes.0),
                "transpose_y": OperatorTrial.bool(problem.transposes.1),
            ]
        )[0]
        #expect(result.shape == problem.result)
        expectClose(result, Self.expected(problem, x, y))
    }

    @Test func takesTheTypeOfTheOperandThatIsNotConstant() throws {
        let types = try MatMul().resultTypes(
            of: Operands([
                .init(type: ValueType(.float16, [1, 2]), constant: OperatorTrial.noise([1, 2], .float16)),
                .init(type: ValueType(.float32, [2, .unknown])),
            ])
        )
        #expect(types == [ValueType(.float32, [1, .unknown])])
    }

    @Test func contradictionsAreErrors() {
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(MatMul(), OperatorTrial.noise([2, 3]), OperatorTrial.noise([2, 3]))
        }
    }
}

@Suite struct EinsumTests {
    @Test func multipliesWithBroadcasting() throws {
        let x = OperatorTrial.noise([2, 3, 1, 4])
        let y = OperatorTrial.noise([1, 4, 5, 2], seed: 2)
        let result = try OperatorTrial.program(
            Einsum.self,
            ["equation": OperatorTrial.string("nchw,nwhu->nchu")],
            lists: ["values": [x, y]]
        )[0]
        #expect(result.shape == [2, 3, 5, 2])
        var expected: [Double] = []
        for n in 0..<2 {
            for c in 0..<3 {
                for h in 0..<5 {
                    for u in 0..<2 {
                        expected.append(
                            (0..<4).reduce(0) {
                                $0 + x.values[(n * 3 + c) * 4 + $1] * y.values[($1 * 5 + h) * 2 + u]
                            }
                        )
                    }
                }
            }
        }
        expectClose(result, expected)
    }

    @Test func diagonalsTransposesAndSums() throws {
        let x = OperatorTrial.floats([1, 2, 3, 4], [2, 2])
        #expect(try OperatorTrial.reference(Einsum("ii->i"), x)[0].values == [1, 4])
        #expect(try OperatorTrial.reference(Einsum("ij->ji"), x)[0].values == [1, 3, 2, 4])
        #expect(try OperatorTrial.reference(Einsum("ij->"), x)[0].values == [10])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(Einsum("ij->k"), x) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(Einsum("ij"), x) }
    }
}
