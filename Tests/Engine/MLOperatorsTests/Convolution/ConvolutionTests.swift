import MLGraph
import MLNumerics
import MLOperators
import Testing

@Suite struct ConvolutionTests {
    struct Problem: Sendable, CustomTestStringConvertible {
        var x: [Int]
        var weight: [Int]
        var strides: [Int]
        var pad: (String, [Int]) = ("valid", [])
        var dilations: [Int]
        var groups = 1
        var result: [Int]
        var testDescription: String { "\(x) * \(weight) s\(strides) \(pad) d\(dilations) g\(groups)" }
    }

    static let problems: [Problem] = [
        Problem(x: [1, 1, 4], weight: [1, 1, 2], strides: [1], dilations: [1], result: [1, 1, 3]),
        Problem(x: [2, 3, 9], weight: [4, 3, 3], strides: [2], pad: ("same", []), dilations: [1], result: [2, 4, 5]),
        Problem(
            x: [1, 3, 7, 6],
            weight: [5, 3, 3, 3],
            strides: [2, 2],
            pad: ("custom", [1, 1, 1, 1]),
            dilations: [1, 1],
            result: [1, 5, 4, 3]
        ),
        Problem(
            x: [2, 4, 6, 5],
            weight: [6, 2, 2, 3],
            strides: [1, 2],
            pad: ("same", []),
            dilations: [1, 1],
            groups: 2,
            result: [2, 6, 6, 3]
        ),
        Problem(
            x: [1, 4, 6, 6],
            weight: [4, 1, 2, 2],
            strides: [2, 1],
            pad: ("same_lower", []),
            dilations: [1, 1],
            groups: 4,
            result: [1, 4, 3, 6]
        ),
        Problem(
            x: [1, 2, 9, 9],
            weight: [3, 2, 3, 3],
            strides: [1, 1],
            pad: ("custom", [3, 0, 1, 2]),
            dilations: [2, 3],
            result: [1, 3, 8, 6]
        ),
        Problem(
            x: [1, 2, 4, 5, 3],
            weight: [2, 2, 2, 3, 2],
            strides: [1, 2, 1],
            pad: ("same", []),
            dilations: [1, 1, 1],
            result: [1, 2, 4, 3, 3]
        ),
    ]

    /// The definition, place by place: borders are read as zeros.
    static func expected(_ problem: Problem, _ x: [Double], _ weight: [Double], bias: [Double]) -> [Double] {
        let p = problem
        let rank = p.strides.count
        func index(_ shape: [Int], _ place: [Int]) -> Int {
            zip(shape, place).reduce(0) { $0 * $1.0 + $1.1 }
        }
        func places(_ shape: [Int]) -> [[Int]] {
            shape.reduce([[]]) { list, extent in list.flatMap { place in (0..<extent).map { place + [$0] } } }
        }
        let before = (0..<rank).map { axis -> Int in
            if p.pad.0 == "custom" { return p.pad.1[2 * axis] }
            if p.pad.0 == "valid" { return 0 }
            let window = (p.weight[axis + 2] - 1) * p.dilations[axis] + 1
            let reach: Int = (p.result[axis + 2] - 1) * p.strides[axis] + window
            let total = max(reach - p.x[axis + 2], 0)
            return p.pad.0 == "same" ? total / 2 : (total + 1) / 2
        }
        let outputs = p.weight[0] / p.groups
        return places(p.result).map { place in
            var sum = bias[place[1]]
            for tap in places(Array(p.weight.dropFirst())) {
                let channel = place[1] / outputs * p.weight[1] + tap[0]
                var source: [Int] = [place[0], channel]
                for axis in 0..<rank {
                    let start: Int = place[axis + 2] * p.strides[axis] - before[axis]
                    source.append(start + tap[axis + 1] * p.dilations[axis])
                }
                guard zip(source, p.x).allSatisfy({ $0 >= 0 && $0 < $1 }) else { continue }
                let value: Double = x[index(p.x, source)]
                sum += value * weight[index(p.weight, [place[1]] + tap)]
            }
            return sum
        }
    }

    @Test(arguments: problems) func followsTheDefinition(problem: Problem) throws {
        let x = OperatorTrial.noise(problem.x)
        let weight = OperatorTrial.noise(problem.weight, seed: 2)
        let bias = OperatorTrial.noise([problem.weight[0]], seed: 3)
        var arguments: [String: Tensor] = [
            "x": x, "weight": weight, "bias": bias, "strides": OperatorTrial.integers(problem.strides),
            "pad_type": OperatorTrial.string(problem.pad.0), "dilations": OperatorTrial.integers(problem.dilations),
            "groups": OperatorTrial.int(problem.groups),
        ]
        if !problem.pad.1.isEmpty { arguments["pad"] = OperatorTrial.integers(problem.pad.1) }
        let result = try OperatorTrial.program(Convolution.self, arguments)[0]
        #expect(result.shape == problem.result)
        expectClose(result, Self.expected(problem, x.values, weight.values, bias: bias.values))
    }

    @Test func residualThenActivation() throws {
        let op = Convolution(strides: [1], activation: .relu)
        let result = try OperatorTrial.reference(
            op,
            OperatorTrial.floats([1, 2, 3], [1, 1, 3]),
            OperatorTrial.floats([1, -1], [1, 1, 2]),
            nil,
            OperatorTrial.floats([0.5, 2], [1, 1, 2])
        )[0]
        #expect(result.values == [0, 1])
    }

    @Test func halfWeightsKeepTheTypeOfX() throws {
        let x = OperatorTrial.noise([1, 2, 3, 3])
        let weight = OperatorTrial.noise([2, 2, 1, 1], seed: 2, .float16)
        let result = try OperatorTrial.reference(Convolution(strides: [1, 1]), x, weight)[0]
        #expect(result.scalarType == .float32)
    }

    @Test func extentsStayUnknown() throws {
        let types = try Convolution(strides: [2, 2], padding: .same).resultTypes(
            of: Operands([
                .init(type: ValueType(.float32, [.unknown, 3, .unknown, 8])),
                .init(type: ValueType(.float32, [4, 3, 3, 3])),
            ])
        )
        #expect(types == [ValueType(.float32, [.unknown, 4, .unknown, 4])])
    }

    static let contradictions: [([Int], [Int], Convolution)] = [
        ([1, 3, 4, 4], [2, 4, 1, 1], Convolution(strides: [1, 1])),
        ([1, 3, 4, 4], [2, 3, 5, 1], Convolution(strides: [1, 1])),
        ([1, 4, 4, 4], [3, 2, 1, 1], Convolution(strides: [1, 1], groups: 2)),
        ([1, 3, 4, 4], [2, 3, 1, 1], Convolution(strides: [0, 1])),
        ([1, 3, 4, 4], [2, 3, 1, 1], Convolution(strides: [1])),
        ([3, 4], [3, 4], Convolution(strides: [])),
    ]

    @Test(arguments: contradictions) func contradictionsAreErrors(x: [Int], weight: [Int], op: Convolution) {
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(op, OperatorTrial.noise(x), OperatorTrial.noise(weight))
        }
    }
}

@Suite struct ConvolutionTransposedTests {
    struct Problem: Sendable {
        var x: [Int]
        var weight: [Int]
        var op: ConvolutionTransposed
        var result: [Int]
    }

    static let problems: [Problem] = [
        Problem(x: [1, 1, 3], weight: [1, 1, 2], op: .init(strides: [2]), result: [1, 1, 6]),
        Problem(
            x: [1, 4, 3, 4],
            weight: [4, 2, 3, 2],
            op: .init(strides: [2, 3], padding: .custom(before: [1, 0], after: [0, 1]), groups: 2),
            result: [1, 4, 6, 10]
        ),
        Problem(
            x: [2, 2, 3, 3],
            weight: [2, 3, 3, 3],
            op: .init(strides: [2, 2], padding: .same, dilations: [1, 2]),
            result: [2, 3, 6, 6]
        ),
        Problem(
            x: [1, 2, 3, 3],
            weight: [2, 1, 4, 4],
            op: .init(strides: [2, 2], padding: .custom(before: [1, 1], after: [1, 1]), outputExtents: [7, 6]),
            result: [1, 1, 7, 6]
        ),
        Problem(
            x: [1, 2, 2, 3, 2],
            weight: [2, 2, 2, 2, 2],
            op: .init(strides: [2, 1, 2]),
            result: [1, 2, 4, 4, 4]
        ),
    ]

    /// Σ y · T(x) must be Σ x · C(y), where C is the convolution with the same window.
    @Test(arguments: problems) func isTheAdjointOfAConvolution(problem: Problem) throws {
        let op = problem.op
        let x = OperatorTrial.noise(problem.x)
        let weight = OperatorTrial.noise(problem.weight, seed: 2)
        let spread = try OperatorTrial.reference(op, x, weight)[0]
        #expect(spread.shape == problem.result)
        let y = OperatorTrial.noise(problem.result, seed: 3)
        let geometry = op.geometry(problem.x, problem.weight, problem.result)
        let rank = geometry.input.count
        let after = (0..<rank).map { axis -> Int in
            let reach: Int = (geometry.output[axis] - 1) * geometry.strides[axis]
            let window: Int = (geometry.kernel[axis] - 1) * geometry.dilations[axis] + 1
            return max(reach + window - geometry.before[axis] - geometry.input[axis], 0)
        }
        let gathering = Convolution(
            strides: op.strides,
            padding: .custom(before: geometry.before, after: after),
            dilations: op.dilations,
            groups: op.groups
        )
        let gathered = try OperatorTrial.reference(gathering, y, weight)[0]
        #expect(gathered.shape == problem.x)
        let left = zip(y.values, spread.values).map { $0 * $1 }.reduce(0, +)
        let right = zip(x.values, gathered.values).map { $0 * $1 }.reduce(0, +)
        #expect(abs(left - right) < 1e-4)
    }

    @Test func spreadsOneElement() throws {
        let result = try OperatorTrial.program(
            ConvolutionTransposed.self,
            [
                "x": OperatorTrial.floats([1, 10], [1, 1, 2]), "weight": OperatorTrial.floats([1, 2, 3], [1, 1, 3]),
                "bias": OperatorTrial.floats([0.5]), "strides": OperatorTrial.integers([2]),
                "pad_type": OperatorTrial.string("valid"),
            ]
        )[0]
        #expect(result.values == [1.5, 2.5, 13.5, 20.5, 30.5])
    }
}

@Suite struct ConvolutionQuantizedTests {
    @Test func decodesItsWeight() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [1, 2, 1, 1]))
        let stored = builder.constant(Tensor(values: [0, 1, 2, 3], scalarType: .uint8, shape: [2, 2, 1, 1]))
        let scale = builder.constant(OperatorTrial.floats([1, 10]))
        let offset = builder.constant(OperatorTrial.floats([0, 5]))
        let op = ConvolutionQuantized(Convolution(strides: [1, 1]))
        OperatorTrial.note(op)
        let y = try builder.append(op, [x, stored, nil, scale, offset])[0]
        let graph = try builder.finished(outputs: [("y", y)]).bound()
        let weight = graph.body.operations[0].operands[1].flatMap { graph.constant($0) }
        #expect(graph.body.operations[0].op is Convolution)
        #expect(weight?.values == [0, 1, 25, 35])
    }
}
