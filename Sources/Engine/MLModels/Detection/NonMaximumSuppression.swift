package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Non-maximum suppression: drops boxes that overlap a box of higher confidence by more than one threshold, or whose
/// confidence is below another.
///
/// Confidences are [boxes, classes], coordinates [boxes, 4] (centre x, centre y, width, height). A box's confidence is
/// the greatest of its classes'; the remaining boxes are in descending order of it. Per class, only boxes with the same
/// most probable class suppress each other.
package struct NonMaximumSuppression: ModelEngine {
    package let interface: SpecModelDescription
    private let names: Names
    private let isPerClass: Bool
    private let overlapThreshold: Double
    private let confidenceThreshold: Double
    private let scalarType: ScalarType
    /// The number of rows that the outputs may have.
    private let rows: Rows

    private struct Names: Sendable {
        var confidence, coordinates: String
        var overlapThreshold, confidenceThreshold: String?
        var confidenceOutput, coordinatesOutput: String
    }

    private enum Rows: Sendable {
        case unlimited
        case within(ClosedRange<Int>)
        case oneOf([Int])

        /// The number of rows for `count` remaining boxes.
        func count(_ count: Int) -> Int {
            switch self {
            case .unlimited: count
            case .within(let range): Swift.min(Swift.max(count, range.lowerBound), range.upperBound)
            case .oneOf(let choices): choices.first { $0 >= count } ?? choices.last ?? count
            }
        }
    }

    package init(_ parameters: SpecNonMaximumSuppression, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        switch parameters.suppressionMethod {
        case .pickTop(let method)?: isPerClass = method.perClass
        case nil: isPerClass = false
        }
        func array(_ feature: SpecFeatureDescription) throws(ModelError) -> SpecArrayFeatureType {
            guard case .multiArrayType(let array)? = feature.type.type else { throw feature.mismatch("a multi-array") }
            return array
        }
        func threshold(_ name: String, for role: String) throws(ModelError) -> String? {
            if name.isEmpty { return nil }
            guard let feature = interface.input.first(where: { $0.name == name }) else { return nil }
            guard case .doubleType? = feature.type.type else { throw feature.mismatch("a number") }
            return name
        }
        _ = try array(interface.inputFeature(named: parameters.confidenceInputFeatureName, for: "confidence input"))
        _ = try array(interface.inputFeature(named: parameters.coordinatesInputFeatureName, for: "coordinates input"))
        let confidence = try array(
            interface.outputFeature(named: parameters.confidenceOutputFeatureName, for: "confidence output")
        )
        let coordinates = try array(
            interface.outputFeature(named: parameters.coordinatesOutputFeatureName, for: "coordinates output")
        )
        names = Names(
            confidence: parameters.confidenceInputFeatureName,
            coordinates: parameters.coordinatesInputFeatureName,
            overlapThreshold: try threshold(parameters.iouThresholdInputFeatureName, for: "overlap threshold"),
            confidenceThreshold: try threshold(
                parameters.confidenceThresholdInputFeatureName,
                for: "confidence threshold"
            ),
            confidenceOutput: parameters.confidenceOutputFeatureName,
            coordinatesOutput: parameters.coordinatesOutputFeatureName
        )
        scalarType = confidence.scalarType
        overlapThreshold = parameters.iouThreshold
        confidenceThreshold = parameters.confidenceThreshold
        try Self.check(overlap: overlapThreshold, confidence: confidenceThreshold, .invalidModel)
        rows = Self.rows(confidence) ?? Self.rows(coordinates) ?? .unlimited
    }

    private static func rows(_ array: SpecArrayFeatureType) -> Rows? {
        switch array.shapeFlexibility {
        case .shapeRange(let range)?:
            guard let first = range.sizeRanges.first else { return nil }
            let lower = Int(clamping: first.lowerBound)
            return .within(lower...(first.upperBound < 0 ? Int.max : Swift.max(Int(clamping: first.upperBound), lower)))
        case .enumeratedShapes(let choices)?:
            let counts = choices.shapes.compactMap { $0.shape.first.map { Int(clamping: $0) } }
            return counts.isEmpty ? nil : .oneOf(counts.sorted())
        case nil:
            guard let first = array.shape.first, first > 0 else { return nil }
            let count = Int(clamping: first)
            return .within(count...count)
        }
    }

    private static func check(overlap: Double, confidence: Double, _ code: ModelError.Code) throws(ModelError) {
        guard overlap >= 0, overlap <= 1 else {
            throw ModelError(code, "the overlap threshold is \(overlap); it must be from 0 to 1")
        }
        guard confidence >= 0 else {
            throw ModelError(code, "the confidence threshold is \(confidence); it must be at least 0")
        }
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        let confidence = try matrix(inputs, names.confidence)
        let coordinates = try matrix(inputs, names.coordinates)
        let count = confidence.shape[0]
        guard coordinates.shape[0] == count, coordinates.shape[1] == 4 || count == 0 else {
            throw ModelError(
                .invalidInput,
                "'\(names.confidence)' is \(confidence.shape) and '\(names.coordinates)' \(coordinates.shape); "
                    + "they have the same number of rows, and coordinates have 4 columns"
            )
        }
        let overlap = try number(inputs, names.overlapThreshold) ?? overlapThreshold
        let minimum = try number(inputs, names.confidenceThreshold) ?? confidenceThreshold
        try Self.check(overlap: overlap, confidence: minimum, .invalidInput)
        let classes = confidence.shape[1]
        let scores = confidence.values
        let boxes = coordinates.values
        let kept = keep(boxes, scores, classes, overlap: overlap, confidence: minimum)
        let total = rows.count(kept.count)
        guard total <= Swift.max(1 << 24, count) else {
            throw ModelError(.invalidModel, "the outputs are to have \(total) rows, which is too many")
        }
        var keptScores = [Double](repeating: 0, count: total * classes)
        var keptBoxes = [Double](repeating: 0, count: total * 4)
        for (row, box) in kept.prefix(total).enumerated() {
            for index in 0..<classes { keptScores[row * classes + index] = scores[box * classes + index] }
            for index in 0..<4 { keptBoxes[row * 4 + index] = boxes[box * 4 + index] }
        }
        return [
            names.confidenceOutput: .tensor(
                Tensor(values: keptScores, scalarType: scalarType, shape: [total, classes])
            ),
            names.coordinatesOutput: .tensor(Tensor(values: keptBoxes, scalarType: scalarType, shape: [total, 4])),
        ]
    }

    /// The remaining boxes, by descending confidence; in a tie the earlier first.
    private func keep(
        _ boxes: [Double],
        _ scores: [Double],
        _ classes: Int,
        overlap: Double,
        confidence: Double
    ) -> [Int] {
        guard classes > 0 else { return [] }
        var candidates: [(box: Int, score: Double, label: Int)] = []
        for box in 0..<boxes.count / 4 {
            var best = 0
            for label in 1..<Swift.max(classes, 1) where scores[box * classes + label] > scores[box * classes + best] {
                best = label
            }
            let score = scores[box * classes + best]
            if score >= confidence { candidates.append((box, score, best)) }
        }
        candidates.sort { ($1.score, $0.box) < ($0.score, $1.box) }
        var kept: [(box: Int, label: Int)] = []
        for candidate in candidates {
            let isSuppressed = kept.contains { other in
                (!isPerClass || other.label == candidate.label)
                    && Self.overlap(boxes, other.box, candidate.box) > overlap
            }
            if !isSuppressed { kept.append((candidate.box, candidate.label)) }
        }
        return kept.map(\.box)
    }

    /// The intersection over union of two boxes; 0 for boxes without area.
    private static func overlap(_ boxes: [Double], _ first: Int, _ second: Int) -> Double {
        func span(_ box: Int, _ axis: Int) -> (low: Double, high: Double) {
            let (centre, size) = (boxes[box * 4 + axis], boxes[box * 4 + 2 + axis])
            return (centre - size / 2, centre + size / 2)
        }
        var shared = 1.0
        for axis in 0..<2 {
            let (a, b) = (span(first, axis), span(second, axis))
            shared *= Swift.max(0, Swift.min(a.high, b.high) - Swift.max(a.low, b.low))
        }
        func area(_ box: Int) -> Double { Swift.max(boxes[box * 4 + 2], 0) * Swift.max(boxes[box * 4 + 3], 0) }
        let covered = area(first) + area(second) - shared
        return covered > 0 ? shared / covered : 0
    }

    private func number(_ inputs: [String: FeatureData], _ name: String?) throws(ModelError) -> Double? {
        guard let name, let value = inputs[name] else { return nil }
        switch value {
        case .double(let number): return number
        case .int64(let number): return Double(number)
        default: throw ModelError(.invalidInput, "the input '\(name)' is \(value.kind); the model takes a number")
        }
    }

    private func matrix(_ inputs: [String: FeatureData], _ name: String) throws(ModelError) -> Tensor {
        guard case .tensor(let tensor)? = inputs[name] else {
            throw ModelError(.invalidInput, "the input '\(name)' is missing or not a multi-array")
        }
        let leading = tensor.shape.dropLast(2)
        guard tensor.shape.count >= 2, leading.allSatisfy({ $0 == 1 }) else {
            throw ModelError(.invalidInput, "the input '\(name)' is \(tensor.shape); the model takes rows of boxes")
        }
        return tensor.reshaped(Array(tensor.shape.suffix(2)))
    }
}
