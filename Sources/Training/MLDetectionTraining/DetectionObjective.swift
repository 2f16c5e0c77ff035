import MLGraph
import MLGraphTraining
import MLNumerics
import MLOperators

/// The graph of the loss of a detector for a batch of views.
///
/// loss = centres + boxWeight · sides
///
/// - centres: the focal loss of CenterNet (Zhou and others 2019), divided by the number of objects: (1 − p)² · −log p
///   at centres, and (1 − g)⁴ · p² · −log(1 − p) elsewhere, where g is the Gaussian of the nearest object;
/// - sides: 1 − GIoU (Rezatofighi and others 2019) of the boxes that cells near centres state, as a weighted mean.
struct DetectionObjective {
    var architecture: DetectionArchitecture
    /// The numbers of channels and of rows and columns of each array of features.
    var inputs: [(channels: Int, side: Int)]
    var batchSize: Int

    /// The data are the features, the centres, the weights of other cells, the sides and their weights
    /// (`DetectionTargets`); the outputs are the loss, its two parts and the architecture's statistics.
    func objective() throws(ModelError) -> Objective {
        var data = GraphBuilder()
        let cells = DetectionGrid.cells
        func input(_ name: String, _ channels: Int, _ side: Int) -> ValueID {
            data.input(name, ValueType(.float32, Shape([batchSize, channels, side, side])))
        }
        let features = inputs.enumerated().map { index, extents in
            input("features\(index)", extents.channels, extents.side)
        }
        let labelCount = architecture.head.labelCount
        let centres = input("centres", labelCount, cells)
        let others = input("others", labelCount, cells)
        let sides = input("sides", 4, cells)
        let weights = input("weights", 1, cells)
        var layers = DetectionGraphBuilder(data, layers: architecture.layers)
        let found = try architecture.append(to: &layers, inputs: features)
        var builder = layers.builder
        let logarithms = try builder.add(
            Unary(Clip(lower: DetectionHead.distances.minimum, upper: DetectionHead.distances.maximum)),
            found.sides
        )
        let centreLoss = try builder.centreLoss(found.centres, centres, others)
        let sideLoss = try builder.sideLoss(builder.add(Unary(Exp()), logarithms), sides, weights)
        let loss = try builder.add(
            Binary<Add>(),
            centreLoss,
            builder.add(Binary<Mul>(), sideLoss, builder.number(DetectionSettings.boxWeight))
        )
        let statistics = architecture.statistics.compactMap { statistic in
            layers.statistics[statistic.name].map { (statistic.name, $0) }
        }
        return Objective(
            builder.finished(
                outputs: [("loss", loss), ("centres", centreLoss), ("sides", sideLoss)] + statistics
            ),
            parameters: architecture.layers.flatMap(\.parameters).map(\.name)
        )
    }
}

extension GraphBuilder {
    fileprivate mutating func number(_ value: Double) -> ValueID { constant(Tensor(scalar: value, .float32)) }

    private mutating func sum(_ x: ValueID) throws(ModelError) -> ValueID {
        try add(Reduction<SumOfElements>(axes: nil, keepsDimensions: false), x)
    }

    fileprivate mutating func centreLoss(
        _ logits: ValueID,
        _ centres: ValueID,
        _ others: ValueID
    ) throws(ModelError) -> ValueID {
        let probability = try add(Unary(Sigmoid()), logits)
        // −log(1 − p), and −log p
        let remaining = try add(Unary(Softplus()), logits)
        let own = try add(Binary<Sub>(), remaining, logits)
        let complement = try add(Unary(Square()), add(Binary<Sub>(), number(1), probability))
        let positive = try add(Binary<Mul>(), centres, add(Binary<Mul>(), complement, own))
        let negative = try add(
            Binary<Mul>(),
            others,
            add(Binary<Mul>(), add(Unary(Square()), probability), remaining)
        )
        return try sum(add(Binary<Add>(), positive, negative))
    }

    fileprivate mutating func sideLoss(
        _ found: ValueID,
        _ wanted: ValueID,
        _ weights: ValueID
    ) throws(ModelError) -> ValueID {
        /// The width times the height of boxes around cells.
        func area(_ sides: ValueID) throws(ModelError) -> ValueID {
            let extents = try add(
                Binary<Add>(),
                slice(sides, from: 0, count: 2),
                slice(sides, from: 2, count: 2)
            )
            return try add(Binary<Mul>(), slice(extents, from: 0, count: 1), slice(extents, from: 1, count: 1))
        }
        let common = try area(add(Binary<Min>(), found, wanted))
        let enclosing = try area(add(Binary<Max>(), found, wanted))
        let union = try add(Binary<Sub>(), add(Binary<Add>(), area(found), area(wanted)), common)
        // 1 − (common / union − (enclosing − union) / enclosing) = 2 − common / union − union / enclosing
        let fractions = try add(
            Binary<Add>(),
            add(Binary<RealDiv>(), common, union),
            add(Binary<RealDiv>(), union, enclosing)
        )
        return try sum(add(Binary<Mul>(), weights, add(Binary<Sub>(), number(2), fractions)))
    }

    /// Channels of [N, C, H, W].
    private mutating func slice(_ x: ValueID, from start: Int, count: Int) throws(ModelError) -> ValueID {
        guard let extents = shape(of: x).counts else {
            throw ModelError(.invalidModel, "channels are taken of \(shape(of: x)), whose extents are not known")
        }
        func integers(_ values: [Int]) -> ValueID {
            constant(Tensor(values.map { Int32(clamping: $0) }, shape: [values.count]))
        }
        return try add(
            SliceBySize(),
            x,
            integers([0, start, 0, 0]),
            integers([extents[0], count, extents[2], extents[3]])
        )
    }
}
