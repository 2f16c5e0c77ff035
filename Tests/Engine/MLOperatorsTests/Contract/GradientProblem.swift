import MLGraph
import MLGraphTraining
import MLKernels
import MLNumerics
import MLOperators
import TestSupport

/// A question to an operator's gradient rule: its answer against differences of the plain evaluation in double
/// precision, and its kernels of every instruction set of this processor against its plain evaluation.
struct GradientProblem: Sendable, CustomStringConvertible {
    enum Operand: Sendable {
        /// Random numbers, by which the result is differentiated.
        case real([Int], in: ClosedRange<Double> = -1...1)
        /// Given numbers, by which the result is differentiated.
        case given(Tensor)
        /// A constant.
        case fixed(Tensor)
        /// Random numbers that are a constant.
        case noise([Int])
        case none
    }

    var name: String
    var op: any Operator
    var operands: [Operand]
    var seed: UInt64
    /// Of float32 kernels against plain evaluation in double precision.
    var kernelTolerance: Double

    init(
        _ name: String = "",
        _ op: any Operator,
        _ operands: [Operand],
        seed: UInt64 = 1,
        kernelTolerance: Double = 2e-4
    ) {
        self.name = name
        self.op = op
        self.operands = operands
        self.seed = seed
        self.kernelTolerance = kernelTolerance
    }

    static func integers(_ values: [Int]) -> Operand {
        .fixed(Tensor(values.map { Int32($0) }, shape: [values.count]))
    }

    var description: String { "\(op.displayName) '\(name)' seed \(seed)" }

    /// Everything that does not hold.
    func failures() -> [String] {
        do {
            let found = try check()
            if found.isEmpty { CensusRecord.shared?.noteGradient(op) }
            return found.map { "\(self): \($0)" }
        } catch {
            return ["\(self) throws: \(error)"]
        }
    }

    private func check() throws(ModelError) -> [String] {
        var random = RandomTensors(seed: seed)
        var tensors: [Tensor?] = []
        var free: [Int] = []
        for (index, operand) in operands.enumerated() {
            switch operand {
            case .real(let shape, let range):
                free.append(index)
                tensors.append(random.tensor(shape, .float64, in: range))
            case .given(let tensor):
                free.append(index)
                tensors.append(tensor.converted(to: .float64))
            case .fixed(let tensor): tensors.append(tensor)
            case .noise(let shape): tensors.append(random.tensor(shape, .float64))
            case .none: tensors.append(nil)
            }
        }
        let results = try op.evaluated(tensors)
        let weights = results.map { random.tensor($0.shape, .float64) }
        let graph = try Objective(
            graph(tensors, free, weights, .float64),
            parameters: free.map { "p\($0)" }
        ).differentiated()
        let parameters = free.map { tensors[$0] ?? Tensor(scalar: 0, .float64) }
        let outputs = try GraphInterpreter.outputs(of: graph, parameters)
        var failures: [String] = []
        for (place, index) in free.enumerated() {
            let gradient = outputs[place + 1]
            let x = parameters[place].values
            guard gradient.shape == parameters[place].shape else {
                failures.append("operand \(index): gradient of shape \(gradient.shape)")
                continue
            }
            let stride = Swift.max(1, x.count / 24)
            for element in Swift.stride(from: 0, to: x.count, by: stride) {
                let width = 1e-5 * Swift.max(1, abs(x[element]))
                func loss(_ step: Double) throws(ModelError) -> Double {
                    var values = x
                    values[element] += step
                    var moved = tensors
                    moved[index] = Tensor(values: values, scalarType: .float64, shape: parameters[place].shape)
                    let found = try op.evaluated(moved)
                    return zip(found, weights).reduce(0) { sum, pair in
                        sum + zip(pair.0.values, pair.1.values).reduce(0) { $0 + $1.0 * $1.1 }
                    }
                }
                let expected = try (loss(width) - loss(-width)) / (2 * width)
                let value = gradient.values[element]
                if !(abs(value - expected) <= 2e-6 * Swift.max(1, abs(expected))) {
                    failures.append("operand \(index), element \(element): \(value), differences give \(expected)")
                    break
                }
            }
        }
        return failures + (try kernels(tensors, free, weights, outputs))
    }

    /// The kernels of the same graph in single precision, in every instruction set of this processor.
    private func kernels(
        _ tensors: [Tensor?],
        _ free: [Int],
        _ weights: [Tensor],
        _ expected: [Tensor]
    ) throws(ModelError) -> [String] {
        func single(_ tensor: Tensor) -> Tensor {
            tensor.scalarType == .float64 ? tensor.converted(to: .float32) : tensor
        }
        let narrow = tensors.map { $0.map(single) }
        let objective = try Objective(
            graph(narrow, free, weights.map(single), .float32),
            parameters: free.map { "p\($0)" }
        )
        let parameters = free.compactMap { narrow[$0] }
        var failures: [String] = []
        for table in KernelTable.available {
            let (_, gradients) = try GradientProgram(objective, kernels: table).run([], parameters)
            for (place, gradient) in gradients.enumerated() {
                let wanted = expected[place + 1].values
                let scale = Swift.max(1, wanted.map { abs($0) }.max() ?? 1)
                for (element, (a, b)) in zip(gradient.values, wanted).enumerated()
                where !(abs(a - b) <= kernelTolerance * scale) {
                    failures.append(
                        "operand \(free[place]), element \(element) by kernels of \(table): \(a), plain evaluation: \(b)"
                    )
                    break
                }
            }
        }
        return failures
    }

    /// Σ weight · result as a graph of the free operands.
    private func graph(
        _ tensors: [Tensor?],
        _ free: [Int],
        _ weights: [Tensor],
        _ scalarType: ScalarType
    ) throws(ModelError) -> Graph {
        var builder = GraphBuilder()
        builder.location = "problem"
        var ids: [ValueID?] = []
        for (index, tensor) in tensors.enumerated() {
            guard let tensor else {
                ids.append(nil)
                continue
            }
            let isFree = free.contains(index)
            ids.append(
                isFree
                    ? builder.input("p\(index)", ValueType(tensor.scalarType, Shape(tensor.shape)))
                    : builder.constant(tensor)
            )
        }
        var loss = builder.constant(Tensor(scalar: 0, scalarType))
        for (result, weight) in zip(try builder.append(op, ids), weights)
        where builder.type(of: result).scalarType == scalarType {
            let product = try builder.add(Binary<Mul>(), result, builder.constant(weight))
            loss = try builder.add(
                Binary<Add>(),
                loss,
                builder.add(Reduction<SumOfElements>(axes: nil, keepsDimensions: false), product)
            )
        }
        return builder.finished(outputs: [("loss", loss)])
    }
}
