import MLKernels
import Testing

extension KernelTests {
    @Suite struct ElementwiseKernelTests {
        /// Functions with the largest error allowed, in units of the last place of the result (at least of 2⁻²⁴).
        static let functions: [(UnaryFunction, Double)] = [
            (.identity, 0), (.relu, 0), (.clip(low: -0.5, high: 0.75), 0), (.leakyRelu(alpha: 0.1), 1),
            (.clampedRelu(alpha: 0.1, beta: 0.75), 1), (.gelu, 4),
            (.geluTanh, 8), (.geluSigmoid, 4), (.sigmoid, 2.5), (.silu, 3), (.tanh, 3),
            (.hardSwish(alpha: 1 / 6, beta: 0.5), 3), (.hardSigmoid(alpha: 0.2, beta: 0.5), 2), (.elu(alpha: 1.5), 3),
            (.softplus, 3), (.scaledSoftplus(alpha: 2, beta: 0.5), 4), (.softsign, 2), (.linear(alpha: 2, beta: -1), 2),
            (.scaledTanh(alpha: 1.7, beta: 0.6), 4), (.thresholdedRelu(alpha: 0.3), 0), (.abs, 0), (.negate, 0),
            (.exp, 2), (.exp2, 2), (.expm1, 3), (.log(epsilon: 0), 2), (.log(epsilon: 1e-3), 2), (.sqrt, 1),
            (.rsqrt(epsilon: 1e-3), 2), (.inverse(epsilon: 1e-3), 1), (.square, 1), (.erf, 3), (.sin, 2), (.cos, 2),
            (.tan, 4), (.asin, 4), (.acos, 4), (.atan, 4), (.sinh, 4), (.cosh, 4), (.asinh, 4), (.acosh, 4),
            (.atanh, 4), (.ceil, 0), (.floor, 0), (.round, 0), (.sign, 0), (.threshold(alpha: 0.25), 0),
            (.logicalNot, 0),
        ]

        /// Values over all magnitudes, with the special ones.
        static let values: [Float] = {
            var source = NumberSource(seed: 9)
            var values: [Float] = [
                0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
                -.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
                88.7, 89, -87.5, -103, -104, 127.5, -149, 3.1415927, 100_000, 1e-5, -1e-5, 8_388_609, 16_777_216,
            ]
            for scale: Float in [1e-6, 1e-3, 0.1, 1, 4, 30, 100, 5000] {
                values += (0..<150).map { _ in source.next() * scale }
            }
            return values
        }()

        @Test(arguments: functions.indices)
        func unary(number: Int) {
            let (function, tolerance) = Self.functions[number]
            let x = Self.values
            let expected = x.map { reference(function, Double($0)) }
            forEachInstructionSet { set in
                var y = x
                ElementwiseKernel.map(function, y, into: &y, count: x.count)
                var worst = (error: 0.0, at: Float(0), got: Float(0))
                for (index, e) in expected.enumerated() {
                    let rounded = Float(e)
                    if y[index].isNaN && rounded.isNaN || y[index] == rounded { continue }
                    let spacing = max(rounded.isFinite ? Double(rounded.ulp) : .infinity, 0x1p-149)
                    var error = abs(Double(y[index]) - e) / spacing
                    // If two similar numbers are subtracted, only an absolute error can be required.
                    if case .gelu = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if case .geluTanh = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if case .geluSigmoid = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if case .silu = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if case .hardSwish = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-22) }
                    if case .hardSigmoid = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if case .linear = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if case .sin = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if case .cos = function { error = min(error, abs(Double(y[index]) - e) / 0x1p-24) }
                    if y[index].isNaN || rounded.isNaN || !rounded.isFinite { error = .infinity }
                    if error > worst.error { worst = (error, x[index], y[index]) }
                }
                #expect(worst.error <= tolerance, "\(set) \(function) of \(worst.at) gave \(worst.got)")
            }
        }

        @Test func unaryOfEveryLength() {
            var source = NumberSource(seed: 3)
            for count in 0..<70 {
                let x = source.floats(count)
                forEachInstructionSet { set in
                    var y = [Float](repeating: 99, count: count + 1)
                    ElementwiseKernel.map(.exp, x, into: &y, count: count)
                    #expect(
                        worstError(y.prefix(count), x.map { reference(.exp, Double($0)) }) < 1e-6,
                        "\(set) \(count)"
                    )
                    #expect(y[count] == 99)
                }
            }
        }

        @Test func derivatives() {
            let forms: [(DerivativeForm, (Float) -> Float)] = [
                (.step(slope: 0.25), { $0 > 0 ? 1 : 0.25 }), (.window(low: -0.5, high: 0.5), { abs($0) < 0.5 ? 1 : 0 }),
                (.sigmoid, { $0 * (1 - $0) }), (.tanh, { 1 - $0 * $0 }),
            ]
            var source = NumberSource(seed: 6)
            for count in Array(0..<40) + [20_000] {
                let (y, dy) = (source.floats(count), source.floats(count))
                for (form, derivative) in forms {
                    let expected = zip(y, dy).map { Double(derivative($0) * $1) }
                    forEachInstructionSet { set in
                        var dx = [Float](repeating: 99, count: count + 1)
                        DerivativeKernel.run(form, y, dy, into: &dx, count: count)
                        #expect(worstError(dx.prefix(count), expected) < 1e-6, "\(set), \(form), \(count) elements")
                        #expect(dx[count] == 99)
                        var inPlace = dy
                        inPlace.withUnsafeMutableBufferPointer { memory in
                            guard let address = memory.baseAddress else { return }
                            DerivativeKernel.run(form, y, address, into: address, count: count)
                        }
                        #expect(inPlace[...] == dx.prefix(count))
                    }
                }
            }
        }
    }
}
