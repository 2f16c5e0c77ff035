import MLGraph
import MLGraphTraining
import MLNumerics
import MLOperators

/// The statistics that compare images with a style image: those of a loss network's values and of the colours.
struct StyleTarget: Sendable {
    /// The statistics of each value, at each scale.
    let values: [[ValueStatistics]]
    /// The thresholds of the colour features, [1, K, 1, 1].
    let thresholds: Tensor
    /// The mean of each colour feature, [1, K, 1, 1].
    let colours: Tensor
}

/// The statistics of one value of a loss network for the style image.
struct ValueStatistics: Sendable {
    /// The mean of each channel.
    let means: [Double]
    /// The divisor of each channel: its standard deviation and a part of that of the whole value, so that channels that
    /// are nearly constant do not count as much as the others.
    let scales: [Double]
    /// The covariances of the channels, divided by the scales of both: [1, C, C].
    let covariances: Tensor

    static let floor = 1.0

    /// - Parameters:
    ///   - gram: The mean products of the channels, [1, C, C].
    ///   - mean: The means of the channels, [1, C, 1, 1].
    init(gram: Tensor, mean: Tensor) {
        let (products, means) = (gram.values, mean.values)
        let count = means.count
        let squares = (0..<count).map { products[$0 * count + $0] }
        let centre = means.reduce(0, +) / Double(count)
        let spread = max(squares.reduce(0, +) / Double(count) - centre * centre, 1e-6).squareRoot()
        let scales = (0..<count).map { index in
            max(squares[index] - means[index] * means[index], 0).squareRoot() + Self.floor * spread
        }
        self.means = means
        self.scales = scales
        var values: [Double] = []
        values.reserveCapacity(count * count)
        for i in 0..<count {
            for j in 0..<count {
                values.append((products[i * count + j] - means[i] * means[j]) / (scales[i] * scales[j]))
            }
        }
        covariances = Tensor(values: values, scalarType: .float32, shape: [1, count, count])
    }
}

/// The graph of the loss of a style network for one crop of an image.
///
/// loss = styleWeight · style + contentWeight · content + smoothness · variation + flickerWeight · flicker
///
/// - style: over scales and values of the loss network, ‖C − C*‖² / ‖C*‖² + mean (m − m*)² / s*², where m is the mean
///   of each channel, s its scale, C the matrix of the mean products of channels from which the style image's mean is
///   subtracted and which are divided by its scale, and * marks the style image's; plus the colours' ‖c − c*‖² /
///   ‖c*‖²;
/// - content: the mean squared difference of the values of the crop and of the drawn image, divided by the mean
///   square of the former;
/// - variation: the mean squared difference of neighbouring pixels;
/// - flicker: the mean squared difference of the drawn crop and of another one, drawn from the same image some pixels
///   further and with noise, where both show the same.
struct StyleObjective {
    var network: StyleNetwork
    var loss: LossNetwork
    var settings: StyleTrainingSettings

    /// The directions in the space of colours along which they are compared: the axes, grey, and differences.
    static let directions: [[Float]] = [
        [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.577, 0.577, 0.577], [0.707, -0.707, 0], [0, 0.707, -0.707],
        [0.707, 0, -0.707], [0.408, 0.408, -0.816], [-0.816, 0.408, 0.408],
    ]
    /// The number of thresholds along each direction.
    static let thresholdCount = 6
    /// The colours are means over squares of this side.
    static let colourCell = 4

    /// The graph with the outputs loss, content, style, flicker; its data are the crop and, with `settings.isForVideo`,
    /// those of `StyleMovement`.
    func objective(_ target: StyleTarget) throws(ModelError) -> Objective {
        var builder = GraphBuilder()
        let shape = Shape([1, 3, settings.cropSize, settings.cropSize])
        let crop = builder.input("crop", ValueType(.float32, shape))
        let movement = settings.isForVideo ? StyleMovement.Inputs(&builder, cropSize: settings.cropSize) : nil
        let (names, parameters) = inputs(&builder)
        let drawn = try network.append(to: &builder, image: crop, parameters: parameters)
        let values = try loss.append(to: &builder, image: drawn)
        let original = try loss.append(to: &builder, image: crop, onlyContent: true)
        let content = try contentLoss(&builder, values.content, original.content)
        var style = try styleLoss(&builder, values.style, target, scale: 0)
        for scale in 1..<settings.scales {
            let smaller = try builder.shrunk(drawn, by: 1 << scale)
            let values = try loss.append(to: &builder, image: smaller)
            style = try builder.add(Binary<Add>(), style, styleLoss(&builder, values.style, target, scale: scale))
        }
        let colours = try colourLoss(&builder, drawn, target)
        style = try builder.add(Binary<Add>(), style, builder.scaled(colours, settings.colourWeight))
        var total = try builder.add(
            Binary<Add>(),
            builder.scaled(style, settings.styleWeight),
            builder.scaled(content, settings.contentWeight)
        )
        total = try builder.add(Binary<Add>(), total, builder.scaled(variation(&builder, drawn), settings.smoothness))
        var outputs = [("content", content), ("style", style)]
        if let movement {
            let moved = try network.append(to: &builder, image: movement.crop, parameters: parameters)
            let flicker = try builder.mean(
                builder.squaredDifference(movement.common(&builder, moved), movement.centre(&builder, drawn))
            )
            total = try builder.add(Binary<Add>(), total, builder.scaled(flicker, settings.flickerWeight))
            outputs.append(("flicker", flicker))
        }
        return Objective(builder.finished(outputs: [("loss", total)] + outputs), parameters: names)
    }

    /// The mean squared difference of the drawn crop and the crop itself, with which training begins.
    func identity() throws(ModelError) -> Objective {
        var builder = GraphBuilder()
        let shape = Shape([1, 3, settings.cropSize, settings.cropSize])
        let crop = builder.input("crop", ValueType(.float32, shape))
        let (names, parameters) = inputs(&builder)
        let drawn = try network.append(to: &builder, image: crop, parameters: parameters)
        let difference = try builder.mean(builder.squaredDifference(drawn, crop))
        let loss = try builder.scaled(difference, 10)
        return Objective(builder.finished(outputs: [("loss", loss)]), parameters: names)
    }

    /// The statistics of a style image.
    func target(_ image: StyleImage) throws(ModelError) -> StyleTarget {
        let (lows, highs) = Self.colourRange(image)
        var thresholds: [Float] = []
        for index in Self.directions.indices {
            for step in 0..<Self.thresholdCount {
                let position = 0.05 + 0.9 * Float(step) / Float(Self.thresholdCount - 1)
                thresholds.append(lows[index] + (highs[index] - lows[index]) * position)
            }
        }
        let edges = Tensor(thresholds, shape: [1, thresholds.count, 1, 1])
        var builder = GraphBuilder()
        let whole = builder.input("style", ValueType(.float32, Shape([1, 3, image.height, image.width])))
        var outputs: [(name: String, value: ValueID)] = []
        for scale in 0..<settings.scales {
            let smaller = scale == 0 ? whole : try builder.shrunk(whole, by: 1 << scale)
            for value in try loss.append(to: &builder, image: smaller).style {
                outputs.append(("gram", try builder.gram(value)))
                outputs.append(("mean", try builder.channelMeans(value)))
            }
        }
        outputs.append(("colours", try builder.colourFeatures(whole, edges)))
        let results = try GraphProgram(builder.finished(outputs: outputs)).run([image.tensor])
        let count = (results.count - 1) / settings.scales
        let values = (0..<settings.scales).map { scale in
            stride(from: scale * count, to: (scale + 1) * count, by: 2).map {
                ValueStatistics(gram: results[$0], mean: results[$0 + 1])
            }
        }
        return StyleTarget(values: values, thresholds: edges, colours: results[results.count - 1])
    }

    private func inputs(_ builder: inout GraphBuilder) -> (names: [String], values: [ValueID]) {
        var source = SplitMix64(seed: 0)
        let described = network.firstParameters(&source)
        let values = described.map { builder.input($0.name, ValueType(.float32, Shape($0.value.shape))) }
        return (described.map(\.name), values)
    }

    private func contentLoss(
        _ builder: inout GraphBuilder,
        _ drawn: [ValueID],
        _ original: [ValueID]
    ) throws(ModelError) -> ValueID {
        var total: ValueID?
        for (value, target) in zip(drawn, original) {
            let difference = try builder.mean(builder.squaredDifference(value, target))
            // Never 0, so that a black crop gives a number.
            let size = try builder.add(
                Binary<Add>(),
                builder.mean(builder.add(Unary(Square()), target)),
                builder.number(1e-6)
            )
            let part = try builder.add(Binary<RealDiv>(), difference, size)
            total = try total.map { (sum) throws(ModelError) in try builder.add(Binary<Add>(), sum, part) } ?? part
        }
        guard let total else { throw ModelError(.unsupported, "the loss network measures no content") }
        return total
    }

    private func styleLoss(
        _ builder: inout GraphBuilder,
        _ values: [ValueID],
        _ target: StyleTarget,
        scale: Int
    ) throws(ModelError) -> ValueID {
        var total = builder.number(0)
        for (value, wanted) in zip(values, target.values[scale]) {
            total = try builder.add(Binary<Add>(), total, builder.statisticsError(value, wanted))
        }
        return total
    }

    private func colourLoss(
        _ builder: inout GraphBuilder,
        _ drawn: ValueID,
        _ target: StyleTarget
    ) throws(ModelError) -> ValueID {
        try builder.relativeError(builder.colourFeatures(drawn, target.thresholds), target.colours)
    }

    private func variation(_ builder: inout GraphBuilder, _ drawn: ValueID) throws(ModelError) -> ValueID {
        var parts: [ValueID] = []
        for (first, second) in [
            (Crop(top: 1, bottom: 0, left: 0, right: 0), Crop(top: 0, bottom: 1, left: 0, right: 0)),
            (Crop(top: 0, bottom: 0, left: 1, right: 0), Crop(top: 0, bottom: 0, left: 0, right: 1)),
        ] {
            parts.append(
                try builder.mean(builder.squaredDifference(builder.add(first, drawn), builder.add(second, drawn)))
            )
        }
        return try builder.add(Binary<Add>(), parts[0], parts[1])
    }

    /// The smallest and the largest share of the image's colours along each direction.
    private static func colourRange(_ image: StyleImage) -> (lows: [Float], highs: [Float]) {
        var lows = [Float](repeating: .infinity, count: directions.count)
        var highs = [Float](repeating: -.infinity, count: directions.count)
        for pixel in stride(from: 0, to: image.bytes.count, by: 3) {
            for (index, direction) in directions.enumerated() {
                var share: Float = 0
                for component in 0..<3 { share += direction[component] * Float(image.bytes[pixel + component]) / 255 }
                lows[index] = min(lows[index], share)
                highs[index] = max(highs[index], share)
            }
        }
        return (lows, highs)
    }
}

extension GraphBuilder {
    /// The Gram matrix of [1, C, H, W] divided by H · W: [1, C, C].
    fileprivate mutating func gram(_ x: ValueID) throws(ModelError) -> ValueID {
        guard let extents = shape(of: x).counts, extents.count == 4 else {
            throw ModelError(.invalidModel, "a Gram matrix needs [1, C, H, W], not \(shape(of: x))")
        }
        let count = extents[2] * extents[3]
        let rows = try add(Reshape(), x, integers([1, extents[1], count]))
        return try scaled(add(MatMul(transposeY: true), rows, rows), 1 / Double(count))
    }

    /// The distance of the statistics of a value [1, C, H, W] from those of the style image.
    fileprivate mutating func statisticsError(_ x: ValueID, _ wanted: ValueStatistics) throws(ModelError) -> ValueID {
        let count = wanted.means.count
        func constant(_ values: [Double], _ shape: [Int]) -> ValueID {
            self.constant(Tensor(values: values, scalarType: .float32, shape: shape))
        }
        let mean = try channelMeans(x)
        let (column, row) = (constant(wanted.means, [1, count, 1]), constant(wanted.means, [1, 1, count]))
        // The products of x − m* are those of x, less x̄ · m* and m* · x̄, and m* · m*.
        var products = try add(
            Binary<Sub>(),
            gram(x),
            add(Binary<Mul>(), column, add(Reshape(), mean, integers([1, 1, count])))
        )
        products = try add(
            Binary<Sub>(),
            products,
            add(Binary<Mul>(), add(Reshape(), mean, integers([1, count, 1])), row)
        )
        products = try add(Binary<Add>(), products, add(Binary<Mul>(), column, row))
        let inverse = wanted.scales.map { 1 / $0 }
        let factors = constant(inverse.flatMap { a in inverse.map { a * $0 } }, [1, count, count])
        let covariances = try relativeError(add(Binary<Mul>(), products, factors), wanted.covariances)
        let distance = try squaredDifference(
            add(Binary<Mul>(), mean, constant(inverse, [1, count, 1, 1])),
            constant(zip(wanted.means, inverse).map { $0 * $1 }, [1, count, 1, 1])
        )
        return try add(Binary<Add>(), covariances, self.mean(distance))
    }

    fileprivate mutating func channelMeans(_ x: ValueID) throws(ModelError) -> ValueID {
        try add(Reduction<MeanOfElements>(axes: [2, 3], keepsDimensions: true), x)
    }

    /// The mean excess of the colours beyond each threshold: [1, K, 1, 1].
    fileprivate mutating func colourFeatures(_ x: ValueID, _ thresholds: Tensor) throws(ModelError) -> ValueID {
        let each = StyleObjective.thresholdCount
        let rows = StyleObjective.directions.flatMap { direction in (0..<each).flatMap { _ in direction } }
        let weights = constant(Tensor(rows, shape: [thresholds.count, 3, 1, 1]))
        let cells = try shrunk(x, by: StyleObjective.colourCell)
        let fractions = try add(Convolution(strides: [1, 1]), cells, weights, nil)
        return try channelMeans(add(Unary(Relu()), add(Binary<Sub>(), fractions, constant(thresholds))))
    }

    /// The sum of squared differences, divided by the sum of squares of `wanted`.
    fileprivate mutating func relativeError(_ x: ValueID, _ wanted: Tensor) throws(ModelError) -> ValueID {
        let size = wanted.values.reduce(0) { $0 + $1 * $1 }
        return try scaled(sum(squaredDifference(x, constant(wanted))), 1 / max(size, 1e-12))
    }

    /// The means over squares of `side` pixels.
    fileprivate mutating func shrunk(_ x: ValueID, by side: Int) throws(ModelError) -> ValueID {
        try add(AveragePool(kernel: [side, side], strides: [side, side]), x)
    }

    fileprivate mutating func scaled(_ x: ValueID, _ factor: Double) throws(ModelError) -> ValueID {
        try add(Binary<Mul>(), x, number(factor))
    }
}
