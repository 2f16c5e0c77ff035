import MLGraph
import MLNumerics

/// The order in which a recurrent operator processes its sequence.
package enum RecurrentDirection: String, Hashable, Sendable, Codable {
    case forward
    /// From the last step to the first; results are in processing order, the last step's first.
    case reverse
    /// Both, each with its own weights; the results are concatenated, both in the order of the steps.
    case bidirectional

    /// Reads `direction`, which must be one of `allowed`.
    init(reading arguments: inout Arguments, allowed: [RecurrentDirection]) throws(ModelError) {
        let name = try arguments.string("direction", default: "forward")
        guard let direction = RecurrentDirection(rawValue: name), allowed.contains(direction) else {
            throw ModelError(
                .invalidModel,
                "direction '\(name)' is not one of \(allowed.map(\.rawValue).joined(separator: ", "))"
            )
        }
        self = direction
    }
}

extension Activation {
    /// Reads the name of a gate's function; all have their default parameters.
    init(gate name: String, of arguments: inout Arguments, default value: String) throws(ModelError) {
        let function = try arguments.string(name, default: value).lowercased()
        switch function {
        case "tanh": self = .tanh
        case "scaled_tanh": self = .scaledTanh(alpha: 1, beta: 1)
        case "sigmoid": self = .sigmoid
        case "hard_sigmoid", "sigmoid_hard": self = .hardSigmoid(alpha: 0.2, beta: 0.5)
        case "relu": self = .relu
        case "linear": self = .none
        default:
            throw ModelError(
                .unsupported,
                "\(name) '\(function)' is not one of tanh, scaled_tanh, sigmoid, hard_sigmoid, relu, linear"
            )
        }
    }
}

/// The weights of one direction as plain numbers: sums over inputs and states for `gates` stacked gates.
struct RecurrentSums {
    let inputs: Int
    let states: Int
    private let weightX: [Double]
    private let weightH: [Double]
    private let bias: [Double]?

    init(_ weightX: Tensor, _ weightH: Tensor, _ bias: Tensor?) {
        inputs = weightX.shape[1]
        states = weightH.shape[1]
        self.weightX = weightX.values
        self.weightH = weightH.values
        self.bias = bias?.values
    }

    /// bias + W x for row `row` of all gates.
    func input(_ row: Int, _ x: ArraySlice<Double>) -> Double {
        var sum = bias?[row] ?? 0
        for index in 0..<inputs { sum += weightX[row * inputs + index] * x[x.startIndex + index] }
        return sum
    }

    /// R h for row `row` of all gates.
    func state(_ row: Int, _ h: [Double]) -> Double {
        var sum = 0.0
        for index in 0..<states { sum += weightH[row * states + index] * h[index] }
        return sum
    }
}

/// Checks the common rules of recurrent operators and returns (length, batch, state size).
///
/// - Parameters:
///   - operands: The operands of the operator.
///   - gates: The number of gates stacked in the rows of the weights.
///   - weights: The indices of the input weight, state weight and bias among the operands.
/// - Returns: The extents that the operands share.
/// - Throws: `.invalidModel` when the shapes of the operands contradict each other.
func checkedRecurrence(
    _ operands: Operands,
    gates: Int,
    weights: (x: Int, h: Int, bias: Int)
) throws(ModelError) -> (length: Dimension, batch: Dimension, states: Dimension) {
    let x = try operands.shape(0)
    let weightX = try operands.shape(weights.x)
    let weightH = try operands.shape(weights.h)
    guard x.count == 3, weightX.count == 2, weightH.count == 2 else {
        throw ModelError(
            .invalidModel,
            "a recurrent operator needs x of rank 3 and weights of rank 2, not \(x), \(weightX) and \(weightH)"
        )
    }
    let rows = weightH[1].map { $0 * gates }
    func agree(_ a: Dimension, _ b: Dimension) -> Bool { a == b || !a.isKnown || !b.isKnown }
    guard agree(weightX[0], rows), agree(weightH[0], rows), agree(weightX[1], x[2]) else {
        throw ModelError(
            .invalidModel,
            "weights \(weightX) and \(weightH) do not hold \(gates) gates for x \(x) and one square state matrix each"
        )
    }
    try checkVector(operands, weights.bias, rows, "bias")
    return (x[0], x[1], weightH[1])
}

/// Throws unless operand `index` has shape [batch, width].
///
/// Rows beyond the batch are allowed, and not read.
func checkState(_ operands: Operands, _ index: Int, _ batch: Dimension, _ width: Dimension) throws(ModelError) {
    let shape = try operands.shape(index)
    guard shape.count == 2, !(shape[1].isKnown && width.isKnown && shape[1] != width),
        (shape[0].count ?? .max) >= (batch.count ?? 0)
    else { throw ModelError(.invalidModel, "an initial state has shape \(shape), but [\(batch), \(width)] is needed") }
}
