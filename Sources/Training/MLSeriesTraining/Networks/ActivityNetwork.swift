package import MLGraph
package import MLNumerics
import MLOperators

/// The network of Turi Create's activity classifier: a convolution over each window of all sensors with 64 outputs →
/// ReLU → LSTM of 200 → dense layer of 128 → batch normalisation → ReLU → classes; dropout of 0.2 and 0.5 in training.
///
/// A step is a window: [sensors, window]. The state is h, then c.
package struct ActivityNetwork: SequenceNetwork, Hashable {
    package let sensorCount: Int
    package let window: Int
    package let classCount: Int

    static let filters = 64
    static let units = 200
    static let hidden = 128
    static let epsilon = 1e-3

    package init(sensorCount: Int, window: Int, classCount: Int) {
        self.sensorCount = sensorCount
        self.window = window
        self.classCount = classCount
    }

    package var inputCount: Int { sensorCount * window }
    package var stateWidths: [Int] { [Self.units, Self.units] }
    package var dropouts: [(rate: Double, width: Int)] { [(0.2, Self.filters), (0.5, Self.hidden)] }
    package var normalizedWidths: [Int] { [Self.hidden] }

    package func firstParameters(_ source: inout SplitMix64) -> [(name: String, value: Tensor)] {
        let (f, u, h) = (Self.filters, Self.units, Self.hidden)
        // Gates in the order input, forget, output, cell; the forget gate's bias starts at 1.
        var gates = [Float](repeating: 0, count: 4 * u)
        for unit in u..<2 * u { gates[unit] = 1 }
        return [
            ("conv.weight", .glorot([f, inputCount], inputs: inputCount, outputs: f, &source)),
            ("conv.bias", .zeros([f])),
            ("lstm.weight", .glorot([4 * u, f], inputs: f, outputs: u, &source)),
            ("lstm.recursion", .glorot([4 * u, u], inputs: u, outputs: u, &source)),
            ("lstm.bias", Tensor(gates, shape: [4 * u])),
            ("dense.weight", .glorot([h, u], inputs: u, outputs: h, &source)),
            ("dense.bias", .zeros([h])),
            ("norm.gamma", Tensor([Float](repeating: 1, count: h), shape: [h])),
            ("norm.beta", .zeros([h])),
            ("output.weight", .glorot([classCount, h], inputs: h, outputs: classCount, &source)),
            ("output.bias", .zeros([classCount])),
        ]
    }

    package func append(
        to builder: inout GraphBuilder,
        x: ValueID,
        parameters: [ValueID],
        states: [ValueID],
        parts: inout NetworkParts
    ) throws(ModelError) -> (logits: ValueID, states: [ValueID]) {
        guard let shape = builder.shape(of: x).counts else {
            throw ModelError(.invalidModel, "a network needs known extents")
        }
        let (steps, batch) = (shape[0], shape[1])
        let flat = try builder.reshaped(x, [steps * batch, inputCount])
        let sums = try builder.add(Linear(), flat, parameters[0], parameters[1])
        var y = try parts.dropping(builder.add(Unary(Relu()), sums), &builder)
        y = try builder.reshaped(y, [steps, batch, Self.filters])
        let results = try builder.append(
            LSTM(returnsSequence: true),
            [y, states[0], states[1], parameters[2], parameters[3], parameters[4]]
        )
        y = try builder.reshaped(results[0], [steps * batch, Self.units])
        y = try builder.add(Linear(), y, parameters[5], parameters[6])
        y = try parts.normalized(y, epsilon: Self.epsilon, &builder)
        y = try builder.add(Binary<Add>(), builder.add(Binary<Mul>(), y, parameters[7]), parameters[8])
        y = try parts.dropping(builder.add(Unary(Relu()), y), &builder)
        return (try builder.add(Linear(), y, parameters[9], parameters[10]), [results[1], results[2]])
    }
}
