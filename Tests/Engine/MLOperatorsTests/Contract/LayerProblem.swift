import MLGraph
import MLKernels
import MLNumerics
import MLOperators
import MLRuntime
import MLSpecification
import TestSupport

/// A question to the rule of one kind of neural-network layer: what it makes of arrays, beside an operator or known
/// results.
struct LayerProblem: Sendable, CustomStringConvertible {
    private enum Answer: Sendable {
        case known([Tensor])
        case operation(any Operator, [Tensor?])
    }

    private var layer: SpecNeuralNetworkLayer
    private let inputs: [Tensor]
    private let answer: Answer
    private let tolerance: Double

    /// A layer with known results.
    init(
        _ inputs: [Tensor],
        expected: [Tensor],
        tolerance: Double = 1e-5,
        _ layer: (inout SpecNeuralNetworkLayer) -> Void
    ) {
        self.init(inputs, .known(expected), tolerance, layer)
    }

    /// A layer with the results of an operator, whose operands are the inputs unless stated otherwise.
    init(
        _ inputs: [Tensor],
        as op: any Operator,
        _ operands: [Tensor?]? = nil,
        tolerance: Double = 1e-5,
        _ layer: (inout SpecNeuralNetworkLayer) -> Void
    ) {
        self.init(inputs, .operation(op, operands ?? inputs), tolerance, layer)
    }

    private init(
        _ inputs: [Tensor],
        _ answer: Answer,
        _ tolerance: Double,
        _ change: (inout SpecNeuralNetworkLayer) -> Void
    ) {
        layer = SpecNeuralNetworkLayer()
        layer.name = "layer"
        layer.input = inputs.indices.map { "x\($0)" }
        change(&layer)
        self.inputs = inputs
        self.answer = answer
        self.tolerance = tolerance
    }

    /// Amounts before and after, for rows and columns.
    static func borders(_ amounts: [(start: UInt64, end: UInt64)]) -> [SpecBorderAmounts.EdgeSizes] {
        amounts.map { amount in
            var sizes = SpecBorderAmounts.EdgeSizes()
            sizes.startEdgeSize = amount.start
            sizes.endEdgeSize = amount.end
            return sizes
        }
    }

    private var field: String { layer.fieldName ?? "no layer" }
    var description: String { "\(field) of \(inputs.map(\.shape))" }

    /// Everything that does not hold.
    func failures() -> [String] {
        do {
            let found = try check()
            if found.isEmpty { note() }
            return found.map { "\(self): \($0)" }
        } catch {
            return ["\(self) throws: \(error)"]
        }
    }

    private func check() throws(ModelError) -> [String] {
        let wanted = try results()
        let graph = try lowered(outputCount: wanted.count)
        var failures: [String] = []
        var ways = [("plainly", try GraphInterpreter.outputs(of: graph, inputs))]
        for table in KernelTable.available {
            ways.append(
                ("by kernels of \(table)", try GraphExecutable(graph, pipeline: .none, kernels: table).run(inputs))
            )
        }
        for (way, found) in ways {
            for (index, (tensor, expected)) in zip(found, wanted).enumerated() {
                if let text = difference(tensor, expected, tolerance: tolerance) {
                    failures.append("output \(index) \(way): \(text)")
                }
            }
        }
        return failures
    }

    /// The results as arrays between layers are: float32 with at least one axis.
    private func results() throws(ModelError) -> [Tensor] {
        let tensors =
            switch answer {
            case .known(let tensors): tensors
            case .operation(let op, let operands): try op.evaluated(operands)
            }
        return tensors.map { $0.converted(to: .float32).reshaped($0.shape.isEmpty ? [1] : $0.shape) }
    }

    private func lowered(outputCount: Int) throws(ModelError) -> Graph {
        guard let rule = Catalogue.standard.rule(forField: field) else {
            throw ModelError(.unsupported, "no operator has a rule for this layer")
        }
        var builder = GraphBuilder()
        builder.location = "layer under test"
        let ids = inputs.enumerated().map { index, tensor in
            builder.input("x\(index)", ValueType(tensor.scalarType, Shape(tensor.shape)))
        }
        var named = layer
        named.output = (0..<outputCount).map { "y\($0)" }
        var context = LayerContext(builder: builder, layer: named, inputs: ids, usesRank5Mapping: false)
        try rule.lower(&context)
        let graph = context.builder.finished(outputs: Array(zip(named.output, context.outputs)))
        try graph.verify()
        return graph
    }

    /// Tells the census which operator's layer this was.
    private func note() {
        for case let type as any LoweredFromLayers.Type in Catalogue.standard.operators {
            for rule in type.layers where rule.field.lowercased() == field.lowercased() {
                CensusRecord.shared?.note(layer: rule.field, of: type)
            }
        }
    }
}
