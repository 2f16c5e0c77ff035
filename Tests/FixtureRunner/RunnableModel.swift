import MLFiles
import MLGraph
import MLLowering
import MLNumerics
import MLRuntime
import MLSpecification
import TestSupport

/// A lowered model that takes and gives tensors by feature name.
struct RunnableModel {
    private let model: LoweredModel
    /// `nil`: run by plain evaluation.
    private let executable: GraphExecutable?

    init(_ file: ModelFile, usesReference: Bool) throws {
        model = try NeuralNetworkReader.read(file.specification)
        try model.graph.verify()
        executable = usesReference ? nil : try GraphExecutable(model.graph, pipeline: .none)
    }

    var text: String { model.graph.description }

    func prediction(_ features: [String: Tensor]) throws -> [String: Tensor] {
        var inputs: [Tensor] = []
        for feature in model.inputs {
            let type = model.graph.type(of: feature.value)
            guard let given = features[feature.name] else {
                guard feature.isOptional else {
                    throw ModelError(.invalidInput, "input '\(feature.name)' is missing")
                }
                let shape = type.shape.map { $0.count ?? 1 }
                inputs.append(
                    Tensor(
                        values: [Double](repeating: feature.defaultValue, count: shape.elementCount),
                        scalarType: type.scalarType,
                        shape: shape
                    )
                )
                continue
            }
            inputs.append(try tensor(given, for: feature, type))
        }
        let outputs: [Tensor]
        if let executable {
            outputs = try executable.run(inputs)
        } else {
            outputs = try GraphInterpreter.outputs(of: model.graph, inputs)
        }
        var result: [String: Tensor] = [:]
        for feature in model.outputs {
            let tensor = outputs[feature.index]
            if case .array(let mapping, _) = feature.form {
                result[feature.name] = tensor.reshaped(mapping.callerShape(of: tensor.shape))
            } else {
                result[feature.name] = tensor
            }
        }
        return result
    }

    private func tensor(_ given: Tensor, for feature: InputFeature, _ type: ValueType) throws -> Tensor {
        switch feature.form {
        case .array(let mapping):
            return given.converted(to: type.scalarType).reshaped(try mapping.graphShape(of: given.shape))
        case .image(let form):
            // Captured pictures are [H, W, C] in the order B, G, R, A, or [H, W].
            let pixels = given.shape.count == 2 ? given.reshaped(given.shape + [1]) : given
            let planes = pixels.permuted([2, 0, 1]).converted(to: .float32)
            let order: [Int]
            switch form.layout {
            case .rgb: order = [2, 1, 0]
            case .bgr: order = [0, 1, 2]
            case .gray, .grayFloat16: order = [0]
            }
            let area = planes.shape[1] * planes.shape[2]
            let values = planes.values
            return Tensor(
                values: order.flatMap { values[$0 * area..<($0 + 1) * area] },
                scalarType: .float32,
                shape: [1, order.count, planes.shape[1], planes.shape[2]]
            )
        case .state:
            return given
        }
    }
}
