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

    /// Writes the indices of at most `count` boxes to `places`, best first, and returns their number; the best box is
    /// selected even when all are dropped.
    package func run(
        boxes: UnsafePointer<Float>,
        scores: UnsafePointer<Float>,
        count: Int,
        into places: UnsafeMutablePointer<Int32>
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
        return cml_suppress(cml_isa_current(), &call, boxes, scores, count, places)
    }
}
