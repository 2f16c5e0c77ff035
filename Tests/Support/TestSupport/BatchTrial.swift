import MLGraph
import MLKernels
import MLNumerics
import MLRuntime

/// An operator's batch rule: several examples at once, compared with the plain evaluation of each.
struct BatchTrial {
    private let problem: OperatorProblem
    private static let count = 3

    init(_ problem: OperatorProblem) { self.problem = problem }

    /// The differences; none for an operator that computes examples one by one.
    func failures() -> [String] {
        let examples = self.examples()
        guard examples.count == Self.count, let inputs = examples.first?.inputs, !inputs.isEmpty else { return [] }
        let made: BatchedGraph?
        do { made = try BatchedGraph(graph(), count: Self.count) } catch {
            return mayThrow(error, examples[0]) ? [] : ["the batch's graph throws: \(error)"]
        }
        guard let batched = made else { return [] }
        do {
            try batched.graph.verify()
            let joined = inputs.indices.map { index in
                let type = batched.graph.type(of: batched.graph.inputs[index])
                let values = examples.flatMap { $0.inputs[index].values }
                return Tensor(values: values, scalarType: type.scalarType, shape: type.shape.counts ?? [])
            }
            let found = try GraphExecutable(batched.graph, pipeline: .none).run(joined)
            return found.indices.flatMap { index in
                examples.enumerated().compactMap { place, example in
                    let wanted = example.results[index]
                    let start = batched.isBatched[index] ? place * wanted.count : 0
                    let part = Tensor(
                        values: Array(found[index].values[start..<start + wanted.count]),
                        scalarType: found[index].scalarType,
                        shape: wanted.shape
                    )
                    return difference(part, wanted, tolerance: problem.tolerance).map {
                        "example \(place) of a batch, result \(index): \($0)"
                    }
                }
            }
        } catch {
            return ["a batch throws: \(error)"]
        }
    }

    /// Whether examples may be computed one by one because their joined graph has no types: they are empty, or name an
    /// axis that they lack and that plain evaluation does not look at, as a `dequantize` with one scale.
    private func mayThrow(_ error: any Error, _ example: (inputs: [Tensor], results: [Tensor])) -> Bool {
        (example.inputs + example.results).contains { $0.count == 0 }
            || "\(error)".contains("does not exist in a tensor of rank")
    }

    private func graph() throws(ModelError) -> Graph {
        var builder = GraphBuilder()
        var ids: [ValueID?] = []
        for (index, tensor) in problem.operands.enumerated() {
            guard let tensor else {
                ids.append(nil)
                continue
            }
            ids.append(
                problem.constants.contains(index)
                    ? builder.constant(tensor)
                    : builder.input("x\(index)", ValueType(tensor.scalarType, Shape(tensor.shape)))
            )
        }
        let values = try builder.append(problem.op, ids)
        return builder.finished(outputs: values.enumerated().map { ("y\($0)", $1) })
    }

    /// The problem's operands, and the same elements in other orders, with what plain evaluation makes of them.
    private func examples() -> [(inputs: [Tensor], results: [Tensor])] {
        let isPlain = problem.operands.allSatisfy { $0?.scalarType != .string }
        guard isPlain, problem.op.isPure else { return [] }
        let changes: [([Double]) -> [Double]] = [{ $0 }, { $0.reversed() }, { Array($0.dropFirst() + $0.prefix(1)) }]
        return changes.compactMap { change in
            let operands = problem.operands.enumerated().map { index, tensor -> Tensor? in
                guard let tensor, !problem.constants.contains(index) else { return tensor }
                return Tensor(values: change(tensor.values), scalarType: tensor.scalarType, shape: tensor.shape)
            }
            guard let results = try? problem.op.evaluated(operands) else { return nil }
            let inputs = operands.enumerated().filter { !problem.constants.contains($0.offset) }.compactMap(\.element)
            return (inputs, results)
        }
    }
}
