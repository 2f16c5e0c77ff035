import MLGraph
import MLLowering
import MLNumerics
import MLSpecification
import TestSupport
import Testing

private func layer(
    _ name: String,
    _ inputs: [String],
    _ outputs: [String],
    _ kind: SpecNeuralNetworkLayer.OneOf_Layer
) -> SpecNeuralNetworkLayer {
    var layer = SpecNeuralNetworkLayer()
    layer.name = name
    layer.input = inputs
    layer.output = outputs
    layer.layer = kind
    return layer
}

private func add(_ name: String, _ input: String, _ output: String, _ alpha: Float) -> SpecNeuralNetworkLayer {
    var parameters = SpecAddLayerParams()
    parameters.alpha = alpha
    return layer(name, [input], [output], .add(parameters))
}

private func greater(_ input: String, _ output: String, than alpha: Float) -> SpecNeuralNetworkLayer {
    var parameters = SpecGreaterThanLayerParams()
    parameters.alpha = alpha
    return layer(output, [input], [output], .greaterThan(parameters))
}

private func feature(_ name: String, _ shape: [Int64]) -> SpecFeatureDescription {
    var array = SpecArrayFeatureType()
    array.shape = shape
    array.dataType = .float32
    var feature = SpecFeatureDescription()
    feature.name = name
    feature.type.type = .multiArrayType(array)
    return feature
}

private func model(
    _ layers: [SpecNeuralNetworkLayer],
    shape: [Int64] = [1],
    mapping: SpecNeuralNetworkMultiArrayShapeMapping = .exactArrayMapping
) -> SpecModel {
    var network = SpecNeuralNetwork()
    network.layers = layers
    network.arrayInputShapeMapping = mapping
    var model = SpecModel()
    model.neuralNetwork = network
    model.description_p.input = [feature("x", shape)]
    model.description_p.output = [feature("y", [])]
    return model
}

/// The values of output `y` for `x`.
private func run(_ model: SpecModel, _ x: Tensor) throws -> [Double] {
    let lowered = try NeuralNetworkReader.read(model)
    try lowered.graph.verify()
    guard case .array(let mapping) = lowered.inputs[0].form else { return [] }
    let input = x.reshaped(try mapping.graphShape(of: x.shape))
    return try GraphInterpreter.outputs(of: lowered.graph, [input])[0].values
}

@Test(arguments: [(3.0, 13.0), (-3.0, -2.0)])
func branchesAssignBlobsOfBothSides(_ x: Double, _ y: Double) throws {
    var branch = SpecBranchLayerParams()
    branch.ifBranch.layers = [add("ten", "x", "y", 10)]
    branch.elseBranch.layers = [add("one", "x", "y", 1)]
    let model = model([greater("x", "positive", than: 0), layer("choice", ["positive"], [], .branch(branch))])
    #expect(try run(model, Tensor([Float(x)], shape: [1])) == [y])
}

/// y = x; y += 2 while y < 10, at most `limit` times; a break leaves the loop when y exceeds 7.
@Test(arguments: [(UInt64(0), false, 11.0), (2, false, 5.0), (0, true, 9.0)])
func loopsCarryBlobs(_ limit: UInt64, _ breaks: Bool, _ expected: Double) throws {
    var less = SpecLessThanLayerParams()
    less.alpha = 10
    var loop = SpecLoopLayerParams()
    loop.maxLoopIterations = limit
    loop.conditionVar = "goes"
    loop.conditionNetwork.layers = [layer("test", ["y"], ["goes"], .lessThan(less))]
    loop.bodyNetwork.layers = [add("step", "y", "y", 2)]
    if breaks {
        var branch = SpecBranchLayerParams()
        branch.ifBranch.layers = [layer("leave", [], [], .loopBreak(SpecLoopBreakLayerParams()))]
        loop.bodyNetwork.layers += [
            greater("y", "large", than: 7), layer("maybe", ["large"], [], .branch(branch)),
            add("nothing", "y", "y", 0),
        ]
    }
    let model = model([
        layer("start", ["x"], ["y"], .copy(SpecCopyLayerParams())), layer("loop", [], [], .loop(loop)),
    ])
    #expect(try run(model, Tensor([1] as [Float], shape: [1])) == [expected])
}

@Test func errorsNameTheLayer() throws {
    var custom = SpecCustomLayerParams()
    custom.className = "Swirl"
    let cases: [(SpecNeuralNetworkLayer, String)] = [
        (layer("odd", ["x"], ["y"], .custom(custom)), "layer 'odd': custom layers of class 'Swirl'"),
        (add("late", "nowhere", "y", 1), "layer 'late': no earlier layer gives the input blob 'nowhere'"),
    ]
    for (layer, message) in cases {
        let error = #expect(throws: ModelError.self) { try NeuralNetworkReader.read(model([layer])) }
        #expect("\(try #require(error))".contains(message))
    }
}

@Test func legacyShapesFold() throws {
    let shapes: [([Int64], [Int], [Int])] = [
        ([3], [3], [1, 3, 1, 1]), ([3, 4, 5], [3, 4, 5], [1, 3, 4, 5]), ([3], [1, 1, 3, 1, 1], [1, 3, 1, 1]),
    ]
    for (declared, given, graph) in shapes {
        let lowered = try NeuralNetworkReader.read(
            model([add("add", "x", "y", 1)], shape: declared, mapping: .rank5ArrayMapping)
        )
        guard case .array(let mapping) = lowered.inputs[0].form else { continue }
        #expect(try mapping.graphShape(of: given) == graph)
        #expect(lowered.graph.type(of: lowered.inputs[0].value).shape == Shape(graph))
    }
    #expect(ArrayMapping.rank5(declared: [], batch: 1).callerShape(of: [1, 7, 1, 1]) == [7])
    #expect(ArrayMapping.rank5(declared: [], batch: 1).callerShape(of: [1, 7, 2, 1]) == [7, 2, 1])
    #expect(ArrayMapping.rank5(declared: [], batch: 1).callerShape(of: [4, 7, 1, 1]) == [4, 1, 7, 1, 1])
}
