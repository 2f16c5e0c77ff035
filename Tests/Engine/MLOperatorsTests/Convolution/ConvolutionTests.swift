import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
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

    struct KernelProblem: Sendable {
        var name: String
        var x: [Int]
        var weight: [Int]
        var op: Convolution
        var result: [Int]
        var hasResidual = false
        var constants: Set<Int> = [1, 2]
    }

    static let kernelProblems: [KernelProblem] = [
        KernelProblem(
            name: "1-D",
            x: [2, 5, 9],
            weight: [7, 5, 3],
            op: .init(strides: [2], padding: .same),
            result: [2, 7, 5]
        ),
        KernelProblem(
            name: "dense",
            x: [2, 17, 9, 8],
            weight: [35, 17, 3, 3],
            op: .init(strides: [1, 1], padding: .same, activation: .relu),
            result: [2, 35, 9, 8],
            hasResidual: true
        ),
        KernelProblem(
            name: "pointwise",
            x: [1, 24, 5, 7],
            weight: [40, 24, 1, 1],
            op: .init(strides: [1, 1], activation: .silu),
            result: [1, 40, 5, 7]
        ),
        KernelProblem(
            name: "stem",
            x: [1, 3, 15, 15],
            weight: [16, 3, 7, 7],
            op: .init(strides: [2, 2], padding: .custom(before: [3, 3], after: [3, 3])),
            result: [1, 16, 8, 8]
        ),
        KernelProblem(
            name: "depthwise",
            x: [1, 19, 8, 9],
            weight: [19, 1, 3, 3],
            op: .init(strides: [2, 1], padding: .same, groups: 19, activation: .clip(low: 0, high: 6)),
            result: [1, 19, 4, 9]
        ),
        KernelProblem(
            name: "grouped and dilated",
            x: [1, 12, 9, 9],
            weight: [8, 3, 3, 2],
            op: .init(
                strides: [1, 2],
                padding: .custom(before: [2, 1], after: [0, 2]),
                dilations: [2, 3],
                groups: 4
            ),
            result: [1, 8, 7, 5]
        ),
        KernelProblem(
            name: "3-D",
            x: [1, 4, 5, 6, 4],
            weight: [6, 4, 2, 3, 2],
            op: .init(strides: [1, 2, 1], padding: .same),
            result: [1, 6, 5, 3, 4]
        ),
        KernelProblem(
            name: "weight at run time",
            x: [2, 3, 6, 5],
            weight: [4, 3, 3, 3],
            op: .init(strides: [1, 1], padding: .same),
            result: [2, 4, 6, 5],
            hasResidual: true,
            constants: []
        ),
    ]

    @Test(arguments: kernelProblems) func agreesWithThePlainEvaluation(problem: KernelProblem) {
        var random = RandomTensors(seed: 7)
        let operands: [Tensor?] = [
            random.tensor(problem.x), random.tensor(problem.weight), random.tensor([problem.weight[0]]),
            problem.hasResidual ? random.tensor(problem.result) : nil,
        ]
        let trial = OperatorProblem(
            problem.name,
            problem.op,
            operands,
            constants: problem.constants,
            tolerance: 1e-4,
            seed: 7
        )
        #expect(trial.failures() == [])
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([1, 2, 4, 5])],
            as: Convolution(strides: [1, 2], padding: .same),
            [
                counting([1, 2, 4, 5]), OperatorTrial.floats((0..<36).map(Double.init), [3, 2, 2, 3]),
                OperatorTrial.floats([1, 2, 3]),
            ]
        ) {
            $0.convolution.outputChannels = 3
            $0.convolution.kernelChannels = 2
            $0.convolution.kernelSize = [2, 3]
            $0.convolution.stride = [1, 2]
            $0.convolution.same = .init()
            $0.convolution.weights.floatValue = (0..<36).map { Float($0) }
            $0.convolution.hasBias_p = true
            $0.convolution.bias.floatValue = [1, 2, 3]
        },
        LayerProblem(
            [counting([1, 2, 3, 3])],
            as: ConvolutionTransposed(strides: [2, 2]),
            [counting([1, 2, 3, 3]), OperatorTrial.floats((0..<24).map(Double.init), [2, 3, 2, 2]), nil]
        ) {
            $0.convolution.isDeconvolution = true
            $0.convolution.outputChannels = 3
            $0.convolution.kernelChannels = 2
            $0.convolution.kernelSize = [2, 2]
            $0.convolution.stride = [2, 2]
            $0.convolution.valid = .init()
            $0.convolution.weights.floatValue = (0..<24).map { Float($0) }
        },
        LayerProblem(
            [counting([1, 2, 2, 3, 3])],
            as: Convolution(strides: [1, 1, 1]),
            [counting([1, 2, 2, 3, 3]), OperatorTrial.floats((0..<16).map(Double.init), [1, 2, 2, 2, 2]), nil]
        ) {
            $0.convolution3D.outputChannels = 1
            $0.convolution3D.inputChannels = 2
            $0.convolution3D.kernelDepth = 2
            $0.convolution3D.kernelHeight = 2
            $0.convolution3D.kernelWidth = 2
            $0.convolution3D.paddingType = .valid
            $0.convolution3D.weights.floatValue = (0..<16).map { Float($0) }
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: UInt64(1)...2) func gradient(seed: UInt64) {
        let problems = [
            GradientProblem(
                "1-D",
                Convolution(strides: [2], padding: .same),
                [.real([2, 3, 9]), .real([4, 3, 3]), .real([4])]
            ),
            GradientProblem(
                "2-D",
                Convolution(strides: [1, 1]),
                [.real([3, 2, 6, 7]), .real([4, 2, 3, 3]), .real([4])]
            ),
            GradientProblem(
                "many blocks",
                Convolution(strides: [1, 1], padding: .same),
                [.real([1, 6, 40, 60]), .real([2, 6, 3, 3]), .none],
                kernelTolerance: 2e-3
            ),
            GradientProblem(
                "1×1",
                Convolution(strides: [1, 1]),
                [.real([2, 3, 5, 4]), .real([6, 3, 1, 1]), .real([6])]
            ),
            GradientProblem(
                "a window for each channel",
                Convolution(strides: [1, 1], padding: .same, dilations: [2, 1], groups: 5),
                [.real([2, 5, 7, 6]), .real([5, 1, 3, 4]), .real([5])]
            ),
            GradientProblem(
                "a window for each channel, with wide borders",
                Convolution(strides: [1, 1], padding: .custom(before: [3, 0], after: [0, 2]), groups: 3),
                [.real([1, 3, 6, 5]), .real([3, 1, 2, 2]), .none]
            ),
            GradientProblem(
                "a window for each channel, 1-D",
                Convolution(strides: [1], padding: .custom(before: [2], after: [1]), groups: 4),
                [.real([2, 4, 9]), .real([4, 1, 5]), .real([4])]
            ),
            GradientProblem(
                "strides and borders",
                Convolution(strides: [2, 3], padding: .custom(before: [1, 2], after: [2, 0])),
                [.real([2, 3, 8, 9]), .real([4, 3, 3, 2]), .none]
            ),
            GradientProblem(
                "dilation and groups",
                Convolution(strides: [1, 2], padding: .same, dilations: [2, 1], groups: 2),
                [.real([10, 4, 7, 8]), .real([6, 2, 3, 3]), .real([6])]
            ),
            GradientProblem(
                "depthwise",
                Convolution(strides: [1, 1], padding: .same, groups: 4),
                [.real([2, 4, 5, 6]), .real([4, 1, 3, 3]), .real([4])]
            ),
            GradientProblem(
                "3-D",
                Convolution(strides: [1, 2, 1], padding: .sameLower),
                [.real([2, 2, 4, 5, 4]), .real([3, 2, 2, 3, 2]), .real([3])]
            ),
        ]
        for var problem in problems {
            problem.seed = seed
            #expect(problem.failures() == [])
        }
    }

    /// Shapes for which kernels divide channels, or transform weights.
    @Test func gradientOfManyChannelsAndPositions() {
        let problems = [
            GradientProblem(
                "two chunks of channels",
                Convolution(strides: [1, 1], padding: .same),
                [.noise([1, 60, 4, 3]), .real([256, 60, 3, 3]), .none]
            ),
            GradientProblem(
                "transformed weights",
                Convolution(strides: [1, 1], padding: .same),
                [.real([1, 32, 33, 32]), .noise([32, 32, 3, 3]), .none],
                kernelTolerance: 2e-3
            ),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
