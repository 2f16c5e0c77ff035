import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct NonMaximumSuppressionTests {
    static let boxes = OperatorTrial.floats([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], [1, 4, 4])
    static let scores = OperatorTrial.floats([-3.5, 9.4, 2.3, 0.7], [1, 4, 1])

    @Test func picksTheBest() throws {
        let results = try OperatorTrial.program(
            NonMaximumSuppression.self,
            [
                "boxes": Self.boxes, "scores": Self.scores, "iou_threshold": OperatorTrial.float(0.2),
                "score_threshold": OperatorTrial.float(0.4), "max_boxes": OperatorTrial.int(2),
                "per_class_suppression": OperatorTrial.bool(true),
            ],
            opset: .iOS15
        )
        #expect(results[0].values == [1, 1, 1, 1, 2, 2, 2, 2])
        expectClose(results[1], [9.4, 2.3])
        #expect(results[2].values == [1, 2])
        #expect(results[3].values == [2])
    }

    @Test func boxesLast() throws {
        let results = try OperatorTrial.program(
            NonMaximumSuppression.self,
            [
                "boxes": Self.boxes.permuted([0, 2, 1]),
                "scores": Self.scores.permuted([0, 2, 1]), "iou_threshold": OperatorTrial.float(0.2),
                "max_boxes": OperatorTrial.int(3),
            ]
        )
        #expect(results.count == 3)
        #expect(results[0].values == [1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
        #expect(results[2].values == [1, 2, 0])
    }

    /// Two boxes that share a fifth of their union: the newer form drops one at a threshold of 0.2, the older keeps both.
    @Test(arguments: [(Opset.iOS15, [0.0, 1]), (.iOS17, [0, -1])]) func overlapOfTheThreshold(
        opset: Opset,
        places: [Double]
    ) throws {
        let order = opset >= .iOS17 ? [0, 2, 1] : [0, 1, 2]
        var arguments = [
            "boxes": OperatorTrial.floats([1.5, 2, 1, 2, 1, 1, 2, 2], [1, 2, 4]).permuted(order),
            "scores": OperatorTrial.floats([4, 2], [1, 2, 1]).permuted(order),
            "iou_threshold": OperatorTrial.float(0.2),
            "max_boxes": OperatorTrial.int(2),
        ]
        if opset < .iOS17 { arguments["score_threshold"] = OperatorTrial.float(0) }
        #expect(try OperatorTrial.program(NonMaximumSuppression.self, arguments, opset: opset)[2].values == places)
    }

    /// The kernel against plain evaluation: ties, boxes without extent, numbers that are none.
    @Test(arguments: [false, true], [false, true])
    func kernelAgrees(boxesLast: Bool, perClass: Bool) {
        var random = RandomTensors(seed: 3)
        for (boxes, classes, count) in [(1, 1, 3), (40, 1, 8), (150, 5, 40), (33, 3, 0), (20, 2, 30)] {
            for threshold in [nil, 0.1, 9] where boxesLast == (threshold == nil) {
                let op = NonMaximumSuppression(
                    overlapThreshold: 0.3,
                    scoreThreshold: threshold,
                    count: count,
                    isPerClass: perClass,
                    boxesLast: boxesLast
                )
                let places = random.tensor([2, boxes, 4], .int32, in: 0...9).values
                var ratings = random.tensor([2, boxes, classes], .int32, in: -6...6).values.map { $0 / 8 }
                ratings[0] = .nan
                let order = boxesLast ? [0, 2, 1] : [0, 1, 2]
                let problem = OperatorProblem(
                    "suppression",
                    op,
                    [
                        Tensor(values: places, scalarType: .float32, shape: [2, boxes, 4]).permuted(order),
                        Tensor(values: ratings, scalarType: .float32, shape: [2, boxes, classes]).permuted(order),
                    ],
                    tolerance: 0
                )
                #expect(problem.failures() == [], "\(boxes) boxes, \(classes) classes")
            }
        }
    }

    @Test func overlapsAndClasses() throws {
        // Two equal boxes of different classes, and one apart.
        let boxes = OperatorTrial.floats([1, 1, 2, 2, 1, 1, 2, 2, 9, 9, 1, 1], [1, 3, 4])
        let scores = OperatorTrial.floats([0.9, 0, 0, 0.8, 0.3, 0], [1, 3, 2])
        func picks(perClass: Bool, above threshold: Double) throws -> [Double] {
            let op = NonMaximumSuppression(
                overlapThreshold: 0.5,
                scoreThreshold: threshold,
                count: 4,
                isPerClass: perClass
            )
            return try OperatorTrial.reference(op, boxes, scores)[2].values
        }
        #expect(try picks(perClass: false, above: 0.1) == [0, 2, -1, -1])
        #expect(try picks(perClass: true, above: 0.1) == [0, 1, 2, -1])
        #expect(try picks(perClass: true, above: 0.5) == [0, 1, -1, -1])
        #expect(try picks(perClass: false, above: 5) == [0, -1, -1, -1])
    }

    @Test func layer() {
        let op = NonMaximumSuppression(overlapThreshold: 0.2, scoreThreshold: 0.4, count: 2, isPerClass: true)
        let problem = LayerProblem([Self.boxes, Self.scores], as: op) {
            $0.nonMaximumSuppression.iouThreshold = 0.2
            $0.nonMaximumSuppression.scoreThreshold = 0.4
            $0.nonMaximumSuppression.maxBoxes = 2
            $0.nonMaximumSuppression.perClassSuppression = true
        }
        #expect(problem.failures() == [])
    }
}
