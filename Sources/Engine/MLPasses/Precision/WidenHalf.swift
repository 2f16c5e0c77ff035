package import MLGraph
package import MLNumerics
import MLOperators

extension Graph {
    /// The graph with float16 computations widened to float32.
    ///
    /// Inputs and outputs keep their types; an output that is cast from float16 is rounded to it. Constants stay
    /// float16 where kernels read them in that form (`halfPrecisionOperands`); elsewhere they are widened once. Results
    /// have the accuracy of float32 accumulation, and do not overflow at 65,504.
    package func widened() throws(ModelError) -> Graph {
        var widenedConstants: [ValueID: ValueID] = [:]
        func wide(_ type: ValueType) -> ValueType { type.scalarType == .float16 ? type.with(.float32) : type }
        func floats(_ id: ValueID, _ builder: inout GraphBuilder) throws(ModelError) -> ValueID {
            if let known = widenedConstants[id] { return known }
            let result = try builder.add(Cast(to: .float32), id)
            widenedConstants[id] = result
            return result
        }
        let rounded = Set(
            body.operations.filter { operation in
                operation.op is Cast
                    && operation.operands.first.flatMap { $0 }.map { type(of: $0).scalarType } == .float16
            }.flatMap(\.results)
        )
        return try rebuilt { (id, builder) throws(ModelError) in
            let input = builder.input(self[id].name, type(of: id))
            guard type(of: id).scalarType == .float16, type(of: id).kind == .tensor else { return input }
            builder.location = "input '\(self[id].name)'"
            return try builder.add(Cast(to: .float32), input)
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
            return try builder.add(Cast(to: .float16), new, name: self[old].name)
        } operation: { (operation, operands, builder) throws(ModelError) in
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
