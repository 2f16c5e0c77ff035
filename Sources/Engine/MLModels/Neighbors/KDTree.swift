/// A k-d tree that splits the points at the median of their widest dimension.
struct KDTree: Sendable {
    /// Points with more dimensions are found faster by exhaustive search.
    static let maximumDimensionCount = 12

    private enum Node: Sendable {
        case leaf(Range<Int>)
        /// Points whose value of `dimension` is at most `value` are on the left.
        case branch(dimension: Int, value: Float, left: Int, right: Int)
    }

    private let dimensions: Int
    private var nodes: [Node] = []
    /// The points, leaf by leaf.
    private var order: [Int]

    init(_ points: [Float], dimensions: Int, leafSize: Int) {
        self.dimensions = dimensions
        order = Array(0..<points.count / dimensions)
        _ = build(0..<order.count, points, Swift.max(leafSize, 1))
    }

    private mutating func build(_ range: Range<Int>, _ points: [Float], _ leafSize: Int) -> Int {
        let position = nodes.count
        nodes.append(.leaf(range))
        guard range.count > leafSize else { return position }
        var widest = 0
        var width: Float = 0
        for dimension in 0..<dimensions {
            var (low, high) = (Float.infinity, -Float.infinity)
            for index in range {
                let value = points[order[index] * dimensions + dimension]
                low = Swift.min(low, value)
                high = Swift.max(high, value)
            }
            if high - low > width { (widest, width) = (dimension, high - low) }
        }
        guard width > 0 else { return position }
        order[range].sort { points[$0 * dimensions + widest] < points[$1 * dimensions + widest] }
        var middle = range.lowerBound + range.count / 2
        let value = points[order[middle - 1] * dimensions + widest]
        while middle < range.upperBound, points[order[middle] * dimensions + widest] <= value { middle += 1 }
        guard middle < range.upperBound else { return position }
        let left = build(range.lowerBound..<middle, points, leafSize)
        let right = build(middle..<range.upperBound, points, leafSize)
        nodes[position] = .branch(dimension: widest, value: value, left: left, right: right)
        return position
    }

    /// The `k` nearest points, nearest first; equal distances in order of insertion.
    func nearest(_ query: ArraySlice<Double>, k: Int, points: [Float]) -> [NeighborIndex.Neighbor] {
        var found: [NeighborIndex.Neighbor] = []
        guard !nodes.isEmpty else { return [] }
        search(0, query, k, points, &found)
        return found
    }

    private func search(
        _ node: Int,
        _ query: ArraySlice<Double>,
        _ k: Int,
        _ points: [Float],
        _ found: inout [NeighborIndex.Neighbor]
    ) {
        switch nodes[node] {
        case .leaf(let range):
            for index in range {
                let point = order[index]
                var distance = 0.0
                for dimension in 0..<dimensions {
                    let difference =
                        query[query.startIndex + dimension] - Double(points[point * dimensions + dimension])
                    distance += difference * difference
                }
                insert(NeighborIndex.Neighbor(index: point, distance: distance), k, &found)
            }
        case .branch(let dimension, let value, let left, let right):
            let difference = query[query.startIndex + dimension] - Double(value)
            search(difference <= 0 ? left : right, query, k, points, &found)
            // Slightly less than the distance to the boundary, so that rounding loses no point at equal distance.
            if found.count < k || difference * difference * (1 - 1e-12) <= found[found.count - 1].distance {
                search(difference <= 0 ? right : left, query, k, points, &found)
            }
        }
    }

    private func insert(_ neighbor: NeighborIndex.Neighbor, _ k: Int, _ found: inout [NeighborIndex.Neighbor]) {
        if found.count == k {
            let last = found[k - 1]
            guard (neighbor.distance, neighbor.index) < (last.distance, last.index) else { return }
            found.removeLast()
        }
        var position = found.count
        while position > 0,
            (neighbor.distance, neighbor.index) < (found[position - 1].distance, found[position - 1].index)
        {
            position -= 1
        }
        found.insert(neighbor, at: position)
    }
}
