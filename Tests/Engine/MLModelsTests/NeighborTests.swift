import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import Testing

/// Nearest neighbours against sorting all distances.
struct NeighborTests {
    static func classifier(
        _ points: [[Float]],
        _ labels: [String],
        k: Int64,
        isTree: Bool = false,
        isWeighted: Bool = false,
        defaultLabel: String? = nil,
        dimensions: Int? = nil
    ) -> SpecModel {
        var parameters = SpecKNearestNeighborsClassifier()
        let dimensions = dimensions ?? points.first?.count ?? 1
        parameters.nearestNeighborsIndex.numberOfDimensions = Int32(dimensions)
        parameters.nearestNeighborsIndex.floatSamples = points.map { values in
            var vector = SpecFloatVector()
            vector.vector = values
            return vector
        }
        if isTree {
            parameters.nearestNeighborsIndex.singleKdTreeIndex.leafSize = 7
        } else {
            parameters.nearestNeighborsIndex.linearIndex = SpecLinearIndex()
        }
        parameters.nearestNeighborsIndex.squaredEuclideanDistance = SpecSquaredEuclideanDistance()
        parameters.numberOfNeighbors.defaultValue = k
        parameters.numberOfNeighbors.range.minValue = 1
        parameters.numberOfNeighbors.range.maxValue = 50
        parameters.stringClassLabels.vector = labels
        if let defaultLabel { parameters.defaultStringLabel = defaultLabel }
        if isWeighted {
            parameters.inverseDistanceWeighting = SpecInverseDistanceWeighting()
        } else {
            parameters.uniformWeighting = SpecUniformWeighting()
        }
        return model(
            [("x", .array([dimensions], .float32))],
            [("label", .string), ("votes", .dictionary())],
            predicts: "label",
            probabilities: "votes",
            .kNearestNeighborsClassifier(parameters)
        )
    }

    @Test(arguments: [1, 3, 17, 96], [false, true])
    func distancesAreExact(dimensions: Int, isTree: Bool) throws {
        var noise = Noise(state: UInt64(dimensions))
        // A coarse grid gives many equal distances; 5,000 points take two blocks.
        let points = (0..<5000).map { _ in (0..<dimensions).map { _ in Float(noise.index(7)) / 2 } }
        var index = NeighborIndex(dimensions: dimensions, leafSize: isTree ? 10 : nil)
        index.append(Array(points[..<4500].joined()))
        index.append(Array(points[4500...].joined()))
        #expect(index.count == 5000)
        for count in [1, 70] {
            let queries = (0..<count).map { _ in (0..<dimensions).map { _ in Double(noise.index(14)) / 4 } }
            let found = index.neighbors(of: queries.flatMap { $0 }, k: 9)
            for (query, neighbors) in zip(queries, found) {
                let all = points.enumerated().map { place, point in
                    (zip(query, point).reduce(0) { $0 + ($1.0 - Double($1.1)) * ($1.0 - Double($1.1)) }, place)
                }.sorted { $0 < $1 }
                #expect(neighbors.map(\.index) == all.prefix(9).map(\.1))
                #expect(neighbors.map(\.distance) == all.prefix(9).map(\.0))
            }
        }
    }

    /// Far from the origin float32 products say little about distances; the answer must not suffer.
    @Test func farFromTheOrigin() {
        var noise = Noise(state: 9)
        let points = (0..<2000).map { _ in (0..<20).map { _ in Float(10_000 + noise.number()) } }
        var index = NeighborIndex(dimensions: 20)
        index.append(Array(points.joined()))
        let query = (0..<20).map { _ in 10_000 + noise.number() }
        let all = points.enumerated().map { place, point in
            (zip(query, point).reduce(0) { $0 + ($1.0 - Double($1.1)) * ($1.0 - Double($1.1)) }, place)
        }.sorted { $0 < $1 }
        #expect(index.neighbors(of: query, k: 5)[0].map(\.index) == all.prefix(5).map(\.1))
    }

    @Test func votes() throws {
        let points: [[Float]] = [[0], [1], [2], [10]]
        let labels = ["a", "b", "b", "c"]
        func answer(_ x: Double, k: Int64, isWeighted: Bool) throws -> [String: FeatureData] {
            try engine(Self.classifier(points, labels, k: k, isWeighted: isWeighted)).prediction(from: ["x": array([x])]
            )
        }
        #expect(try answer(0.25, k: 3, isWeighted: false)["label"]?.text == "b")
        #expect(try answer(0.25, k: 3, isWeighted: true)["label"]?.text == "a")
        #expect(try answer(1, k: 3, isWeighted: true)["votes"]?.votes["b"] == 1)
        // Two labels with one vote each: the one that was inserted first.
        #expect(try answer(1.4, k: 2, isWeighted: false)["label"]?.text == "b")
        #expect(try answer(0.4, k: 2, isWeighted: false)["label"]?.text == "a")
        // More neighbours than points: all vote.
        #expect(try answer(9, k: 40, isWeighted: false)["votes"]?.votes["b"] == 0.5)
        let weights = [1 / 0.0625, 1 / 0.5625, 1 / 3.0625]
        let share = weights[0] / weights.reduce(0, +)
        #expect(isNear([try answer(0.25, k: 3, isWeighted: true)["votes"]?.votes["a"] ?? 0], [share]))
    }

    @Test func emptyAndAppended() throws {
        let spec = Self.classifier([], [], k: 3, defaultLabel: "unknown", dimensions: 2)
        let empty = try NearestNeighborsClassifier(spec.kNearestNeighborsClassifier, spec.description_p)
        let nothing = try empty.prediction(from: ["x": array([1, 2])])
        #expect(nothing["label"]?.text == "unknown")
        #expect(nothing["votes"]?.votes.isEmpty == true)
        let taught = try empty.appending([0, 0, 1, 1, 9, 9], labels: .strings(["low", "low", "high"]))
        #expect(try taught.prediction(from: ["x": array([0, 1])])["label"]?.text == "low")
        // A written classifier reads back as the same classifier.
        let again = try NearestNeighborsClassifier(taught.parameters, spec.description_p)
        #expect(again.labels == taught.labels && again.index.points == taught.index.points)
        #expect(empty.index.count == 0)
        #expect(
            message { () throws(ModelError) in try taught.appending([1], labels: .strings(["x"])) }.contains("2 values")
        )
        #expect(
            message { () throws(ModelError) in try taught.appending([1, 2], labels: .integers([1])) }.contains("type")
        )
    }

    @Test func parametersAndDamage() {
        let good = Self.classifier([[0], [1]], ["a", "b"], k: 1)
        func found(neighbors: Int64? = nil, _ change: (inout SpecKNearestNeighborsClassifier) -> Void) -> String {
            var parameters = good.kNearestNeighborsClassifier
            change(&parameters)
            return message { () throws(ModelError) in
                try NearestNeighborsClassifier(parameters, good.description_p, numberOfNeighbors: neighbors)
            }
        }
        #expect(found { _ in }.isEmpty)
        #expect(found(neighbors: 50) { _ in }.isEmpty)
        #expect(found(neighbors: 51) { _ in }.contains("1 … 50"))
        #expect(found { $0.numberOfNeighbors.defaultValue = 0 }.contains("1 … 50"))
        #expect(found { $0.nearestNeighborsIndex.floatSamples[1].vector = [1, 2] }.contains("point 1"))
        #expect(found { $0.nearestNeighborsIndex.floatSamples[1].vector = [.nan] }.contains("finite"))
        #expect(found { $0.nearestNeighborsIndex.numberOfDimensions = 0 }.contains("0 dimensions"))
        #expect(found { $0.stringClassLabels.vector.removeLast() }.contains("1 class labels for 2"))
        #expect(found { $0.nearestNeighborsIndex.indexType = nil }.contains("index type"))
        #expect(found { $0.nearestNeighborsIndex.singleKdTreeIndex.leafSize = 0 }.contains("leaf size"))
        #expect(found { $0.nearestNeighborsIndex.distanceFunction = nil }.contains("distance function"))
        #expect(found { $0.weightingScheme = nil }.contains("weighting"))
        #expect(found { $0.defaultInt64Label = 3 }.contains("different types"))
        let nowhere = message { () throws(ModelError) in try engine(good).prediction(from: ["x": array([.nan])]) }
        #expect(nowhere.contains("finite"))
    }
}
