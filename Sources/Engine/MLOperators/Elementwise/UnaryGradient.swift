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
                        DerivativeKernel.run(
                            form,
                            context.floats(1),
                            context.floats(2),
                            into: context.resultFloats(),
                            count: count
                        )
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
                    DerivativeKernel.run(
                        function,
                        context.optionalFloats(0),
                        context.floats(1),
                        context.floats(2),
                        into: context.resultFloats(),
                        count: count
                    )
                }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.areFloat32(0..<3) ? .agnostic : .rowMajor }
}
