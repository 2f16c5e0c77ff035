import MLGraph
import MLNumerics
import MLSpecification

extension NonMaximumSuppression: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("NonMaximumSuppression", \.nonMaximumSuppression) { parameters, context throws(ModelError) in
                // Inputs after boxes and scores replace parameters, in their order.
                let op = NonMaximumSuppression(
                    overlapThreshold: Double(parameters.iouThreshold),
                    scoreThreshold: Double(parameters.scoreThreshold),
                    count: Int(clamping: parameters.maxBoxes),
                    isPerClass: parameters.perClassSuppression
                )
                var operands: [ValueID?] = [try context.input(0), try context.input(1)]
                for given in context.inputs.dropFirst(2).prefix(3) { operands.append(given) }
                try context.setOutputs(try context.append(op, operands))
            }
        ]
    }
}
