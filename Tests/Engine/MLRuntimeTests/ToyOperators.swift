import MLGraph
import MLNumerics

/// x + y, elementwise, equal shapes; with a kernel that may work in place.
struct ToyAdd: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.type(0).with(try broadcast(try operands.shape(0), try operands.shape(1)))]
    }
    func reference(_ operands: ReferenceOperands) -> [Tensor] {
        let (x, y) = (operands[0].values, operands[1].values)
        let sum = (0..<max(x.count, y.count)).map { x[x.count == 1 ? 0 : $0] + y[y.count == 1 ? 0 : $0] }
        return [Tensor(values: sum, scalarType: operands.scalarType(), shape: operands.shape())]
    }
    func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), request.operands[0]?.logicalShape == request.operands[1]?.logicalShape else {
            return []
        }
        let count = request.results[0].count
        return [
            Kernel(
                "toy",
                inPlaceOperands: [0],
                body: { context in
                    for index in 0..<count {
                        context.resultFloats()[index] = context.floats(0)[index] + context.floats(1)[index]
                    }
                }
            )
        ]
    }
}

/// The positive elements of a vector: as many as there are.
struct ToyPositives: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [ValueType(try operands.type(0).scalarType, [.unknown])]
    }
    func reference(_ operands: ReferenceOperands) -> [Tensor] {
        let values = operands[0].values.filter { $0 > 0 }
        return [Tensor(values: values, scalarType: operands[0].scalarType, shape: [values.count])]
    }
}

/// Zeros of the shape that operand 0 holds.
struct ToyZeros: Operator {
    var shapeOperands: [Int] { [0] }
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let rank = try operands.shape(0)[0].count ?? 0
        return [ValueType(.float32, operands.integers(0).map { Shape($0) } ?? Shape(repeating: .unknown, count: rank))]
    }
    func reference(_ operands: ReferenceOperands) -> [Tensor] {
        [Tensor(uninitialized: .float32, shape: operands.shape(), zeroed: true)]
    }
}

/// The same elements as a vector; memory is shared.
struct ToyFlatten: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.type(0).with([try operands.shape(0).elementCount])]
    }
    func reference(_ operands: ReferenceOperands) -> [Tensor] { [operands[0].reshaped([operands[0].count])] }
    func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }
}

/// Runs its body on the carried value `times` times.
struct ToyRepeat: ControlFlowOperator {
    let times: Int
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }
    func evaluate(_ operands: [Tensor], bodies: [BlockBody]) throws(ModelError) -> [Tensor] {
        var carried = operands
        for _ in 0..<times { carried = try bodies[0](carried) }
        return carried
    }
}

/// The first and the second half of a vector.
struct ToyHalves: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let half = try operands.type(0).with([try operands.shape(0)[0].map { $0 / 2 }])
        return [half, half]
    }
    func reference(_ operands: ReferenceOperands) -> [Tensor] {
        let (values, half) = (operands[0].values, operands[0].count / 2)
        return [values[..<half], values[half..<2 * half]].map {
            Tensor(values: Array($0), scalarType: operands.scalarType(), shape: [half])
        }
    }
}
