package import MLGraph
package import MLNumerics
import MLOperators

/// Dense layers with ReLU between them, and dropout of 0.5 after each hidden layer in training.
///
/// Without hidden layers it is a multinomial logistic regression.
package struct DenseNetwork: SequenceNetwork, Hashable {
    package let inputCount: Int
    package let layerSizes: [Int]
    package let classCount: Int

    package init(inputCount: Int, layerSizes: [Int], classCount: Int) {
        self.inputCount = inputCount
        self.layerSizes = layerSizes
        self.classCount = classCount
    }

    package var stateWidths: [Int] { [] }
    package var dropouts: [(rate: Double, width: Int)] { layerSizes.map { (0.5, $0) } }
    package var normalizedWidths: [Int] { [] }

    package func firstParameters(_ source: inout SplitMix64) -> [(name: String, value: Tensor)] {
        var result: [(name: String, value: Tensor)] = []
        let widths = [inputCount] + layerSizes + [classCount]
        for layer in 1..<widths.count {
            let (from, to) = (widths[layer - 1], widths[layer])
            // A logistic regression starts with all classes equally likely.
            let weight: Tensor =
                layerSizes.isEmpty ? .zeros([to, from]) : .glorot([to, from], inputs: from, outputs: to, &source)
            result += [("dense\(layer).weight", weight), ("dense\(layer).bias", .zeros([to]))]
        }
        return result
    }

    package func append(
        to builder: inout GraphBuilder,
        x: ValueID,
        parameters: [ValueID],
        states: [ValueID],
        parts: inout NetworkParts
    ) throws(ModelError) -> (logits: ValueID, states: [ValueID]) {
        let rows = builder.shape(of: x).counts?.dropLast().reduce(1, *) ?? 1
        var y = try builder.reshaped(x, [rows, inputCount])
        for layer in 0...layerSizes.count {
            y = try builder.add(Linear(), y, parameters[2 * layer], parameters[2 * layer + 1])
            if layer < layerSizes.count {
                y = try parts.dropping(builder.add(Unary(Relu()), y), &builder)
            }
        }
        return (y, [])
    }
}
