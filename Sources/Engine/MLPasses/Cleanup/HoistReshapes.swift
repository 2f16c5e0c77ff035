package import MLGraph
package import MLNumerics
import MLOperators

/// reshape(linear(x)) → linear(reshape(x)) where only the rows are regrouped: the operations after the linear (an
/// activation, a residual) then have the final shape and can be fused.
package struct HoistReshapes: Pass {
    package let name = "hoist reshapes"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard operation.is(Reshape.self), let value = operation.operands[0], block.isUsedOnce(value),
                let target = block.type(of: operation.results[0]).shape.counts,
                let (linear, producer, _) = block.producer(of: value, as: Linear.self),
                producer.operands.count < 4 || producer.operands[3] == nil, let x = producer.operands[0],
                let columns = block.type(of: value).shape.last?.count, target.last == columns,
                let depth = block.type(of: x).shape.last?.count
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let rows = try builder.reshaped(x, to: target.dropLast() + [depth])
                    let result = try builder.append(linear, [rows] + producer.operands.dropFirst())[0]
                    return [(operation.results[0], result)]
                }
            )
        }
        return patches
    }
}
