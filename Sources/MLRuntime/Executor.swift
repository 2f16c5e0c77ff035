import Glibc
import MLGraph
package import MLNumerics

extension Plan {
    /// Runs the steps on `inputs`, whose types have been checked.
    /// - Parameter backings: tensors to write outputs to, by output; `nil` or missing ones are allocated.
    package func run(
        _ inputs: [Tensor],
        backings: [Tensor?],
        observer: (any StepObserver)?
    ) throws(ModelError) -> [Tensor] {
        var results: [Tensor] = []
        results.reserveCapacity(outputTypes.count)
        for (index, type) in outputTypes.enumerated() {
            let shape = type.shape.counts ?? []
            if index < backings.count, let backing = backings[index] {
                guard backing.scalarType == type.scalarType, backing.count == shape.elementCount else {
                    throw ModelError(
                        .invalidInput,
                        "output backing \(index) is \(backing.scalarType.milName) \(backing.shape), the model gives \(type)"
                    )
                }
                results.append(backing)
            } else {
                results.append(Tensor(uninitialized: type.scalarType, shape: shape))
            }
        }
        let workspace = workspaces.take(for: self)
        defer { workspaces.give(workspace) }
        workspace.bind(inputs: inputs, outputs: results)
        if let observer {
            for step in steps {
                let start = clock_gettime_nsec()
                try run(step, workspace)
                observer.ran(step, nanoseconds: clock_gettime_nsec() - start)
            }
        } else {
            for step in steps { try run(step, workspace) }
        }
        for (index, output) in outputs.enumerated() {
            guard case .copy(let slot) = output, let source = workspace.pointers[Int(slot)] else { continue }
            results[index].address.copyMemory(from: source, byteCount: results[index].byteCount)
        }
        withExtendedLifetime(inputs) {}
        return results
    }

    private func run(_ step: Step, _ workspace: Workspace) throws(ModelError) {
        switch step.body {
        case .kernel(let body):
            body(
                KernelContext(
                    pointers: UnsafePointer(workspace.pointers),
                    slots: UnsafePointer(workspace.slots + step.firstSlot),
                    operandCount: step.operandCount,
                    scratch: workspace.scratch
                )
            )
        case .reference(let op, let operandTypes, let resultTypes):
            try trailing(step.location) { () throws(ModelError) in
                try evaluate(op, operandTypes, resultTypes, step, workspace)
            }
        }
    }

    private func evaluate(
        _ op: any Operator,
        _ operandTypes: [ValueType?],
        _ resultTypes: [ValueType],
        _ step: Step,
        _ workspace: Workspace
    ) throws(ModelError) {
        var operands: [Tensor?] = []
        for (index, type) in operandTypes.enumerated() {
            guard let type, let address = workspace.pointers[Int(slots[step.firstSlot + index])] else {
                operands.append(nil)
                continue
            }
            let shape = type.shape.counts ?? []
            let byteCount = type.scalarType.byteCount(of: shape.elementCount)
            let storage = TensorStorage(borrowing: address, byteCount: byteCount, release: nil)
            operands.append(Tensor(scalarType: type.scalarType, shape: shape, storage: storage))
        }
        let results = try op.reference(ReferenceOperands(operands, resultTypes: resultTypes))
        for (index, result) in results.enumerated() {
            guard index < resultTypes.count, result.scalarType == resultTypes[index].scalarType,
                result.shape == resultTypes[index].shape.counts,
                let target = workspace.pointers[Int(slots[step.firstSlot + step.operandCount + index])]
            else {
                throw ModelError(
                    .invalidModel,
                    "'\(op.displayName)' computed \(result.scalarType.milName) \(result.shape) where its type rule says \(resultTypes)"
                )
            }
            target.copyMemory(from: result.address, byteCount: result.byteCount)
        }
    }
}

/// Monotonic time in nanoseconds.
private func clock_gettime_nsec() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
