package import MLNumerics

/// The result of an operation on constants that is computed when its elements are needed.
package final class DeferredResult: DeferredContents {
    package let op: any Operator
    package let operands: [Tensor?]
    package let resultTypes: [ValueType]
    /// The index among the operation's results.
    package let index: Int

    init(_ op: any Operator, _ operands: [Tensor?], _ resultTypes: [ValueType], index: Int) {
        self.op = op
        self.operands = operands
        self.resultTypes = resultTypes
        self.index = index
    }

    package var sources: [TensorStorage] { operands.compactMap { $0?.storage } }

    package func withComputedBytes<R>(_ body: (UnsafeRawPointer) -> R) -> R {
        do throws(ModelError) {
            let results = try op.reference(ReferenceOperands(operands, resultTypes: resultTypes))
            releasePages()
            return withExtendedLifetime(results) { body(results[index].address) }
        } catch {
            preconditionFailure("\(op.displayName) deferred what it cannot compute: \(error)")
        }
    }

    package func releasePages() { for operand in operands { operand?.releasePages() } }

    /// The results of an operation on constants, to be computed when they are needed; `nil` when the operator defers
    /// nothing for these operands.
    package static func results(
        of op: any Operator,
        _ operands: [Tensor?],
        _ types: [ValueType]
    ) -> [Tensor]? {
        guard op.isDeferred(ReferenceOperands(operands, resultTypes: types)) else { return nil }
        return types.enumerated().map { index, type in
            let shape = type.shape.counts ?? []
            let contents = DeferredResult(op, operands, types, index: index)
            let storage = TensorStorage(
                deferring: contents,
                byteCount: type.scalarType.byteCount(of: shape.elementCount)
            )
            return Tensor(scalarType: type.scalarType, shape: shape, storage: storage)
        }
    }
}

extension Tensor {
    /// The operation that computes this constant when it is needed; `nil` for constants that are in memory.
    package var deferredResult: DeferredResult? { storage.deferredContents as? DeferredResult }
}
