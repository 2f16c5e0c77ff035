package import MLGraph
package import MLNumerics
import MLOperators

/// Removes operations that return their operand: `identity`, `cast` to the same type, a `cast` to float16 of the result
/// of a `cast` from float16, a transposition that moves nothing, a reshape to the same shape.
package struct RemoveIdentities: Pass {
    package let name = "remove identities"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard Self.mayBeIdentity(operation), let source = widenedHalf(operation, block) ?? operation.operands[0],
                block.type(of: source) == block.type(of: operation.results[0]),
                isIdentity(operation, source, block)
            else { continue }
            patches.append(try block.patch(before: index) { _ in [(operation.results[0], source)] })
        }
        return patches
    }

    private static func mayBeIdentity(_ operation: Operation) -> Bool {
        operation.is(Identity.self) || operation.is(Cast.self) || operation.is(Reshape.self)
            || operation.is(Transpose.self)
    }

    /// The float16 value that is cast back to float16.
    private func widenedHalf(_ operation: Operation, _ block: BlockView) -> ValueID? {
        guard operation.as(Cast.self)?.scalarType == .float16,
            let (_, producer, _) = block.producer(of: operation.operands[0], as: Cast.self),
            let source = producer.operands[0], block.type(of: source).scalarType == .float16,
            [.float32, .float64].contains(block.type(of: producer.results[0]).scalarType)
        else { return nil }
        return source
    }

    private func isIdentity(_ operation: Operation, _ source: ValueID, _ block: BlockView) -> Bool {
        if operation.is(Reshape.self) { return block.type(of: source).isBound }
        guard let transpose = operation.as(Transpose.self) else { return true }
        let rank = block.type(of: source).rank
        return (try? transpose.normalizedPermutation(rank: rank)) == Array(0..<rank)
    }
}
