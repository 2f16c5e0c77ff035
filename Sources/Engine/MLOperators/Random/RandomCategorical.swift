import Glibc
package import MLGraph
package import MLNumerics
import MLSpecification

/// Random classes, drawn with replacement with the probabilities on the last axis.
///
/// [d0…, classes] of probabilities, or of their logarithms up to a constant → [d0…, count] of class indices.
package struct RandomCategorical: Operator {
    package static let names: [MILName] = ["random_categorical"]
    package var isLogarithmic: Bool
    package var count: Int
    package var seed: Int

    package init(isLogarithmic: Bool, count: Int, seed: Int = -1) {
        self.isLogarithmic = isLogarithmic
        self.count = count
        self.seed = seed
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let mode = try arguments.string("mode", default: "logits")
        guard mode == "logits" || mode == "probs" else {
            throw ModelError(.invalidModel, "'\(mode)' is not a mode of random_categorical; use logits or probs")
        }
        isLogarithmic = mode == "logits"
        count = try arguments.int("size", default: 1)
        seed = try arguments.int("seed", default: -1)
    }

    package var isPure: Bool { seed >= 0 }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        guard type.rank > 0, (0...Int(Int32.max)).contains(count), type.shape.last != 0 else {
            throw ModelError(.invalidModel, "\(count) draws from classes of shape \(type.shape)")
        }
        return [type.with(type.shape.dropLast() + [Dimension(count)])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let classes = x.shape[x.shape.count - 1]
        let values = x.values
        var generator = RandomGenerator(seed: seed)
        var result: [Double] = []
        result.reserveCapacity(operands.shape().elementCount)
        for start in stride(from: 0, to: values.count, by: max(classes, 1)) {
            let line = values[start..<(start + classes)]
            let largest = line.max() ?? 0
            var total = 0.0
            let sums = line.map { value in
                total += isLogarithmic ? exp(value - largest) : value
                return total
            }
            for _ in 0..<count {
                // The first class whose running sum is greater; the last one where weights are not numbers.
                let position = generator.uniform() * total
                var (first, last) = (0, classes - 1)
                while first < last {
                    let middle = (first + last) / 2
                    if sums[middle] > position { last = middle } else { first = middle + 1 }
                }
                result.append(Double(first))
            }
        }
        return [Tensor(values: result, scalarType: x.scalarType, shape: operands.shape())]
    }
}

extension RandomCategorical: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("categoricalDistribution", \.categoricalDistribution) { parameters, context throws(ModelError) in
                var x = try context.input()
                if !parameters.isLogits {
                    x = try context.add(Unary(Log(epsilon: stated(parameters.eps, or: 1e-10))), x)
                }
                let temperature = stated(parameters.temperature, or: 1)
                if temperature != 1 {
                    x = try context.add(Unary(LinearActivation(alpha: 1 / temperature, beta: 0)), x)
                }
                let op = RandomCategorical(
                    isLogarithmic: true,
                    count: max(Int(clamping: parameters.numSamples), 1),
                    seed: Int(clamping: parameters.seed)
                )
                try context.finish(try context.add(op, x))
            }
        ]
    }
}
