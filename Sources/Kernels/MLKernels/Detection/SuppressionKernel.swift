import CMLKernels

/// Non-maximum suppression of boxes given as centre x, centre y, width and height, with a score for each class.
package struct SuppressionKernel: Sendable {
    package var boxCount: Int
    package var classCount: Int
    /// True for `[4][boxes]` and `[classes][boxes]`, false for `[boxes][4]` and `[boxes][classes]`.
    package var boxesLast: Bool
    /// Boxes whose intersection over union with a selected one is greater are dropped.
    package var overlapThreshold: Double
    /// Boxes whose best score is not above this are dropped; `nil` keeps all.
    package var scoreThreshold: Double?
    /// Whether only boxes with the same best class suppress each other.
    package var isPerClass: Bool

    package init(
        boxCount: Int,
        classCount: Int,
        boxesLast: Bool,
        overlapThreshold: Double,
        scoreThreshold: Double?,
        isPerClass: Bool
    ) {
        self.boxCount = boxCount
        self.classCount = classCount
        self.boxesLast = boxesLast
        self.overlapThreshold = overlapThreshold
        self.scoreThreshold = scoreThreshold
        self.isPerClass = isPerClass
    }

    /// Writes the indices of at most `count` boxes to `positions`, best first, and returns their number; the best box
    /// is selected even when all are dropped.
    package func run(
        boxes: UnsafePointer<Float>,
        scores: UnsafePointer<Float>,
        count: Int,
        into positions: UnsafeMutablePointer<Int32>
    ) -> Int {
        var call = cml_suppression()
        call.boxes = boxCount
        call.classes = classCount
        call.box_step = boxesLast ? 1 : 4
        call.part_step = boxesLast ? boxCount : 1
        call.score_step = boxesLast ? 1 : classCount
        call.class_step = boxesLast ? boxCount : 1
        call.overlap = overlapThreshold
        call.has_threshold = scoreThreshold == nil ? 0 : 1
        call.threshold = scoreThreshold ?? 0
        call.per_class = isPerClass ? 1 : 0
        return cml_suppress(cml_isa_current(), &call, boxes, scores, count, positions)
    }

    /// Selects boxes in each item of a batch, and moves them and their scores to the front of the results; the rest of
    /// the results is 0.
    ///
    /// - Parameters:
    ///   - batch: The number of items.
    ///   - boxes: The boxes of all items.
    ///   - scores: The scores of all items.
    ///   - count: The maximum number of selected boxes of an item.
    ///   - selectedBoxes: The selected boxes of each item, `count` instead of `boxCount`.
    ///   - selectedScores: The scores of the selected boxes, `count` instead of `boxCount`.
    ///   - positions: The indices of the selected boxes [batch][count], then −1.
    ///   - counts: The number of selected boxes of each item; `nil` when it is not needed.
    package func run(
        batch: Int,
        boxes: UnsafePointer<Float>,
        scores: UnsafePointer<Float>,
        count: Int,
        selectedBoxes: UnsafeMutablePointer<Float>,
        selectedScores: UnsafeMutablePointer<Float>,
        positions: UnsafeMutablePointer<Int32>,
        counts: UnsafeMutablePointer<Int32>?
    ) {
        positions.update(repeating: -1, count: batch * count)
        for item in 0..<batch {
            let itemBoxes = boxes + item * boxCount * 4
            let itemScores = scores + item * boxCount * classCount
            let itemPositions = positions + item * count
            let found = run(boxes: itemBoxes, scores: itemScores, count: count, into: itemPositions)
            counts?[item] = Int32(found)
            let selected = UnsafeBufferPointer(start: itemPositions, count: found)
            copy(itemBoxes, selected, into: selectedBoxes + item * count * 4, count: count, width: 4)
            copy(
                itemScores,
                selected,
                into: selectedScores + item * count * classCount,
                count: count,
                width: classCount
            )
        }
    }

    /// The selected ones of the boxes' rows of `width` numbers, moved to the front of `count` rows.
    private func copy(
        _ source: UnsafePointer<Float>,
        _ selected: UnsafeBufferPointer<Int32>,
        into target: UnsafeMutablePointer<Float>,
        count: Int,
        width: Int
    ) {
        target.update(repeating: 0, count: count * width)
        for part in 0..<width {
            for (rank, box) in selected.enumerated() {
                let from = boxesLast ? part * boxCount + Int(box) : Int(box) * width + part
                target[boxesLast ? part * count + rank : rank * width + part] = source[from]
            }
        }
    }
}
