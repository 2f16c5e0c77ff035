package import MLFeatures
package import MLNumerics
package import MLSpecification

/// A k-nearest-neighbours classifier, with uniform or inverse-distance weights.
///
/// The label has the most of the `k` nearest examples, or the greatest sum of 1 / squared distance; an example at
/// distance 0 then outvotes all others. In a tie the label that was inserted first wins; without examples the default
/// label is the answer.
package struct NearestNeighborsClassifier: ColumnEngine {
    package let interface: SpecModelDescription
    /// The examples.
    package private(set) var index: NeighborIndex
    /// The label of each example.
    package private(set) var labels: LabelList
    package let defaultLabel: FeatureData?
    /// The number of neighbours that vote.
    package let numberOfNeighbors: Int
    private let weighsByDistance: Bool
    private let input: VectorInput
    /// The distinct labels in the order of insertion, and for each example the index of its label among them.
    private var distinct: LabelList
    private var positions: [Int]
    private let specification: SpecKNearestNeighborsClassifier

    /// Reads the points, labels and settings of a model.
    ///
    /// - Parameters:
    ///   - parameters: The classifier of the specification.
    ///   - interface: The model's interface.
    ///   - numberOfNeighbors: Replaces the model's number of neighbors; must be one of those that the model allows.
    /// - Throws: `.invalidModel` for a specification with missing or contradictory parts, and for a number that is not
    ///   allowed.
    package init(
        _ parameters: SpecKNearestNeighborsClassifier,
        _ interface: SpecModelDescription,
        numberOfNeighbors: Int64? = nil
    ) throws(ModelError) {
        self.interface = interface
        let source = parameters.nearestNeighborsIndex
        let dimensions = Int(source.numberOfDimensions)
        guard dimensions > 0 else {
            throw ModelError(.invalidModel, "the points of the classifier have \(dimensions) dimensions")
        }
        var leafSize: Int?
        switch source.indexType {
        case .linearIndex?: break
        case .singleKdTreeIndex(let tree)?:
            guard tree.leafSize > 0 else {
                throw ModelError(.invalidModel, "the leaf size of the kd-tree is \(tree.leafSize)")
            }
            leafSize = Int(tree.leafSize)
        case nil: throw ModelError(.invalidModel, "the classifier has no index type")
        }
        guard case .squaredEuclideanDistance? = source.distanceFunction else {
            throw ModelError(.invalidModel, "the classifier has no distance function")
        }
        switch parameters.weightingScheme {
        case .uniformWeighting?: weighsByDistance = false
        case .inverseDistanceWeighting?: weighsByDistance = true
        case nil: throw ModelError(.invalidModel, "the classifier has no weighting scheme")
        }
        let neighbors = try parameters.numberOfNeighbors.value(numberOfNeighbors, for: "numberOfNeighbors")
        guard neighbors > 0 else {
            throw ModelError(.invalidModel, "numberOfNeighbors is \(neighbors); it must be at least 1")
        }
        self.numberOfNeighbors = Int(clamping: neighbors)
        switch (parameters.classLabels, parameters.defaultClassLabel) {
        case (.stringClassLabels(let list)?, nil): (labels, defaultLabel) = (.strings(list.vector), nil)
        case (.int64ClassLabels(let list)?, nil): (labels, defaultLabel) = (.integers(list.vector), nil)
        case (.stringClassLabels(let list)?, .defaultStringLabel(let label)?):
            (labels, defaultLabel) = (.strings(list.vector), .string(label))
        case (.int64ClassLabels(let list)?, .defaultInt64Label(let label)?):
            (labels, defaultLabel) = (.integers(list.vector), .int64(label))
        case (nil, .defaultStringLabel(let label)?): (labels, defaultLabel) = (.strings([]), .string(label))
        case (nil, .defaultInt64Label(let label)?): (labels, defaultLabel) = (.integers([]), .int64(label))
        case (nil, nil): throw ModelError(.invalidModel, "the classifier has neither class labels nor a default label")
        case (_?, _?): throw ModelError(.invalidModel, "the default label and the class labels have different types")
        }
        guard labels.count == source.floatSamples.count else {
            throw ModelError(
                .invalidModel,
                "there are \(labels.count) class labels for \(source.floatSamples.count) points"
            )
        }
        guard labels.count > 0 || defaultLabel != nil else {
            throw ModelError(.invalidModel, "a classifier without points needs a default label")
        }
        index = NeighborIndex(dimensions: dimensions, leafSize: leafSize)
        index.append(try Self.points(source.floatSamples, dimensions: dimensions))
        input = try VectorInput(interface, width: dimensions)
        var remaining = parameters
        remaining.clearNearestNeighborsIndex()
        remaining.nearestNeighborsIndex.numberOfDimensions = source.numberOfDimensions
        remaining.nearestNeighborsIndex.indexType = source.indexType
        remaining.nearestNeighborsIndex.distanceFunction = source.distanceFunction
        specification = remaining
        (distinct, positions) = Self.distinct(labels)
        // Checks that the interface has a label of the right type, which every prediction needs.
        _ = try ClassOutput(labels.count > 0 ? distinct : defaultLabel.map(LabelList.init) ?? distinct, interface)
    }

    /// The points of a specification, one after the other; all must have the index's dimensions and finite values.
    private static func points(_ samples: [SpecFloatVector], dimensions: Int) throws(ModelError) -> [Float] {
        var values: [Float] = []
        values.reserveCapacity(samples.count * dimensions)
        for (position, sample) in samples.enumerated() {
            guard sample.vector.count == dimensions else {
                throw ModelError(
                    .invalidModel,
                    "point \(position) has \(sample.vector.count) values, but the points have \(dimensions) dimensions"
                )
            }
            guard sample.vector.allSatisfy(\.isFinite) else {
                throw ModelError(.invalidModel, "point \(position) holds values that are not finite numbers")
            }
            values += sample.vector
        }
        return values
    }

    /// The points of examples, in rows of the index's dimensions.
    package func points(of batch: FeatureBatch) throws(ModelError) -> [Float] {
        try input.matrix(batch).withElements(of: Double.self) { $0.map { Float($0) } }
    }

    /// The classifier with more examples: points in rows of the index's dimensions, and a label for each.
    package func appending(_ points: [Float], labels more: LabelList) throws(ModelError) -> NearestNeighborsClassifier {
        guard points.count == more.count * index.dimensions else {
            throw ModelError(
                .invalidInput,
                "\(more.count) labels were given for \(points.count) values; "
                    + "the classifier takes \(index.dimensions) values for each"
            )
        }
        guard points.allSatisfy(\.isFinite) else {
            throw ModelError(.invalidInput, "the examples hold values that are not finite numbers")
        }
        var copy = self
        switch (labels, more) {
        case (.strings(let old), .strings(let new)): copy.labels = .strings(old + new)
        case (.integers(let old), .integers(let new)): copy.labels = .integers(old + new)
        default: throw ModelError(.invalidInput, "the labels have a different type than the classifier's")
        }
        copy.index.append(points)
        (copy.distinct, copy.positions) = Self.distinct(copy.labels)
        return copy
    }

    /// The classifier in the specification's form.
    package var parameters: SpecKNearestNeighborsClassifier {
        var result = specification
        result.nearestNeighborsIndex.floatSamples = (0..<index.count).map { position in
            var vector = SpecFloatVector()
            vector.vector = Array(index.points[position * index.dimensions..<(position + 1) * index.dimensions])
            return vector
        }
        switch labels {
        case .strings(let values): result.stringClassLabels.vector = values
        case .integers(let values): result.int64ClassLabels.vector = values
        }
        return result
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let queries = try input.matrix(batch).values
        guard queries.allSatisfy(\.isFinite) else {
            throw ModelError(.invalidInput, "the inputs hold values that are not finite numbers; impute them first")
        }
        guard index.count > 0 else { return try defaults(batch.count) }
        let found = index.neighbors(of: queries, k: numberOfNeighbors)
        var scores = [Double](repeating: 0, count: batch.count * distinct.count)
        for (row, neighbors) in found.enumerated() {
            let start = row * distinct.count
            let isExact = weighsByDistance && neighbors.first?.distance == 0
            // Relative to the nearest, so that no sum overflows.
            let unit = neighbors.first?.distance ?? 1
            var total = 0.0
            for neighbor in neighbors {
                if isExact, neighbor.distance > 0 { break }
                let vote = weighsByDistance && !isExact ? unit / neighbor.distance : 1
                scores[start + positions[neighbor.index]] += vote
                total += vote
            }
            for position in start..<start + distinct.count { scores[position] /= total }
        }
        return try ClassOutput(distinct, interface).columns(scores)
    }

    /// The prediction of a classifier without examples.
    private func defaults(_ count: Int) throws(ModelError) -> [String: FeatureColumn] {
        guard let defaultLabel else {
            throw ModelError(.invalidModel, "a classifier without points needs a default label")
        }
        var columns = try ClassOutput(LabelList(defaultLabel), interface)
            .columns([Double](repeating: 0, count: count))
        let name = interface.predictedProbabilitiesName
        if !name.isEmpty, case .scores? = columns[name] {
            let none: FeatureDictionary = if case .string = defaultLabel { .strings([:]) } else { .integers([:]) }
            columns[name] = .values([FeatureData](repeating: .dictionary(none), count: count))
        }
        return columns
    }

    private static func distinct(_ labels: LabelList) -> (LabelList, [Int]) {
        func collect<Label: Hashable>(_ labels: [Label]) -> ([Label], [Int]) {
            var known: [Label: Int] = [:]
            var distinct: [Label] = []
            let positions = labels.map { label in
                if let position = known[label] { return position }
                known[label] = distinct.count
                distinct.append(label)
                return distinct.count - 1
            }
            return (distinct, positions)
        }
        switch labels {
        case .strings(let values):
            let (distinct, positions) = collect(values)
            return (.strings(distinct), positions)
        case .integers(let values):
            let (distinct, positions) = collect(values)
            return (.integers(distinct), positions)
        }
    }
}

extension LabelList {
    /// A list with one label.
    fileprivate init(_ label: FeatureData) {
        if case .int64(let value) = label {
            self = .integers([value])
        } else if case .string(let text) = label {
            self = .strings([text])
        } else {
            self = .strings([])
        }
    }
}
