/// The average precision of detections, as Turi Create and Create ML define it.
///
/// Detections of a label are taken by descending confidence. Each is compared with the object of the label in its
/// image that it overlaps most; it is right if the overlap is greater than the threshold and no detection before it
/// was right with this object. The average precision is the area under the curve of precision over recall, where the
/// precision at a recall is the greatest at this or a greater one.
package struct AveragePrecision: Sendable, Hashable {
    /// The thresholds of the overlap over which `varied` is the mean: 0.5, 0.55, …, 0.95.
    package static let thresholds = (0..<10).map { 0.5 + 0.05 * Double($0) }

    /// For each label the average precision at the overlap 0.5; `nil` for a label without objects.
    package private(set) var half: [Double?] = []
    /// For each label the mean of the average precisions at `thresholds`; `nil` for a label without objects.
    package private(set) var varied: [Double?] = []

    /// A detection.
    package struct Detection: Sendable, Hashable {
        package var object: DetectionObject
        package var confidence: Double

        package init(object: DetectionObject, confidence: Double) {
            self.object = object
            self.confidence = confidence
        }
    }

    /// An image's objects, and what was detected in it.
    package struct Image: Sendable, Hashable {
        package var objects: [DetectionObject]
        package var detections: [Detection]

        package init(objects: [DetectionObject], detections: [Detection]) {
            self.objects = objects
            self.detections = detections
        }
    }

    package init(_ images: [Image], labelCount: Int) {
        for label in 0..<labelCount {
            let precisions = Self.precisions(images, label)
            half.append(precisions?.first)
            varied.append(precisions.map { $0.reduce(0, +) / Double($0.count) })
        }
    }

    /// The means over the labels that have objects; 0 without any.
    package var meanHalf: Double { Self.mean(half) }
    package var meanVaried: Double { Self.mean(varied) }

    private static func mean(_ values: [Double?]) -> Double {
        let known = values.compactMap { $0 }
        return known.isEmpty ? 0 : known.reduce(0, +) / Double(known.count)
    }

    /// The average precision of a label at each threshold; `nil` if the label has no objects.
    private static func precisions(_ images: [Image], _ label: Int) -> [Double]? {
        let boxes = images.map { $0.objects.filter { $0.label == label }.map(\.box) }
        let count = boxes.reduce(0) { $0 + $1.count }
        guard count > 0 else { return nil }
        /// A detection's confidence, and the object that it overlaps most.
        var found: [(confidence: Double, image: Int, object: Int, overlap: Double)] = []
        for (image, detections) in images.map(\.detections).enumerated() {
            for detection in detections where detection.object.label == label {
                var (best, maximum) = (-1, 0.0)
                for (index, box) in boxes[image].enumerated() {
                    let overlap = box.overlap(detection.object.box)
                    if overlap > maximum { (best, maximum) = (index, overlap) }
                }
                found.append((detection.confidence, image, best, maximum))
            }
        }
        // Equal confidences stay in the order of the images.
        let order = found.indices.sorted { first, second in
            found[first].confidence == found[second].confidence
                ? first < second : found[first].confidence > found[second].confidence
        }
        return thresholds.map { threshold in
            var used = boxes.map { [Bool](repeating: false, count: $0.count) }
            var (precision, recall): ([Double], [Double]) = ([], [])
            var right = 0
            for (rank, index) in order.enumerated() {
                let detection = found[index]
                if detection.overlap > threshold, !used[detection.image][detection.object] {
                    used[detection.image][detection.object] = true
                    right += 1
                }
                precision.append(Double(right) / Double(rank + 1))
                recall.append(Double(right) / Double(count))
            }
            var (area, maximum) = (0.0, 0.0)
            for rank in precision.indices.reversed() {
                maximum = max(maximum, precision[rank])
                area += maximum * (recall[rank] - (rank > 0 ? recall[rank - 1] : 0))
            }
            return area
        }
    }
}
