import MLKernels
import MLNumerics

/// An exact nearest-neighbour index by squared Euclidean distance.
///
/// Single-precision products find candidates with a bound on their error, double-precision distances decide. Equal
/// distances are ordered by insertion.
///
/// A value type: appending gives a new index that shares the packed blocks that it does not change.
package struct NeighborIndex: Sendable {
    /// A point that was found.
    package struct Neighbor: Sendable, Equatable {
        package var index: Int
        /// The squared Euclidean distance.
        package var distance: Double
    }

    /// The number of points in a packed block.
    private static let blockSize = 4096
    /// The number of queries that are processed together.
    private static let queryBlock = 32

    /// The number of elements in a point.
    package let dimensions: Int
    /// [count × dimensions].
    package private(set) var points: [Float] = []
    package var count: Int { dimensions == 0 ? 0 : points.count / dimensions }
    private var blocks: [Block] = []
    private var maximumNorm: Float = 0
    private var tree: KDTree?
    private let leafSize: Int?

    /// Packed points; score = q · p − ½ p², so the greatest score is the nearest point.
    private struct Block: Sendable {
        let weights: PackedWeights
        let halfSquares: [Float]
    }

    /// Creates an index without points.
    ///
    /// - Parameters:
    ///   - dimensions: The number of coordinates of a point.
    ///   - leafSize: The number of points in a leaf of a k-d tree, which is used where it is faster; `nil` for a flat
    ///     index.
    package init(dimensions: Int, leafSize: Int? = nil) {
        self.dimensions = dimensions
        self.leafSize = leafSize
    }

    /// The same index with more points, `dimensions` values each.
    package mutating func append(_ values: [Float]) {
        precondition(dimensions > 0 && values.count % dimensions == 0)
        guard !values.isEmpty else { return }
        points += values
        let whole = blocks.last.map { $0.halfSquares.count < Self.blockSize ? blocks.count - 1 : blocks.count } ?? 0
        blocks.removeSubrange(whole...)
        points.withUnsafeBufferPointer { points in
            for start in stride(from: whole * Self.blockSize, to: count, by: Self.blockSize) {
                let end = Swift.min(start + Self.blockSize, count)
                let halves = (start..<end).map { point in
                    var square: Float = 0
                    for index in point * dimensions..<(point + 1) * dimensions {
                        square += points[index] * points[index]
                    }
                    maximumNorm = Swift.max(maximumNorm, square.squareRoot())
                    return -square / 2
                }
                guard let address = points.baseAddress else { return }
                let weights = PackedWeights(
                    address + start * dimensions,
                    terms: dimensions,
                    columns: end - start,
                    layout: .columnsByTerms
                )
                blocks.append(Block(weights: weights, halfSquares: halves))
            }
        }
        if let leafSize, dimensions <= KDTree.maximumDimensionCount {
            tree = KDTree(points, dimensions: dimensions, leafSize: leafSize)
        }
    }

    /// The `k` nearest points (all, when there are fewer) of each query, nearest first.
    ///
    /// - Parameters:
    ///   - queries: [count × dimensions], all finite.
    ///   - k: The number of neighbors of each query.
    /// - Returns: The neighbors of each query.
    package func neighbors(of queries: [Double], k: Int) -> [[Neighbor]] {
        guard dimensions > 0 else { return [] }
        let total = queries.count / dimensions
        guard count > 0, k > 0 else { return [[Neighbor]](repeating: [], count: total) }
        var results = [[Neighbor]](repeating: [], count: total)
        results.withUnsafeMutableBufferPointer { results in
            // Each query has an entry of its own.
            nonisolated(unsafe) let results = results
            if let tree {
                inParallel(total, work: 40 * dimensions * k) { range in
                    for query in range {
                        let q = queries[query * dimensions..<(query + 1) * dimensions]
                        results[query] = tree.nearest(q, k: k, points: points)
                    }
                }
                return
            }
            let groups = (total + Self.queryBlock - 1) / Self.queryBlock
            if groups >= Workers.count {
                Workers.parallelFor(groups) { group, _ in
                    let range = group * Self.queryBlock..<Swift.min((group + 1) * Self.queryBlock, total)
                    let found = candidates(queries, range, k, blocks.indices)
                    for query in range {
                        results[query] = nearest(queries, query, k, found[query - range.lowerBound])
                    }
                }
                return
            }
            for group in 0..<groups {
                let range = group * Self.queryBlock..<Swift.min((group + 1) * Self.queryBlock, total)
                let parts = Swift.min(Workers.count, blocks.count)
                var found = [[[Int32]]](repeating: [], count: parts)
                found.withUnsafeMutableBufferPointer { found in
                    // Each part has an entry of its own.
                    nonisolated(unsafe) let found = found
                    Workers.parallelFor(parts) { part, _ in
                        let slice = part * blocks.count / parts..<(part + 1) * blocks.count / parts
                        found[part] = candidates(queries, range, k, slice)
                    }
                }
                for query in range {
                    results[query] = nearest(queries, query, k, found.flatMap { $0[query - range.lowerBound] })
                }
            }
        }
        return results
    }

    /// For each query of `range` the points of some blocks that may be among its `k` nearest.
    private func candidates(_ queries: [Double], _ range: Range<Int>, _ k: Int, _ slice: Range<Int>) -> [[Int32]] {
        let rows = range.count
        let values = queries[range.lowerBound * dimensions..<range.upperBound * dimensions].map { Float($0) }
        var lists = (0..<rows).map { row in
            var square: Float = 0
            for index in row * dimensions..<(row + 1) * dimensions { square += values[index] * values[index] }
            // Twice the error of a score: its terms, the rounding of the query, the order of summation.
            let unit = Float(dimensions + 16) * 0x1p-22
            let margin = unit * (square.squareRoot() * maximumNorm + maximumNorm * maximumNorm)
            return CandidateList(k: k, margin: margin)
        }
        let scores = UnsafeMutablePointer<Float>.allocate(capacity: rows * Self.blockSize)
        defer { scores.deallocate() }
        values.withUnsafeBufferPointer { values in
            guard let address = values.baseAddress else { return }
            for index in slice {
                let block = blocks[index]
                let columns = block.halfSquares.count
                block.halfSquares.withUnsafeBufferPointer {
                    MatMulKernel.multiply(
                        address,
                        rows: rows,
                        by: block.weights,
                        into: scores,
                        epilogue: Epilogue(bias: $0.baseAddress)
                    )
                }
                for row in 0..<rows {
                    let line = UnsafeBufferPointer(start: scores + row * columns, count: columns)
                    lists[row].add(line, from: Int32(index * Self.blockSize))
                }
            }
        }
        return lists.map { $0.indices() }
    }

    /// The nearest of the candidates, by their distances in double precision.
    private func nearest(_ queries: [Double], _ query: Int, _ k: Int, _ candidates: [Int32]) -> [Neighbor] {
        var found: [Neighbor] = []
        found.reserveCapacity(candidates.count)
        points.withUnsafeBufferPointer { points in
            queries.withUnsafeBufferPointer { queries in
                for candidate in candidates {
                    var distance = 0.0
                    let start = Int(candidate) * dimensions
                    for index in 0..<dimensions {
                        let difference = queries[query * dimensions + index] - Double(points[start + index])
                        distance += difference * difference
                    }
                    found.append(Neighbor(index: Int(candidate), distance: distance))
                }
            }
        }
        found.sort { ($0.distance, $0.index) < ($1.distance, $1.index) }
        return Array(found.prefix(k))
    }
}
