import MLGraph
import MLKernels
import MLNumerics
import MLOperators
import MLRuntime

/// The checks of one operator problem.
struct OperatorCheck {
    private let problem: OperatorProblem
    private var op: any Operator { problem.op }
    private var operands: [Tensor?] { problem.operands }

    init(_ problem: OperatorProblem) { self.problem = problem }

    func failures() -> [String] {
        do {
            let types = try op.resultTypes(of: knowledge { _, shape in Shape(shape) })
            let results = try op.evaluated(operands)
            CensusRecord.shared?.note(op, types: operands.compactMap { $0?.scalarType }, test: problem.file)
            return agreement(results, types) + flexibleTypes(types) + implementations(results)
                + BatchTrial(problem).failures()
        } catch {
            return ["throws: \(error)"]
        }
    }

    /// The differences between kernels or plans and plain evaluation; none when that gives no answer, because the
    /// contents of an operand are refused.
    func disagreements() -> [String] {
        do {
            let types = try op.resultTypes(of: knowledge { _, shape in Shape(shape) })
            guard let results = try? op.evaluated(operands) else { return [] }
            CensusRecord.shared?.note(op, types: operands.compactMap { $0?.scalarType }, test: problem.file)
            return agreement(results, types) + implementations(results) + BatchTrial(problem).failures()
        } catch {
            return ["throws: \(error)"]
        }
    }

    // MARK: Types

    /// The type rule's view, with the shapes of operands that are not constant passed through `change`.
    private func knowledge(_ change: (Int, [Int]) -> Shape) -> Operands {
        Operands(
            operands.enumerated().map { index, tensor in
                tensor.map {
                    problem.constants.contains(index)
                        ? Operands.Operand(type: ValueType($0.scalarType, Shape($0.shape)), constant: $0)
                        : Operands.Operand(type: ValueType($0.scalarType, change(index, $0.shape)))
                }
            }
        )
    }

    /// The plain evaluation against the type rule and the expected values.
    private func agreement(_ results: [Tensor], _ types: [ValueType]) -> [String] {
        guard results.count == types.count else {
            return ["\(results.count) results where the type rule says \(types.count)"]
        }
        var failures: [String] = []
        for (index, (result, type)) in zip(results, types).enumerated()
        where !ValueType(result.scalarType, Shape(result.shape), kind: type.kind).agrees(with: type) {
            failures.append(
                "result \(index) is \(result.scalarType.milName)\(result.shape), the type rule says \(type)"
            )
        }
        guard let expected = problem.expected else { return failures }
        if expected.count != results.count { failures.append("\(results.count) results, expected \(expected.count)") }
        for (index, (result, wanted)) in zip(results, expected).enumerated() {
            if let text = difference(result, wanted, tolerance: problem.tolerance) {
                failures.append("reference, result \(index): \(text)")
            }
        }
        return failures
    }

    /// The type rule on shapes that are not all known yet must not throw and must agree with the full answer.
    private func flexibleTypes(_ types: [ValueType]) -> [String] {
        var failures: [String] = []
        let rank = operands.compactMap { $0?.shape.count }.max() ?? 0
        for unknown in [nil] + (0..<rank).map(Optional.some) {
            let name = unknown.map { "axis \($0) unknown" } ?? "all extents unknown"
            do {
                let flexible = try op.resultTypes(
                    of: knowledge { _, shape in
                        shape.enumerated().map { unknown == nil || unknown == $0 ? .unknown : Dimension($1) }
                    }
                )
                guard flexible.count == types.count, zip(flexible, types).allSatisfy({ $0.agrees(with: $1) }) else {
                    failures.append("type rule with \(name): \(flexible) does not agree with \(types)")
                    continue
                }
            } catch {
                failures.append("type rule with \(name) throws: \(error)")
            }
        }
        return failures
    }

    /// Kernels and plans, in every instruction set of this processor.
    private func implementations(_ results: [Tensor]) -> [String] {
        KernelTable.available.flatMap { table in
            table.perform { kernels(results) + graphs(results, table) }.map { "\(table): \($0)" }
        }
    }

    // MARK: Kernels

    private func kernels(_ results: [Tensor]) -> [String] {
        let known = knowledge { _, shape in Shape(shape) }
        let rank = results.first?.shape.count ?? 0
        let role = op.layoutRole(known)
        var layouts: [[Layout]] = [[Layout](repeating: .rowMajor, count: operands.count + results.count)]
        if role != .rowMajor, (3...5).contains(rank) {
            var layout: [Layout] = operands.enumerated().map { index, tensor in
                guard tensor?.shape.count == rank else { return .rowMajor }
                let isWeight = role != .agnostic && index > 0 && problem.constants.contains(index)
                return isWeight ? .rowMajor : .channelsLast
            }
            layout += results.map { $0.shape.count == rank ? .channelsLast : .rowMajor }
            layouts.append(layout)
        }
        return layouts.flatMap { KernelTrial(problem, results: results, layouts: $0).failures() }
    }

    // MARK: Graphs

    /// A graph of this one operation, run by the runtime with fixed and with flexible inputs.
    private func graphs(_ results: [Tensor], _ table: KernelTable) -> [String] {
        var failures: [String] = []
        for isFlexible in [false, true] {
            let name = isFlexible ? "graph with flexible inputs" : "graph"
            do {
                var builder = GraphBuilder()
                builder.location = "operation under test"
                var inputs: [Tensor] = []
                var ids: [ValueID?] = []
                for (index, tensor) in operands.enumerated() {
                    guard let tensor else {
                        ids.append(nil)
                        continue
                    }
                    if problem.constants.contains(index) {
                        ids.append(builder.constant(tensor))
                    } else {
                        let shape: Shape = tensor.shape.map { isFlexible ? .unknown : Dimension($0) }
                        ids.append(builder.input("x\(index)", ValueType(tensor.scalarType, shape)))
                        inputs.append(tensor)
                    }
                }
                let values = try builder.append(op, ids)
                let graph = builder.finished(outputs: values.enumerated().map { ("y\($0)", $1) })
                try graph.verify()
                for (form, graph) in [("as built", graph)] + (try written(graph).map { [("read back", $0)] } ?? []) {
                    let found = try GraphExecutable(graph, pipeline: .none, kernels: table).run(inputs)
                    for (index, (tensor, wanted)) in zip(found, results).enumerated() {
                        if let text = difference(tensor, wanted, tolerance: problem.tolerance) {
                            failures.append("\(name) \(form), result \(index): \(text)")
                        }
                    }
                }
            } catch  where isFlexible && error.code == .unknownRank {
                // A rank that follows from an extent: such a model is read when its shapes are known.
                continue
            } catch {
                failures.append("\(name) throws: \(error)")
            }
        }
        return failures
    }

    /// The graph written into a file's bytes and read back; `nil` when files never hold the operator.
    private func written(_ graph: Graph) throws(ModelError) -> Graph? {
        guard Catalogue.writtenOperators[GraphEncoder.name(of: type(of: op))] != nil else { return nil }
        var constants: [Tensor] = []
        let bytes = try GraphEncoder.encode(graph) { (tensor, _) in
            constants.append(tensor)
            return constants.count - 1
        }
        let read = try GraphDecoder.decode(bytes, operatorTypes: Catalogue.writtenOperators) { constants[$0] }
        for (first, second) in zip(graph.body.operations, read.body.operations)
        where !first.op.isEqual(to: second.op) {
            throw ModelError(.malformed, "'\(first.op)' is read back as '\(second.op)'")
        }
        return read
    }
}
