package import MLExtractors
import MLNumerics
import MLSpecification

/// Small networks in the place of the real ones that find hands and bodies: they find one in the middle of every bright
/// picture, and move its joints by the picture's colour.
package enum PoseNetworks {
    /// Installs the networks of hands.
    ///
    /// The palm takes a quarter of the longer side. Joint `i` lies at (0.5, 0.5) + `offset(i)` of the hand's square,
    /// and `move(i)` times the red of the picture, 0 to 1, farther to the right. A picture that is half as bright as
    /// white or brighter has a hand; it is as certain as 0.9, and a right one with 0.8.
    ///
    /// - Parameters:
    ///   - store: Where to install them.
    ///   - isTurned: Whether the fingers point to the right instead of upwards.
    ///   - joints: The number of joints that the second network gives, 21 for the real one.
    package static func installHands(in store: ExtractorStore, isTurned: Bool = false, joints: Int = 21) throws {
        let palm = isTurned ? [(0.4, 0.5), (0.6, 0.5)] : [(0.5, 0.6), (0.5, 0.4)]
        let points = (0..<7).map { $0 == 0 ? palm[0] : palm[1] }
        let places = (0..<joints).flatMap { joint -> [Float] in
            [Float((0.5 + offset(joint).x) * 224), Float((0.5 + offset(joint).y) * 224), 0]
        }
        let moves = (0..<joints).flatMap { joint -> [Float] in [Float(move(joint) * 224), 0, 0] }
        try store.install(
            [
                "detector": detector(192, grids: [(8, 2), (16, 6)], size: 0.25, points: points),
                "landmarks": network(
                    224,
                    [
                        ("landmarks", [1, 3 * joints], places, moves),
                        ("presence", [1, 1], [0.9], [0]), ("handedness", [1, 1], [0.8], [0]),
                    ]
                ),
            ],
            as: .mediaPipeHands
        )
    }

    /// Installs the networks of bodies: the middle of the hips is the picture's, the square's side 0.5 of its longer
    /// one, points lie and move as joints of hands do, and all are seen.
    package static func installBodies(in store: ExtractorStore) throws {
        var places: [Float] = []
        var moves: [Float] = []
        for index in 0..<39 {
            let (x, y) = index < 33 ? (offset(index).x, offset(index).y) : (0, index == 34 ? -0.4 : 0)
            places += [Float((0.5 + x) * 256), Float((0.5 + y) * 256), 0, 4, 4]
            moves += [index < 33 ? Float(move(index) * 256) : 0, 0, 0, 0, 0]
        }
        let map = [Float](repeating: -10, count: 64 * 64 * 39)
        try store.install(
            [
                "detector": detector(
                    224,
                    grids: [(8, 2), (16, 2), (32, 6)],
                    size: 0.25,
                    points: [(0.5, 0.5), (0.5, 0.3), (0.5, 0.5), (0.5, 0.5)]
                ),
                "landmarks": network(
                    256,
                    [
                        ("landmarks", [1, 195], places, moves), ("presence", [1, 1], [0.9], [0]),
                        ("heatmap", [1, 64, 64, 39], map, [Float](repeating: 0, count: map.count)),
                    ]
                ),
            ],
            as: .mediaPipeBody
        )
    }

    /// The position of a joint of a black picture, from the middle of the square in fractions of its side.
    package static func offset(_ joint: Int) -> (x: Double, y: Double) {
        (Double(joint % 5) * 0.05 - 0.1, Double(joint / 5) * 0.05 - 0.1)
    }

    /// How far red moves a joint to the right, in fractions of the square's side.
    package static func move(_ joint: Int) -> Double { joint % 2 == 0 ? 0 : 0.1 }

    /// A detector whose first box around the middle is certain in bright pictures.
    private static func detector(
        _ size: Int,
        grids: [(stride: Int, count: Int)],
        size extent: Double,
        points: [(Double, Double)]
    ) -> SpecModel {
        let side = size / grids[0].stride
        let chosen = (side / 2 * side + side / 2) * grids[0].count
        let count = grids.reduce(0) { $0 + (size / $1.stride) * (size / $1.stride) * $1.count }
        let centre = (Double(side / 2) + 0.5) / Double(side)
        let width = 4 + 2 * points.count
        var boxes = [Float](repeating: 0, count: count * width)
        let values = [0.5 - centre, 0.5 - centre, extent, extent] + points.flatMap { [$0.0 - centre, $0.1 - centre] }
        for (index, value) in values.enumerated() { boxes[chosen * width + index] = Float(value * Double(size)) }
        var scores = [Float](repeating: -100, count: count)
        scores[chosen] = -10
        var slopes = [Float](repeating: 0, count: count)
        slopes[chosen] = 20
        return network(
            size,
            [
                ("boxes", [1, count, width], boxes, [Float](repeating: 0, count: boxes.count)),
                ("scores", [1, count, 1], scores, slopes),
            ]
        )
    }

    /// A network whose outputs are sums of constants and the mean red of the picture, from 0 to 1, times slopes.
    /// Pictures whose longer side is padded with black are as bright as their mean.
    private static func network(
        _ size: Int,
        _ outputs: [(name: String, shape: [Int], constants: [Float], slopes: [Float])]
    ) -> SpecModel {
        var network = NetworkLayers(.float32)
        network.globalMean("image", "mean")
        network.reshape("mean", "colour", [1, 3])
        for output in outputs {
            var params = SpecInnerProductLayerParams()
            params.inputChannels = 3
            params.outputChannels = UInt64(output.constants.count)
            params.weights.floatValue = output.slopes.flatMap { [$0, 0, 0] }
            params.hasBias_p = true
            params.bias.floatValue = output.constants
            network.add(["colour"], output.name + ".flat", .innerProduct(params))
            network.reshape(output.name + ".flat", output.name, output.shape)
        }
        var model = SpecModel()
        model.specificationVersion = 5
        model.description_p.input = [.image("image", width: size, height: size, "A picture.")]
        model.description_p.output = outputs.map { .floats($0.name, $0.shape, "An output.") }
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        var preprocessing = SpecNeuralNetworkPreprocessing()
        preprocessing.featureName = "image"
        preprocessing.scaler.channelScale = 1 / 255
        model.neuralNetwork.preprocessing = [preprocessing]
        return model
    }
}
