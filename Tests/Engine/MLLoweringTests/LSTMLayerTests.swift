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

/// LSTM layers in all their variants against the specification's equations, written down plainly.
@Suite struct LSTMLayerTests {
    private static let steps = 4
    private static let inputs = 2
    private static let states = 3

    /// The weights of one direction by gate: i, f, z, o.
    private struct Weights {
        var w: [[Float]] = []
        var r: [[Float]] = []
        var b: [[Float]] = []
        /// i, f, o
        var p: [[Float]] = []

        init(seed: Int) {
            var state = UInt32(truncatingIfNeeded: seed &* 2_654_435_761 &+ 12345)
            func next(_ count: Int) -> [Float] {
                (0..<count).map { _ in
                    state = state &* 1_664_525 &+ 1_013_904_223
                    return Float(state >> 8) / Float(1 << 24) * 2 - 1
                }
            }
            for _ in 0..<4 {
                w.append(next(states * inputs))
                r.append(next(states * states))
                b.append(next(states))
            }
            for _ in 0..<3 { p.append(next(states)) }
        }

        func write(_ spec: inout SpecLSTMWeightParams, biases: Bool, peepholes: Bool) {
            spec.inputGateWeightMatrix.floatValue = w[0]
            spec.forgetGateWeightMatrix.floatValue = w[1]
            spec.blockInputWeightMatrix.floatValue = w[2]
            spec.outputGateWeightMatrix.floatValue = w[3]
            spec.inputGateRecursionMatrix.floatValue = r[0]
            spec.forgetGateRecursionMatrix.floatValue = r[1]
            spec.blockInputRecursionMatrix.floatValue = r[2]
            spec.outputGateRecursionMatrix.floatValue = r[3]
            if biases {
                spec.inputGateBiasVector.floatValue = b[0]
                spec.forgetGateBiasVector.floatValue = b[1]
                spec.blockInputBiasVector.floatValue = b[2]
                spec.outputGateBiasVector.floatValue = b[3]
            }
            if peepholes {
                spec.inputGatePeepholeVector.floatValue = p[0]
                spec.forgetGatePeepholeVector.floatValue = p[1]
                spec.outputGatePeepholeVector.floatValue = p[2]
            }
        }
    }

    struct Variant: Sendable, CustomTestStringConvertible {
        var biases = false
        var forgetBias = false
        var peepholes = false
        var coupled = false
        var clip: Float = 0
        var reversed = false
        var sequence = true
        var hasStates = false
        /// f, g, h
        var functions: [Function] = [.sigmoid, .tanh, .tanh]
        /// Of the way back of bidirectional layers.
        var backFunctions: [Function] = [.sigmoid, .tanh, .tanh]

        var testDescription: String { "\(self)" }
    }

    enum Function: Sendable {
        case sigmoid, tanh, relu, linear, hard, scaled

        func callAsFunction(_ x: Double) -> Double {
            switch self {
            case .sigmoid: 1 / (1 + exp(-x))
            case .tanh: hyperbolic(x)
            case .relu: max(x, 0)
            case .linear: x
            case .hard: min(max(0.2 * x + 0.5, 0), 1)
            case .scaled: 1.7159 * hyperbolic(2.0 / 3 * x)
            }
        }

        func write(_ spec: inout SpecActivationParams) {
            switch self {
            case .sigmoid: spec.sigmoid = .init()
            case .tanh: spec.tanh = .init()
            case .relu: spec.reLu = .init()
            case .linear: spec.linear.alpha = 1
            case .hard:
                spec.sigmoidHard.alpha = 0.2
                spec.sigmoidHard.beta = 0.5
            case .scaled:
                spec.scaledTanh.alpha = 1.7159
                spec.scaledTanh.beta = 2 / 3
            }
        }

        var message: SpecActivationParams {
            var spec = SpecActivationParams()
            write(&spec)
            return spec
        }
    }

    /// y of every step in the order of making, and the last y and c.
    private func equations(
        _ v: Variant,
        _ weights: Weights,
        _ functions: [Function],
        _ x: [[Double]],
        _ h0: [Double],
        _ c0: [Double]
    ) -> (ys: [[Double]], c: [Double]) {
        var (y, c) = (h0, c0)
        var ys: [[Double]] = []
        let (f, g, h) = (functions[0], functions[1], functions[2])
        for x in x {
            let before = y
            func sum(_ gate: Int, _ unit: Int) -> Double {
                var sum = v.biases ? Double(weights.b[gate][unit]) : 0
                if gate == 1, v.forgetBias { sum += 1 }
                for index in 0..<Self.inputs { sum += Double(weights.w[gate][unit * Self.inputs + index]) * x[index] }
                for index in 0..<Self.states {
                    sum += Double(weights.r[gate][unit * Self.states + index]) * before[index]
                }
                return sum
            }
            func look(_ gate: Int, _ unit: Int) -> Double { v.peepholes ? Double(weights.p[gate][unit]) * c[unit] : 0 }
            for unit in 0..<Self.states {
                let i = f(sum(0, unit) + look(0, unit))
                let forget = v.coupled ? 1 - i : f(sum(1, unit) + look(1, unit))
                c[unit] = c[unit] * forget + i * g(sum(2, unit))
                let limit = Double(v.clip == 0 ? 50 : v.clip)
                c[unit] = min(max(c[unit], -limit), limit)
                y[unit] = h(c[unit]) * f(sum(3, unit) + look(2, unit))
            }
            ys.append(y)
        }
        return (ys, c)
    }

    private static let x: [[Double]] = [[-1, 0], [2.0 / 3, -2.0 / 3], [0, 1], [-2.0 / 3, 1.0 / 3]]
    private static let h0 = [0.5, -0.25, 0.75]
    private static let c0 = [-1.0, 0.5, 1.5]

    private var inputs: (shapes: [[Int]], x: Tensor) {
        (
            [[Self.steps, 1, Self.inputs, 1, 1]],
            floats(Self.x.flatMap { $0.map { Float($0) } }, [Self.steps, 1, Self.inputs, 1, 1])
        )
    }

    private func state(_ values: [Double]) -> Tensor { floats(values.map { Float($0) }, [1, 1, Self.states, 1, 1]) }

    static let variants: [Variant] = [
        Variant(), Variant(biases: true), Variant(biases: true, forgetBias: true), Variant(forgetBias: true),
        Variant(peepholes: true), Variant(coupled: true), Variant(biases: true, peepholes: true, coupled: true),
        Variant(clip: 0.25), Variant(reversed: true), Variant(biases: true, reversed: true, hasStates: true),
        Variant(sequence: false), Variant(biases: true, peepholes: true, sequence: false, hasStates: true),
        Variant(functions: [.hard, .relu, .linear]), Variant(functions: [.sigmoid, .scaled, .relu]),
    ]

    @Test(arguments: variants) func oneDirection(_ v: Variant) throws {
        let weights = Weights(seed: 1)
        let given = v.hasStates ? [[1, 1, Self.states, 1, 1], [1, 1, Self.states, 1, 1]] : []
        let network = Network(inputs.shapes + given, outputs: 3) { layer in
            layer.uniDirectionalLstm.inputVectorSize = UInt64(Self.inputs)
            layer.uniDirectionalLstm.outputVectorSize = UInt64(Self.states)
            layer.uniDirectionalLstm.activations = v.functions.map(\.message)
            layer.uniDirectionalLstm.reverseInput = v.reversed
            write(v, &layer.uniDirectionalLstm.params)
            weights.write(&layer.uniDirectionalLstm.weightParams, biases: v.biases, peepholes: v.peepholes)
        }
        let none = [Double](repeating: 0, count: Self.states)
        let (ys, c) = equations(
            v,
            weights,
            v.functions,
            v.reversed ? Self.x.reversed() : Self.x,
            v.hasStates ? Self.h0 : none,
            v.hasStates ? Self.c0 : none
        )
        var features = ["x0": inputs.x]
        if v.hasStates { (features["x1"], features["x2"]) = (state(Self.h0), state(Self.c0)) }
        let found = try network(features).mapValues(\.values)
        let last = ys[Self.steps - 1]
        #expect(isClose(found["y0"] ?? [], v.sequence ? ys.flatMap { $0 } : last))
        #expect(isClose(found["y1"] ?? [], last))
        #expect(isClose(found["y2"] ?? [], c))
    }

    @Test(arguments: [
        Variant(biases: true), Variant(sequence: false, hasStates: true), Variant(peepholes: true, hasStates: true),
        Variant(functions: [.sigmoid, .tanh, .tanh], backFunctions: [.hard, .relu, .tanh]),
        Variant(sequence: false, hasStates: true, backFunctions: [.sigmoid, .scaled, .linear]),
    ]) func bothDirections(_ v: Variant) throws {
        let (there, back) = (Weights(seed: 2), Weights(seed: 3))
        let given = [[Int]](repeating: [1, 1, Self.states, 1, 1], count: v.hasStates ? 4 : 0)
        let network = Network(inputs.shapes + given, outputs: 5) { layer in
            layer.biDirectionalLstm.inputVectorSize = UInt64(Self.inputs)
            layer.biDirectionalLstm.outputVectorSize = UInt64(Self.states)
            layer.biDirectionalLstm.activationsForwardLstm = v.functions.map(\.message)
            layer.biDirectionalLstm.activationsBackwardLstm = v.backFunctions.map(\.message)
            write(v, &layer.biDirectionalLstm.params)
            layer.biDirectionalLstm.weightParams = [.init(), .init()]
            there.write(&layer.biDirectionalLstm.weightParams[0], biases: v.biases, peepholes: v.peepholes)
            back.write(&layer.biDirectionalLstm.weightParams[1], biases: v.biases, peepholes: v.peepholes)
        }
        let none = [Double](repeating: 0, count: Self.states)
        let starts =
            v.hasStates ? [Self.h0, Self.c0, Self.c0.map { -$0 }, Self.h0.map { $0 / 2 }] : [none, none, none, none]
        let forward = equations(v, there, v.functions, Self.x, starts[0], starts[1])
        let backward = equations(v, back, v.backFunctions, Self.x.reversed(), starts[2], starts[3])
        var features = ["x0": inputs.x]
        if v.hasStates { for index in 0..<4 { features["x\(index + 1)"] = state(starts[index]) } }
        let found = try network(features).mapValues(\.values)
        let (a, b) = (forward.ys[Self.steps - 1], backward.ys[Self.steps - 1])
        let steps = zip(forward.ys, backward.ys.reversed()).flatMap { $0 + $1 }
        #expect(isClose(found["y0"] ?? [], v.sequence ? steps : a + b))
        for (index, expected) in [a, forward.c, b, backward.c].enumerated() {
            #expect(isClose(found["y\(index + 1)"] ?? [], expected), "output \(index + 1)")
        }
    }

    private func write(_ v: Variant, _ spec: inout SpecLSTMParams) {
        spec.sequenceOutput = v.sequence
        spec.hasBiasVectors_p = v.biases
        spec.forgetBias = v.forgetBias
        spec.hasPeepholeVectors_p = v.peepholes
        spec.coupledInputAndForgetGate = v.coupled
        spec.cellClipThreshold = v.clip
    }
}

/// The hyperbolic tangent, out of reach of `Function.tanh` by its plain name.
private func hyperbolic(_ x: Double) -> Double { tanh(x) }
