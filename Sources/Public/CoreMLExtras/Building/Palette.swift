/// Clusters of values, for palettized weights.
enum Palette {
    /// Returns at most `count` cluster centers in ascending order, by k-means from evenly spaced quantiles.
    ///
    /// `values` must be finite and not empty.
    static func entries(of values: [Float], count: Int) -> [Float] {
        let sorted = values.sorted()
        var distinct: [Float] = []
        for value in sorted where distinct.last != value {
            distinct.append(value)
            if distinct.count > count { break }
        }
        if distinct.count <= count { return distinct }
        var entries = (0..<count).map { sorted[(2 * $0 + 1) * sorted.count / (2 * count)] }
        for _ in 0..<30 {
            var sums = [Double](repeating: 0, count: count)
            var counts = [Int](repeating: 0, count: count)
            for value in sorted {
                let entry = nearest(to: value, in: entries)
                sums[entry] += Double(value)
                counts[entry] += 1
            }
            let moved = entries.indices.map { counts[$0] > 0 ? Float(sums[$0] / Double(counts[$0])) : entries[$0] }
            if moved == entries { break }
            entries = moved.sorted()
        }
        return entries
    }

    /// Returns the index of the value nearest to `value` among ascending `entries`.
    static func nearest(to value: Float, in entries: [Float]) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < value { low = middle + 1 } else { high = middle }
        }
        if low == 0 { return 0 }
        if low == entries.count || value - entries[low - 1] <= entries[low] - value { return low - 1 }
        return low
    }
}
