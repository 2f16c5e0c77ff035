import MLGraph
import MLNumerics
import MLSpecification

extension NonMaximumSuppression: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("NonMaximumSuppression", \.nonMaximumSuppression) { parameters, context throws(ModelError) in
                // Inputs behind boxes and scores take the place of parameters, in their order.
                func number(_ index: Int, or value: Double) throws(ModelError) -> Double {
                    guard index < context.inputs.count else { return value }
                    guard let tensor = context.builder.constant(context.inputs[index]), let first = tensor.values.first
                    else {
                        throw ModelError(
                            .unsupported,
                            "input \(index) (a threshold or number of boxes) must be a constant; state it as parameter"
                        )
                    }
                    return first
                }
                let op = NonMaximumSuppression(
                    overlapThreshold: try number(2, or: Double(parameters.iouThreshold)),
                    scoreThreshold: try number(3, or: Double(parameters.scoreThreshold)),
                    count: Int(saturating: try number(4, or: Double(parameters.maxBoxes))),
                    isPerClass: parameters.perClassSuppression
                )
                try context.setOutputs(try context.append(op, [context.input(0), context.input(1)]))
            }
        ]
    }
}
