import Glibc
import MLGraph
import MLKernels
package import MLNumerics

extension Plan {
    /// Runs the steps on `inputs`, whose types have been checked.
    ///
    /// - Parameters:
    ///   - inputs: One tensor for each input of the plan.
    ///   - backings: Tensors to write outputs to, by output; `nil` or missing ones are allocated.
    ///   - observer: Is notified of every step; `nil` for none.
    /// - Returns: The outputs in their order.
    /// - Throws: `.invalidInput` when a backing does not fit its output or an index is out of range, `.cancelled` when
    ///   the task is cancelled.
    package func run(
        _ inputs: [Tensor],
        backings: [Tensor?],
        observer: (any StepObserver)?
    ) throws(ModelError) -> [Tensor] {
        var results: [Tensor] = []
        results.reserveCapacity(outputTypes.count)
        for (index, shape) in outputShapes.enumerated() {
            let scalarType = outputTypes[index].scalarType
            if case .input(let input) = outputs[index] {
                results.append(inputs[input])
            } else if index < backings.count, let backing = backings[index] {
                guard backing.scalarType == scalarType, backing.count == shape.elementCount else {
                    throw ModelError(
                        .invalidInput,
                        "output backing \(index) is \(backing.scalarType.milName) \(backing.shape), the model gives "
                            + "\(outputTypes[index])"
                    )
                }
                results.append(backing)
            } else {
                results.append(Tensor(uninitialized: scalarType, shape: shape))
            }
        }
        let workspace = workspaces.take(for: self)
        let previous = kernels.enter()
        Workers.predictionBegins()
        defer {
            Workers.predictionEnds()
            KernelTable.leave(to: previous)
            workspaces.putBack(workspace)
        }
        workspace.bind(inputs: inputs, outputs: results)
        // A single step has no gap to check in, and the check costs as much as a small kernel.
        let cancellation = steps.count > 1 ? Cancellation.forSteps : nil
        if let observer {
            for step in steps {
                try cancellation?.check()
                let start = clock_gettime_nsec()
                try run(step, workspace)
                observer.didRun(step, nanoseconds: clock_gettime_nsec() - start)
            }
        } else if let cancellation {
            for step in steps {
                try cancellation.check()
                try run(step, workspace)
            }
        } else {
            for step in steps { try run(step, workspace) }
        }
        for (index, output) in outputs.enumerated() {
            guard case .copy(let slot) = output, let source = workspace.pointers[Int(slot)] else { continue }
            ByteCopy.run(source, results[index].address, byteCount: results[index].byteCount)
        }
        withExtendedLifetime(inputs) {}
        return results
    }

    private func run(_ step: Step, _ workspace: Workspace) throws(ModelError) {
        switch step.body {
        case .kernel(let body):
            body(context(step, workspace))
        case .checked(let body):
            try withErrorContext(step.location) { () throws(ModelError) in try body(context(step, workspace)) }
        case .reference(let op, let request):
            try withErrorContext(step.location) { () throws(ModelError) in try evaluate(op, request, step, workspace) }
        }
    }

    private func context(_ step: Step, _ workspace: Workspace) -> KernelContext {
        KernelContext(
            pointers: UnsafePointer(workspace.pointers),
            slots: UnsafePointer(workspace.slots + step.firstSlot),
            operandCount: step.operandCount,
            scratch: workspace.scratch
        )
    }

    /// Evaluates an operator with its reference implementation, on logical row-major tensors, whatever the layouts in
    /// memory are.
    private func evaluate(
        _ op: any Operator,
        _ request: KernelRequest,
        _ step: Step,
        _ workspace: Workspace
    ) throws(ModelError) {
        var operands: [Tensor?] = []
        for (index, buffer) in request.operands.enumerated() {
            guard let buffer, let address = workspace.pointers[Int(slots[step.firstSlot + index])] else {
                operands.append(nil)
                continue
            }
            let storage = TensorStorage(borrowing: address, byteCount: buffer.byteCount, release: nil)
            let tensor = Tensor(scalarType: buffer.scalarType, shape: buffer.shape, storage: storage)
            operands.append(
                buffer.layout == .rowMajor
                    ? tensor : tensor.permuted(buffer.layout.logicalOrder(rank: tensor.shape.count))
            )
        }
        let types = request.results.map { ValueType($0.scalarType, Shape($0.logicalShape)) }
        let results = try op.reference(ReferenceOperands(operands, resultTypes: types))
        for (index, buffer) in request.results.enumerated() {
            guard index < results.count, results[index].scalarType == buffer.scalarType,
                results[index].shape == buffer.logicalShape,
                let target = workspace.pointers[Int(slots[step.firstSlot + step.operandCount + index])]
            else {
                throw ModelError(
                    .invalidModel,
                    "'\(op.displayName)' computed \(results.map(\.shape)) where its type rule says \(types)"
                )
            }
            let result = results[index]
            let placed =
                buffer.layout == .rowMajor
                ? result : result.permuted(buffer.layout.permutation(rank: result.shape.count))
            target.copyMemory(from: placed.address, byteCount: placed.byteCount)
        }
    }
}

/// Monotonic time in nanoseconds.
private func clock_gettime_nsec() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
