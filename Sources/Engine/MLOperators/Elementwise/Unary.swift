package import MLGraph
package import MLKernels
package import MLNumerics

/// A function of one number with its parameters: the parameter of the `Unary` family.
package protocol ScalarFunction: Hashable, Sendable, Codable {
    static var names: [MILName] { get }
    /// Reads the parameters; the operand `x` has already been taken.
    init(reading arguments: inout Arguments) throws(ModelError)
    func callAsFunction(_ x: Double) -> Double
    /// The kernel for float32; `nil` when there is none.
    var kernel: UnaryFunction? { get }
    /// The kernel for int32; `nil` when there is none, as for functions that MIL does not declare for integers.
    var integerKernel: ElementwiseKernel.IntegerFunction? { get }
    /// The neural-network layers whose main operator the function is.
    static var layers: [LayerRule] { get }
}

extension ScalarFunction {
    package var kernel: UnaryFunction? { nil }
    package var integerKernel: ElementwiseKernel.IntegerFunction? { nil }
    package static var layers: [LayerRule] { [] }
}

/// A function that is differentiable almost everywhere; elsewhere the rule picks a side.
package protocol DifferentiableFunction: ScalarFunction, DerivableFunction {
    /// Whether the derivative follows from the function's value alone, so that the argument need not be kept.
    static var derivesFromValue: Bool { get }
    /// A fast form of the derivative; `nil` to use the general one.
    var derivativeForm: DerivativeForm? { get }
}

extension DifferentiableFunction {
    package static var derivesFromValue: Bool { false }
    package var derivativeForm: DerivativeForm? { nil }

    /// Adds `dx = f′(x) · dy`.
    fileprivate func differentiate(_ context: inout GradientContext) throws(ModelError) {
        let gradient = try context.add(
            UnaryGradient(self),
            Self.derivesFromValue ? nil : context.operand(),
            context.results[0],
            context.resultGradient()
        )
        context.setGradient(ofOperand: 0, to: gradient)
    }
}

/// A function without parameters.
package protocol ParameterlessFunction: ScalarFunction {
    init()
}

extension ParameterlessFunction {
    package init(reading arguments: inout Arguments) throws(ModelError) { self.init() }
}

/// `y = f(x)`, element by element.
///
/// [d…] → [d…] of the same scalar type.
package struct Unary<Function: ScalarFunction>: Operator, LoweredFromLayers {
    package static var names: [MILName] { Function.names }
    package static var layers: [LayerRule] { Function.layers }

    package var function: Function

    package init(_ function: Function) { self.function = function }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        function = try Function(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.numericType(0)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        return [Tensor(values: x.values.map { function($0) }, scalarType: x.scalarType, shape: x.shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0) else { return [] }
        let count = x.count
        if Function.self == LogicalNot.self, x.scalarType == .bool {
            let kernel = BinaryKernel(.equal, sizes: [count], strides: [1], [0], element: .bool)
            return [
                Kernel(
                    "not",
                    inPlaceOperands: [0],
                    body: { context in
                        var zero: UInt8 = 0
                        kernel.run(context.operand(0), &zero, context.result())
                    }
                )
            ]
        }
        if request.isAll(.int32), let function = function.integerKernel {
            return [
                Kernel(
                    "map integers",
                    inPlaceOperands: [0],
                    body: { context in
                        ElementwiseKernel.map(
                            function,
                            context.integers(0),
                            into: context.resultIntegers(),
                            count: count
                        )
                    }
                )
            ]
        }
        guard request.isAll(.float32), let function = function.kernel else { return [] }
        return [
            Kernel(
                "map",
                inPlaceOperands: [0],
                body: { ElementwiseKernel.map(function, $0.floats(0), into: $0.resultFloats(), count: count) }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        function.kernel != nil && operands.areFloat32(0..<1) ? .agnostic : .rowMajor
    }
}

extension Unary where Function: ParameterlessFunction {
    package init() { function = Function() }
}

extension Unary: DifferentiableOperator {
    package static var hasGradient: Bool { Function.self is any DifferentiableFunction.Type }

    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard let function = function as? any DifferentiableFunction else {
            throw notDifferentiable("that is not zero")
        }
        try function.differentiate(&context)
    }
}

extension Unary {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.elements(self)
    }
}
