import MLEngine
import MLFiles
import MLGraph
import MLLowering
import MLNumerics
import MLSpecification
import TestSupport

/// A model that takes and gives tensors by feature name: by the engine, or by plain evaluation of its graph.
struct RunnableModel {
    private let engine: any ModelEngine
    /// `nil` for a model that is read anew for each set of shapes.
    private let lowered: LoweredModel?
    private let usesReference: Bool

    init(_ file: ModelFile, functionName: String?, usesReference: Bool) throws {
        engine = try EngineLoader.load(file, functionName: functionName)
        lowered = engine is GraphEngine ? try EngineLoader.lower(file, functionName: functionName) : nil
        try lowered?.graph.verify()
        self.usesReference = usesReference
    }

    var text: String { lowered?.graph.description ?? "" }

    /// A state for a sequence of predictions.
    func makeState() -> ModelState { engine.makeState() }

    func prediction(_ features: [String: Tensor], state: ModelState) throws -> [String: Tensor] {
        var inputs: [String: FeatureData] = [:]
        for input in engine.interface.input {
            guard let tensor = features[input.name] else { continue }
            if case .imageType? = input.type.type {
                inputs[input.name] = .image(try picture(tensor))
            } else {
                inputs[input.name] = .tensor(tensor)
            }
        }
        if usesReference, let graph = engine as? GraphEngine, let lowered {
            let results = try GraphInterpreter.outputs(of: lowered.graph, try graph.graphInputs(inputs))
            return Dictionary(uniqueKeysWithValues: lowered.outputs.map { ($0.name, results[$0.index]) })
        }
        var result: [String: Tensor] = [:]
        for (name, value) in try engine.prediction(from: inputs, backings: [:], state: state) {
            switch value {
            case .tensor(let tensor): result[name] = tensor
            case .double(let number): result[name] = Tensor(scalar: number, .float64)
            case .int64(let number): result[name] = Tensor(scalar: Double(number), .float64)
            default: continue
            }
        }
        return result
    }

    /// Captured pictures are [H, W, 4] in the order B, G, R, A, or [H, W].
    private func picture(_ tensor: Tensor) throws -> ImageBuffer {
        let isGray = tensor.shape.count == 2
        let isFloat = tensor.scalarType == .float16
        guard isGray || tensor.shape.last == 4 else {
            throw ModelError(.unsupported, "a captured picture of shape \(tensor.shape)")
        }
        let image = ImageBuffer(
            width: tensor.shape[1],
            height: tensor.shape[0],
            format: isFloat ? .gray16Float : isGray ? .gray8 : .bgra8
        )
        let rowBytes = tensor.byteCount / tensor.shape[0]
        for row in 0..<tensor.shape[0] {
            (image.address + row * image.bytesPerRow).copyMemory(
                from: tensor.address + row * rowBytes,
                byteCount: rowBytes
            )
        }
        return image
    }
}
