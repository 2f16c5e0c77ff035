import MLGraph
import MLNumerics

/// x + y, with broadcasting; y may be absent.
struct ToyAdd: Operator {
    var scale: Double?
    var labels: [String] = []

    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard operands.has(1) else { return [x] }
        guard try operands.type(1).scalarType == x.scalarType else {
            throw ModelError(.invalidModel, "\(x) and \(try operands.type(1)) do not add up")
        }
        return [x.with(try broadcast(x.shape, try operands.shape(1)))]
    }
    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (x, y) = (operands[0].values, operands.optional(1)?.values ?? [0])
        let sum = (0..<Swift.max(x.count, y.count)).map { x[x.count == 1 ? 0 : $0] + y[y.count == 1 ? 0 : $0] }
        return [Tensor(values: sum, scalarType: operands.scalarType(), shape: operands.shape())]
    }
}

/// A vector split at the middle.
struct ToyHalves: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let half = try operands.type(0).with([try operands.shape(0)[0].map { $0 / 2 }])
        return [half, half]
    }
    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (values, half) = (operands[0].values, operands[0].count / 2)
        return [values[..<half], values[half..<2 * half]].map {
            Tensor(values: Array($0), scalarType: operands.scalarType(), shape: [half])
        }
    }
}

/// Another number each time.
struct ToyRandom: Operator {
    var isPure: Bool { false }
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }
    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] { [operands[0]] }
}

/// The extents of its operand, known as soon as its type is.
struct ToyShape: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [ValueType(.int32, [Dimension(try operands.rank(0))])]
    }
    func knownResults(_ operands: Operands) -> [Tensor]? {
        guard let counts = try? operands.shape(0).counts else { return nil }
        return [Tensor(counts.map { Int32($0) }, shape: [counts.count])]
    }
}

/// 3 · x, which stands for two additions.
struct ToyTriple: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }
    func expansion(_ operands: [ValueID?], in builder: inout GraphBuilder) throws(ModelError) -> [ValueID]? {
        let twice = try builder.add(ToyAdd(), operands[0], operands[0])
        return [try builder.add(ToyAdd(), twice, operands[0])]
    }
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

let pair = ValueType(.float32, [2])

extension GraphBuilder {
    mutating func pair(_ first: Float, _ second: Float, name: String = "") -> ValueID {
        constant(Tensor([first, second], shape: [2]), name: name)
    }
}

extension Graph {
    /// The graph with other operations, as only a mistake could make it.
    func with(_ change: (inout Block) -> Void) -> Graph {
        var graph = self
        var block = body
        change(&block)
        graph.replaceBody(block)
        return graph
    }
}
