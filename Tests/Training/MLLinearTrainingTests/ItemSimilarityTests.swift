import MLFeatures
import MLKernels
import MLLinearTraining
import MLModels
import MLNumerics
import MLSpecification
import Testing

@Suite struct ItemSimilarityTests {
    private static func ratings(_ noise: inout Noise, users: Int, items: Int, events: Int) throws
        -> ItemSimilarities.Ratings
    {
        var (u, i, v) = ([Int32](), [Int32](), [Double]())
        for _ in 0..<events {
            u.append(Int32(noise.number() * Double(users) * 0.999))
            i.append(Int32(noise.number() * noise.number() * Double(items) * 0.999))
            v.append((noise.number() * 5).rounded())
        }
        return try ItemSimilarities.Ratings(users: u, items: i, values: v, userCount: users, itemCount: items)
    }

    /// Every pair computed in the plainest way.
    private static func similarity(
        _ a: [Int32: Double],
        _ b: [Int32: Double],
        _ measure: ItemSimilarities.Measure
    ) -> Double {
        let common = a.keys.filter { b[$0] != nil }
        switch measure {
        case .jaccard:
            let (left, right) = (Set(a.filter { $0.value != 0 }.keys), Set(b.filter { $0.value != 0 }.keys))
            let union = left.union(right).count
            return union == 0 ? 0 : Double(left.intersection(right).count) / Double(union)
        case .cosine:
            let size = a.values.reduce(0) { $0 + $1 * $1 } * b.values.reduce(0) { $0 + $1 * $1 }
            return size > 0 ? common.reduce(0) { $0 + a[$1, default: 0] * b[$1, default: 0] } / size.squareRoot() : 0
        case .pearson:
            func mean(_ x: [Int32: Double]) -> Double { x.values.reduce(0, +) / Double(x.count) }
            func spread(_ x: [Int32: Double]) -> Double {
                let m = mean(x)
                return x.values.reduce(0) { $0 + ($1 - m) * ($1 - m) } * Double(x.count) / Double(max(1, x.count - 1))
            }
            guard !a.isEmpty, !b.isEmpty, spread(a) * spread(b) > 0 else { return 0 }
            let sum = common.reduce(0) { $0 + (a[$1, default: 0] - mean(a)) * (b[$1, default: 0] - mean(b)) }
            return sum / (spread(a) * spread(b)).squareRoot()
        }
    }

    @Test(arguments: ItemSimilarities.Measure.allCases)
    func similaritiesAreThoseOfPairs(measure: ItemSimilarities.Measure) throws {
        var noise = Noise(state: 19)
        let ratings = try Self.ratings(&noise, users: 60, items: 25, events: 500)
        var lists = [[Int32: Double]](repeating: [:], count: 25)
        for (entry, item) in ratings.items.enumerated() {
            lists[Int(item)][ratings.users[entry]] = ratings.values[entry]
        }
        let found = try ItemSimilarities(of: ratings, measure: measure, threshold: 0.05, maxCount: 7)
        for item in 0..<25 {
            let all = (0..<25).filter { $0 != item }
                .map { (other: $0, similarity: Self.similarity(lists[item], lists[$0], measure)) }
                .filter { $0.similarity > 0.05 }
                .sorted { ($1.similarity, $0.other) < ($0.similarity, $1.other) }
            let list = found.neighbors[item]
            #expect(list.count == min(7, all.count))
            #expect(list.map(\.item) == list.map(\.item).sorted())
            for neighbor in list {
                let expected = Self.similarity(lists[item], lists[Int(neighbor.item)], measure)
                #expect(abs(neighbor.similarity - expected) <= 0x1p-24)
            }
            // No item left out is more similar than one kept.
            let least = list.map(\.similarity).min() ?? 0
            for pair in all where !list.contains(where: { Int($0.item) == pair.other }) {
                #expect(pair.similarity <= least + 0x1p-23)
            }
        }
    }

    @Test func threadsDoNotMatter() throws {
        var noise = Noise(state: 47)
        let ratings = try Self.ratings(&noise, users: 900, items: 400, events: 9000)
        for measure in ItemSimilarities.Measure.allCases {
            var found: [ItemSimilarities] = []
            for threads in [1, 3] {
                Workers.limit(to: threads)
                defer { Workers.limit(to: 0) }
                found.append(try ItemSimilarities(of: ratings, measure: measure))
            }
            #expect(found[0] == found[1])
        }
    }

    /// Core ML's model gives the items and scores that the trained one gives.
    @Test(arguments: ItemSimilarities.Measure.allCases)
    func specificationRecommendsTheSame(measure: ItemSimilarities.Measure) throws {
        var noise = Noise(state: 97)
        let ratings = try Self.ratings(&noise, users: 80, items: 30, events: 700)
        let found = try ItemSimilarities(of: ratings, measure: measure, maxCount: 5)
        var parameters = found.parameters
        parameters.itemInt64Ids.vector = (0..<30).map { Int64($0) * 10 }
        parameters.itemInputFeatureName = "items"
        parameters.numRecommendationsInputFeatureName = "k"
        parameters.recommendedItemListOutputFeatureName = "recommendations"
        parameters.recommendedItemScoreOutputFeatureName = "scores"
        var description = SpecModelDescription()
        var (items, count) = (SpecFeatureDescription(), SpecFeatureDescription())
        items.name = "items"
        items.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        count.name = "k"
        count.type.int64Type = SpecInt64FeatureType()
        description.input = [items, count]
        var (list, scores) = (SpecFeatureDescription(), SpecFeatureDescription())
        list.name = "recommendations"
        list.type.sequenceType.int64Type = SpecInt64FeatureType()
        scores.name = "scores"
        scores.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        description.output = [list, scores]
        let engine = try ItemSimilarityRecommender(parameters, description)
        for user in 0..<80 {
            var rated: [Int: Double] = [:]
            for (entry, owner) in ratings.users.enumerated() where Int(owner) == user {
                rated[Int(ratings.items[entry])] = ratings.values[entry]
            }
            let own = rated.sorted { $0.key < $1.key }.map { (item: $0.key, rating: $0.value) }
            let values = found.scores(own)
            let best = ItemSimilarities.best(values, 6) { rated[$0] == nil }
            let keys = [Int64: Double](uniqueKeysWithValues: own.map { (Int64($0.item) * 10, $0.rating) })
            let answer = try engine.prediction(
                from: ["items": .dictionary(.integers(keys)), "k": .int64(6)],
                backings: [:],
                state: nil
            )
            guard case .sequence(.integers(let ids))? = answer["recommendations"],
                case .dictionary(.integers(let given))? = answer["scores"]
            else {
                Issue.record("no answer")
                continue
            }
            #expect(ids == best.map { Int64($0) * 10 })
            #expect(best.allSatisfy { given[Int64($0) * 10] == values[$0] })
        }
    }

    @Test func unusableInputIsNamed() throws {
        typealias Ratings = ItemSimilarities.Ratings
        func message(_ body: () throws(ModelError) -> Void) -> String {
            do { try body() } catch { return error.description }
            return ""
        }
        func rate(_ users: [Int32], _ items: [Int32], _ values: [Double]) -> String {
            message { () throws(ModelError) in
                _ = try Ratings(users: users, items: items, values: values, userCount: 2, itemCount: 2)
            }
        }
        #expect(rate([0, 1], [0, 1], [1, 1]).isEmpty)
        #expect(rate([], [], []).contains("no ratings"))
        #expect(rate([0], [0, 1], [1]).contains("1 users, 2 items"))
        #expect(rate([0, 2], [0, 1], [1, 1]).contains("user 2 of 2"))
        #expect(rate([0, 1], [0, -1], [1, 1]).contains("item -1 of 2"))
        #expect(rate([0, 1], [0, 1], [1, .nan]).contains("rating 1 is nan"))
        let ratings = try Ratings(users: [0, 0], items: [0, 1], values: [1, 1], userCount: 1, itemCount: 3)
        let none = message { () throws(ModelError) in
            _ = try ItemSimilarities(of: ratings, measure: .cosine, maxCount: 0)
        }
        #expect(none.contains("maxCount is 0"))
        let unbounded = message { () throws(ModelError) in
            _ = try ItemSimilarities(of: ratings, measure: .cosine, threshold: .nan)
        }
        #expect(unbounded.contains("threshold is nan"))
        #expect(throws: ModelError.self) {
            try ItemSimilarities(of: ratings, measure: .cosine, isCancelled: { true })
        }
        // An item that nobody chose has no neighbours, and one user makes two items alike.
        let found = try ItemSimilarities(of: ratings, measure: .jaccard)
        #expect(found.neighbors[2].isEmpty && found.neighbors[0] == [.init(item: 1, similarity: 1)])
    }
}
