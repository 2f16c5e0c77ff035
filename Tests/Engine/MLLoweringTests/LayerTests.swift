import MLNumerics
import MLSpecification
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Layers against the formulas of the specification.
@Suite struct LayerTests {
    @Test func averages() throws {
        let network = Network([[1, 2, 1, 1], [1, 2, 2, 2], [1, 2, 2, 2]]) { $0.average = .init() }
        let y = try network(floats([3, 6], [1, 2, 1, 1]), ramp([1, 2, 2, 2]), ramp([1, 2, 2, 2], 2))
        let expected = (0..<8).map { (place: Int) -> Double in Double(place < 4 ? 1 : 2) + Double(place) }
        #expect(isClose(y.values, expected))
    }

    @Test(arguments: [false, true]) func dots(isCosine: Bool) throws {
        let network = Network([[2, 3, 1, 1], [2, 3, 1, 1]]) { $0.dot.cosineSimilarity = isCosine }
        let x: [Float] = [1, 2, 3, -1, 0, 2]
        let y: [Float] = [4, -5, 6, 3, 3, 1]
        let found = try network(floats(x, [2, 3, 1, 1]), floats(y, [2, 3, 1, 1]))
        #expect(found.shape == [2, 1, 1, 1])
        let cosines: [Double] = [12 / (14.0 * 77).squareRoot(), -1 / (5.0 * 19).squareRoot()]
        #expect(isClose(found.values, isCosine ? cosines : [12, -1]))
    }

    @Test func repeatsSequences() throws {
        let network = Network([[2, 1, 2, 1, 1]]) { $0.sequenceRepeat.nRepetitions = 2 }
        let y = try network(ramp([2, 1, 2, 1, 1]))
        #expect(y.shape == [4, 1, 2, 1, 1])
        #expect(y.values == [0, 1, 2, 3, 0, 1, 2, 3])
    }

    /// Adds the numbers of the turns that are not 2, over five turns.
    @Test func continues() throws {
        var network = Network()
        network.input("x0", [1])
        network.add("sum", ["x0"], ["sum"]) { $0.copy = .init() }
        network.add("turn", ["x0"], ["turn"]) { $0.copy = .init() }
        network.add("loop", [], []) { layer in
            layer.loop.maxLoopIterations = 5
            layer.loop.bodyNetwork.layers = [
                Network.layer("next", ["turn"], ["next"]) { $0.add.alpha = 1 },
                Network.layer("count", ["next"], ["turn"]) { $0.copy = .init() },
                Network.layer("two", ["turn"], ["two"]) { $0.equal.alpha = 2 },
                Network.layer("choice", ["two"], []) { choice in
                    choice.branch.ifBranch.layers = [
                        Network.layer("skip", [], []) { $0.loopContinue = .init() }
                    ]
                },
                Network.layer("plus", ["sum", "turn"], ["more"]) { $0.addBroadcastable = .init() },
                Network.layer("keep", ["more"], ["sum"]) { $0.copy = .init() },
            ]
        }
        network.add("end", ["sum"], ["y0"]) { $0.copy = .init() }
        network.output("y0")
        #expect(try network(floats([0], [1])).values == [1 + 3 + 4 + 5])
    }

    /// A loop without condition and number runs no turn; a condition within 10⁻⁶ of 0 does not hold.
    @Test(arguments: [(UInt64(0), 0.0), (3, 3)]) func loopsCount(turns: UInt64, sum: Double) throws {
        var network = Network()
        network.input("x0", [1])
        network.add("start", ["x0"], ["sum"]) { $0.copy = .init() }
        network.add("loop", [], []) { layer in
            layer.loop.maxLoopIterations = turns
            layer.loop.bodyNetwork.layers = [
                Network.layer("plus", ["sum"], ["more"]) { $0.add.alpha = 1 },
                Network.layer("keep", ["more"], ["sum"]) { $0.copy = .init() },
            ]
        }
        network.add("end", ["sum"], ["y0"]) { $0.copy = .init() }
        network.output("y0")
        #expect(try network(floats([0], [1])).values == [sum])
    }

    @Test(arguments: [(Float(1e-7), 0.0), (-1e-5, 1), (2, 1)]) func branchesByMagnitude(x: Float, y: Double) throws {
        var network = Network()
        network.input("x0", [1])
        network.add("choice", ["x0"], []) { layer in
            layer.branch.ifBranch.layers = [
                Network.layer("one", [], ["y0"]) {
                    $0.fillStatic.value = 1; $0.fillStatic.targetShape = [1]
                }
            ]
            layer.branch.elseBranch.layers = [
                Network.layer("zero", [], ["y0"]) {
                    $0.fillStatic.value = 0; $0.fillStatic.targetShape = [1]
                }
            ]
        }
        network.output("y0")
        #expect(try network(floats([x], [1])).values == [y])
    }

    static let activations:
        [(name: String, set: @Sendable (inout SpecActivationParams) -> Void, f: @Sendable (Double) -> Double)] = [
            (
                "linear",
                {
                    $0.linear.alpha = 2; $0.linear.beta = 1
                }, { 2 * $0 + 1 }
            ),
            ("ReLU", { $0.reLu = .init() }, { max($0, 0) }),
            ("leakyReLU", { $0.leakyReLu.alpha = 0.5 }, { $0 < 0 ? 0.5 * $0 : $0 }),
            ("thresholdedReLU", { $0.thresholdedReLu.alpha = 1 }, { $0 >= 1 ? $0 : 0 }),
            ("PReLU", { $0.preLu.alpha.floatValue = [0.25] }, { $0 < 0 ? 0.25 * $0 : $0 }),
            ("tanh", { $0.tanh = .init() }, { tanh($0) }),
            (
                "scaledTanh",
                {
                    $0.scaledTanh.alpha = 1.5; $0.scaledTanh.beta = 0.5
                }, { 1.5 * tanh(0.5 * $0) }
            ),
            ("sigmoid", { $0.sigmoid = .init() }, { 1 / (1 + exp(-$0)) }),
            (
                "sigmoidHard",
                {
                    $0.sigmoidHard.alpha = 0.4; $0.sigmoidHard.beta = 0.3
                }, { min(max(0.4 * $0 + 0.3, 0), 1) }
            ),
            ("ELU", { $0.elu.alpha = 2 }, { $0 >= 0 ? $0 : 2 * (exp($0) - 1) }),
            ("softsign", { $0.softsign = .init() }, { $0 / (1 + abs($0)) }),
            ("softplus", { $0.softplus = .init() }, { log(1 + exp($0)) }),
            (
                "parametricSoftplus",
                {
                    $0.parametricSoftplus.alpha.floatValue = [2]; $0.parametricSoftplus.beta.floatValue = [0.5]
                },
                { 2 * log(1 + exp(0.5 * $0)) }
            ),
        ]

    @Test(arguments: activations.indices) func activates(index: Int) throws {
        let (name, set, f) = Self.activations[index]
        let x: [Float] = [-3, -1, -0.25, 0, 0.5, 1, 2.5, 4]
        for (shape, mapping) in [
            ([2, 2, 2], SpecNeuralNetworkMultiArrayShapeMapping.rank5ArrayMapping), ([1, 2, 2, 2], .exactArrayMapping),
        ] {
            let network = Network([shape], mapping: mapping) { set(&$0.activation) }
            #expect(isClose(try network(floats(x, shape)).values, x.map { f(Double($0)) }), "\(name)")
        }
    }

    static let unary: [(SpecUnaryFunctionLayerParams.Operation, @Sendable (Double) -> Double)] = [
        (.sqrt, { $0.squareRoot() }), (.rsqrt, { 1 / ($0 + 1e-6).squareRoot() }), (.inverse, { 1 / ($0 + 1e-6) }),
        (.power, { pow($0, 1.5) }), (.exp, { exp($0) }), (.log, { log($0) }), (.abs, { abs($0) }),
        (.threshold, { max($0, 1.5) }),
    ]

    /// f(scale · x + shift); a scale and an epsilon of 0 stand for 1 and 10⁻⁶.
    @Test(arguments: unary.indices) func appliesFunctions(index: Int) throws {
        let (type, f) = Self.unary[index]
        for (scale, shift) in [(Float(0), Float(0)), (2, 0.5)] {
            let network = Network([[4]]) { layer in
                layer.unary.type = type
                layer.unary.alpha = 1.5
                layer.unary.scale = scale
                layer.unary.shift = shift
            }
            let x: [Float] = [0.25, 1, 2, 3.5]
            let expected = x.map { f(Double(scale == 0 ? $0 : scale * $0) + Double(shift)) }
            #expect(isClose(try network(floats(x, [4])).values, expected), "\(type)")
        }
    }

    static let reductions: [(SpecReduceLayerParams.ReduceOperation, @Sendable ([Double]) -> Double)] = [
        (.sum, { $0.reduce(0, +) }), (.avg, { $0.reduce(0, +) / Double($0.count) }), (.prod, { $0.reduce(1, *) }),
        (.logsum, { $0.reduce(0) { $0 + log($1 + 1e-6) } }), (.sumsquare, { $0.reduce(0) { $0 + $1 * $1 } }),
        (.l1, { $0.reduce(0) { $0 + abs($1) } }), (.l2, { $0.reduce(0) { $0 + $1 * $1 }.squareRoot() }),
        (.max, { $0.max() ?? 0 }), (.min, { $0.min() ?? 0 }),
        (.argmax, { list in Double(list.firstIndex(of: list.max() ?? 0) ?? 0) }),
    ]

    /// All ways to reduce [C, H, W] = [2, 3, 2] along each choice of axes.
    @Test(arguments: reductions.indices) func reduces(index: Int) throws {
        let (mode, f) = Self.reductions[index]
        let x: [Float] = [3, 1, 4, 1.5, 5, 9, 2, 6, 5.5, 3.5, 8, 7]
        let axes: [(SpecReduceLayerParams.ReduceAxis, [Int])] = [
            (.chw, [0, 1, 2]), (.hw, [1, 2]), (.c, [0]), (.h, [1]), (.w, [2]),
        ]
        for (axis, reduced) in axes where mode != .argmax || reduced.count == 1 {
            let network = Network([[1, 2, 3, 2]]) {
                $0.reduce.mode = mode; $0.reduce.axis = axis
            }
            var groups: [[Int]: [Double]] = [:]
            for (place, value) in x.enumerated() {
                let coordinates = [place / 6, place / 2 % 3, place % 2]
                groups[coordinates.enumerated().map { reduced.contains($0) ? 0 : $1 }, default: []].append(
                    Double(value)
                )
            }
            let expected = groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { f($0.value) }
            #expect(isClose(try network(floats(x, [1, 2, 3, 2])).values, expected), "\(mode) \(axis)")
        }
    }

    /// Statistics of each item, or of the whole batch; an epsilon of 0 stands for 10⁻⁵.
    @Test(arguments: [true, false]) func normalizesByOwnStatistics(isInstance: Bool) throws {
        let network = Network([[2, 1, 1, 2]]) { layer in
            layer.batchnorm.channels = 1
            layer.batchnorm.computeMeanVar = true
            layer.batchnorm.instanceNormalization = isInstance
            layer.batchnorm.gamma.floatValue = [2]
            layer.batchnorm.beta.floatValue = [1]
        }
        func normal(_ x: [Double]) -> [Double] {
            let mean = x.reduce(0, +) / Double(x.count)
            let variance = x.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(x.count)
            return x.map { 2 * ($0 - mean) / (variance + 1e-5).squareRoot() + 1 }
        }
        let y = try network(floats([1, 2, 5, 9], [2, 1, 1, 2]))
        let expected: [Double] = isInstance ? normal([1, 2]) + normal([5, 9]) : normal([1, 2, 5, 9])
        #expect(isClose(y.values, expected))
    }

    /// Fields of 0 that stand for a default: nothing divides by zero.
    @Test func defaultsOfNormalizations() throws {
        let shape = [1, 2, 1, 1]
        let zeros = floats([0, 0], shape)
        #expect(try Network([shape]) { $0.l2Normalize = .init() }(zeros).values == [0, 0])
        #expect(
            try Network([shape]) {
                $0.mvn.acrossChannels = true; $0.mvn.normalizeVariance = true
            }(zeros).values == [0, 0]
        )
        let lrn = Network([shape]) {
            $0.lrn.alpha = 1; $0.lrn.beta = 0.5; $0.lrn.localSize = 1
        }
        let expected: [Double] = [3 / 10.0.squareRoot(), 4 / 17.0.squareRoot()]
        #expect(isClose(try lrn(floats([3, 4], shape)).values, expected))
    }

    /// Vectors in a product of two become a row and a column, which stay.
    @Test func multipliesVectors() throws {
        let cases: [([Int], [Int], [Int])] = [
            ([3], [3], [1, 1]), ([2, 3], [3], [2, 1]), ([3], [3, 2], [1, 2]), ([3], [2, 3, 1], [2, 1, 1]),
        ]
        for (a, b, shape) in cases {
            let network = Network([a, b]) { $0.batchedMatmul = .init() }
            #expect(try network(ramp(a), ramp(b)).shape == shape)
        }
    }

    /// Bounds of the sums in recurrent layers: relu and linear stop at ±50.
    @Test func recurrentSumsAreBounded() throws {
        let network = Network([[1, 1, 1, 1, 1]]) { layer in
            layer.simpleRecurrent.inputVectorSize = 1
            layer.simpleRecurrent.outputVectorSize = 1
            layer.simpleRecurrent.activation.linear.alpha = 1
            layer.simpleRecurrent.weightMatrix.floatValue = [1]
            layer.simpleRecurrent.recursionMatrix.floatValue = [0]
        }
        #expect(try network(floats([70], [1, 1, 1, 1, 1])).values == [50])
        #expect(try network(floats([-70], [1, 1, 1, 1, 1])).values == [-50])
    }
}
