package import MLGraph
package import MLKernels
package import MLNumerics

/// A function of two numbers: the parameter of the `Binary` family.
package protocol BinaryFunction: Hashable, Sendable, Codable {
    static var names: [MILName] { get }
    /// Whether the result is a Boolean.
    static var isPredicate: Bool { get }
    /// Whether the function takes Booleans.
    static var isLogic: Bool { get }
    init()
    func callAsFunction(_ x: Double, _ y: Double) -> Double
    /// The kernel for float32, int32 or Booleans; `nil` when there is none.
    static var kernel: ElementwiseKernel.BinaryFunction? { get }
    /// The neural-network layers whose main operator the function is.
    static var layers: [LayerRule] { get }
}

extension BinaryFunction {
    package static var layers: [LayerRule] { [] }
    package static var isPredicate: Bool { false }
    package static var isLogic: Bool { false }
    package static var kernel: ElementwiseKernel.BinaryFunction? { nil }
}

/// A function of two numbers that is differentiable almost everywhere; elsewhere the rule picks a side.
package protocol DifferentiableBinaryFunction: BinaryFunction {
    /// Sets the gradients of `x` (operand 0) and `y` (operand 1), if they are needed; `dz` is the result's.
    func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError)
}

/// `z = f(x, y)`, element by element, with broadcasting.
///
/// Operands: x, y of one scalar type (or the wider of two floating or integer types). The result has that type, or
/// `bool` for comparisons.
package struct Binary<Function: BinaryFunction>: Operator, LoweredFromLayers {
    package static var names: [MILName] { Function.names }
    package static var layers: [LayerRule] { Function.layers }

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("y")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let scalarType = try operands.promotedType(0, 1)
        return [
            ValueType(
                Function.isPredicate ? .bool : scalarType,
                try broadcast(operands.shape(0), operands.shape(1))
            )
        ]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let function = Function()
        let shape = broadcastCounts([operands[0].shape, operands[1].shape])
        let x = operands[0].values(broadcastTo: shape)
        let y = operands[1].values(broadcastTo: shape)
        var values = zip(x, y).map { function($0, $1) }
        // Integer division by 0 gives 0.
        if !operands[0].scalarType.isFloat { values = values.map { $0.isFinite ? $0 : 0 } }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let y = request.operand(1), x.scalarType == y.scalarType,
            let function = Function.kernel, let element = Self.element(x.scalarType),
            let axes = BroadcastAxes([x, y], request.results[0])
        else { return [] }
        let kernel = BinaryKernel(
            function,
            sizes: axes.sizes,
            strides: axes.strides[0],
            axes.strides[1],
            element: element
        )
        return [
            Kernel(
                "combine",
                inPlaceOperands: Function.isPredicate && x.scalarType != .bool ? [] : axes.dense,
                body: { kernel.run($0.operand(0), $0.operand(1), $0.result()) }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        guard let x = try? operands.type(0).scalarType, let y = try? operands.type(1).scalarType, x == y,
            Function.kernel != nil, Self.element(x) != nil
        else { return .rowMajor }
        return elementwiseLayoutRole(operands)
    }

    /// The kernels' name of an operand type; `nil` when they do not take it.
    private static func element(_ scalarType: ScalarType) -> BinaryKernel.Element? {
        switch scalarType {
        case .float32: Function.isLogic ? nil : .float32
        case .int32: Function.isLogic ? nil : .int32
        case .bool: Function.isLogic || Function.kernel == .equal || Function.kernel == .notEqual ? .bool : nil
        default: nil
        }
    }
}

extension Binary: DifferentiableOperator {
    package static var hasGradient: Bool { Function.self is any DifferentiableBinaryFunction.Type }

    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand(0)
        let y = try context.operand(1)
        let dz = try context.resultGradient()
        guard let function = Function() as? any DifferentiableBinaryFunction else {
            throw notDifferentiable("that is not zero")
        }
        try function.gradient(&context, x: x, y: y, dz: dz)
    }
}

/// The layout role of an elementwise operator: any layout, when every operand has the result's rank or one element.
func elementwiseLayoutRole(_ operands: Operands) -> LayoutRole {
    var ranks: Set<Int> = []
    for index in 0..<operands.count {
        guard let type = try? operands.type(index) else { continue }
        if type.shape.elementCount.count != 1 { ranks.insert(type.rank) }
    }
    return ranks.count <= 1 ? .agnostic : .rowMajor
}

/// The common broadcast shape of arrays with compatible shapes.
func broadcastCounts(_ shapes: [[Int]]) -> [Int] {
    var result = [Int](repeating: 1, count: shapes.map(\.count).max() ?? 0)
    for shape in shapes {
        let missing = result.count - shape.count
        for axis in shape.indices where shape[axis] != 1 { result[axis + missing] = shape[axis] }
    }
    return result
}

extension Tensor {
    /// All elements, broadcast to `shape`.
    func values(broadcastTo target: [Int]) -> [Double] {
        shape == target ? values : StridedView(dense: shape).broadcast(to: target).read(values)
    }
}

extension Binary {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let shape = context.resultTypes[0].shape
        return try context.broadcasting(self, rank: shape.count, lead: shape.first?.count)
    }
}
