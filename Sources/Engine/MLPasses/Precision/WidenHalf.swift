package import MLGraph
package import MLNumerics
import MLOperators

extension Graph {
    /// The graph with float16 computations widened to float32.
    ///
    /// Inputs and outputs keep their types; an output that is cast from float16 is rounded to it. Constants stay
    /// float16 where kernels read them in that form (`halfPrecisionOperands`); elsewhere they are widened once. Results
    /// have the accuracy of float32 accumulation, and do not overflow at 65,504.
    ///
    /// Inputs are updated and cut in float16, and only what is read of them is widened: a state such as a cache of keys and
    /// values, which a model of many layers reads and updates in each, is never converted as a whole. New elements are
    /// rounded when they are stored.
    package func widened() throws(ModelError) -> Graph {
        var widenedConstants: [ValueID: ValueID] = [:]
        func wide(_ type: ValueType) -> ValueType { type.scalarType == .float16 ? type.with(.float32) : type }
        func floats(_ id: ValueID, _ builder: inout GraphBuilder) throws(ModelError) -> ValueID {
            if let known = widenedConstants[id] { return known }
            let result = try builder.add(Cast(to: .float32), id)
            widenedConstants[id] = result
            return result
        }
        // By widened value: the float16 one that it is cast from, for inputs, parts of them and updates of these.
        var halves: [ValueID: ValueID] = [:]
        func narrow(_ id: ValueID, _ builder: inout GraphBuilder) throws(ModelError) -> ValueID {
            if let half = halves[id] { return half }
            return try builder.add(Cast(to: .float16), id)
        }
        let rounded = Set(
            body.operations.filter { operation in
                operation.is(Cast.self)
                    && operation.operands.first.flatMap { $0 }.map { type(of: $0).scalarType } == .float16
            }.flatMap(\.results)
        )
        return try rebuilt { (id, builder) throws(ModelError) in
            let input = builder.input(self[id].name, type(of: id))
            guard type(of: id).scalarType == .float16, type(of: id).kind == .tensor else { return input }
            builder.location = "input '\(self[id].name)'"
            let result = try builder.add(Cast(to: .float32), input)
            halves[result] = input
            return result
        } blockInput: {
            wide($0)
        } output: { (old, new, builder) throws(ModelError) in
            guard builder.type(of: new).scalarType == .float32 else { return new }
            builder.location = "output '\(self[old].name)'"
            if rounded.contains(old), type(of: old).scalarType == .float32 {
                let half = try builder.add(Cast(to: .float16), new)
                return try builder.add(Cast(to: .float32), half, name: self[old].name)
            }
            guard type(of: old).scalarType == .float16 else { return new }
            if let half = halves[new] { return half }
            return try builder.add(Cast(to: .float16), new, name: self[old].name)
        } operation: { (operation, operands, builder) throws(ModelError) in
            if let x = operands.first ?? nil, let half = halves[x], let part = PartAccess(operation.op) {
                var narrowed = operands
                narrowed[0] = half
                if case .update(let position) = part, let new = operands[position] {
                    narrowed[position] = try narrow(new, &builder)
                }
                let changed = try builder.append(operation.op, narrowed)[0]
                let result = try builder.add(Cast(to: .float32), changed, name: self[operation.results[0]].name)
                halves[result] = changed
                return [result]
            }
            let kept = Set(operation.op.halfPrecisionOperands)
            var wide: [ValueID?] = []
            for (index, operand) in operands.enumerated() {
                if let operand, !kept.contains(index), builder.type(of: operand).scalarType == .float16,
                    builder.constant(operand) != nil
                {
                    wide.append(try floats(operand, &builder))
                } else {
                    wide.append(operand)
                }
            }
            let names = operation.results.map { self[$0].name }
            let op = operation.op.widened
            return try builder.append(op, wide, names: names)
        }
    }
}

/// How an operator uses parts of its first operand.
private enum PartAccess {
    case read
    /// Replaces elements by those of an operand.
    case update(operand: Int)

    init?(_ op: any Operator) {
        switch op {
        case is SliceByIndex, is SliceBySize: self = .read
        case is SliceUpdate: self = .update(operand: 1)
        case let scatter as ScatterND where scatter.mode == .update: self = .update(operand: 2)
        default: return nil
        }
    }
}
