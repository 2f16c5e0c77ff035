package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Non-maximum suppression: selects boxes in the order of their best scores and drops those that overlap a selected one
/// by more than `overlapThreshold` (intersection over union).
///
/// Operands: boxes [N, B, 4] as centre x, centre y, width, height, and scores [N, B, K]; with `boxesLast`, [N, 4, B]
/// and [N, K, B]. Results: the selected boxes [N, M, 4] and scores [N, M, K] (or [N, 4, M], [N, K, M]), padded with
/// zeros; their indices among the B boxes [N, M], padded with −1; without `boxesLast` also their number [N]. When no
/// box is left, the one with the best score is selected. Scores that are not numbers come last. Layers have further
/// operands of one element each in place of attributes: the overlap threshold, the score threshold, and the maximum
/// number of boxes.
package struct NonMaximumSuppression: Operator {
    package static let names: [MILName] = ["non_maximum_suppression"]

    package var overlapThreshold: Double
    /// Boxes whose best score is not above this are dropped first; `nil` keeps all.
    package var scoreThreshold: Double?
    /// M: the maximum number of selected boxes.
    package var count: Int
    /// Whether only boxes with the same best class suppress each other.
    package var isPerClass: Bool
    /// Whether the boxes are the last axis, as in opset iOS17.
    package var boxesLast: Bool

    package init(
        overlapThreshold: Double,
        scoreThreshold: Double?,
        count: Int,
        isPerClass: Bool = false,
        boxesLast: Bool = false
    ) {
        self.overlapThreshold = overlapThreshold
        self.scoreThreshold = scoreThreshold
        self.count = count
        self.isPerClass = isPerClass
        self.boxesLast = boxesLast
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("boxes")
        try arguments.operand("scores")
        let isNew = arguments.opset >= .iOS17
        self.init(
            overlapThreshold: Self.threshold(try arguments.float("iou_threshold"), isReached: isNew),
            scoreThreshold: isNew ? nil : try arguments.float("score_threshold"),
            count: try arguments.int("max_boxes"),
            isPerClass: try arguments.bool("per_class_suppression", default: false),
            boxesLast: isNew
        )
    }

    /// The number that an overlap must exceed: the stated threshold, or, when a float32 overlap that equals it counts,
    /// the middle between it and the number before.
    ///
    /// Thresholds of 0 and 1 keep their meanings: any, and none.
    private static func threshold(_ stated: Double, isReached: Bool) -> Double {
        guard isReached, stated > 0, stated < 1 else { return stated }
        let single = Float(stated)
        return (Double(single) + Double(single.nextDown)) / 2
    }

    package var shapeOperands: [Int] { [4] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let boxes = try operands.type(0)
        let scores = try operands.type(1)
        guard boxes.rank == 3, scores.rank == 3, count >= 0, (boxes.shape[boxesLast ? 1 : 2].count ?? 4) == 4 else {
            throw ModelError(
                .invalidModel,
                "non_maximum_suppression needs boxes of four coordinates and scores, not \(boxes) and \(scores)"
            )
        }
        let n = try broadcast([boxes.shape[0]], [scores.shape[0]])[0]
        for index in 2..<5 where operands.has(index) {
            guard try operands.shape(index).elementCount.count ?? 1 == 1 else {
                throw ModelError(.invalidModel, "operand \(index) of non_maximum_suppression must be one number")
            }
        }
        var m = Dimension(count)
        if operands.has(4) {
            let provided = operands.integers(4)?.first
            guard (0...Int(Int32.max)).contains(provided ?? 0) else {
                throw ModelError(.invalidInput, "the number of boxes cannot be \(provided ?? 0)")
            }
            m = provided.map { Dimension($0) } ?? .unknown
        }
        let axis = boxesLast ? 2 : 1
        let (a, b) = (boxes.shape[axis], scores.shape[axis])
        guard a == b || !a.isKnown || !b.isKnown else {
            throw ModelError(.invalidModel, "there are \(a) boxes but \(b) scores")
        }
        if boxesLast {
            return [
                boxes.with([n, 4, m]), scores.with([n, scores.shape[1], m]), ValueType(.int32, [n, m]),
            ]
        }
        return [
            boxes.with([n, m, 4]), scores.with([n, m, scores.shape[2]]), ValueType(.int32, [n, m]),
            ValueType(.int32, [n]),
        ]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        func number(_ index: Int) -> Double? { operands.optional(index)?.values.first }
        var limits = self
        limits.overlapThreshold = number(2) ?? overlapThreshold
        limits.scoreThreshold = number(3) ?? scoreThreshold
        limits.count = operands.shape(2)[1]
        let count = limits.count
        let total = operands[0].shape[boxesLast ? 2 : 1]
        let classes = operands[1].shape[boxesLast ? 1 : 2]
        let batch = operands[0].shape[0]
        let coordinates = operands[0].values
        let ratings = operands[1].values
        func position(_ n: Int, _ box: Int, _ index: Int, of width: Int, among count: Int) -> Int {
            boxesLast ? (n * width + index) * count + box : (n * count + box) * width + index
        }
        var boxes = [Double](repeating: 0, count: batch * count * 4)
        var scores = [Double](repeating: 0, count: batch * count * classes)
        var positions = [Double](repeating: -1, count: batch * count)
        var counts: [Double] = []
        for n in 0..<batch {
            let candidates = (0..<total).map { box in
                Box(
                    coordinates: (0..<4).map { coordinates[position(n, box, $0, of: 4, among: total)] },
                    scores: (0..<classes).map { ratings[position(n, box, $0, of: classes, among: total)] }
                )
            }
            let picked = limits.selectedIndices(candidates)
            counts.append(Double(picked.count))
            for (rank, box) in picked.enumerated() {
                positions[n * count + rank] = Double(box)
                for index in 0..<4 {
                    boxes[position(n, rank, index, of: 4, among: count)] =
                        coordinates[position(n, box, index, of: 4, among: total)]
                }
                for index in 0..<classes {
                    scores[position(n, rank, index, of: classes, among: count)] =
                        ratings[position(n, box, index, of: classes, among: total)]
                }
            }
        }
        var results = [
            Tensor(values: boxes, scalarType: operands.scalarType(0), shape: operands.shape(0)),
            Tensor(values: scores, scalarType: operands.scalarType(1), shape: operands.shape(1)),
            Tensor(values: positions, scalarType: .int32, shape: operands.shape(2)),
        ]
        if !boxesLast { results.append(Tensor(values: counts, scalarType: .int32, shape: [batch])) }
        return results
    }

    private struct Box {
        let low: (x: Double, y: Double)
        let high: (x: Double, y: Double)
        let score: Double
        let label: Int

        init(coordinates: [Double], scores: [Double]) {
            let half = (coordinates[2] / 2, coordinates[3] / 2)
            low = (coordinates[0] - half.0, coordinates[1] - half.1)
            high = (coordinates[0] + half.0, coordinates[1] + half.1)
            var best = 0
            for (index, score) in scores.enumerated() where score > scores[best] { best = index }
            label = best
            score = scores.isEmpty || scores[best].isNaN ? -.infinity : scores[best]
        }

        var area: Double { (high.x - low.x) * (high.y - low.y) }

        /// Intersection over union.
        func overlap(_ other: Box) -> Double {
            let width = Swift.max(Swift.min(high.x, other.high.x) - Swift.max(low.x, other.low.x), 0)
            let height = Swift.max(Swift.min(high.y, other.high.y) - Swift.max(low.y, other.low.y), 0)
            let common = width * height
            let union = area + other.area - common
            return union > 0 ? common / union : 0
        }
    }

    private func selectedIndices(_ boxes: [Box]) -> [Int] {
        let ordered = boxes.indices.sorted { (boxes[$0].score, $1) > (boxes[$1].score, $0) }
        var picked: [Int] = []
        for index in ordered where picked.count < count {
            if let scoreThreshold, !(boxes[index].score > scoreThreshold) { continue }
            let isCovered = picked.contains { other in
                (!isPerClass || boxes[other].label == boxes[index].label)
                    && boxes[index].overlap(boxes[other]) > overlapThreshold
            }
            if !isCovered { picked.append(index) }
        }
        if picked.isEmpty, count > 0, let best = ordered.first { picked = [best] }
        return picked
    }
}

extension NonMaximumSuppression: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("NonMaximumSuppression", \.nonMaximumSuppression) { parameters, context throws(ModelError) in
                // Inputs after boxes and scores replace parameters, in their order.
                let op = NonMaximumSuppression(
                    overlapThreshold: Double(parameters.iouThreshold),
                    scoreThreshold: Double(parameters.scoreThreshold),
                    count: Int(clamping: parameters.maxBoxes),
                    isPerClass: parameters.perClassSuppression
                )
                var operands: [ValueID?] = [try context.input(0), try context.input(1)]
                for provided in context.inputs.dropFirst(2).prefix(3) { operands.append(provided) }
                try context.setOutputs(try context.append(op, operands))
            }
        ]
    }
}

extension NonMaximumSuppression {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let boxes = request.operand(0), let scores = request.operand(1),
            [boxes, scores].allSatisfy({ $0.scalarType == .float32 && $0.layout == .rowMajor }),
            request.results[0].scalarType == .float32, request.results[1].scalarType == .float32,
            boxes.logicalShape[0] == scores.logicalShape[0],
            let overlap = number(request, 2), let score = number(request, 3), boxes.count > 0
        else { return [] }
        let (batch, count) = (boxes.logicalShape[0], request.results[2].logicalShape[1])
        let total = boxes.logicalShape[boxesLast ? 2 : 1]
        let classes = scores.logicalShape[boxesLast ? 1 : 2]
        let kernel = SuppressionKernel(
            boxCount: total,
            classCount: classes,
            boxesLast: boxesLast,
            overlapThreshold: overlapThreshold,
            scoreThreshold: scoreThreshold,
            isPerClass: isPerClass
        )
        let countsBoxes = !boxesLast
        return [
            Kernel("suppression") { context in
                var kernel = kernel
                kernel.overlapThreshold = overlap(context) ?? kernel.overlapThreshold
                kernel.scoreThreshold = score(context) ?? kernel.scoreThreshold
                kernel.run(
                    batch: batch,
                    boxes: context.floats(0),
                    scores: context.floats(1),
                    count: count,
                    selectedBoxes: context.resultFloats(0),
                    selectedScores: context.resultFloats(1),
                    positions: context.resultIntegers(2),
                    counts: countsBoxes ? context.resultIntegers(3) : nil
                )
            }
        ]
    }

    /// Reads operand `index`, a single number that replaces an attribute; `nil` when kernels do not take its type.
    private func number(_ request: KernelRequest, _ index: Int) -> (@Sendable (KernelContext) -> Double?)? {
        guard let operand = request.operand(index) else { return { _ in nil } }
        switch operand.scalarType {
        case .float32: return { Double($0.floats(index)[0]) }
        case .int32: return { Double($0.integers(index)[0]) }
        default: return nil
        }
    }
}
