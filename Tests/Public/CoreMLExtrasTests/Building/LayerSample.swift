import CoreML
import CoreMLExtras

/// One layer in a network of its own: inputs "x0", "x1" … of these shapes, the outputs named.
struct LayerSample: Sendable {
    let kind: String
    let arrays: NeuralNetworkBuilder.ArrayMapping
    let shapes: [[Int]]
    let outputs: [String]
    let add: @Sendable (inout NeuralNetworkBuilder) -> Void

    init(
        _ kind: String,
        _ shapes: [[Int]],
        arrays: NeuralNetworkBuilder.ArrayMapping = .exact,
        outputs: [String] = ["y"],
        _ add: @escaping @Sendable (inout NeuralNetworkBuilder) -> Void
    ) {
        self.kind = kind
        self.arrays = arrays
        self.shapes = shapes
        self.outputs = outputs
        self.add = add
    }

    var builder: NeuralNetworkBuilder {
        var builder = NeuralNetworkBuilder(arrays: arrays)
        for (index, shape) in shapes.enumerated() { builder.input("x\(index)", .array(shape)) }
        add(&builder)
        for output in outputs { builder.output(output, .array([])) }
        return builder
    }
}

/// `count` numbers between −0.75 and 0.75 that floats hold exactly.
func numbers(_ count: Int) -> [Float] { (0..<count).map { Float($0 % 7) / 4 - 0.75 } }

func weights(_ count: Int) -> LayerWeights { LayerWeights(numbers(count)) }
