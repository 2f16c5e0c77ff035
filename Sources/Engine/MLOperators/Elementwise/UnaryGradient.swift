package import MLGraph
import MLKernels
package import MLNumerics

/// `dx = f′(x) · dy`, element by element: the gradient of `Unary`.
///
/// Operands: x, y = f(x), dy, of one shape; x is absent when the derivative follows from y.
package struct UnaryGradient<Function: DifferentiableFunction>: Operator {
    package var function: Function

    package init(_ function: Function) { self.function = function }

    package var displayName: String { "\(Function.names.first?.name ?? "\(Function.self)")_gradient" }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(1)
        _ = try unified(type.shape, operands.shape(2))
        if operands.has(0) { _ = try unified(type.shape, operands.shape(0)) }
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands.optional(0)?.values
        let y = operands[1].values
        var values = operands[2].values
        for index in values.indices {
            values[index] *= function.derivative(at: x?[index] ?? .nan, value: y[index])
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: operands[1].shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let y = request.operand(1) else { return [] }
        let count = y.count
        let inPlace = request.operand(0) == nil ? [2, 1] : [2, 0, 1]
        if let form = function.derivativeForm {
            return [
                Kernel(
                    "derive",
                    inPlaceOperands: inPlace,
                    body: { context in
                        form.run(context.floats(1), context.floats(2), into: context.resultFloats(), count: count)
                    }
                )
            ]
        }
        let function = function
        return [
            Kernel(
                "derive plainly",
                inPlaceOperands: inPlace,
                body: { context in
                    let x = context.optionalOperand(0)?.assumingMemoryBound(to: Float.self)
                    let (y, dy, dx) = (context.floats(1), context.floats(2), context.resultFloats())
                    DerivativeForm.inParts(count) { part in
                        for index in part {
                            let argument = x.map { Double($0[index]) } ?? .nan
                            dx[index] = Float(
                                function.derivative(at: argument, value: Double(y[index])) * Double(dy[index])
                            )
                        }
                    }
                }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.areFloat32(0..<3) ? .agnostic : .rowMajor }
}

/// The derivatives that follow from values and are common enough to be computed in single precision.
package enum DerivativeForm: Hashable, Sendable, Codable {
    /// 1 where y > 0, else `slope`.
    case step(slope: Float)
    /// 1 where low < y < high, else 0.
    case window(low: Float, high: Float)
    /// y · (1 − y)
    case sigmoid
    /// 1 − y²
    case tanh

    /// `dx = f′ · dy`.
    package func run(
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        Self.inParts(count) { part in
            switch self {
            case .step(let slope): for index in part { dx[index] = y[index] > 0 ? dy[index] : dy[index] * slope }
            case .window(let low, let high):
                for index in part { dx[index] = y[index] > low && y[index] < high ? dy[index] : 0 }
            case .sigmoid: for index in part { dx[index] = dy[index] * (y[index] * (1 - y[index])) }
            case .tanh: for index in part { dx[index] = dy[index] * (1 - y[index] * y[index]) }
            }
        }
    }

    static func inParts(_ count: Int, _ body: (Range<Int>) -> Void) {
        let size = 1 << 14
        guard count > size else { return body(0..<count) }
        Workers.parallelFor((count + size - 1) / size) { part, _ in
            body(part * size..<Swift.min((part + 1) * size, count))
        }
    }
}
