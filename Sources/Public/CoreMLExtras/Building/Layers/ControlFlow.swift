import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Layers with networks inside.  A network inside sees the values around it; a value that it gives under a name that
/// is known outside takes that one's place, which is how results leave it (`copy`).
extension NeuralNetworkBuilder {
    /// Runs one of two networks.
    /// - Parameter condition: one number; the first network runs when it is not 0.
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

    /// Runs a network a number of times.
    /// - Parameter count: how often, at most.
    public mutating func loop(_ name: String, count: Int, body: (inout NeuralNetworkBuilder) -> Void) {
        var layer = SpecLoopLayerParams()
        layer.maxLoopIterations = natural(name, "the number of turns", count)
        layer.bodyNetwork = network(name, body)
        add(name, [], outputs: [], .loop(layer))
    }

    /// Runs a network as often as a value says.
    public mutating func loop(_ name: String, countIn count: Value, body: (inout NeuralNetworkBuilder) -> Void) {
        var layer = SpecLoopLayerParams()
        layer.bodyNetwork = network(name, body)
        add(name, [count], outputs: [], .loop(layer))
    }

    /// Runs a network while a condition holds.
    /// - Parameters:
    ///   - value: the number that `condition` gives; the body runs when it is not 0.
    ///   - limit: the greatest number of turns; 0 for none.
    ///   - condition: computed before each turn.
    public mutating func loop(
        _ name: String,
        while value: Value,
        limit: Int = 0,
        condition: (inout NeuralNetworkBuilder) -> Void,
        body: (inout NeuralNetworkBuilder) -> Void
    ) {
        var layer = SpecLoopLayerParams()
        layer.maxLoopIterations = natural(name, "the number of turns", limit)
        layer.conditionVar = value
        layer.conditionNetwork = network(name, condition)
        layer.bodyNetwork = network(name, body)
        add(name, [], outputs: [], .loop(layer))
    }

    /// Leaves the loop.
    public mutating func loopBreak(_ name: String) { add(name, [], outputs: [], .loopBreak(.init())) }

    /// Goes to the loop's next turn.
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
