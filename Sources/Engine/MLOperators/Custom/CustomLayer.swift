package import MLGraph
package import MLNumerics
package import MLSpecification

/// The computation of one custom layer, implemented by the app.
package protocol CustomLayerBody: AnyObject, Sendable {
    /// The shapes of the outputs for inputs of these shapes.
    func outputShapes(for inputs: [[Int]]) throws(ModelError) -> [[Int]]
    /// Writes the outputs, float32 and of the stated shapes.
    func evaluate(_ inputs: [Tensor], into outputs: [Tensor]) throws(ModelError)
}

/// A layer that the app computes.
///
/// Operands: any. Results: as many as the layer names, with the shapes that the body returns. While operands have
/// unknown extents the results have, too; their rank is the one that the body returns for extents of 1.
package struct CustomLayer: Operator {
    package let className: String
    package let body: any CustomLayerBody
    package let resultCount: Int
    /// The ranks that the file declares for the results.
    package let declaredRanks: [Int?]

    init(className: String, body: any CustomLayerBody, resultCount: Int, declaredRanks: [Int?]) {
        self.className = className
        self.body = body
        self.resultCount = resultCount
        self.declaredRanks = declaredRanks
    }

    /// The computation is the app's: it cannot be decoded.
    package init(from decoder: any Decoder) throws {
        throw ModelError(.unsupported, "a custom layer is computed by a class of the app; a file cannot hold it")
    }

    package func encode(to encoder: any Encoder) throws {
        throw ModelError(.unsupported, "the class '\(className)' of a custom layer cannot be written into a file")
    }

    package static func == (a: CustomLayer, b: CustomLayer) -> Bool { a.body === b.body }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(body)) }

    package var displayName: String { "custom_\(className)" }
    /// The app's object may keep state between calls.
    package var isPure: Bool { false }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        var shapes: [[Int]] = []
        var isKnown = true
        for index in 0..<operands.count {
            let shape = try operands.shape(index)
            isKnown = isKnown && shape.counts != nil
            shapes.append(shape.map { $0.count ?? 1 })
        }
        if !isKnown, declaredRanks.count >= resultCount, declaredRanks.prefix(resultCount).allSatisfy({ $0 != nil }) {
            return declaredRanks.prefix(resultCount).map {
                ValueType(.float32, Shape(repeating: .unknown, count: $0 ?? 0))
            }
        }
        return try results(for: shapes).map { shape in
            isKnown
                ? ValueType(.float32, Shape(shape))
                : ValueType(.float32, Shape(repeating: .unknown, count: shape.count))
        }
    }

    private func results(for inputs: [[Int]]) throws(ModelError) -> [[Int]] {
        let shapes = try body.outputShapes(for: inputs)
        guard shapes.count >= resultCount else {
            throw ModelError(
                .invalidModel,
                "the class '\(className)' states \(shapes.count) output shapes; the layer has \(resultCount) outputs"
            )
        }
        for shape in shapes {
            guard shape.allSatisfy({ $0 >= 0 }) else {
                throw ModelError(.invalidModel, "the class '\(className)' states an output of shape \(shape)")
            }
        }
        return Array(shapes.prefix(resultCount))
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let inputs = (0..<operands.count).map { operands[$0].converted(to: .float32) }
        var outputs: [Tensor] = []
        for shape in try results(for: inputs.map(\.shape)) {
            outputs.append(Tensor(uninitialized: .float32, shape: try extents(shape), zeroed: true))
        }
        try body.evaluate(inputs, into: outputs)
        return outputs
    }
}

extension Catalogue {
    /// The catalogue with custom layers whose computation `make` finds or throws an error about.
    ///
    /// With the legacy mapping of arrays a custom layer sees all five axes.
    package func addingCustomLayers(
        _ make:
            @escaping @Sendable (SpecNeuralNetworkLayer, SpecCustomLayerParams) throws(ModelError) ->
            any CustomLayerBody
    ) -> Catalogue {
        adding(
            LayerRule("custom", \.custom) { parameters, context throws(ModelError) in
                let op = CustomLayer(
                    className: parameters.className,
                    body: try make(context.layer, parameters),
                    resultCount: context.layer.output.count,
                    declaredRanks: context.layer.output.indices.map { context.declaredOutputRank($0) }
                )
                try context.setOutputs(try context.append(op, context.inputs))
            }
        )
    }
}
