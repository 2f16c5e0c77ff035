import MLKernels
package import MLNumerics
package import MLSpecification

/// Item-to-item similarities: the most similar items of every item, computed from users' choices or ratings.
///
/// The score of an item is a sum over those of its neighbours that a user chose, weighted by their similarities.
/// Similarity measures and neighbour lists are those of Turi Create's item similarity recommender (similarities.hpp):
/// similarities are rounded to 2⁻²⁴, and an item keeps the highest ones above the threshold, in a tie the first items.
package struct ItemSimilarities: Hashable, Sendable {
    /// The similarity measure; U(i) are the users of item i, r their ratings.
    package enum Measure: String, Hashable, Sendable, CaseIterable {
        /// |U(i) ∩ U(j)| / |U(i) ∪ U(j)|, of ratings that are not 0.
        case jaccard
        /// Σ r(i) r(j) / √(Σ r(i)² Σ r(j)²).
        case cosine
        /// Σ over common users of the products of deviations from the items' means, divided by √(v(i) v(j)), where v is
        /// the sum of an item's squared deviations times n / (n - 1) for n ratings.
        case pearson
    }

    package struct Neighbor: Hashable, Sendable {
        package var item: Int32
        package var similarity: Double

        package init(item: Int32, similarity: Double) {
            self.item = item
            self.similarity = similarity
        }
    }

    /// The users' ratings: entry e is the rating `values[e]` of `items[e]` by `users[e]`.
    ///
    /// When a user rates an item more than once, the last rating counts.
    package struct Ratings: Sendable {
        package var users: [Int32]
        package var items: [Int32]
        package var values: [Double]
        package var userCount: Int
        package var itemCount: Int

        /// - Throws: `.invalidInput` when lengths differ, numbers of users or items are out of range, or a rating is
        ///   not finite.
        package init(
            users: [Int32],
            items: [Int32],
            values: [Double],
            userCount: Int,
            itemCount: Int
        ) throws(ModelError) {
            guard users.count == items.count, users.count == values.count else {
                throw ModelError(
                    .invalidInput,
                    "there are \(users.count) users, \(items.count) items and \(values.count) ratings"
                )
            }
            guard !users.isEmpty else { throw ModelError(.invalidInput, "there are no ratings to learn from") }
            for entry in users.indices {
                guard users[entry] >= 0, Int(users[entry]) < userCount, items[entry] >= 0, Int(items[entry]) < itemCount
                else {
                    throw ModelError(
                        .invalidInput,
                        "rating \(entry) is of user \(users[entry]) of \(userCount) and item \(items[entry]) of \(itemCount)"
                    )
                }
                guard values[entry].isFinite else {
                    throw ModelError(.invalidInput, "rating \(entry) is \(values[entry]); remove the row")
                }
            }
            self.users = users
            self.items = items
            self.values = values
            self.userCount = userCount
            self.itemCount = itemCount
        }
    }

    /// The most similar items of every item, ascending by index.
    package let neighbors: [[Neighbor]]
    /// For every item the items that have it as a neighbour, ascending by index: those that it recommends.
    package let influences: [[Neighbor]]
    /// For every item the baseline that is subtracted from its ratings: the mean for Pearson's measure, otherwise 0.
    package let shifts: [Double]

    package var itemCount: Int { neighbors.count }

    /// Takes similarities that were computed elsewhere; each item's neighbours are sorted by index.
    package init(neighbors: [[Neighbor]], shifts: [Double]) {
        precondition(neighbors.count == shifts.count)
        let sorted = neighbors.map { list in list.sorted { $0.item < $1.item } }
        self.neighbors = sorted
        influences = Self.transposed(sorted)
        self.shifts = shifts
    }

    private static func transposed(_ neighbors: [[Neighbor]]) -> [[Neighbor]] {
        var result = [[Neighbor]](repeating: [], count: neighbors.count)
        for (item, list) in neighbors.enumerated() {
            for neighbor in list {
                result[Int(neighbor.item)].append(Neighbor(item: Int32(item), similarity: neighbor.similarity))
            }
        }
        return result
    }

    /// Computes the similarities.
    ///
    /// - Parameters:
    ///   - ratings: The users' ratings.
    ///   - measure: The measure of similarity.
    ///   - threshold: Similarities up to this are left out.
    ///   - maxCount: The maximum number of neighbours of an item.
    ///   - isCancelled: Called now and then, from any thread.
    /// - Throws: `.invalidInput` for settings out of range; `.cancelled`.
    package init(
        of ratings: Ratings,
        measure: Measure,
        threshold: Double = 0.001,
        maxCount: Int = 64,
        isCancelled: @Sendable () -> Bool = { false }
    ) throws(ModelError) {
        guard threshold.isFinite else {
            throw ModelError(.invalidInput, "threshold is \(threshold); it must be a number")
        }
        guard maxCount > 0 else { throw ModelError(.invalidInput, "maxCount is \(maxCount); it must be 1 or more") }
        let users = RatingLists(ratings.users, ratings.items, ratings.values, count: ratings.userCount)
        var byUser = users
        let items = users.transposed(count: ratings.itemCount)
        var shifts = [Double](repeating: 0, count: ratings.itemCount)
        var sizes = [Double](repeating: 0, count: ratings.itemCount)
        for item in 0..<ratings.itemCount {
            let own = items.values[items.starts[item]..<items.starts[item + 1]]
            switch measure {
            case .jaccard: sizes[item] = own.reduce(0) { $0 + ($1 == 0 ? 0 : 1) }
            case .cosine: sizes[item] = own.reduce(0) { $0 + $1 * $1 }
            case .pearson:
                let mean = own.reduce(0, +) / Double(Swift.max(own.count, 1))
                let squares = own.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
                shifts[item] = mean
                sizes[item] = squares * Double(own.count) / Double(Swift.max(own.count - 1, 1))
            }
        }
        // The factors of the products: 1 for ratings other than 0, the rating, or its deviation from the mean.
        var byItem = items
        byItem.values.withUnsafeMutableBufferPointer { values in
            for item in 0..<ratings.itemCount {
                for entry in items.starts[item]..<items.starts[item + 1] {
                    values[entry] = Self.factor(values[entry], measure, shifts[item])
                }
            }
        }
        for entry in byUser.indices.indices {
            byUser.values[entry] = Self.factor(byUser.values[entry], measure, shifts[Int(byUser.indices[entry])])
        }
        let search = Search(
            byItem: byItem,
            byUser: byUser,
            sizes: sizes,
            measure: measure,
            threshold: threshold,
            maxCount: maxCount
        )
        guard let neighbors = search.run(isCancelled) else {
            throw ModelError(.cancelled, "the search for similar items was cancelled")
        }
        self.neighbors = neighbors
        influences = Self.transposed(neighbors)
        self.shifts = shifts
    }

    private static func factor(_ rating: Double, _ measure: Measure, _ mean: Double) -> Double {
        switch measure {
        case .jaccard: rating == 0 ? 0 : 1
        case .cosine: rating
        case .pearson: rating - mean
        }
    }

    /// The score of every item for a user with the given ratings, ascending by item: Σ similarity · (rating - shift).
    ///
    /// Terms are added in the order of the rated items, as in Core ML's model, so that the results are identical.
    package func scores(_ rated: [(item: Int, rating: Double)]) -> [Double] {
        var scores = [Double](repeating: 0, count: itemCount)
        for (item, rating) in rated {
            for neighbor in influences[item] {
                let other = Int(neighbor.item)
                scores[other] += neighbor.similarity * (rating - shifts[other])
            }
        }
        return scores
    }

    /// The items with the highest scores; in a tie the first items win.
    package static func best(_ scores: [Double], _ count: Int, where isAllowed: (Int) -> Bool) -> [Int] {
        var items: [Int] = []
        guard count > 0 else { return items }
        if count > 256 {
            items = scores.indices.filter(isAllowed)
            items.sort { (scores[$1], $0) < (scores[$0], $1) }
            return Array(items.prefix(count))
        }
        items.reserveCapacity(count + 1)
        for item in scores.indices {
            let score = scores[item]
            if items.count == count, scores[items[count - 1]] >= score { continue }
            guard isAllowed(item) else { continue }
            var position = items.count
            while position > 0, scores[items[position - 1]] < score { position -= 1 }
            items.insert(item, at: position)
            if items.count > count { items.removeLast() }
        }
        return items
    }

    /// The similarities in a model file's form; the caller adds item ids and feature names.
    package var parameters: SpecItemSimilarityRecommender {
        var result = SpecItemSimilarityRecommender()
        for (item, list) in influences.enumerated() {
            var entry = SpecItemSimilarityRecommender.SimilarItems()
            entry.itemID = UInt64(item)
            entry.itemScoreAdjustment = shifts[item]
            entry.similarItemList = list.map { neighbor in
                var connected = SpecItemSimilarityRecommender.ConnectedItem()
                connected.itemID = UInt64(neighbor.item)
                connected.similarityScore = neighbor.similarity
                return connected
            }
            result.itemItemSimilarities.append(entry)
        }
        return result
    }
}

/// Ratings grouped by user or by item: list l holds the entries `starts[l]..<starts[l + 1]`, ascending by the other
/// index.
private struct RatingLists: Sendable {
    var starts: [Int]
    var indices: [Int32]
    var values: [Double]

    private init(starts: [Int], indices: [Int32], values: [Double]) {
        (self.starts, self.indices, self.values) = (starts, indices, values)
    }

    /// Among entries for the same pair the last one is kept.
    init(_ owners: [Int32], _ others: [Int32], _ values: [Double], count: Int) {
        let order = owners.indices.sorted { (owners[$0], others[$0], $0) < (owners[$1], others[$1], $1) }
        var result = Self(starts: [Int](repeating: 0, count: count + 1), indices: [], values: [])
        for (position, entry) in order.enumerated() {
            if position + 1 < order.count, owners[order[position + 1]] == owners[entry],
                others[order[position + 1]] == others[entry]
            {
                continue
            }
            result.starts[Int(owners[entry]) + 1] += 1
            result.indices.append(others[entry])
            result.values.append(values[entry])
        }
        for index in 0..<count { result.starts[index + 1] += result.starts[index] }
        self = result
    }

    func transposed(count: Int) -> Self {
        let transposed = LinearTiles.Compressed(starts: starts, indices: indices, values: values).transposed(
            count: count
        )
        return Self(starts: transposed.starts, indices: transposed.indices, values: transposed.values)
    }
}

extension ItemSimilarities {
    /// Finds the neighbours of every item.
    ///
    /// Each item's row is computed by one thread, so the number of threads does not affect the results.
    private struct Search {
        let byItem: RatingLists
        let byUser: RatingLists
        let sizes: [Double]
        let measure: Measure
        let threshold: Double
        let maxCount: Int

        /// One worker's sums, by item; all 0 between items.
        private final class Scratch {
            var sums: [Double]
            var isTouched: [Bool]
            var touched: [Int32] = []

            init(_ count: Int) {
                sums = [Double](repeating: 0, count: count)
                isTouched = [Bool](repeating: false, count: count)
            }
        }

        func run(_ isCancelled: @Sendable () -> Bool) -> [[Neighbor]]? {
            let count = sizes.count
            var result = [[Neighbor]](repeating: [], count: count)
            let block = 32
            var isStopped = false
            result.withUnsafeMutableBufferPointer { result in
                let result = result
                var scratches = [Scratch?](repeating: nil, count: Workers.count)
                scratches.withUnsafeMutableBufferPointer { scratches in
                    let scratches = scratches
                    // Works in groups of blocks, and checks for cancellation between them.
                    var first = 0
                    let step = block * 64
                    while first < count, !isStopped {
                        let last = Swift.min(count, first + step)
                        Workers.parallelFor((last - first + block - 1) / block) { part, worker in
                            let scratch = scratches[worker] ?? Scratch(count)
                            scratches[worker] = scratch
                            let start = first + part * block
                            for item in start..<Swift.min(last, start + block) {
                                result[item] = neighbors(of: item, scratch)
                            }
                        }
                        first = last
                        isStopped = isCancelled()
                    }
                }
            }
            return isStopped ? nil : result
        }

        private func neighbors(of item: Int, _ scratch: Scratch) -> [Neighbor] {
            for entry in byItem.starts[item]..<byItem.starts[item + 1] {
                let (user, own) = (Int(byItem.indices[entry]), byItem.values[entry])
                for position in byUser.starts[user]..<byUser.starts[user + 1] {
                    let other = Int(byUser.indices[position])
                    if !scratch.isTouched[other] {
                        scratch.isTouched[other] = true
                        scratch.touched.append(Int32(other))
                    }
                    scratch.sums[other] += own * byUser.values[position]
                }
            }
            var found: [Neighbor] = []
            for other in scratch.touched {
                let position = Int(other)
                let similarity = similarity(scratch.sums[position], sizes[item], sizes[position])
                if position != item, similarity > threshold {
                    found.append(Neighbor(item: other, similarity: similarity))
                }
                scratch.sums[position] = 0
                scratch.isTouched[position] = false
            }
            scratch.touched.removeAll(keepingCapacity: true)
            if found.count > maxCount {
                found.sort { ($1.similarity, $0.item) < ($0.similarity, $1.item) }
                found.removeLast(found.count - maxCount)
            }
            found.sort { $0.item < $1.item }
            return found
        }

        private func similarity(_ common: Double, _ own: Double, _ other: Double) -> Double {
            let value: Double
            switch measure {
            case .jaccard: value = own > 0 && other > 0 ? common / (own + other - common) : 0
            case .cosine, .pearson: value = own * other > 0 ? common / (own * other).squareRoot() : 0
            }
            let minimum = measure == .jaccard ? 0.0 : -1
            return Swift.max(minimum, Swift.min(1, (value * 0x1p24).rounded(.toNearestOrAwayFromZero) * 0x1p-24))
        }
    }
}
