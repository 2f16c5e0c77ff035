package import MLGraph
package import MLKernels
package import MLNumerics

/// A function of two numbers: what sets the members of the `Binary` family apart.
package protocol BinaryFunction: Hashable, Sendable {
    static var names: [MILName] { get }
    /// True for the functions whose result is a truth value.
    static var isPredicate: Bool { get }
    init()
    func callAsFunction(_ x: Double, _ y: Double) -> Double
    /// What computes the function on float32; `nil` when nothing does.
    static var kernel: ElementwiseKernel.BinaryFunction? { get }
    /// The neural-network layers whose heart the function is.
    static var layers: [LayerRule] { get }
}

extension BinaryFunction {
    package static var layers: [LayerRule] { [] }
    package static var isPredicate: Bool { false }
    package static var kernel: ElementwiseKernel.BinaryFunction? { nil }
}

/// `z = f(x, y)`, element by element, with broadcasting.
///
/// Operands: x, y of one scalar type (or the wider of two floating or integer types).  The result has that type, or
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
        return [
            Tensor(values: zip(x, y).map { function($0, $1) }, scalarType: operands.scalarType(), shape: shape)
        ]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let function = Function.kernel,
            let axes = BroadcastAxes(request.operands.compactMap { $0 }, request.results[0])
        else { return [] }
        return [
            Kernel(
                "combine",
                inPlaceOperands: axes.dense,
                body: { context in
                    ElementwiseKernel.combine(
                        function,
                        sizes: axes.sizes,
                        context.floats(0),
                        strides: axes.strides[0],
                        context.floats(1),
                        strides: axes.strides[1],
                        into: context.resultFloats()
                    )
                }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        Function.kernel != nil && operands.areFloat32(0..<2) ? elementwiseLayoutRole(operands) : .rowMajor
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

/// The shape that arrays of shapes known to broadcast give together.
func broadcastCounts(_ shapes: [[Int]]) -> [Int] {
    var result = [Int](repeating: 1, count: shapes.map(\.count).max() ?? 0)
    for shape in shapes {
        let missing = result.count - shape.count
        for axis in shape.indices where shape[axis] != 1 { result[axis + missing] = shape[axis] }
    }
    return result
}

extension Tensor {
    /// All elements, repeated to fill `shape` by the rules of broadcasting.
    func values(broadcastTo target: [Int]) -> [Double] {
        shape == target ? values : StridedView(dense: shape).broadcast(to: target).read(values)
    }
}
