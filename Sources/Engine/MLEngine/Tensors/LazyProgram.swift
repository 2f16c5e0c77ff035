import MLGraph
import MLKernels
import MLNumerics

/// Recorded operations in the form of a program: the source of a graph, and the key under which the plan of an equal
/// program is found.
struct LazyProgram {
    /// Where an operand comes from.
    enum Reference: Hashable, Sendable {
        case input(Int)
        case scalar(Int)
        case parameter(Int)
        case result(operation: Int, index: Int)
    }

    fileprivate struct Operation: Sendable {
        let op: any Operator
        let operands: [Reference]
    }

    private let operations: [Operation]
    private let outputs: [Int]
    /// Elements of other steps, each once.
    private let tensors: [Tensor]
    private let scalars: [Tensor]
    private let parameters: [Tensor]

    /// Collects operations, whose operands are known or results of earlier ones.
    ///
    /// - Parameters:
    ///   - chunk: The operations, operands first.
    ///   - outputs: The requested operations.
    /// - Throws: `.invalidModel` when an operand is neither.
    init(_ chunk: [LazyEvaluation.Entry], _ outputs: [Int]) throws(ModelError) {
        var positions: [ObjectIdentifier: Int] = [:]
        for (index, entry) in chunk.enumerated() { positions[ObjectIdentifier(entry.step)] = index }
        var known: [ObjectIdentifier: [Int: Int]] = [:]
        var tensors: [Tensor] = []
        var scalars: [Tensor] = []
        var parameters: [Tensor] = []
        var operations: [Operation] = []
        for entry in chunk {
            var operands: [Reference] = []
            for operand in entry.recorded.operands {
                switch operand {
                case .scalar(let tensor):
                    operands.append(.scalar(scalars.count))
                    scalars.append(tensor)
                case .parameter(let tensor):
                    operands.append(.parameter(parameters.count))
                    parameters.append(tensor)
                case .source(let source):
                    let step = ObjectIdentifier(source.step)
                    if let position = positions[step] {
                        operands.append(.result(operation: position, index: source.index))
                    } else if let input = known[step]?[source.index] {
                        operands.append(.input(input))
                    } else if let tensor = source.step.result(source.index) {
                        known[step, default: [:]][source.index] = tensors.count
                        operands.append(.input(tensors.count))
                        tensors.append(tensor)
                    } else {
                        throw ModelError(.invalidModel, "an operand of '\(entry.recorded.op.displayName)' is not known")
                    }
                }
            }
            operations.append(Operation(op: entry.recorded.op, operands: operands))
        }
        self.operations = operations
        self.outputs = outputs
        self.tensors = tensors
        self.scalars = scalars
        self.parameters = parameters
    }

    /// The graph's inputs in the form of a key.
    func inputs(_ key: Key) -> [Tensor] { key.scalarsAreInputs ? tensors + scalars : tensors }

    /// The graph, whose outputs are all results of each requested operation.
    func graph(scalarsAreInputs: Bool) throws(ModelError) -> Graph {
        var builder = GraphBuilder()
        let inputs = tensors.indices.map { index in
            builder.input("x\(index)", ValueType(tensors[index].scalarType, Shape(tensors[index].shape)))
        }
        let numbers = scalars.indices.map { index in
            scalarsAreInputs
                ? builder.input("s\(index)", ValueType(scalars[index].scalarType, Shape(scalars[index].shape)))
                : builder.constant(scalars[index])
        }
        var results: [[ValueID]] = []
        for operation in operations {
            let operands = operation.operands.map { reference -> ValueID? in
                switch reference {
                case .input(let index): inputs[index]
                case .scalar(let index): numbers[index]
                case .parameter(let index): builder.constant(parameters[index])
                case .result(let position, let index): results[position][index]
                }
            }
            results.append(try builder.append(operation.op, operands))
        }
        var named: [(name: String, value: ValueID)] = []
        for position in outputs { for value in results[position] { named.append(("y\(named.count)", value)) } }
        return builder.finished(outputs: named)
    }

    /// Two programs with equal keys have the same graph, and so the same plan.
    struct Key: Equatable, Sendable {
        let scalarsAreInputs: Bool
        let hash: Int
        fileprivate let operations: [Operation]
        fileprivate let outputs: [Int]
        fileprivate let types: [ValueType]
        fileprivate let constants: [Tensor]
        fileprivate let kernels: KernelTable

        static func == (a: Key, b: Key) -> Bool {
            a.hash == b.hash && a.scalarsAreInputs == b.scalarsAreInputs && a.outputs == b.outputs
                && a.types == b.types && a.kernels == b.kernels
                && a.operations.elementsEqual(b.operations) { $0.operands == $1.operands && $0.op.isEqual(to: $1.op) }
                && a.constants.elementsEqual(b.constants) { $0.hasSameContents(as: $1) }
        }
    }

    func key(scalarsAreInputs: Bool) -> Key {
        let inputs = scalarsAreInputs ? tensors + scalars : tensors
        let types = inputs.map { ValueType($0.scalarType, Shape($0.shape)) }
        let constants = scalarsAreInputs ? parameters : parameters + scalars
        var hasher = Hasher()
        hasher.combine(scalarsAreInputs)
        hasher.combine(outputs)
        hasher.combine(types)
        for operation in operations {
            hasher.combine(operation.operands)
            operation.op.hash(into: &hasher)
        }
        for constant in constants { constant.withBytes { hasher.combine(bytes: $0) } }
        return Key(
            scalarsAreInputs: scalarsAreInputs,
            hash: hasher.finalize(),
            operations: operations,
            outputs: outputs,
            types: types,
            constants: constants,
            kernels: .current
        )
    }
}

extension Tensor {
    /// Whether type, shape and bytes are equal.
    fileprivate func hasSameContents(as other: Tensor) -> Bool {
        scalarType == other.scalarType && shape == other.shape
            && withBytes { mine in other.withBytes { mine.elementsEqual($0) } }
    }
}
