import MLGraph
import MLGraphTraining
import MLNumerics
import MLOperators

extension SequenceNetwork {
    /// The mean cross-entropy of a mini-batch, with penalties.
    ///
    /// Data, with R = steps · batch rows: x [steps, batch, inputs], targets [R, classes], weights [R, 1], initial
    /// states, a mask for each dropout. Outputs: the sum of the loss and the penalties, the loss, the logits, then mean
    /// and variance of each batch normalisation.
    func objective(steps: Int, batch: Int) throws(ModelError) -> Objective {
        var builder = GraphBuilder()
        let rows = steps * batch
        func input(_ name: String, _ shape: [Int]) -> ValueID { builder.input(name, ValueType(.float32, Shape(shape))) }
        let x = input("x", [steps, batch, inputCount])
        let targets = input("targets", [rows, classCount])
        let weights = input("weights", [rows, 1])
        let states = stateWidths.enumerated().map { input("state \($0)", [batch, $1]) }
        var parts = NetworkParts(weights: weights)
        parts.masks = dropouts.enumerated().map { input("mask \($0)", [rows, $1.width]) }
        var source = SplitMix64(seed: 0)
        let described = firstParameters(&source)
        let parameters = described.map { input($0.name, $0.value.shape) }
        let (logits, _) = try append(to: &builder, x: x, parameters: parameters, states: states, parts: &parts)
        let losses = try builder.add(SoftmaxCrossEntropy(), logits, targets)
        let weighted = try builder.add(Binary<Mul>(), losses, builder.reshaped(weights, [rows]))
        let loss = try builder.add(Reduction<SumOfElements>(axes: nil, keepsDimensions: false), weighted)
        var total = loss
        for (index, factor) in penalties {
            let squares = try builder.add(
                Reduction<SumOfElements>(axes: nil, keepsDimensions: false),
                builder.add(Unary(Square()), parameters[index])
            )
            let penalty = try builder.add(Binary<Mul>(), squares, builder.constant(Tensor(scalar: factor, .float32)))
            total = try builder.add(Binary<Add>(), total, penalty)
        }
        var outputs = [("objective", total), ("loss", loss), ("logits", logits)]
        for (index, statistics) in parts.measured.enumerated() {
            outputs += [("mean \(index)", statistics.mean), ("variance \(index)", statistics.variance)]
        }
        return Objective(builder.finished(outputs: outputs), parameters: described.map(\.name))
    }

    /// The logits of the trained network.
    ///
    /// Inputs: x [steps, batch, inputs], states, mean and variance of each batch normalisation, parameters. Outputs:
    /// logits [steps · batch, classes], states.
    func prediction(steps: Int, batch: Int) throws(ModelError) -> Graph {
        var builder = GraphBuilder()
        func input(_ name: String, _ shape: [Int]) -> ValueID { builder.input(name, ValueType(.float32, Shape(shape))) }
        let x = input("x", [steps, batch, inputCount])
        let states = stateWidths.enumerated().map { input("state \($0)", [batch, $1]) }
        var parts = NetworkParts(weights: nil)
        for (index, width) in normalizedWidths.enumerated() {
            parts.statistics.append((input("mean \(index)", [1, width]), input("variance \(index)", [1, width])))
        }
        var source = SplitMix64(seed: 0)
        let parameters = firstParameters(&source).map { input($0.name, $0.value.shape) }
        let (logits, last) = try append(to: &builder, x: x, parameters: parameters, states: states, parts: &parts)
        return builder.finished(outputs: [("logits", logits)] + last.enumerated().map { ("state \($0)", $1) })
    }
}
