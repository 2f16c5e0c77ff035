import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Layers that contain networks.
///
/// An inner network sees the values around it. A value that it computes under a name known outside replaces that one,
/// which is how results leave the inner network (`copy`).
extension NeuralNetworkBuilder {
    /// Runs one of two networks.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - condition: A value with one number; the first network runs when it is not 0.
    ///   - then: Builds the first network.
    ///   - otherwise: Builds the second network; nil, the default, for none.
    public mutating func branch(
        _ name: String,
        _ condition: Value,
        then: (inout NeuralNetworkBuilder) -> Void,
        else otherwise: ((inout NeuralNetworkBuilder) -> Void)? = nil
    ) {
        var layer = SpecBranchLayerParams()
        layer.ifBranch = network(name, then)
        if let otherwise { layer.elseBranch = network(name, otherwise) }
        add(name, [condition], outputs: [], .branch(layer))
    }

    /// Runs a network a fixed number of times.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - count: The number of iterations, unless the loop is left earlier.
    ///   - body: Builds the network.
    public mutating func loop(_ name: String, count: Int, body: (inout NeuralNetworkBuilder) -> Void) {
        var layer = SpecLoopLayerParams()
        layer.maxLoopIterations = natural(name, "the number of iterations", count)
        layer.bodyNetwork = network(name, body)
        add(name, [], outputs: [], .loop(layer))
    }

    /// Runs a network as many times as a value states.
    public mutating func loop(_ name: String, countIn count: Value, body: (inout NeuralNetworkBuilder) -> Void) {
        var layer = SpecLoopLayerParams()
        layer.bodyNetwork = network(name, body)
        add(name, [count], outputs: [], .loop(layer))
    }

    /// Runs a network while a condition holds.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - value: The number that `condition` computes; the body runs when it is not 0.
    ///   - limit: The greatest number of iterations; 0, the default, for no limit.
    ///   - condition: Builds the network that is run before each iteration.
    ///   - body: Builds the body of the loop.
    public mutating func loop(
        _ name: String,
        while value: Value,
        limit: Int = 0,
        condition: (inout NeuralNetworkBuilder) -> Void,
        body: (inout NeuralNetworkBuilder) -> Void
    ) {
        var layer = SpecLoopLayerParams()
        layer.maxLoopIterations = natural(name, "the number of iterations", limit)
        layer.conditionVar = value
        layer.conditionNetwork = network(name, condition)
        layer.bodyNetwork = network(name, body)
        add(name, [], outputs: [], .loop(layer))
    }

    /// Leaves the loop.
    public mutating func loopBreak(_ name: String) { add(name, [], outputs: [], .loopBreak(.init())) }

    /// Continues with the loop's next iteration.
    public mutating func loopContinue(_ name: String) { add(name, [], outputs: [], .loopContinue(.init())) }

    private mutating func network(
        _ name: String,
        _ build: (inout NeuralNetworkBuilder) -> Void
    ) -> SpecNeuralNetwork {
        let (network, problems) = nested(build)
        self.problems += problems.map { $0.at("layer '\(name)'") }
        return network
    }
}
