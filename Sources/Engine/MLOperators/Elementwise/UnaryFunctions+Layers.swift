import MLGraph
import MLNumerics
import MLSpecification

extension Acos { package static var layers: [LayerRule] { [.unary("acos", \.acos) { _ in Acos() }] } }
extension Acosh { package static var layers: [LayerRule] { [.unary("acosh", \.acosh) { _ in Acosh() }] } }
extension Asin { package static var layers: [LayerRule] { [.unary("asin", \.asin) { _ in Asin() }] } }
extension Asinh { package static var layers: [LayerRule] { [.unary("asinh", \.asinh) { _ in Asinh() }] } }
extension Atan { package static var layers: [LayerRule] { [.unary("atan", \.atan) { _ in Atan() }] } }
extension Atanh { package static var layers: [LayerRule] { [.unary("atanh", \.atanh) { _ in Atanh() }] } }
extension Ceil { package static var layers: [LayerRule] { [.unary("ceil", \.ceil) { _ in Ceil() }] } }
extension Cos { package static var layers: [LayerRule] { [.unary("cos", \.cos) { _ in Cos() }] } }
extension Cosh { package static var layers: [LayerRule] { [.unary("cosh", \.cosh) { _ in Cosh() }] } }
extension Erf { package static var layers: [LayerRule] { [.unary("erf", \.erf) { _ in Erf() }] } }
extension Exp2 { package static var layers: [LayerRule] { [.unary("exp2", \.exp2) { _ in Exp2() }] } }
extension Floor { package static var layers: [LayerRule] { [.unary("floor", \.floor) { _ in Floor() }] } }
extension Round { package static var layers: [LayerRule] { [.unary("round", \.round) { _ in Round() }] } }
extension Sign { package static var layers: [LayerRule] { [.unary("sign", \.sign) { _ in Sign() }] } }
extension Sin { package static var layers: [LayerRule] { [.unary("sin", \.sin) { _ in Sin() }] } }
extension Sinh { package static var layers: [LayerRule] { [.unary("sinh", \.sinh) { _ in Sinh() }] } }
extension Tan { package static var layers: [LayerRule] { [.unary("tan", \.tan) { _ in Tan() }] } }
extension Tanh { package static var layers: [LayerRule] { [.unary("tanh", \.tanh) { _ in Tanh() }] } }

extension Clip {
    package static var layers: [LayerRule] {
        [.unary("clip", \.clip) { Clip(lower: Double($0.minVal), upper: Double($0.maxVal)) }]
    }
}

extension LogicalNot {
    package static var layers: [LayerRule] {
        [
            LayerRule("logicalNot", \.logicalNot) { _, context throws(ModelError) in
                let x = try context.truths(context.input())
                try context.finish(try context.add(Unary<LogicalNot>(), x))
            }
        ]
    }
}

extension Abs {
    package static var layers: [LayerRule] { [LayerRule("unary", \.unary, LayerContext.lowerUnary)] }
}

extension LayerContext {
    /// `f(scale · x + shift)` for one of eight functions; a scale of 0 means not set and stands for 1.
    fileprivate static let lowerUnary:
        @Sendable (SpecUnaryFunctionLayerParams, inout LayerContext) throws(ModelError) -> Void = {
            parameters,
            context throws(ModelError) in
            let scale = parameters.scale == 0 ? 1 : Double(parameters.scale)
            let epsilon = stated(parameters.epsilon, or: 1e-6)
            var x = try context.input()
            if scale != 1 || parameters.shift != 0 {
                x = try context.add(Unary(LinearActivation(alpha: scale, beta: Double(parameters.shift))), x)
            }
            switch parameters.type {
            case .sqrt: x = try context.add(Unary(Sqrt()), x)
            case .rsqrt: x = try context.add(Unary(Rsqrt(epsilon: epsilon)), x)
            case .inverse: x = try context.add(Unary(Inverse(epsilon: epsilon)), x)
            case .power: x = try context.add(Binary<Pow>(), x, context.constant(parameters.alpha))
            case .exp: x = try context.add(Unary(Exp()), x)
            case .log: x = try context.add(Unary(Log(epsilon: Double(parameters.epsilon))), x)
            case .abs: x = try context.add(Unary(Abs()), x)
            case .threshold: x = try context.add(Unary(Threshold(alpha: Double(parameters.alpha))), x)
            case .UNRECOGNIZED(let value):
                throw ModelError(.unsupported, "unary function \(value) is not known")
            }
            try context.finish(x)
        }
}
