import MLGraph
import MLKernels
import MLNumerics
import MLRuntime
import Testing

/// Binding and running use the plan's kernels, not those of the thread around them.
struct KernelTableTests {
    private func seen(_ results: [Tensor]) -> [Double] { results.flatMap(\.values) }

    @Test(arguments: KernelTable.available)
    func stepsUseTheKernelsOfTheirPlan(_ table: KernelTable) throws {
        for isFlexible in [false, true] {
            var builder = GraphBuilder()
            let x = builder.input("x", ValueType(.float32, [isFlexible ? .unknown : 4]))
            let atOnce = try builder.add(ToyTable(), x)
            // The extents of the rest are known when this is computed.
            let late = try builder.add(ToyTable(), builder.add(ToyPositives(), x))
            let graph = builder.finished(outputs: [("at once", atOnce), ("late", late)])
            let executable = try GraphExecutable(graph, pipeline: .none, kernels: table)
            let number = Double(table.instructionSet.rawValue)
            for other in KernelTable.available {
                let previous = other.enter()
                defer { KernelTable.leave(to: previous) }
                let results = try executable.run([Tensor([1, -2, 3, -4] as [Float], shape: [4])])
                #expect(seen(results) == [number, number, number, number])
                #expect(KernelTable.current == other)
            }
        }
    }

    @Test func theThreadsKernelsAreTheDefault() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [1]))
        let y = try builder.add(ToyTable(), x)
        let graph = builder.finished(outputs: [("y", y)])
        for table in KernelTable.available {
            let executable = try table.perform { try GraphExecutable(graph, pipeline: .none) }
            let number = Double(table.instructionSet.rawValue)
            #expect(seen(try executable.run([Tensor([0] as [Float], shape: [1])])) == [number, number])
        }
    }

    /// The thread has its own kernels again after a run that fails.
    @Test func aRunThatFailsLeavesTheThreadsKernels() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [1]))
        let y = try builder.add(ToyRefusal(), x)
        let graph = builder.finished(outputs: [("y", y)])
        for table in KernelTable.available {
            let executable = try GraphExecutable(graph, pipeline: .none, kernels: table)
            #expect(throws: ModelError.self) { try executable.run([Tensor([0] as [Float], shape: [1])]) }
            #expect(KernelTable.current == .standard)
        }
    }
}

/// The instruction sets, by number, whose kernels it found when it was bound and when it ran.
private struct ToyTable: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [ValueType(.float32, [2])] }

    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        throw ModelError(.unsupported, "its kernel always applies")
    }

    func kernels(for request: KernelRequest) -> [Kernel] {
        let bound = Float(KernelTable.current.instructionSet.rawValue)
        return [
            Kernel(
                "toy",
                body: { context in
                    context.resultFloats()[0] = bound
                    context.resultFloats()[1] = Float(KernelTable.current.instructionSet.rawValue)
                }
            )
        ]
    }
}

/// Refuses every operand.
private struct ToyRefusal: Operator {
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }

    func kernels(for request: KernelRequest) -> [Kernel] {
        [Kernel("toy", checked: { (_) throws(ModelError) in throw ModelError(.invalidInput, "refused") })]
    }
}
