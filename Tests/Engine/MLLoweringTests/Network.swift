import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification

/// A neural network under construction, run as a model file would be.
struct Network {
    var specification = SpecModel()

    init(_ mapping: SpecNeuralNetworkMultiArrayShapeMapping = .exactArrayMapping) {
        specification.specificationVersion = 5
        specification.neuralNetwork.arrayInputShapeMapping = mapping
    }

    /// One layer named "layer" from arrays of these shapes, called "x0", "x1" …, to outputs "y0", "y1" ….
    init(
        _ shapes: [[Int]],
        outputs: Int = 1,
        mapping: SpecNeuralNetworkMultiArrayShapeMapping = .exactArrayMapping,
        _ layer: (inout SpecNeuralNetworkLayer) -> Void
    ) {
        self.init(mapping)
        for (index, shape) in shapes.enumerated() { input("x\(index)", shape) }
        let names = (0..<outputs).map { "y\($0)" }
        add("layer", shapes.indices.map { "x\($0)" }, names, layer)
        for name in names { output(name) }
    }

    mutating func input(
        _ name: String,
        _ shape: [Int],
        _ change: (inout SpecFeatureDescription) -> Void = { _ in }
    ) {
        var feature = Self.feature(name, shape)
        change(&feature)
        specification.description_p.input.append(feature)
    }

    mutating func output(_ name: String, _ shape: [Int] = []) {
        specification.description_p.output.append(Self.feature(name, shape))
    }

    static func feature(_ name: String, _ shape: [Int]) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.dataType = .float32
        feature.type.multiArrayType.shape = shape.map { Int64($0) }
        return feature
    }

    mutating func add(
        _ name: String,
        _ inputs: [String],
        _ outputs: [String],
        _ change: (inout SpecNeuralNetworkLayer) -> Void
    ) {
        specification.neuralNetwork.layers.append(Self.layer(name, inputs, outputs, change))
    }

    static func layer(
        _ name: String,
        _ inputs: [String],
        _ outputs: [String],
        _ change: (inout SpecNeuralNetworkLayer) -> Void
    ) -> SpecNeuralNetworkLayer {
        var layer = SpecNeuralNetworkLayer()
        layer.name = name
        layer.input = inputs
        layer.output = outputs
        change(&layer)
        return layer
    }

    func engine() throws(ModelError) -> any ModelEngine {
        try EngineLoader.load(ModelFile(specification: specification))
    }

    /// Output tensors by name, which must be those of the compiled network, too.
    func callAsFunction(_ inputs: [String: Tensor]) throws -> [String: Tensor] {
        let result = try Self.answer(try engine(), inputs)
        let folder = try FileAccess.makeTemporaryFolder("network")
        defer { try? FileAccess.remove(folder) }
        let path = try ModelCompiler.compile(ModelFile(specification: specification), into: folder)
        let compiled = try Self.answer(try EngineLoader.load(ModelFile.open(path: path, for: .prediction)), inputs)
        // Random numbers without a seed are others each time.
        guard try Self.areEqual(result, compiled) || !Self.areEqual(result, Self.answer(engine(), inputs)) else {
            throw ModelError(.invalidModel, "the compiled network answers \(compiled), the network \(result)")
        }
        return result
    }

    private static func answer(_ engine: any ModelEngine, _ inputs: [String: Tensor]) throws -> [String: Tensor] {
        var result: [String: Tensor] = [:]
        for (name, value) in try engine.prediction(from: inputs.mapValues { .tensor($0) }) {
            if case .tensor(let tensor) = value { result[name] = tensor }
        }
        return result
    }

    private static func areEqual(_ a: [String: Tensor], _ b: [String: Tensor]) -> Bool {
        a.count == b.count
            && a.allSatisfy { name, tensor in
                guard let other = b[name], other.shape == tensor.shape else { return false }
                return zip(tensor.values, other.values).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN }
            }
    }

    /// The first output for inputs "x0", "x1" ….
    func callAsFunction(_ inputs: Tensor...) throws -> Tensor {
        let named = Dictionary(uniqueKeysWithValues: inputs.enumerated().map { ("x\($0)", $1) })
        guard let tensor = try self(named)["y0"] else { throw ModelError(.invalidModel, "there is no output y0") }
        return tensor
    }
}

func floats(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

/// 0, 1, 2 … in a shape, times `scale`.
func ramp(_ shape: [Int], _ scale: Float = 1) -> Tensor {
    Tensor((0..<shape.reduce(1, *)).map { Float($0) * scale }, shape: shape)
}

/// Whether both have the same elements, within `tolerance` relative to max(1, |value|).
func isClose(_ found: [Double], _ expected: [Double], _ tolerance: Double = 1e-5) -> Bool {
    found.count == expected.count
        && zip(found, expected).allSatisfy { abs($0 - $1) <= tolerance * max(1, abs($1)) || $0.isNaN && $1.isNaN }
}

func sizes(_ lower: UInt64, _ upper: Int64) -> SpecSizeRange {
    var range = SpecSizeRange()
    range.lowerBound = lower
    range.upperBound = upper
    return range
}
