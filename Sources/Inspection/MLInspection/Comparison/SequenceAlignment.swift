/// Aligns two sequences.
///
/// Short sequences are aligned by their longest common subsequence, long ones by that of the elements that occur once
/// in each.
enum SequenceAlignment {
    /// The largest table, in pairs of elements, for which the longest common subsequence is computed.
    private static let maximumTableSize = 4_000_000

    /// The indices of matching elements, increasing in both sequences.
    static func pairs(_ a: [Int], _ b: [Int]) -> [(Int, Int)] {
        var result: [(Int, Int)] = []
        align(a[...], b[...], &result)
        return result
    }

    private static func align(_ a: ArraySlice<Int>, _ b: ArraySlice<Int>, _ pairs: inout [(Int, Int)]) {
        var (a, b) = (a, b)
        while let first = a.first, first == b.first {
            pairs.append((a.startIndex, b.startIndex))
            (a, b) = (a.dropFirst(), b.dropFirst())
        }
        var tail: [(Int, Int)] = []
        while let last = a.last, last == b.last {
            tail.append((a.endIndex - 1, b.endIndex - 1))
            (a, b) = (a.dropLast(), b.dropLast())
        }
        defer { pairs += tail.reversed() }
        guard !a.isEmpty, !b.isEmpty else { return }
        if a.count <= maximumTableSize / b.count { return table(a, b, &pairs) }
        let anchors = anchors(a, b)
        // Long sequences without elements that occur once in both cannot be aligned.
        guard !anchors.isEmpty else { return }
        var (i, j) = (a.startIndex, b.startIndex)
        for (x, y) in anchors {
            align(a[i..<x], b[j..<y], &pairs)
            pairs.append((x, y))
            (i, j) = (x + 1, y + 1)
        }
        align(a[i...], b[j...], &pairs)
    }

    /// The longest common subsequence by dynamic programming.
    private static func table(_ a: ArraySlice<Int>, _ b: ArraySlice<Int>, _ pairs: inout [(Int, Int)]) {
        let width = b.count + 1
        var lengths = [Int32](repeating: 0, count: (a.count + 1) * width)
        for i in stride(from: a.count - 1, through: 0, by: -1) {
            for j in stride(from: b.count - 1, through: 0, by: -1) {
                let isEqual = a[a.startIndex + i] == b[b.startIndex + j]
                lengths[i * width + j] =
                    isEqual
                    ? lengths[(i + 1) * width + j + 1] + 1
                    : max(lengths[(i + 1) * width + j], lengths[i * width + j + 1])
            }
        }
        var (i, j) = (0, 0)
        while i < a.count, j < b.count {
            if a[a.startIndex + i] == b[b.startIndex + j] {
                pairs.append((a.startIndex + i, b.startIndex + j))
                (i, j) = (i + 1, j + 1)
            } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
                i += 1
            } else {
                j += 1
            }
        }
    }

    /// The longest increasing sequence of elements that occur once in both (patience sorting).
    private static func anchors(_ a: ArraySlice<Int>, _ b: ArraySlice<Int>) -> [(Int, Int)] {
        func single(_ list: ArraySlice<Int>) -> [Int: Int] {
            var locations: [Int: Int?] = [:]
            for index in list.indices {
                locations[list[index]] = locations[list[index]] == nil ? .some(index) : .some(nil)
            }
            return locations.compactMapValues { $0 }
        }
        let locations = single(b)
        let common = single(a).compactMap { element, index in locations[element].map { (index, $0) } }.sorted {
            $0.0 < $1.0
        }
        var piles: [Int] = []
        var before = [Int?](repeating: nil, count: common.count)
        for index in common.indices {
            var (low, high) = (0, piles.count)
            while low < high {
                let middle = (low + high) / 2
                if common[piles[middle]].1 < common[index].1 { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? piles[low - 1] : nil
            if low == piles.count { piles.append(index) } else { piles[low] = index }
        }
        var result: [(Int, Int)] = []
        var next = piles.last
        while let index = next {
            result.append(common[index])
            next = before[index]
        }
        return result.reversed()
    }
}
