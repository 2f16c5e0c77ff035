import MLSpecification

extension PoseNormalization {
    /// Appends layers that compute `normalized` of `poses` [frames, 3, joints].
    static func append(to writer: inout NetworkWriter, input: String, output: String, _ skeleton: Skeleton) {
        let root = Int64(skeleton.root)
        func sum(_ input: String, _ output: String, _ axes: [Int64]) {
            var layer = SpecReduceSumLayerParams()
            layer.axes = axes
            layer.keepDims = true
            writer.add([input], [output], .reduceSum(layer))
        }
        func shifted(_ input: String, _ output: String) {
            var layer = SpecActivationParams()
            layer.linear.alpha = 1
            layer.linear.beta = epsilon
            writer.add([input], [output], .activation(layer))
        }
        func divide(_ a: String, _ b: String, _ output: String) {
            writer.add([a, b], [output], .divideBroadcastable(SpecDivideBroadcastableLayerParams()))
        }
        func multiply(_ a: String, _ b: String, _ output: String) {
            writer.add([a, b], [output], .multiplyBroadcastable(SpecMultiplyBroadcastableLayerParams()))
        }
        writer.slice(input, "places", begin: [nil, 0, nil], end: [nil, 2, nil])
        writer.slice(input, "confidence", begin: [nil, 2, nil], end: [nil, 3, nil])
        var visited = SpecGreaterThanLayerParams()
        visited.alpha = 0
        writer.add(["confidence"], ["seen"], .greaterThan(visited))
        writer.slice("places", "root", begin: [nil, nil, root], end: [nil, nil, root + 1])
        writer.slice("seen", "root_seen", begin: [nil, nil, root], end: [nil, nil, root + 1])
        multiply("root", "root_seen", "root_masked")
        sum("root_masked", "root_sum", [0])
        sum("root_seen", "root_count", [0])
        shifted("root_count", "root_divisor")
        divide("root_sum", "root_divisor", "centre")
        writer.add(["places", "centre"], ["centred"], .subtractBroadcastable(SpecSubtractBroadcastableLayerParams()))
        multiply("centred", "seen", "masked")
        multiply("masked", "masked", "squares")
        sum("squares", "square_sum", [0, 1, 2])
        sum("seen", "seen_count", [0, 1, 2])
        shifted("seen_count", "seen_divisor")
        divide("square_sum", "seen_divisor", "square_mean")
        // 1 / √(x + epsilon)
        var inverseRoot = SpecUnaryFunctionLayerParams()
        inverseRoot.type = .rsqrt
        inverseRoot.scale = 1
        inverseRoot.epsilon = epsilon
        writer.add(["square_mean"], ["scale"], .unary(inverseRoot))
        multiply("masked", "scale", "scaled")
        writer.concat(["scaled", "seen"], output, axis: 1)
    }
}
